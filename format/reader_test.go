package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestNewReaderRefuses(t *testing.T) {
	tests := []struct {
		name, in string
		want     []error
		line     int
		offset   int64
	}{
		{"an empty input", "", []error{ErrEmpty}, 1, 0},
		{"blank lines only", "\n \r\n\t", []error{ErrEmpty}, 1, 0},
		{"a byte order mark only", "\ufeff", []error{ErrEmpty}, 1, 0},
		{"an entry on the first line", file(info("a", ""), header02), []error{ErrNoHeader}, 1, 0},
		{"a header cut short", "\n" + header02[:40], []error{ErrNoHeader, ErrSyntax}, 2, 1},
		{"a later major", file(strings.Replace(header02, "0.2", "1.0", 1)), []error{ErrUnsupportedFormat}, 1, 0},
		{"a header without an id", file(strings.Replace(header02, `"id"`, `"Id"`, 1)), []error{ErrInvalidEntry}, 1, 0},
		{"a header over the limit", file(headerOf("2", `"x":"`+strings.Repeat("x", 2000)+`"`)), []error{ErrNoHeader, ErrLineTooLong}, 1, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := NewReader(strings.NewReader(test.in), WithMaxLine(2000))
			d, ok := errors.AsType[*DamageError](err)
			if !ok || r != nil {
				t.Fatalf("got %v, %v, want a DamageError", r, err)
			}
			for _, want := range test.want {
				if !errors.Is(err, want) {
					t.Errorf("%v is not %v", err, want)
				}
			}
			if d.Line != test.line || d.Offset != test.offset {
				t.Errorf("at line %d, offset %d; want %d, %d", d.Line, d.Offset, test.line, test.offset)
			}
			if _, err := ReadSession(strings.NewReader(test.in), WithMaxLine(2000)); err == nil || err.Error() != d.Error() {
				t.Errorf("ReadSession says %v, NewReader %v", err, d)
			}
		})
	}
}

// place is what a test expects of one piece of damage.
type place struct {
	Line   int
	Offset int64
	Errs   string
	ID     string // of the entry left
}

func places(damage []*DamageError) (list []place) {
	sentinels := []error{ErrTornTail, ErrSyntax, ErrInvalidEntry, ErrLineTooLong, ErrDuplicateEntry, ErrNoParent, ErrBase}
	for _, d := range damage {
		p := place{Line: d.Line, Offset: d.Offset}
		for _, s := range sentinels {
			if errors.Is(d, s) {
				p.Errs += s.Error() + "; "
			}
		}
		if d.Entry != nil {
			p.ID = d.Entry.Base().ID
		}
		list = append(list, p)
	}
	return list
}

