package jsonscan

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestKind(t *testing.T) {
	for raw, want := range map[string]byte{
		`{}`: '{', `[]`: '[', `""`: '"', `true`: 't', `false`: 'f', `null`: 'n', `0`: '0', `9`: '0', `-1`: '0',
		``: 0, ` 1`: 0, `x`: 0, `}`: 0, "\xff": 0,
	} {
		if got := Kind([]byte(raw)); got != want {
			t.Errorf("Kind(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestString(t *testing.T) {
	for _, test := range []struct {
		name, raw, want string
		ok              bool
	}{
		{"empty", `""`, "", true},
		{"plain", `"abc é"`, "abc é", true},
		{"every escape", `"\"\\\/\b\f\n\r\t\u00e9\u20AC\ud83d\ude00\u0000"`, "\"\\/\b\f\n\r\té€😀\x00", true},
		{"escape between texts", `"a\nb\u0041c"`, "a\nbAc", true},
		{"replacement character", `"\ufffd�"`, "��", true},
		{"number", `1`, "", false},
		{"nothing", ``, "", false},
		{"a quote only", `"`, "", false},
		{"cut", `"a`, "", false},
		{"more after it", `"a"x`, "", false},
		{"space before it", ` "a"`, "", false},
		{"bad escape", `"\x"`, "", false},
		{"lone surrogate", `"a\ud800b"`, "a\ufffdb", true},
		{"surrogates in the wrong order", `"\udc00\ud800"`, "\ufffd\ufffd", true},
		{"control character", "\"a\tb\"", "", false},
		{"escape cut by the quote", `"\u00"`, "", false},
		{"invalid UTF-8", "\"\xff\"", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, ok := String([]byte(test.raw)); got != test.want || ok != test.ok {
				t.Errorf("String = %q, %t, want %q, %t", got, ok, test.want, test.ok)
			}
			if got, ok := AppendString([]byte("> "), []byte(test.raw)); string(got) != "> "+test.want || ok != test.ok {
				t.Errorf("AppendString = %q, %t, want %q, %t", got, ok, "> "+test.want, test.ok)
			}
		})
	}
}

func TestStringIsACopy(t *testing.T) {
	raw := []byte(`"abc"`)
	s, _ := String(raw)
	raw[1] = 'x'
	if s != "abc" {
		t.Errorf("string changed to %q with its source", s)
	}
}

func TestInt64(t *testing.T) {
	for _, test := range []struct {
		raw  string
		want int64
		ok   bool
	}{
		{"0", 0, true},
		{"-0", 0, true},
		{"0.000", 0, true},
		{"0e400", 0, true},
		{"-0.0e-99999999999999999999", 0, true},
		{"7", 7, true},
		{"-12", -12, true},
		{"100", 100, true},
		{"1.0", 1, true},
		{"1e3", 1000, true},
		{"1E+3", 1000, true},
		{"1.25e2", 125, true},
		{"1250e-1", 125, true},
		{"10.50e1", 105, true},
		{"0.001e3", 1, true},
		{"0.0010e3", 1, true},
		{"1000e-3", 1, true},
		{"1e18", 1e18, true},
		{"9007199254740993", 9007199254740993, true},
		{"9223372036854775807", math.MaxInt64, true},
		{"-9223372036854775808", math.MinInt64, true},
		{"9223372036854775807.000", math.MaxInt64, true},
		{"9223372036854775807000e-3", math.MaxInt64, true},
		{"922337203685477580.7e1", math.MaxInt64, true},
		{"0." + strings.Repeat("0", 50) + "5e51", 5, true},
		{"5" + strings.Repeat("0", 50) + "e-50", 5, true},
		{"9223372036854775808", 0, false},
		{"-9223372036854775809", 0, false},
		{"10000000000000000000", 0, false},
		{"99999999999999999999", 0, false},
		{"1e19", 0, false},
		{"1e400", 0, false},
		{"1e99999999999999999999", 0, false},
		{"1.5", 0, false},
		{"1e-1", 0, false},
		{"15e-1", 0, false},
		{"1e-99999999999999999999", 0, false},
		{"1.00000000000000000001", 0, false},
		{"", 0, false},
		{"-", 0, false},
		{"01", 0, false},
		{"1.", 0, false},
		{"1e", 0, false},
		{" 1", 0, false},
		{"1 ", 0, false},
		{"1x", 0, false},
		{`"1"`, 0, false},
		{"null", 0, false},
		{"+1", 0, false},
		{"0x1", 0, false},
		{"1_0", 0, false},
	} {
		if got, ok := Int64([]byte(test.raw)); got != test.want || ok != test.ok {
			t.Errorf("Int64(%q) = %d, %t, want %d, %t", test.raw, got, ok, test.want, test.ok)
		}
	}
}

func TestFloat64(t *testing.T) {
	for _, test := range []struct {
		raw  string
		want float64
		ok   bool
	}{
		{"0", 0, true},
		{"-1.5", -1.5, true},
		{"1e3", 1000, true},
		{"0.1", 0.1, true},
		{"1e-400", 0, true},
		{"1.7976931348623157e308", math.MaxFloat64, true},
		{"9007199254740993", 9007199254740992, true},
		{"1e400", 0, false},
		{"-1e400", 0, false},
		{"1.8e308", 0, false},
		{"", 0, false},
		{"inf", 0, false},
		{"NaN", 0, false},
		{"0x1p-2", 0, false},
		{"1_0", 0, false},
		{".5", 0, false},
		{"null", 0, false},
	} {
		if got, ok := Float64([]byte(test.raw)); got != test.want || ok != test.ok {
			t.Errorf("Float64(%q) = %g, %t, want %g, %t", test.raw, got, ok, test.want, test.ok)
		}
	}
}

func TestBoolAndIsNull(t *testing.T) {
	for _, test := range []struct {
		raw             string
		value, ok, null bool
	}{
		{"true", true, true, false},
		{"false", false, true, false},
		{"null", false, false, true},
		{"1", false, false, false},
		{"", false, false, false},
		{"truex", false, false, false},
		{`"true"`, false, false, false},
	} {
		if value, ok := Bool([]byte(test.raw)); value != test.value || ok != test.ok {
			t.Errorf("Bool(%q) = %t, %t, want %t, %t", test.raw, value, ok, test.value, test.ok)
		}
		if null := IsNull([]byte(test.raw)); null != test.null {
			t.Errorf("IsNull(%q) = %t, want %t", test.raw, null, test.null)
		}
	}
}

func TestElements(t *testing.T) {
	for _, test := range []struct {
		name, raw string
		want      []string
	}{
		{"empty", `[]`, nil},
		{"empty with space", "[ \n]", nil},
		{"every kind", ` [ 1 , "a,]" , [ 2 , [ ] ] , { "b" : [ 3 ] } , true , false , null ] `[1:], // no space before it
			[]string{`1`, `"a,]"`, `[ 2 , [ ] ]`, `{ "b" : [ 3 ] }`, `true`, `false`, `null`}},
		{"not an array", `{"a":[1]}`, nil},
		{"nothing", ``, nil},
		{"damaged: ends at the damage", `[1,2,x,3]`, []string{"1", "2"}},
		{"damaged: cut", `[1,"a`, []string{"1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for raw := range Elements([]byte(test.raw)) {
				got = append(got, string(raw))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("elements (-want +got):\n%s", diff)
			}
		})
	}
}

func TestElementsStopsWhenTold(t *testing.T) {
	n := 0
	for range Elements([]byte(`[1,2,3]`)) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("walked %d elements, want 2", n)
	}
}

