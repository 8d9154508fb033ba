package format

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// small is a session with something of everything, for tests that damage each of its bytes.
func small() string {
	return "\ufeff" + file(append([]string{headerOf("5", `"harness":{"name":"h"}`)}, chain(
		[]string{"config", `"model":"m"`, `"tools_added":[{"name":"t"}]`, `"extra":{"x":1.0}`},
		start("r"),
		message("user"),
		call("c1", "r1"),
		response("r1", `"usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":1}}`),
		decide("hold", "c1", "e4"),
		dispatch("c1", "e4"),
		[]string{"label", `"target":"e3"`, `"label":"leaf"`},
		output("c1"),
		[]string{"x:é", `"data":"\u00e9\n"`},
		end("r"),
	)...)...)
}

// Whatever is done to one byte of a file, nothing panics, and every line that it does not touch is still delivered.
func TestEveryByteDamaged(t *testing.T) {
	good := []byte(small())
	r, err := NewReader(bytes.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	entries, damage := readAll(t, r)
	if damage != nil {
		t.Fatal(damage[0])
	}
	lines := bytes.SplitAfter(good, []byte{'\n'})
	header := len(lines[0])

	change := func(how byte) func([]byte, int) []byte {
		return func(b []byte, i int) []byte {
			b[i] ^= how
			return b
		}
	}
	kinds := map[string]func([]byte, int) []byte{
		"zeroed":      func(b []byte, i int) []byte { b[i] = 0; return b },
		"line feed":   func(b []byte, i int) []byte { b[i] = '\n'; return b },
		"quote":       func(b []byte, i int) []byte { b[i] = '"'; return b },
		"removed":     func(b []byte, i int) []byte { return slices.Delete(b, i, i+1) },
		"doubled":     func(b []byte, i int) []byte { return slices.Insert(b, i, b[i]) },
		"cut":         func(b []byte, i int) []byte { return b[:i] },
		"zeroed tail": func(b []byte, i int) []byte { clear(b[i:]); return b },
	}
	for bit := range 8 {
		kinds[fmt.Sprint("bit ", bit)] = change(1 << bit)
	}
	for name, damage := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i := range good {
				bad := damage(bytes.Clone(good), i)
				checkInvariants(t, bad)
				if i < header {
					continue
				}
				// The line of the byte, and the next one if its line feed was hit, may be lost; after a cut, all of them.
				first, last := i, i
				if name == "cut" || name == "zeroed tail" {
					last = len(good)
				}
				r, err := NewReader(bytes.NewReader(bad))
				if err != nil {
					t.Fatalf("byte %d: %v", i, err)
				}
				got, _ := readAll(t, r)
				offset := header
				for n, line := range lines[1 : len(lines)-1] {
					end := offset + len(line)
					touched := first < end && last >= offset || first == offset-1
					if !touched && !slices.ContainsFunc(got, func(e Entry) bool { return reflect.DeepEqual(e, entries[n]) }) {
						t.Fatalf("byte %d: the entry of line %d is gone", i, n+2)
					}
					offset = end
				}
			}
		})
	}
}

func TestDamageErrorClone(t *testing.T) {
	line := []byte(`{"type":"info","id":"b","parent":5}`)
	_, err := DecodeEntry(line)
	d, ok := errors.AsType[*DamageError](err)
	if !ok {
		t.Fatal(err)
	}
	clone := d.Clone()
	clear(line)
	if !errors.Is(clone, ErrInvalidEntry) || clone.Detail != d.Detail || string(clone.Data) != `{"type":"info","id":"b","parent":5}` {
		t.Errorf("clone %+v", clone)
	}
	torn := d.Torn()
	if !errors.Is(torn, ErrTornTail) || !errors.Is(torn, ErrInvalidEntry) || errors.Is(d, ErrTornTail) {
		t.Errorf("torn %v, before %v", torn, d)
	}
}

// A list is bounded, since an element of two bytes takes many times as much once it is decoded. The entry keeps its place.
func TestLongLists(t *testing.T) {
	for _, tt := range []struct{ typ, name, element, rest string }{
		{"config", "tools_added", `0`, ""},
		{"config", "tools_removed", `""`, ""},
		{"run", "pending", `""`, `"run_id":"r","phase":"end"`},
		{"compaction", "pinned", `{}`, `"first_kept":"a","config":{},"summary":` + userHi},
	} {
		t.Run(tt.name, func(t *testing.T) {
			list := func(n int) string {
				members := []string{`"` + tt.name + `":[` + strings.Repeat(tt.element+",", n-1) + tt.element + `]`}
				if tt.rest != "" {
					members = append(members, tt.rest)
				}
				return entry(tt.typ, "b", "a", members...)
			}
			if e, err := DecodeEntry([]byte(list(maxElements))); err != nil || e.EntryType() != tt.typ {
				t.Errorf("%d elements: %v", maxElements, err)
			}
			_, err := DecodeEntry([]byte(list(maxElements + 1)))
			damage, ok := errors.AsType[*DamageError](err)
			if !ok || !errors.Is(err, ErrInvalidEntry) || damage.Entry.Base().Parent != "a" || !strings.Contains(err.Error(), "more than") {
				t.Errorf("%d elements: %v", maxElements+1, err)
			}
		})
	}
	refs := `"parents":[` + strings.Repeat(`{"entry":"a"},`, maxElements) + `{"entry":"a"}]`
	if e, err := DecodeEntry([]byte(info("b", "a", refs))); err != nil || e.Base().Parents != nil || e.Base().Unknown.Get("parents") == nil {
		t.Errorf("parents: %v", err)
	}
}