func TestReader(t *testing.T) {
	const (
		syntax  = "not a JSON object; "
		invalid = "invalid entry; "
		torn    = "broken last line; "
		long    = "line over the limit; "
	)
	first := int64(len(header02) + 1) // offset of the line after the header
	a, b := info("a", ""), info("b", "a")
	second := first + int64(len(a)+1)
	huge := info("b", "a", `"x":"`+strings.Repeat("x", 300_000)+`"`)
	tests := []struct {
		name, in string
		ids      []string
		damage   []place
	}{
		{"a header only", file(header02), nil, nil},
		{"a header without its line feed", header02, nil, nil},
		{"two entries", file(header02, a, b), []string{"a", "b"}, nil},
		{"a last line that decodes without its line feed", file(header02, a) + b, []string{"a", "b"}, nil},
		{"blank lines everywhere", "\n\n" + file(header02, "", a, " \t", b, "", ""), []string{"a", "b"}, nil},
		{"carriage returns", strings.ReplaceAll(file(header02, a, "", b), "\n", "\r\n"), []string{"a", "b"}, nil},
		{"a byte order mark", "\ufeff" + file(header02, a), []string{"a"}, nil},
		{"a broken line in the middle", file(header02, a[:20], b), []string{"b"}, []place{{2, first, syntax, ""}}},
		{"a broken last line", file(header02, a, b[:20]), []string{"a"}, []place{{3, second, torn + syntax, ""}}},
		{"a broken last line without its line feed", file(header02, a) + b[:20], []string{"a"}, []place{{3, second, torn + syntax, ""}}},
		{"a broken last line and blank lines after it", file(header02, a, b[:20], "", " "), []string{"a"}, []place{{3, second, torn + syntax, ""}}},
		{"a broken line, blank lines, an entry", file(header02, a[:20], "", b), []string{"b"}, []place{{2, first, syntax, ""}}},
		{"two broken lines at the end", file(header02, a, "{", "["), []string{"a"}, []place{{3, second, syntax, ""}, {4, second + 2, torn + syntax, ""}}},
		{"a last line that is JSON but no entry", file(header02, a, `{"type":"info"}`), []string{"a"}, []place{{3, second, torn + invalid, ""}}},
		{"a last line with a bad time", file(header02, strings.Replace(a, "2026", "20X6", 1)), nil, []place{{2, first, torn + invalid, "a"}}},
		{"a bad time in the middle", file(header02, strings.Replace(a, "2026", "20X6", 1), b), []string{"b"}, []place{{2, first, invalid, "a"}}},
		{"NUL bytes where a block was never written", file(header02, a) + strings.Repeat("\x00", 100), []string{"a"}, []place{{3, second, torn + syntax, ""}}},
		{"invalid UTF-8 between tokens", file(header02, a[:len(a)-1]+"\xff}", b), []string{"b"}, []place{{2, first, syntax, ""}}},
		{"invalid UTF-8 in a text that nobody asks for", file(header02, a[:len(a)-1]+",\"x\":\"\xff\"}", b), []string{"a", "b"}, nil},
		{"a lone surrogate, as JavaScript cuts texts", file(header02, a[:len(a)-1]+",\"x\":\"\\ud83d\"}", b), []string{"a", "b"}, nil},
		{"100,000 levels", file(header02, `{"x":`+strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)+`}`, b), []string{"b"}, []place{{2, first, syntax, ""}}},
		{"a line over the limit", file(header02, a, huge, info("c", "b")), []string{"a", "c"}, []place{{3, second, long, ""}}},
		{"a last line over the limit is not called torn", file(header02, a, huge), []string{"a"}, []place{{3, second, long, ""}}},
		{"a second header", file(header02, a, header02, b), []string{"a", "b"}, []place{{3, second, invalid, "s"}}},
		{"entries that ReadSession would refuse", file(header02, a, a, info("x", "nowhere")), []string{"a", "a", "x"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for name, in := range map[string]io.Reader{
				"whole":         strings.NewReader(test.in),
				"byte by byte":  iotest.OneByteReader(strings.NewReader(test.in)),
				"data with EOF": iotest.DataErrReader(strings.NewReader(test.in)),
			} {
				r, err := NewReader(in, WithMaxLine(250_000))
				if err != nil {
					t.Fatal(name, err)
				}
				if r.Header().ID != "s" || r.Line().Number < 1 {
					t.Error(name, r.Header(), r.Line())
				}
				entries, damage := readAll(t, r)
				if diff := cmp.Diff(test.ids, ids(entries)); diff != "" {
					t.Error(name, diff)
				}
				if diff := cmp.Diff(test.damage, places(damage)); diff != "" {
					t.Error(name, diff)
				}
				if _, err := r.Next(); err != io.EOF {
					t.Error(name, "after the end:", err)
				}
			}
		})
	}
}