// FuzzValue compares the functions on raw values with jsontext, strconv and math/big.
func FuzzValue(f *testing.F) {
	for _, raw := range []string{
		`"a\u00e9\ud83d\ude00\n"`, `"x`, `"\ud800"`, "\"\xff\"", `-12.50e+3`, `9223372036854775807`, `-9223372036854775808`,
		`9223372036854775808`, `1e400`, `1e-400`, `100e-2`, `0.0`, `01`, `1.`, `true`, `false`, `null`, `[1,"a",[],{"b":[null]}]`,
		`[1 2]`, `[,]`, `[ ]`, `{"a":1}`, ``, ` 1`,
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		value := jsontext.Value(raw)
		var kind jsontext.Kind // of a valid value without space around it
		if value.IsValid(jsontext.AllowDuplicateNames(true)) && Kind(raw) != 0 && skipSpace(raw, len(raw)-1) == len(raw)-1 {
			if kind = value.Kind(); Kind(raw) != byte(kind) {
				t.Errorf("Kind = %q, jsontext has %q", Kind(raw), byte(kind))
			}
		}

		wantString, stringOK := "", isText(raw) && skipSpace(raw, len(raw)-1) == len(raw)-1 && Kind(raw) == '"'
		if stringOK {
			unquoted, _ := jsontext.AppendUnquote(nil, raw) // an error is a lone surrogate, which it replaces
			wantString = string(unquoted)
		}
		if got, ok := String(raw); got != wantString || ok != stringOK {
			t.Errorf("String = %q, %t, want %q, %t", got, ok, wantString, stringOK)
		}
		if got, ok := AppendString([]byte("x"), raw); string(got) != "x"+wantString || ok != stringOK {
			t.Errorf("AppendString = %q, %t, want %q, %t", got, ok, wantString, stringOK)
		}

		var wantFloat float64
		floatOK := false
		if kind == '0' {
			n, err := strconv.ParseFloat(string(raw), 64)
			if floatOK = err == nil; floatOK {
				wantFloat = n
			}
		}
		if got, ok := Float64(raw); math.Float64bits(got) != math.Float64bits(wantFloat) || ok != floatOK {
			t.Errorf("Float64 = %g, %t, want %g, %t", got, ok, wantFloat, floatOK)
		}
		wantInt, intOK := exactInt64(string(raw), kind == '0')
		if got, ok := Int64(raw); got != wantInt || ok != intOK {
			t.Errorf("Int64 = %d, %t, want %d, %t", got, ok, wantInt, intOK)
		}

		if got, ok := Bool(raw); got != (kind == 't') || ok != (kind == 't' || kind == 'f') {
			t.Errorf("Bool = %t, %t of a %q", got, ok, byte(kind))
		}
		if got := IsNull(raw); got != (kind == 'n') {
			t.Errorf("IsNull = %t of a %q", got, byte(kind))
		}

		var got, want []string
		for element := range Elements(raw) {
			got = append(got, string(element))
		}
		if kind == '[' {
			d := jsontext.NewDecoder(strings.NewReader(string(raw)), jsontext.AllowDuplicateNames(true))
			if _, err := d.ReadToken(); err != nil {
				t.Fatal(err)
			}
			for d.PeekKind() != ']' {
				element, err := d.ReadValue()
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, string(element))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Elements (-jsontext +got):\n%s", diff)
			}
		}
	})
}

