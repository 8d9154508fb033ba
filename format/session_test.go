package format

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadSessionRefuses(t *testing.T) {
	a, b := info("a", ""), info("b", "a")
	base := headerOf("5", `"base":"b"`)
	tests := []struct {
		name, in string
		err      error
		line     int
		detail   string
		id       string // of the entry left in the error
	}{
		{"a broken line in the middle", file(header02, a[:20], b), ErrSyntax, 2, "unexpected end", ""},
		{"an invalid entry in the middle", file(header02, strings.Replace(a, "2026", "20X6", 1), b), ErrInvalidEntry, 2, "RFC 3339", "a"},
		{"a line over the limit", file(header02, info("a", "", `"x":"`+strings.Repeat("x", 5000)+`"`), b), ErrLineTooLong, 2, "bytes", ""},
		{"a last line over the limit", file(header02, a, info("b", "a", `"x":"`+strings.Repeat("x", 5000)+`"`)), ErrLineTooLong, 3, "bytes", ""},
		{"a repeated id", file(header02, a, b, info("a", "b")), ErrDuplicateEntry, 4, `"a", first on line 2`, "a"},
		{"a repeated line before minor 5", file(header02, a, b, a), ErrDuplicateEntry, 4, `"a", first on line 2`, "a"},
		{"a repeated id on another line from minor 5 on", file(headerOf("5"), a, b, info("a", "", `"name":"n"`)), ErrDuplicateEntry, 4, `"a"`, "a"},
		{"a repeated id on the last line", file(header02, a, a), ErrDuplicateEntry, 3, `"a"`, "a"},
		{"a parent that is nowhere", file(header02, a, info("c", "x")), ErrNoParent, 3, `"x"`, "c"},
		{"a parent that comes later", file(header02, b, a), ErrNoParent, 2, `"a"`, "b"},
		{"an entry that is its own parent", file(header02, a, info("c", "c")), ErrNoParent, 3, `"c" names itself`, "c"},
		{"a base that is not in the file", file(base, a), ErrBase, 1, "not in the file", ""},
		{"a second root before the base", file(base, a, info("c", "")), ErrBase, 3, "does not continue", "c"},
		{"a branch before the base", file(base, a, info("c", "a"), b), ErrBase, 4, "does not continue", "b"},
		{"a second root after the base", file(base, a, b, info("c", "")), ErrBase, 4, "above", "c"},
		{"a branch above the base", file(base, a, b, info("c", "a")), ErrBase, 4, "above", "c"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := ReadSession(strings.NewReader(test.in), WithMaxLine(4096))
			d, ok := errors.AsType[*DamageError](err)
			if !ok || s != nil || !errors.Is(err, test.err) {
				t.Fatalf("got %v, %v, want %v", s, err, test.err)
			}
			if d.Line != test.line || !strings.Contains(d.Detail, test.detail) {
				t.Errorf("line %d, detail %q; want %d, %q", d.Line, d.Detail, test.line, test.detail)
			}
			if !strings.HasPrefix(test.in[d.Offset:], string(d.Data)) || len(d.Data) == 0 {
				t.Errorf("data %q is not at offset %d", d.Data, d.Offset)
			}
			if id := ""; d.Entry != nil && d.Entry.Base().ID != test.id || d.Entry == nil && id != test.id {
				t.Errorf("entry %v, want %q", d.Entry, test.id)
			}
		})
	}
}

func TestReadSessionTorn(t *testing.T) {
	good := file(header02, info("a", ""), "", info("b", "a"))
	tests := []struct {
		name, tail string
		err        error
	}{
		{"half a line", `{"type":"in`, ErrSyntax},
		{"half a line and a line feed", `{"type":"in` + "\n", ErrSyntax},
		{"half a line and blank lines", `{"type":"in` + "\n\n \n", ErrSyntax},
		{"a bad time", strings.Replace(info("c", "b"), "2026", "20X6", 1), ErrInvalidEntry},
		{"NUL bytes", strings.Repeat("\x00", 4096), ErrSyntax},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := mustRead(t, good+test.tail)
			d := s.Torn()
			if d == nil || !errors.Is(d, ErrTornTail) || !errors.Is(d, test.err) {
				t.Fatalf("torn: %v", d)
			}
			if d.Line != 5 || d.Offset != int64(len(good)) || string(d.Data) != strings.TrimRight(test.tail, "\n ") {
				t.Errorf("line %d, offset %d, data %q", d.Line, d.Offset, d.Data)
			}
			if diff := cmp.Diff([]string{"a", "b"}, ids(s.Entries())); diff != "" {
				t.Error(diff)
			}
			if got := write(t, s); got != good {
				t.Errorf("wrote %q", got)
			}
		})
	}
	if s := mustRead(t, good); s.Torn() != nil {
		t.Errorf("a whole file is torn: %v", s.Torn())
	}
}

