package repair

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
)

// seeds is how many random sessions each property is tried on; a campaign has more.
var seeds = flag.Uint64("seeds", 60, "number of random sessions for each property")

// wreck is a damaged file and what is true of it.
type wreck struct {
	data   []byte
	intact [][]byte        // the lines of which no byte was touched, in order, without line feed
	known  map[string]bool // everything that may be on a line of the repaired file
}

// damage damages some lines of a good file.
func damage(r *rand.Rand, file []byte) wreck {
	w := wreck{known: map[string]bool{}}
	lines := bytes.Split(bytes.TrimSuffix(file, []byte("\n")), []byte("\n"))
	put := func(parts ...any) {
		for _, p := range parts {
			w.data = fmt.Append(w.data, p)
		}
	}
	intact := func(line []byte) {
		w.intact = append(w.intact, bytes.TrimSpace(line))
		w.known[string(bytes.TrimSpace(line))] = true
	}
	rate := 2 + r.IntN(30)
	glued := false // the line at hand has a torn one before it; what is changed in it could make one object of both
	for i, line := range lines {
		line := string(line)
		op := r.IntN(rate)
		if i == 0 && op != 0 || glued && (op == 5 || op == 6) {
			op = 99
		}
		was := glued
		glued = false
		switch op {
		case 0: // fused with the next one
			intact([]byte(line))
			put(line)
			glued = was
		case 1: // torn, and glued to the next one
			put(line[:r.IntN(len(line))])
			glued = true
		case 2: // torn
			put(line[:1+r.IntN(len(line)-1)], "\n")
		case 3: // garbage behind it
			intact([]byte(line))
			put(line, garbage(r, "\x80\x81\xffabc.,:]}"), "\n")
		case 4: // zero bytes in place of the line feed
			intact([]byte(line))
			put(line, strings.Repeat("\x00", 1+r.IntN(9)))
		case 5: // a run of zero bytes over it
			b := []byte(line)
			from := r.IntN(len(b))
			clear(b[from : from+1+r.IntN(len(b)-from)])
			w.known[strings.TrimSpace(string(b))] = true
			put(string(b), "\n")
		case 6: // a bit flipped
			b := []byte(line)
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			for _, part := range bytes.Split(b, []byte("\n")) {
				w.known[strings.TrimSpace(string(part))] = true
			}
			put(string(b), "\n")
		case 7: // garbage before it
			intact([]byte(line))
			put(garbage(r, "\x80\xff{\"{\"{\"[]:,\\a1"), line, "\n")
		case 8: // a line of garbage before it
			intact([]byte(line))
			put(garbage(r, "\x00\x80\xff{\"[]:,\\a1"), "\n", line, "\n")
		default:
			intact([]byte(line))
			put(line, "\n")
		}
	}
	switch r.IntN(4) {
	case 0:
		w.data = bytes.TrimSuffix(w.data, []byte("\n"))
	case 1:
		put(string(lines[len(lines)-1][:1+r.IntN(len(lines[len(lines)-1])-1)]))
	}
	return w
}

