package repair

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/source"
)

// Of a format that is not known further, an entry is any object that cannot be a value inside of broken bytes.
func TestEntriesOfOtherFormats(t *testing.T) {
	for _, test := range []struct {
		name, line string
		objects    []string
	}{
		{"fused", `{"a":1}{"b":2}`, []string{`{"a":1}`, `{"b":2}`}},
		{"torn inside a text, glued", `{"a":"x{"b":2}`, []string{`{"b":2}`}},
		{"torn inside a name, glued twice", `{"a":1,"x{"y{"b":{"c":3}}`, []string{`{"b":{"c":3}}`}},
		{"torn where a value belongs", `{"a":{"b":2}`, nil},
		{"torn behind a nested object", `{"a":{"b":{"c":3}}`, nil},
		{"torn inside an array", `{"a":[{"b":2},{"c":3}`, nil},
		{"zero bytes", "{\"a\"\x00\x00{\"b\":2}", []string{`{"b":2}`}},
		{"garbage", "\xff\xfe{\"b\":2}\xff", []string{`{"b":2}`}},
		{"a changed byte before a nested object", `{"a";1,"b":{"c":3}}`, nil},
		{"an empty object behind garbage", `x{}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := shape{format: &source.Format{Name: "acme"}}
			var objects []string
			at := 0
			split([]byte(test.line), s.entry, func(c piece) {
				if c.start != at || c.end <= c.start {
					t.Errorf("a piece from %d to %d, after one that ended at %d", c.start, c.end, at)
				}
				at = c.end
				if c.kind == "" {
					objects = append(objects, test.line[c.start:c.end])
				}
			})
			if diff := cmp.Diff(test.objects, objects); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if at != len(test.line) {
				t.Errorf("the pieces end at %d of %d", at, len(test.line))
			}
		})
	}
}

func TestLabel(t *testing.T) {
	for line, want := range map[string][2]string{
		`{"type":"item","id":"a"}`:                               {"item", "a"},
		`{"type":"user","uuid":"u","message":{"id":"m"}}`:        {"user", "u"},
		`{"id":7,"type":null}`:                                   {"", ""},
		`{"id":"` + strings.Repeat("é", 64) + `"}`:               {"", strings.Repeat("é", 64)},
		`{"id":"` + strings.Repeat("é", 65) + `"}`:               {"", strings.Repeat("é", 64) + "…"},
		"{\"type\":\"a\x00b\",\"id\":\"\\ud83d\\ude42\\u0041\"}": {"", "🙂A"},
	} {
		var s shape
		if err := s.scan.Scan([]byte(line), ""); err != nil {
			t.Fatal(err)
		}
		typ, id := s.label()
		if got := [2]string{typ, id}; got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