// A crash can cut an append anywhere. Whatever is left of the last line, the session before it loads.
func TestReadSessionCutAtEveryByte(t *testing.T) {
	good := file(header02, info("a", ""), info("b", "a"))
	last := info("c", "b", `"name":"é"`)
	for n := range len(last) {
		s := mustRead(t, good+last[:n])
		if got := ids(s.Entries()); !cmp.Equal(got, []string{"a", "b"}) {
			t.Fatalf("cut at %d: %v", n, got)
		}
		if torn := s.Torn() != nil; torn != (n > 0) {
			t.Fatalf("cut at %d: torn is %v", n, s.Torn())
		}
	}
	if s := mustRead(t, good+last); s.Torn() != nil || s.Len() != 3 {
		t.Errorf("only the line feed is missing: %v", s.Torn())
	}
}

func TestWriteTo(t *testing.T) {
	a, b := info("a", ""), " "+info("b", "a", `"z" : 1.50e+1`, `"z":2`)+" "
	for name, text := range map[string]string{
		"plain":                     file(header02, a, b),
		"a header only":             file(header02),
		"no last line feed":         file(header02, a) + b,
		"no line feed at all":       header02,
		"blank lines":               "\n \n" + file(header02, "", a, "\t", "", b) + "\n\n",
		"carriage returns":          strings.ReplaceAll(file(header02, a, "", b), "\n", "\r\n"),
		"a byte order mark":         "\ufeff" + file(header02, a, b),
		"a mark on a line before":   "\ufeff\n" + file(header02, a, b),
		"unknown types and members": file(headerOf("2", `"x":[1.0]`), entry("x:y", "a", "", `"b":{},"a":1E5`)),
		"a repeated line":           file(headerOf("7"), a, b, a),
	} {
		t.Run(name, func(t *testing.T) {
			if got := write(t, mustRead(t, text)); got != text {
				t.Errorf("got %q, want %q", got, text)
			}
		})
	}
}

func write(t testing.TB, s *Session) string {
	t.Helper()
	var b bytes.Buffer
	n, err := s.WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("WriteTo: %d of %d, %v", n, b.Len(), err)
	}
	return b.String()
}

func TestWriteToError(t *testing.T) {
	s := mustRead(t, file(header02, info("a", "")))
	w := &limitedWriter{left: len(header02) + 5}
	if n, err := s.WriteTo(w); err != errFull || n != int64(len(header02)+5) {
		t.Errorf("got %d, %v", n, err)
	}
}

var errFull = errors.New("full")

type limitedWriter struct{ left int }