// garbage is bytes of which no object can be made.
func garbage(r *rand.Rand, alphabet string) string {
	var b strings.Builder
	b.WriteByte('!')
	for range r.IntN(40) {
		b.WriteByte(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

// eachWreck runs a test on damaged random sessions; a failure names the seed.
func eachWreck(t *testing.T, n uint64, test func(t *testing.T, w wreck)) {
	for seed := range n {
		r := rand.New(rand.NewPCG(seed, 7))
		o := sessiontest.All(r)
		o.Subsessions = 0
		w := damage(r, sessiontest.Random(r, o).Files[0].Data)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { test(t, w) })
		if t.Failed() {
			return
		}
	}
}

// A complete line is never cut away, a fused one never lost, and every byte is accounted for (promise P2).
func TestNothingGoodIsLostOfRandomSessions(t *testing.T) {
	eachWreck(t, *seeds, func(t *testing.T, w wreck) {
		p, found := plans(t, w.data, 0)
		if p.headed != hasHeader {
			t.Fatalf("no header: %v", p.why)
		}
		good, aside := apply(w.data, found)
		if len(good)-p.sum.Added+len(aside) != len(w.data) || int64(len(aside)) != p.sum.SetAside {
			t.Errorf("%d bytes stay, %d are set aside, of %d; %+v", len(good), len(aside), len(w.data), p.sum)
		}
		rest := w.intact
		for line := range bytes.Lines(good) {
			line = bytes.TrimSpace(line)
			if len(rest) > 0 && bytes.Equal(line, rest[0]) {
				rest = rest[1:]
			}
			if len(line) > 0 && !w.known[string(line)] {
				t.Errorf("this was no line of the file: %q", line)
			}
		}
		if len(rest) > 0 {
			t.Errorf("lost, or in another order: %q and %d more, of %d", rest[0], len(rest)-1, len(w.intact))
		}
		again, more := plans(t, good, 0)
		if again.sum.Changes() {
			t.Errorf("a second repair would change %v", say(more))
		}
	})
}

// A repaired file reads without damage but what was reported as beyond repair.
func TestRepairedSessionsRead(t *testing.T) {
	eachWreck(t, *seeds, func(t *testing.T, w wreck) {
		p, found := plans(t, w.data, 0)
		good, _ := apply(w.data, found)
		r, err := format.NewReader(bytes.NewReader(good))
		if err != nil {
			t.Fatal(err)
		}
		entries := 0
		for _, err := range r.Entries() {
			if err != nil && !errors.Is(err, format.ErrInvalidEntry) {
				t.Error(err)
			}
			entries++
		}
		if want := p.sum.Kept + p.sum.Recovered; entries != want {
			t.Errorf("%d entries can be read, %d were counted", entries, want)
		}
	})
}

// The files are what the findings say, and together the old one.
func TestFilesOfRandomSessions(t *testing.T) {
	eachWreck(t, *seeds/5, func(t *testing.T, w wreck) {
		p, found := plans(t, w.data, 0)
		want, _ := apply(w.data, found)
		path := put(t, string(w.data))
		rep, err := write(t, path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, path); got != string(want) {
			t.Error("the file differs from what the findings say")
		}
		if rep.Sum != p.sum || rep.Written != p.sum.Changes() || (rep.SideFile != "") != (p.sum.SetAside > 0) {
			t.Errorf("report %+v, want %+v", rep, p.sum)
		}
	})
}

// FuzzScan: whatever a file holds, its bytes are those that stay and those set aside, an object that is a whole line stays,
// and a second repair finds nothing to do.
func FuzzScan(f *testing.F) {
	a, b := entry("a", ""), entry("b", "a")
	for _, body := range []string{
		a + b + "\n", a[:50] + b, a + "\x00\x00" + b + "\n\x00\n", a + "\n" + b[:70], `{"{":":",",":":",` + b,
		"\xef\xbb\xbf" + a + "\r\n", `{"a":{"b":[1,{"c":` + a, a + "}" + b + "{\n", `[{}]` + a + `{}` + b,
	} {
		f.Add([]byte(body), true)
		f.Add([]byte(body), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, headed bool) {
		if headed {
			data = append([]byte(header+"\n"), data...)
		}
		p, found := plans(t, data, 0)
		if p.headed != hasHeader {
			return
		}
		good, aside := apply(data, found)
		if len(good)-p.sum.Added+len(aside) != len(data) || int64(len(aside)) != p.sum.SetAside || p.sum.Bytes != int64(len(data)) {
			t.Fatalf("%d bytes stay, %d are set aside, of %d; %+v", len(good), len(aside), len(data), p.sum)
		}
		var scan jsonscan.Scanner
		rest := good
		for line := range bytes.Lines(data) {
			if scan.Scan(line, "") != nil {
				continue
			}
			_, after, ok := bytes.Cut(rest, bytes.TrimSuffix(line, []byte("\n")))
			if !ok {
				t.Fatalf("lost: %q of %q", line, data)
			}
			rest = after
		}
		again, more := plans(t, good, 0)
		if again.headed != hasHeader || again.sum.Changes() {
			t.Fatalf("a second repair would change %v of %q", say(more), good)
		}
	})
}

// FuzzWalker: a walker gets to the end of exactly what the scanner takes for an object.
func FuzzWalker(f *testing.F) {
	for _, text := range []string{
		header, `{"a":[1,-0.5e+3,true,false,null,"\"\\",{}],"b":{}}`, `{"a":01}`, `{"a":tru}`, `{"a":-}`, `{"a":1.}`, `{"a":1e}`,
		`{"a" :}`, `{,}`, `{"a":1,}`, `{"a":[1,]}`, `{"a":[,1]}`, `{"a":"\`, `{"a":1]`, `{"a":[1}`, `{1:2}`, "{\"a\":\x00}", `{}{}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		start := skipSpace(text, 0)
		if start == len(text) || text[start] != '{' {
			return
		}
		w := newWalker(text, start)
		w.run()
		var scan jsonscan.Scanner
		err := scan.Scan(text, "")
		if e, ok := errors.AsType[*jsonscan.SyntaxError](err); ok && (strings.Contains(e.What, "10000") || strings.Contains(e.What, "65536")) {
			return
		}
		if got := w.state == whole && w.pos == len(text); got != (err == nil) {
			t.Fatalf("walker %v, scanner %v: %q", got, err, text)
		}
	})
}

// Time grows with the length of a line, not with its square, whatever the braces and quotes in it make of it.
func BenchmarkHostileLines(b *testing.B) {
	for _, test := range []struct{ name, head, unit, tail string }{
		{"opening braces", "", "{", ""},
		{"objects that never end", "", `{"a":`, ""},
		{"objects that never end, with an end in sight", "", `{"a":`, "1}"},
		{"objects with a text that never ends", "", `{"a`, ""},
		{"braces in texts", "", `{"{","{":`, ""},
		{"both ways of reading the quotes", `{`, `"}{":":","}{":":",`, ""},
		{"both ways, never ending", `{"a":{`, `"{":":","{":":",`, ""},
		{"arrays that never end", `{"a":`, "[", ""},
		{"white space behind braces", "", "{   ", ""},
		{"backslashes", `{"a":"`, `\\`, ""},
		{"backslashes and quotes", `{"a":"`, `\\\"`, ""},
		{"zero bytes and braces", "", "\x00{", ""},
		{"closed behind each other", `{"a":`, `{"a":1}`, ""},
		{"entries fused", "", entry("a", ""), ""},
		{"torn and fused", "", entry("a", "")[:100] + entry("b", ""), ""},
		{"nearly entries", "", `x{"type":"t","id":"i","ts":"t"}`, ""},
		{"objects at the end of nothing", "", `{"a":{}`, ""},
	} {
		b.Run(test.name, func(b *testing.B) {
			for _, size := range []int{20_000, 320_000} {
				data := []byte(header + "\n" + test.head + strings.Repeat(test.unit, size/len(test.unit)) + test.tail + "\n")
				b.Run(strconv.Itoa(size), func(b *testing.B) {
					b.SetBytes(int64(len(data)))
					for b.Loop() {
						if _, err := scan(bytes.NewReader(data), 0, func(Finding) error { return nil }); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}