func TestReaderLine(t *testing.T) {
	text := "\ufeff" + header02 + "\r\n\n" + info("a", "") + "\r\n" + "{broken\n\n" + info("b", "a")
	r, err := NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	note := func() {
		l := r.Line()
		if text[l.Offset:l.Offset+l.Size] != string(l.Raw) || !bytes.Contains(l.Raw, l.Data) {
			t.Errorf("line %d is not at its place", l.Number)
		}
		got = append(got, fmt.Sprintf("%d %.9s %v", l.Number, l.Data, l.Terminated))
	}
	note()
	for range r.Entries() {
		note()
	}
	want := []string{`1 {"type":" true`, `3 {"type":" true`, `4 {broken true`, `6 {"type":" false`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A header that says what the file is but not when it began is reported once, and the entries still come.
func TestReaderGoesOnAfterABadHeader(t *testing.T) {
	text := file(strings.Replace(header02, "2026", "20X6", 1), info("a", ""))
	r, err := NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if !r.Header().CreatedAt.IsZero() {
		t.Error(r.Header().CreatedAt)
	}
	entries, damage := readAll(t, r)
	if diff := cmp.Diff([]place{{1, 0, "invalid entry; ", ""}}, places(damage)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a"}, ids(entries)); diff != "" {
		t.Error(diff)
	}
	if _, err := ReadSession(strings.NewReader(text)); !errors.Is(err, ErrInvalidEntry) {
		t.Errorf("ReadSession: %v", err)
	}
}

// An error of the input is not the end of the file: what it interrupts is not a torn line.
func TestReaderInputError(t *testing.T) {
	broken := errors.New("broken")
	failing := func(text string) io.Reader { return io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)) }
	if _, err := NewReader(failing(header02[:10])); err != broken {
		t.Errorf("NewReader: %v", err)
	}
	r, err := NewReader(failing(file(header02, "{broken") + info("a", "")[:20]))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); !errors.Is(err, ErrSyntax) || errors.Is(err, ErrTornTail) {
		t.Errorf("the broken line: %v", err)
	}
	for range 2 {
		if _, err := r.Next(); err != broken {
			t.Errorf("the end: %v", err)
		}
	}
	if _, err := ReadSession(failing(file(header02))); err != broken {
		t.Errorf("ReadSession: %v", err)
	}
	r, _ = NewReader(failing(file(header02, info("a", ""))))
	var got []error
	for _, err := range r.Entries() {
		got = append(got, err)
	}
	if len(got) != 2 || got[0] != nil || got[1] != broken {
		t.Errorf("Entries: %v", got)
	}
}

func TestEntriesStops(t *testing.T) {
	r, err := NewReader(strings.NewReader(file(header02, info("a", ""), info("b", "a"), info("c", "b"))))
	if err != nil {
		t.Fatal(err)
	}
	for e := range r.Entries() {
		if e.Base().ID == "b" {
			break
		}
	}
	e, err := r.Next()
	if err != nil || e.Base().ID != "c" {
		t.Errorf("the walk took more than it gave: %v, %v", e, err)
	}
}

func TestDamageErrorText(t *testing.T) {
	r, err := NewReader(strings.NewReader(file(header02, `{"type":"info","id":5}`, "{")))
	if err != nil {
		t.Fatal(err)
	}
	_, damage := readAll(t, r)
	var got []string
	for _, d := range damage {
		got = append(got, d.Error())
	}
	n := len(header02) + 1
	want := []string{
		fmt.Sprintf(`line 2 (offset %d, 20 bytes into the line): invalid entry: "id" is not a string`, n),
		fmt.Sprintf(`line 3 (offset %d, 1 byte into the line): broken last line: not a JSON object: unexpected end of input`, n+23),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What the entry cannot be told from otherwise: the values of a damaged line stay valid although the reader had to look
// past it.
func TestDamageSurvivesTheLookAhead(t *testing.T) {
	bad := info("b", "a", `"x":"kept"`, `"name":5`)
	r, err := NewReader(strings.NewReader(file(header02, info("a", ""), bad, strings.Repeat("\n", 100_000), info("c", "b"))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	_, err = r.Next()
	d, ok := errors.AsType[*DamageError](err)
	if !ok {
		t.Fatal(err)
	}
	if string(d.Data) != bad || string(r.Line().Data) != bad {
		t.Errorf("line %q, data %q", r.Line().Data, d.Data)
	}
	if x := d.Entry.Base().Unknown.Get("x"); string(x) != `"kept"` {
		t.Errorf("x is %s", x)
	}
}
