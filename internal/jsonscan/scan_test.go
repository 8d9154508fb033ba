package jsonscan

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// member is a Member in a form that tests can compare and print.
type member struct {
	Name, Value string
	Offset      int
}

func members(of []Member) []member {
	var all []member
	for _, m := range of {
		all = append(all, member{string(m.Name), string(m.Value), m.Offset})
	}
	return all
}

func TestScan(t *testing.T) {
	for _, test := range []struct {
		name, data   string
		want, nested []member // nested in "m"
	}{
		{name: "empty object", data: `{}`},
		{name: "empty object with space inside and around", data: " \t\r\n{ \t\r\n} \t\r\n"},
		{
			name: "every kind of value", data: `{"a":"x","b":-1.5e+3,"c":true,"d":false,"e":null,"f":[1,[]],"g":{"h":{}}}`,
			want: []member{
				{"a", `"x"`, 5},
				{"b", "-1.5e+3", 13},
				{"c", "true", 25},
				{"d", "false", 34},
				{"e", "null", 44},
				{"f", "[1,[]]", 53},
				{"g", `{"h":{}}`, 64},
			},
		},
		{
			name: "space between all tokens", data: ` { "a" : 1 , "m" : { "b" : [ 2 , 3 ] } } `,
			want: []member{{"a", "1", 9}, {"m", `{ "b" : [ 2 , 3 ] }`, 19}}, nested: []member{{"b", "[ 2 , 3 ]", 27}},
		},
		{
			name: "escaped names are unescaped", data: `{"\u0061\n":1,"\ud83d\ude00":2,"m":{"\"":3}}`,
			want: []member{{"a\n", "1", 12}, {"😀", "2", 29}, {"m", `{"\"":3}`, 35}}, nested: []member{{`"`, "3", 41}},
		},
		{name: "repeated names are all reported", data: `{"a":1,"a":2}`, want: []member{{"a", "1", 5}, {"a", "2", 11}}},
		{
			name: "the last nested object wins", data: `{"m":{"a":1},"m":{"b":2}}`,
			want: []member{{"m", `{"a":1}`, 5}, {"m", `{"b":2}`, 17}}, nested: []member{{"b", "2", 22}},
		},
		{
			name: "a later empty nested object wins", data: `{"m":{"a":1},"m":{}}`,
			want: []member{{"m", `{"a":1}`, 5}, {"m", `{}`, 17}},
		},
		{
			name: "a later member that is no object does not count", data: `{"m":{"a":1},"m":[2]}`,
			want: []member{{"m", `{"a":1}`, 5}, {"m", `[2]`, 17}}, nested: []member{{"a", "1", 10}},
		},
		{
			name: "the nested name may be escaped", data: `{"\u006d":{"a":1}}`,
			want: []member{{"m", `{"a":1}`, 10}}, nested: []member{{"a", "1", 15}},
		},
		{
			name: "only top-level members nest", data: `{"x":{"m":{"a":1}},"m":{"m":{"b":2}}}`,
			want: []member{{"x", `{"m":{"a":1}}`, 5}, {"m", `{"m":{"b":2}}`, 23}}, nested: []member{{"m", `{"b":2}`, 28}},
		},
		{name: "empty name", data: `{"":0}`, want: []member{{"", "0", 4}}},
		{name: "brackets and quotes in strings", data: `{"a":["]}\"{[",{"b":"\\"}]}`, want: []member{{"a", `["]}\"{[",{"b":"\\"}]`, 5}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s Scanner
			if err := s.Scan([]byte(test.data), "m"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, members(s.Members)); diff != "" {
				t.Errorf("members (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.nested, members(s.Nested)); diff != "" {
				t.Errorf("nested (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScanWithoutNest(t *testing.T) {
	var s Scanner
	if err := s.Scan([]byte(`{"":{"a":1}}`), ""); err != nil {
		t.Fatal(err)
	}
	if len(s.Nested) != 0 {
		t.Errorf("nested = %v, want none", members(s.Nested))
	}
}

// syntaxErrors has the input for every error, and is what the fuzz targets start from.
var syntaxErrors = []struct {
	name, data string
	want       SyntaxError
}{
	{"empty", "", SyntaxError{0, "unexpected end of input"}},
	{"space only", " ", SyntaxError{1, "unexpected end of input"}},
	{"null", "null", SyntaxError{0, "null instead of an object"}},
	{"boolean", " true ", SyntaxError{1, "a boolean instead of an object"}},
	{"number", "-1", SyntaxError{0, "a number instead of an object"}},
	{"string", `"a"`, SyntaxError{0, "a string instead of an object"}},
	{"array", "[1]", SyntaxError{0, "an array instead of an object"}},
	{"damaged array", "[1", SyntaxError{2, "unexpected end of input"}},
	{"no JSON", "hello", SyntaxError{0, "invalid character 'h' where a value belongs"}},
	{"byte order mark", "\ufeff{}", SyntaxError{0, `invalid character '\ufeff' where a value belongs`}},
	{"two objects", "{} {}", SyntaxError{3, "more after the object"}},
	{"more after the object", `{"a":1}x`, SyntaxError{7, "more after the object"}},
	{"more after a number", "1 2", SyntaxError{2, "more after the value"}},

	{"open object", "{", SyntaxError{1, "unexpected end of input"}},
	{"key without quotes", "{a:1}", SyntaxError{1, "invalid character 'a' where an object key belongs"}},
	{"cut key", `{"a`, SyntaxError{3, "unexpected end of input"}},
	{"no colon", `{"a" 1}`, SyntaxError{5, "invalid character '1' after object key"}},
	{"end after key", `{"a"`, SyntaxError{4, "unexpected end of input"}},
	{"no value", `{"a":}`, SyntaxError{5, "invalid character '}' where a value belongs"}},
	{"end before value", `{"a":`, SyntaxError{5, "unexpected end of input"}},
	{"no comma", `{"a":1 "b":2}`, SyntaxError{7, `invalid character '"' after object value`}},
	{"end after value", `{"a":1`, SyntaxError{6, "unexpected end of input"}},
	{"comma before the end", `{"a":1,}`, SyntaxError{7, "invalid character '}' where an object key belongs"}},
	{"object closed as an array", `{"a":1]`, SyntaxError{6, "invalid character ']' after object value"}},
	{"invalid UTF-8 between tokens", "{\xff}", SyntaxError{1, "invalid UTF-8"}},

	{"deep: open object", `{"a":[{`, SyntaxError{7, "unexpected end of input"}},
	{"deep: key without quotes", `{"a":[{a:1}]}`, SyntaxError{7, "invalid character 'a' where an object key belongs"}},
	{"deep: no colon", `{"a":[{"a" 1}]}`, SyntaxError{11, "invalid character '1' after object key"}},
	{"deep: no value", `{"a":[{"a":}]}`, SyntaxError{11, "invalid character '}' where a value belongs"}},
	{"deep: no comma", `{"a":[{"a":1 "b":2}]}`, SyntaxError{13, `invalid character '"' after object value`}},
	{"deep: comma before the end", `{"a":[{"a":1,}]}`, SyntaxError{13, "invalid character '}' where an object key belongs"}},
	{"deep: object closed as an array", `{"a":[{"a":1]]}`, SyntaxError{12, "invalid character ']' after object value"}},
	{"deep: end after value", `{"a":[{"a":1`, SyntaxError{12, "unexpected end of input"}},
	{"array closed as an object", `{"a":[1}}`, SyntaxError{7, "invalid character '}' after array element"}},
	{"array without comma", `{"a":[1 2]}`, SyntaxError{8, "invalid character '2' after array element"}},
	{"array with a comma before the end", `{"a":[1,]}`, SyntaxError{8, "invalid character ']' where a value belongs"}},
	{"array with a comma first", `{"a":[,1]}`, SyntaxError{6, "invalid character ',' where a value belongs"}},
	{"nested: no colon", `{"m":{"a"}}`, SyntaxError{9, "invalid character '}' after object key"}},
	{"nested: cut", `{"m":{"a":1`, SyntaxError{11, "unexpected end of input"}},

	{"literal misspelled", `{"a":trux}`, SyntaxError{8, "invalid character 'x' in literal true"}},
	{"literal cut", `{"a":fals`, SyntaxError{9, "unexpected end of input"}},
	{"literal too long", `{"a":nulll}`, SyntaxError{9, "invalid character 'l' after object value"}},
	{"literal in capitals", `{"a":NULL}`, SyntaxError{5, "invalid character 'N' where a value belongs"}},
	{"number with a leading zero", `{"a":01}`, SyntaxError{6, "invalid character '1' after object value"}},
	{"number with a plus", `{"a":+1}`, SyntaxError{5, "invalid character '+' where a value belongs"}},
	{"number of a sign only", `{"a":-}`, SyntaxError{6, "invalid character '}' in number"}},
	{"number with two signs", `{"a":--1}`, SyntaxError{6, "invalid character '-' in number"}},
	{"number without integer", `{"a":.5}`, SyntaxError{5, "invalid character '.' where a value belongs"}},
	{"number without fraction", `{"a":1.}`, SyntaxError{7, "invalid character '}' in number"}},
	{"number without exponent", `{"a":1e+}`, SyntaxError{8, "invalid character '}' in number"}},
	{"number cut after the point", `{"a":1.`, SyntaxError{7, "unexpected end of input"}},
	{"number in hexadecimal", `{"a":0x1}`, SyntaxError{6, "invalid character 'x' after object value"}},
	{"NaN", `{"a":NaN}`, SyntaxError{5, "invalid character 'N' where a value belongs"}},

	{"string cut", `{"a":"b`, SyntaxError{7, "unexpected end of input"}},
	{"string in single quotes", `{"a":'b'}`, SyntaxError{5, `invalid character '\'' where a value belongs`}},
	{"closing quote escaped", `{"a":"b\"}`, SyntaxError{10, "unexpected end of input"}},
	{"escape cut after the backslash", `{"a":"b\`, SyntaxError{8, "unexpected end of input"}},
	{"escape cut after u", `{"a":"b\u`, SyntaxError{9, "unexpected end of input"}},
	{"escape cut in its digits", `{"a":"b\u00e`, SyntaxError{12, "unexpected end of input"}},
	{"high surrogate cut", `{"a":"\ud800`, SyntaxError{12, "unexpected end of input"}},
	{"UTF-8 cut by the end", "{\"a\":\"\xe2\x82", SyntaxError{8, "unexpected end of input"}},
	{"UTF-16", "{\x00\"\x00", SyntaxError{1, `invalid character '\x00' where an object key belongs`}},
	{"deleted character is no control character", "{\"\x7f\":1", SyntaxError{6, "unexpected end of input"}},
	{"too deep", strings.Repeat(`{"a":`, maxDepth+1), SyntaxError{5 * maxDepth, "nested deeper than 10000 levels"}},
}

func TestScanErrors(t *testing.T) {
	for _, test := range syntaxErrors {
		t.Run(test.name, func(t *testing.T) {
			var s Scanner
			err := s.Scan([]byte(test.data), "m")
			var got *SyntaxError
			if !errors.As(err, &got) {
				t.Fatalf("error = %v, want a *SyntaxError", err)
			}
			if diff := cmp.Diff(test.want, *got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if isObject([]byte(test.data)) {
				t.Error("jsontext accepts this")
			}
		})
	}
}

func TestSyntaxErrorText(t *testing.T) {
	var s Scanner
	err := s.Scan([]byte(`{"a"x}`), "")
	if got, want := err.Error(), "invalid character 'x' after object key at byte 4"; got != want {
		t.Errorf("error = %q, want %q", got, want)
	}
}

func TestDepth(t *testing.T) {
	for _, test := range []struct{ name, open, inner, close string }{
		{"objects", `{"a":`, `0`, `}`},
		{"objects in the nested one", `{"m":`, `0`, `}`},
		{"arrays", `[`, ``, `]`},
		{"both", `{"a":[`, `"x"`, `]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			levels := strings.Count(test.open, "[") + strings.Count(test.open, "{")
			for _, depth := range []int{63, 64, 65, 128, maxDepth - 2, maxDepth, maxDepth + 2} {
				n := (depth - 2) / levels
				data := []byte(`{"m":[` + strings.Repeat(test.open, n) + test.inner + strings.Repeat(test.close, n) + `]}`)
				var s Scanner
				if got, want := s.Scan(data, "m") == nil, n*levels+2 <= maxDepth; got != want || isObject(data) != want {
					t.Errorf("%d levels accepted: %t, by jsontext: %t, want %t", depth, got, isObject(data), want)
				}
			}
		})
	}
}

// An object may have so many members and no more, wherever it stands; the members of several are not added up, and what
// arrays hold does not count.
func TestMembersOfOneObject(t *testing.T) {
	object := func(n int) string { return "{" + strings.TrimSuffix(strings.Repeat(`"a":0,`, n), ",") + "}" }
	for _, test := range []struct {
		name, before, after string
		list                func(*Scanner) []Member // where the scan lists the members of the object
	}{
		{name: "the line", list: func(s *Scanner) []Member { return s.Members }},
		{"the nested one", `{"m":`, `}`, func(s *Scanner) []Member { return s.Nested }},
		{"in a member", `{"x":[1,{"y":`, `}]}`, nil},
		{"after others", `{"x":[` + strings.Repeat(object(maxMembers/2)+",", 3), `]}`, nil},
		{"beside long arrays", `{"x":[[` + strings.Repeat("0,", 2*maxMembers) + `0],`, `]}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s Scanner
			if err := s.Scan([]byte(test.before+object(maxMembers)+test.after), "m"); err != nil {
				t.Errorf("%d members: %v", maxMembers, err)
			}
			err := s.Scan([]byte(test.before+object(maxMembers+1)+test.after), "m")
			var got *SyntaxError
			if !errors.As(err, &got) {
				t.Fatalf("%d members: error %v, want a *SyntaxError", maxMembers+1, err)
			}
			want := SyntaxError{len(test.before) + len("{") + maxMembers*len(`"a":0,`), "more than 65536 members in one object"}
			if *got != want {
				t.Errorf("%d members: got %+v, want %+v", maxMembers+1, *got, want)
			}
			if test.list != nil && len(test.list(&s)) != maxMembers {
				t.Errorf("%d members are listed", len(test.list(&s)))
			}
		})
	}
}

// TestStringPositions puts everything a string can hold at every distance from its ends, so that each way through the
// search for the closing quote is taken, alone and beside another.
func TestStringPositions(t *testing.T) {
	pieces := []string{
		`\n`, `\"`, `\\`, `\\\"`, `\u00e9`, "é", "日本", "\x00", "\xff", "\\\\\\\\\\\\\\\\\\\\", // good, or nobody's business yet
		`"`, `\`, `""`, `\\"`, // bad
	}
	const size = 60
	var s Scanner
	for _, first := range pieces {
		for _, second := range append(pieces, "") {
			for before := range size {
				for _, after := range []int{0, 1, 7, 70} {
					data := []byte(`{"` + strings.Repeat("x", before) + first + second + strings.Repeat("y", after) + `":0}`)
					err := s.Scan(data, "")
					if got, want := err == nil, isObject(blank(data)); got != want {
						t.Fatalf("%q accepted: %t (%v), by jsontext: %t", data, got, err, want)
					}
				}
			}
		}
	}
}

// TestRandomStrings has strings of many characters of every kind, a few of them damaged: none of them damages the object
// around it, and String says which are text.
func TestRandomStrings(t *testing.T) {
	good := []string{
		`\n`, `\t`, `\"`, `\\`, `\/`, `\u00e9`, `\u001B`, `\ud83d\ude00`, "é", "€", "😀", "\u0800", "\ud7ff", "\ue000",
		"\U00010000", "\U0010ffff", "\x7f", "x", "text", "a longer run of plain letters that fills some words",
	}
	bad := []string{
		`\x`, `\u00g0`, "\x01", "\x80", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
		"\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\xf0\x9f\x98",
	}
	lone := []string{`\ud800`, `\udc00`, `\ud83d\n`, `\udc00\ud800`, `\ud800\ud800`}
	random := rand.New(rand.NewPCG(1, 2))
	var s Scanner
	texts := 0
	for range 20_000 {
		data := []byte(`{"a":"`)
		for range random.IntN(60) {
			switch random.IntN(100) {
			case 0:
				data = append(data, bad[random.IntN(len(bad))]...)
			case 1:
				data = append(data, lone[random.IntN(len(lone))]...)
			default:
				data = append(data, good[random.IntN(len(good))]...)
			}
		}
		data = append(data, `"}`...)
		if err := s.Scan(data, ""); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		got, ok := String(s.Members[0].Value)
		if want := isText(s.Members[0].Value); ok != want {
			t.Fatalf("String(%s) is text: %t, want %t", s.Members[0].Value, ok, want)
		}
		if !ok {
			continue
		}
		texts++
		// jsontext replaces what is invalid and says so; of these strings that can only be lone surrogates.
		if want, _ := jsontext.AppendUnquote(nil, s.Members[0].Value); got != string(want) {
			t.Fatalf("String(%s) = %q, want %q", s.Members[0].Value, got, want)
		}
	}
	if texts < 10_000 || texts > 19_000 {
		t.Errorf("%d of 20000 strings are text", texts)
	}
}

func TestScanDoesNotAllocate(t *testing.T) {
	data := []byte(`{"type":"message","t\u0079pe":[1,2,{"a":null}],"message":{"r\u006fle":"user","text":"h\u00e9llo \"you\" ` +
		strings.Repeat(`long\n`, 50) + `é"}}`)
	var s Scanner
	if n := testing.AllocsPerRun(100, func() {
		if err := s.Scan(data, "message"); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a scan, want 0", n)
	}
}

// blank replaces the inside of every string, as far as quotes and backslashes tell them.
func blank(data []byte) []byte {
	out := bytes.Clone(data)
	inside := false
	for i := 0; i < len(out); i++ {
		switch {
		case out[i] == '"':
			inside = !inside
		case inside && out[i] == '\\':
			out[i] = 'x'
			if i++; i < len(out) {
				out[i] = 'x'
			}
		case inside:
			out[i] = 'x'
		}
	}
	return out
}

// isText asks jsontext whether raw is a string, with lone surrogates allowed.
func isText(raw []byte) bool {
	v := jsontext.Value(raw)
	return v.IsValid(jsontext.AllowInvalidUTF8(true)) && v.Kind() == '"' && utf8.Valid(raw)
}

// isObject asks jsontext whether data is exactly one JSON object.
func isObject(data []byte) bool {
	v := jsontext.Value(data)
	return v.IsValid(jsontext.AllowDuplicateNames(true)) && v.Kind() == '{'
}

// oracle has jsontext read the members of the object in data, whose first byte stands at base.
func oracle(t *testing.T, data []byte, base int) []member {
	t.Helper()
	d := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		t.Fatal(err)
	}
	var all []member
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			t.Fatal(err)
		}
		name := token.String()
		value, err := d.ReadValue()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, member{name, string(value), base + int(d.InputOffset()) - len(value)})
	}
	if _, err := d.ReadToken(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.ReadToken(); err != io.EOF {
		t.Fatalf("after the object: %v, want EOF", err)
	}
	return all
}

func FuzzScan(f *testing.F) {
	for _, test := range syntaxErrors {
		if len(test.data) < 1000 {
			f.Add([]byte(test.data), "m")
		}
	}
	f.Add([]byte(`{"a":[1,-2.5e10,{"b":null}],"m":{"\u0061":"\ud83d\ude00 é 日本","a":true},"x":false}`), "m")
	f.Add([]byte(`{"m":{"a":1},"m":{"b":2},"m":3,"text":"a longer text with\nline feeds, \"quotes\" and \\ backslashes \t"}`), "m")
	var s Scanner // shared, so that nothing of a scan may show in the next one
	f.Fuzz(func(t *testing.T, data []byte, nest string) {
		err := s.Scan(data, nest)
		if got, want := err == nil, isObject(blank(data)); got != want {
			t.Fatalf("accepted: %t (%v), by jsontext: %t", got, err, want)
		}
		if err != nil {
			var e *SyntaxError
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(data) || e.What == "" {
				t.Errorf("error %#v of %d bytes", err, len(data))
			}
			return
		}
		if !isObject(data) {
			return // jsontext does not take it apart
		}
		want := oracle(t, data, 0)
		if diff := cmp.Diff(want, members(s.Members)); diff != "" {
			t.Errorf("members (-jsontext +got):\n%s", diff)
		}
		var nested []member
		for _, m := range want {
			if nest != "" && m.Name == nest && m.Value[0] == '{' {
				nested = oracle(t, []byte(m.Value), m.Offset)
			}
		}
		if diff := cmp.Diff(nested, members(s.Nested)); diff != "" {
			t.Errorf("nested (-jsontext +got):\n%s", diff)
		}
	})
}
