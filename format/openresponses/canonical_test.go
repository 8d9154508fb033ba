package openresponses

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

type hashVector struct {
	Name      string          `json:"name"`
	Request   json.RawMessage `json:"request"`
	Canonical string          `json:"canonical"`
	Hash      string          `json:"hash"`
}

func hashVectors(t testing.TB, file string) []hashVector {
	t.Helper()
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the shared fixtures are not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	var vectors []hashVector
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) == 0 {
		t.Fatal("no vectors")
	}
	return vectors
}

func checkHashVectors(t *testing.T, file string) {
	t.Helper()
	for _, v := range hashVectors(t, file) {
		t.Run(v.Name, func(t *testing.T) {
			hash, err := HashJSON(v.Request)
			if hash != v.Hash || err != nil {
				t.Errorf("got  %s, %v\nwant %s", hash, err, v.Hash)
			}
			if canonical, err := CanonicalJSON(v.Request); v.Canonical != "" && string(canonical) != v.Canonical {
				t.Errorf("got  %s, %v\nwant %s", canonical, err, v.Canonical)
			}
			request, err := ParseRequest(jsontext.Value(v.Request))
			if err != nil {
				t.Fatal(err)
			}
			hash, err = request.Hash()
			if hash != v.Hash || err != nil {
				t.Errorf("decoded and encoded: got %s, %v\nwant %s\nof %s", hash, err, v.Hash, request.JSON())
			}
		})
	}
}

func TestHash(t *testing.T) {
	checkHashVectors(t, "../../../shared/fixtures/agentsession/hash-vectors.json")
}
func TestHashVectors(t *testing.T) { checkHashVectors(t, "testdata/hash-vectors.json") }

func TestCanonicalJSON(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"scalar", " true\n", `true`},
		{"white space and order", "{ \"b\" : [ ] ,\r\n\t\"a\" : { } }", `{"a":{},"b":[]}`},
		{
			"objects in objects and arrays", `{"b":[{"d":[[{"f":1,"e":2}]],"c":"}\"{,"}],"a":{"h":{"j":1,"i":2},"g":0}}`,
			`{"a":{"g":0,"h":{"i":2,"j":1}},"b":[{"c":"}\"{,","d":[[{"e":2,"f":1}]]}]}`,
		},
		{
			"a sorted object around one that is not", `{"a":{"c":1,"b":2},"d":[{"f":1,"e":2},{"g":{}}]}`,
			`{"a":{"b":2,"c":1},"d":[{"e":2,"f":1},{"g":{}}]}`,
		},
		{
			"names by UTF-16 units", `{"\ufb33":1,"😀":2,"😁":3,"é":4,"\r":5,"1":6,"":7,"aa":8,"a":9,"\ud83d\ude02":10}`,
			`{"":7,"\r":5,"1":6,"a":9,"aa":8,"é":4,"😀":2,"😁":3,"😂":10,"` + "\ufb33" + `":1}`,
		},
		{"names with escapes", `{"a\\":1,"a\"":2,"\u0061!":3}`, `{"a!":3,"a\"":2,"a\\":1}`},
		{
			"strings", `"\u0000\b\t\n\f\r\u001f\"\\\/\u007f\u2028<>&\u00e9\ud83d\ude00"`,
			`"\u0000\b\t\n\f\r\u001f\"\\/` + "\x7f\u2028" + `<>&é😀"`,
		},
		{
			"whole numbers", `[0,-0,1.0,1e2,-1,9007199254740992,9007199254740993,100000000000000000000,1e21,999999999999999999999]`,
			`[0,0,1,100,-1,9007199254740992,9007199254740992,100000000000000000000,1e+21,1e+21]`,
		},
		{
			"fractions", `[0.50,1e-6,0.0000001,-1.5E-7,333333333.33333329,1e-400,-1e-400,5e-324,0.1]`,
			`[0.5,0.000001,1e-7,-1.5e-7,333333333.3333333,0,0,5e-324,0.1]`,
		},
		{"the largest number", `[1.7976931348623157e308,-1.7976931348623157E+308]`, `[1.7976931348623157e+308,-1.7976931348623157e+308]`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := CanonicalJSON([]byte(test.in))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestNotCanonical(t *testing.T) {
	for name, in := range map[string]string{
		"nothing":                    ``,
		"trailing data":              `{} {}`,
		"a broken object":            `{"a":1`,
		"a repeated name":            `{"a":{"b":1,"\u0062":2}}`,
		"half a surrogate pair":      `{"a":"\ud83d"}`,
		"half a pair in a name":      `{"\ude00":1}`,
		"broken UTF-8":               "{\"a\":\"\xff\"}",
		"a control character":        "{\"a\":\"\n\"}",
		"a number out of range":      `{"a":[1,1e309]}`,
		"a long number out of range": `[-1` + strings.Repeat("0", 400) + `]`,
		"not a number":               `NaN`,
		"too deep":                   strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := CanonicalJSON([]byte(in))
			wantError(t, err, "canonical JSON: ", ErrInvalid)
			_, err = HashJSON([]byte(in))
			wantError(t, err, "canonical JSON: ", ErrInvalid)
		})
	}
	_, err := HashJSON([]byte(`{"a":[1,1e309]}`))
	wantError(t, err, `canonical JSON: the number at "/a/1" is beyond the range of a double: `, ErrInvalid)
}

// TestCanonicalDepth: nesting costs no more than its length. Sorting inner objects inside outer ones again and again would
// move 90 GB here.
func TestCanonicalDepth(t *testing.T) {
	const levels = 9_000
	in := strings.Repeat(`{"b":1,"a":`, levels) + `"` + strings.Repeat("x", 10<<20) + `"` + strings.Repeat("}", levels)
	want := strings.Repeat(`{"a":`, levels) + `"` + strings.Repeat("x", 10<<20) + `"` + strings.Repeat(`,"b":1}`, levels)
	got, err := CanonicalJSON([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("the members are not in order")
	}
}

// FuzzCanonical holds the canonical form against that of jsontext, which differs in nothing but numbers out of range.
func FuzzCanonical(f *testing.F) {
	f.Add([]byte(`{"b":[{"d":1.0,"c":[]},-0],"a":"\ud83d\ude00","😀":1,"ﬀ":2}`))
	f.Add([]byte(`[1e400]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := CanonicalJSON(data)
		want := jsontext.Value(data).Clone()
		if wantErr := want.Canonicalize(); (wantErr != nil) != (err != nil) {
			if err != nil && strings.Contains(err.Error(), "beyond the range") {
				return
			}
			t.Fatalf("error %v, want %v", err, wantErr)
		}
		if err == nil && string(got) != string(want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}