// exactInt64 is Int64 by way of math/big.
func exactInt64(raw string, isNumber bool) (int64, bool) {
	if !isNumber {
		return 0, false
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(raw), "e")
	if strings.Trim(mantissa, "-0.") == "" {
		return 0, true
	}
	if n, err := strconv.Atoi(exponent); exponent != "" && (err != nil || n > 1000 || n < -1000) && len(raw) < 900 {
		return 0, false // too large, or too small, for math/big to be asked
	}
	r, ok := new(big.Rat).SetString(raw)
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	return r.Num().Int64(), true
}

// FuzzValid compares with another implementation, within the limits that this one has.
func FuzzValid(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` [1, 2.5e-3, "a\"b\\", true, null] `, `"\ud800"`, `"\u12"`, "\"\x01\"", "\"a\xffb\"", `{"a":1,"a":2}`, `1 2`, `"x`, `01`,
		`"0123456789abcdef\n0123456789"`, "\"0123456789abcdef\n0123456789\"", `{"a":[{"b":"c\/d"}]}`, ``, `"\x"`, "\"1234567\"8\"",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, anyBytes bool) {
		want := jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) && (anyBytes || utf8.Valid(data))
		if got := Valid(data, anyBytes); got != want {
			t.Errorf("Valid(%q, %t) is %t, want %t", data, anyBytes, got, want)
		}
	})
}