func (w *limitedWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.left -= n
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func TestSessionRepeats(t *testing.T) {
	a, b := info("a", ""), info("b", "a")
	s := mustRead(t, file(headerOf("5"), a, b, a, info("c", "b"), b))
	if diff := cmp.Diff([]string{"a", "b", "c"}, ids(s.Entries())); diff != "" {
		t.Error(diff)
	}
	var got []int
	for _, l := range s.Repeats() {
		got = append(got, l.Number)
	}
	if diff := cmp.Diff([]int{4, 6}, got); diff != "" {
		t.Error(diff)
	}
	if s.Leaf() != "c" {
		t.Errorf("leaf %q", s.Leaf())
	}
}

func TestSessionFacts(t *testing.T) {
	lines := chain(
		[]string{"info", `"name":"first"`},
		[]string{"label", `"target":"e1"`, `"label":"x"`},
		[]string{"label", `"target":"e2"`, `"label":"y"`},
		[]string{"label", `"target":"e1"`, `"label":"z"`},
		[]string{"label", `"target":"e2"`, `"label":null`},
		[]string{"label", `"target":"gone"`, `"label":"w"`},
		[]string{"link", `"rel":"continued_in"`, `"session":"s2"`},
		[]string{"link", `"rel":"continued_in"`, `"session":"s3"`},
		[]string{"link", `"rel":"fork_of"`, `"session":"s4"`},
		[]string{"info", `"name":"second"`},
		[]string{"info", `"other":"thing"`},
	)
	s := mustRead(t, "\n"+file(append([]string{header02}, lines...)...))
	if s.Header().ID != "s" || s.Len() != len(lines) || s.Name() != "second" || s.SupersededBy() != "s3" {
		t.Errorf("header %v, %d entries, name %q, superseded by %q", s.Header(), s.Len(), s.Name(), s.SupersededBy())
	}
	if diff := cmp.Diff(map[string]string{"e1": "z", "gone": "w"}, s.Labels()); diff != "" {
		t.Error(diff)
	}
	if e, ok := s.Entry("e10"); !ok || e.(*InfoEntry).Name != "second" {
		t.Errorf("e10 is %v", e)
	}
	if e, ok := s.Entry("x"); ok {
		t.Errorf("x is %v", e)
	}
	if l, ok := s.Line("e2"); !ok || l.Number != 4 || string(l.Data) != lines[1] || string(l.Raw) != lines[1]+"\n" {
		t.Errorf("line of e2: %v", l)
	}
	if _, ok := s.Line("x"); ok {
		t.Error("x has a line")
	}
}

func TestEmptySession(t *testing.T) {
	s := mustRead(t, header02)
	path, err := s.Path(s.Leaf())
	if s.Len() != 0 || s.Leaf() != "" || s.Leaves() != nil || s.Roots() != nil || path != nil || err != nil {
		t.Errorf("%d entries, leaf %q, leaves %v, roots %v, path %v, %v", s.Len(), s.Leaf(), s.Leaves(), s.Roots(), path, err)
	}
	if s.Name() != "" || s.SupersededBy() != "" || len(s.Labels()) != 0 || s.Repeats() != nil {
		t.Error("facts from nowhere")
	}
	if _, err := s.Calls("x"); !errors.Is(err, ErrNoEntry) {
		t.Errorf("Calls: %v", err)
	}
	if _, err := s.Runs("x"); !errors.Is(err, ErrNoEntry) {
		t.Errorf("Runs: %v", err)
	}
}

// Blank lines take the memory of their bytes, and lines keep their numbers.
func TestManyBlankLines(t *testing.T) {
	blank := strings.Repeat("\n \r\n", 5000)
	text := blank + header02 + "\n" + blank + info("a", "") + "\n" + blank + info("b", "a") + "\n" + blank
	s := mustRead(t, text)
	if got := write(t, s); got != text {
		t.Error("not written as it was read")
	}
	if len(s.text) != 7 {
		t.Errorf("%d lines are kept", len(s.text))
	}
	for id, number := range map[string]int{"a": 20002, "b": 30003} {
		if line, ok := s.Line(id); !ok || line.Number != number || text[line.Offset:line.Offset+line.Size] != string(line.Raw) {
			t.Errorf("%s: line %d, offset %d", id, line.Number, line.Offset)
		}
	}
	c, err := s.Append(&InfoEntry{Envelope: Envelope{ID: "c"}})
	if err != nil {
		t.Fatal(err)
	}
	if line, _ := s.Line(c); line.Number != 40004 || line.Offset != int64(len(text)) {
		t.Errorf("line %d, offset %d", line.Number, line.Offset)
	}
	torn := mustRead(t, text+`{"type":"in`)
	if torn.Torn() == nil || write(t, torn) != text {
		t.Errorf("torn %v", torn.Torn())
	}
	var damage []*DamageError
	broken := strings.Replace(text, `"info","id":"a"`, `"info","id":a"`, 1)
	lenient, err := ReadSession(strings.NewReader(broken), WithDamage(func(d *DamageError) { damage = append(damage, d) }))
	if err != nil || len(damage) != 2 || damage[0].Line != 20002 || damage[1].Line != 30003 {
		t.Errorf("%v, %v", err, damage)
	}
	if line, _ := lenient.Line("b"); line.Number != 30003 || write(t, lenient) != broken {
		t.Errorf("line %d", line.Number)
	}
	damage = nil
	garbage := file(header02, info("a", "")) + strings.Repeat("{}\nx\n", 5000) + info("b", "a") + "\n"
	lenient, err = ReadSession(strings.NewReader(garbage), WithDamage(func(d *DamageError) { damage = append(damage, d) }))
	if err != nil || len(damage) != 10_000 || damage[9999].Line != 10_002 || len(lenient.text) != 4 {
		t.Errorf("%v, %d damaged, %d lines are kept", err, len(damage), len(lenient.text))
	}
	if line, _ := lenient.Line("b"); line.Number != 10_003 || write(t, lenient) != garbage {
		t.Errorf("line %d", line.Number)
	}
}

func TestWriteToWithoutALineThatWasNotKept(t *testing.T) {
	text := file(header02, info("a", ""), info("long", "a", `"name":"`+strings.Repeat("x", 500)+`"`), info("b", "a"))
	s, err := ReadSession(strings.NewReader(text), WithMaxLine(300), WithDamage(func(*DamageError) {}))
	if err != nil || s.Len() != 2 {
		t.Fatal(s.Len(), err)
	}
	var b bytes.Buffer
	if _, err := s.WriteTo(&b); !errors.Is(err, ErrLineTooLong) {
		t.Errorf("%v after %q", err, b.String())
	}
}
