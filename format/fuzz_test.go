package format

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func FuzzReader(f *testing.F) {
	f.Add([]byte(small()))
	for _, test := range entryTests {
		f.Add([]byte(file(headerOf("11"), test.line)))
	}
	f.Add([]byte(file(header02, info("a", ""), info("b", "a"), info("b", "a")) + `{"type":"info","id":"c","par`))
	f.Add([]byte("\r\n" + strings.ReplaceAll(file(headerOf("5", `"base":"b"`), info("a", ""), "", info("b", "a"), info("b", "a")), "\n", "\r\n")))
	f.Add([]byte(file(header02, label("a", "", "b", "leaf"), label("b", "a", "a", "leaf"), label("c", "b", "a", "null"))))
	f.Add([]byte(header02))
	f.Add([]byte(file(headerOf("9", promise), `{"type":"item","id":"a","ts":"","item":{"type":"message"}}`, "[", " ")))
	f.Fuzz(func(t *testing.T, data []byte) { checkInvariants(t, data) })
}

// checkInvariants reads a file by both doors and checks what must hold for every input.
func checkInvariants(t *testing.T, data []byte) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(data))
	if err != nil {
		if _, ok := errors.AsType[*DamageError](err); !ok {
			t.Fatalf("an error that is no damage: %v", err)
		}
		if _, err2 := ReadSession(bytes.NewReader(data)); err2 == nil || err2.Error() != err.Error() {
			t.Fatalf("NewReader says %v, ReadSession %v", err, err2)
		}
		return
	}

	// Every line that is not blank is the header, an entry or damage, in order and at its place.
	lines := bytes.Split(data, []byte{'\n'})
	lines[0] = bytes.TrimPrefix(lines[0], []byte("\ufeff"))
	number := 0
	next := func() int {
		for number < len(lines) {
			number++
			if len(bytes.TrimSpace(lines[number-1])) > 0 {
				return number
			}
		}
		return 0
	}
	check := func() {
		l := r.Line()
		if want := next(); l.Number != want {
			t.Fatalf("line %d, want %d", l.Number, want)
		}
		if !bytes.Equal(data[l.Offset:l.Offset+l.Size], l.Raw) || !bytes.Contains(l.Raw, l.Data) {
			t.Fatalf("line %d is not at its place", l.Number)
		}
	}
	check()
	var entries []Entry
	var torn *DamageError
	damaged := 0
	header := r.Line().Number
	for e, err := range r.Entries() {
		d, _ := errors.AsType[*DamageError](err)
		switch {
		case torn != nil:
			t.Fatalf("something after the torn line: %v, %v", e, err)
		case d != nil && d.Line == header: // trouble with the header, which check has counted
			damaged++
			continue
		case errors.Is(err, ErrTornTail):
			torn = d
		case d != nil:
			damaged++
		case err != nil:
			t.Fatal(err)
		default:
			if e.EntryType() == "" || e.Base().ID == "" {
				t.Fatalf("an entry without type or id: %#v", e)
			}
			clone := Clone(e)
			if !reflect.DeepEqual(e, clone) {
				t.Fatal(cmp.Diff(e, clone))
			}
			entries = append(entries, clone)
		}
		check()
		if d != nil {
			l := r.Line()
			if e != nil || d.Line != l.Number || d.Offset != l.Offset || !bytes.Equal(d.Data, l.Data) || d.At > len(d.Data) {
				t.Fatalf("damage %v of line %d at %d", d, l.Number, l.Offset)
			}
		}
	}
	if n := next(); n != 0 {
		t.Fatalf("line %d is unaccounted for", n)
	}

	s, err := ReadSession(bytes.NewReader(data))
	if err != nil {
		tree := errors.Is(err, ErrDuplicateEntry) || errors.Is(err, ErrNoParent) || errors.Is(err, ErrBase)
		if damaged == 0 && !tree {
			t.Fatalf("the reader found nothing, ReadSession says %v", err)
		}
		return
	}
	if damaged > 0 {
		t.Fatal("ReadSession overlooks damage")
	}
	want := data
	if torn != nil {
		want = data[:torn.Offset]
	}
	if got := write(t, s); got != string(want) {
		t.Fatalf("wrote %q, read %q", got, want)
	}
	if !reflect.DeepEqual(torn, s.Torn()) {
		t.Fatalf("torn %v, of the session %v", torn, s.Torn())
	}
	if len(s.Repeats()) == 0 && len(entries)+s.Len() > 0 && !reflect.DeepEqual(entries, s.Entries()) {
		t.Fatal(cmp.Diff(entries, s.Entries()))
	}
	checkTree(t, s)
}

func checkTree(t *testing.T, s *Session) {
	t.Helper()
	total := len(s.Roots())
	for _, e := range s.Entries() {
		id := e.Base().ID
		for _, child := range s.Children(id) {
			c, _ := s.Entry(child)
			if c.Base().Parent != id {
				t.Fatalf("%q is no child of %q", child, id)
			}
			total++
		}
		if l, ok := s.Line(id); !ok || len(l.Data) == 0 {
			t.Fatalf("%q has no line", id)
		}
	}
	if total != s.Len() {
		t.Fatalf("%d entries in the tree, %d in the file", total, s.Len())
	}
	leaves := s.Leaves()
	if s.Leaf() != "" {
		leaves = append(leaves, s.Leaf())
	}
	for _, leaf := range leaves {
		e, ok := s.Entry(leaf)
		if !ok || isMark(e) {
			t.Fatalf("leaf %q is %v", leaf, e)
		}
		path, err := s.Path(leaf)
		if err != nil || path[0].Base().Parent != "" || path[len(path)-1] != e {
			t.Fatalf("path to %q: %v, %v", leaf, path, err)
		}
		calls, err := s.Calls(leaf)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			if strings.HasPrefix(c.State.String(), "CallState") || c.Entry == nil {
				t.Fatalf("call %+v", c)
			}
		}
		runs, err := s.Runs(leaf)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			if r.ComputeReason() == "" || r.Segment[0] != Entry(r.Start) || len(r.Pending()) > len(r.Calls()) {
				t.Fatalf("run %+v", r)
			}
		}
	}
}
