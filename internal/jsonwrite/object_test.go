package jsonwrite

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestObject(t *testing.T) {
	n, yes, no := int64(-9007199254740993), true, false
	for _, test := range []struct {
		name  string
		build func(o *Object)
		want  string
	}{
		{"empty", func(*Object) {}, `{}`},
		{"in the order given", func(o *Object) { o.Text("b", "1"); o.Text("a", "2") }, `{"b":"1","a":"2"}`},
		{"nothing is escaped that need not be", func(o *Object) { o.Text("t", "<&>/é\u2028\x7f") }, "{\"t\":\"<&>/é\u2028\x7f\"}"},
		{"what must be escaped", func(o *Object) { o.Text("t", "\"\\\b\f\n\r\t\x01") }, `{"t":"\"\\\b\f\n\r\t\u0001"}`},
		{"broken UTF-8", func(o *Object) { o.Text("a\xff", "b\xff") }, "{\"a\uFFFD\":\"b\uFFFD\"}"},
		{"an odd name", func(o *Object) { o.Text("a\"\n", "") }, `{"a\"\n":""}`},
		{
			"optional texts",
			func(o *Object) { o.OptionalText("a", ""); o.OptionalText("b", "x"); o.Text("c", "") }, `{"b":"x","c":""}`,
		},
		{"raw values keep their spelling", func(o *Object) { o.Raw("n", []byte(`1.50e+1`)) }, `{"n":1.50e+1}`},
		{"raw values on one line", func(o *Object) { o.Raw("o", []byte("{\r\n\t\"a\":\"\\n\"\n}")) }, "{\"o\":{  \t\"a\":\"\\n\" }}"},
		{
			"optional raw values",
			func(o *Object) { o.OptionalRaw("a", nil); o.OptionalRaw("b", []byte(`null`)) }, `{"b":null}`,
		},
		{"integers", func(o *Object) { o.Int("a", nil); o.Int("b", &n) }, `{"b":-9007199254740993}`},
		{"booleans", func(o *Object) { o.Bool("a", nil); o.Bool("b", &yes); o.Bool("c", &no) }, `{"b":true,"c":false}`},
		{"texts", func(o *Object) { o.Texts("a", nil); o.Texts("b", []string{"x", "<\n"}) }, `{"a":[],"b":["x","<\n"]}`},
		{
			"arrays",
			func(o *Object) {
				Array(o, "a", [][]byte{[]byte(`1`), []byte("[\n]")}, AppendRaw)
				Array(o, "b", nil, AppendRaw)
			},
			`{"a":[1,[ ]],"b":[]}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var o Object
			test.build(&o)
			got := o.Bytes()
			if string(got) != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if !jsontext.Value(got).IsValid() {
				t.Errorf("not valid: %s", got)
			}
		})
	}
}

// A line feed in a string is not JSON, and not ours to make it so.
func TestAppendRawKeepsWhatIsBroken(t *testing.T) {
	if got := string(AppendRaw(nil, []byte("[\n\"a\rb\\\"\n\",\r1]"))); got != "[ \"a\rb\\\"\n\", 1]" {
		t.Errorf("%q", got)
	}
}

// TestAppendRaw: what is there already is left alone.
func TestAppendRaw(t *testing.T) {
	if got := string(AppendRaw([]byte("a\n"), []byte("\n1\r"))); got != "a\n 1 " {
		t.Errorf("got %q", got)
	}
}

// FuzzText: what is written is the text, but for broken UTF-8.
func FuzzText(f *testing.F) {
	f.Add("a", "b\n\x00\xff<\"\\")
	f.Fuzz(func(t *testing.T, name, value string) {
		var o Object
		o.Text(name, value)
		got := o.Bytes()
		if strings.ContainsAny(string(got), "\n\r") || !jsontext.Value(got).IsValid() {
			t.Fatalf("not one line of JSON: %q", got)
		}
		quoted := got[len(`{`) : len(got)-len(`}`)]
		_, rest := cutString(t, quoted)
		text, _ := cutString(t, rest[len(`:`):])
		if want := string([]rune(value)); text != want {
			t.Errorf("%q came back as %q", want, text)
		}
	})
}

// cutString returns what the JSON string at the start of b says, and what follows it.
func cutString(t *testing.T, b []byte) (string, []byte) {
	t.Helper()
	d := jsontext.NewDecoder(strings.NewReader(string(b)))
	token, err := d.ReadToken()
	if err != nil {
		t.Fatalf("%v in %q", err, b)
	}
	return token.String(), b[d.InputOffset():]
}
