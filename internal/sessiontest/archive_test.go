package sessiontest

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestRealisticIsValid(t *testing.T) {
	var b bytes.Buffer
	truth, err := Realistic(&b, seeded(1), 8<<20)
	if err != nil {
		t.Fatal(err)
	}
	s, err := read(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.check() {
		t.Error(p)
	}
	if d := cmp.Diff(s.recount(), truth, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("truth differs from a recount (-recount +truth):\n%s", d)
	}
}

func TestRealisticIsDeterministic(t *testing.T) {
	var a, b bytes.Buffer
	for _, w := range []io.Writer{&a, &b} {
		if _, err := Realistic(w, seeded(3), 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("one seed gives two sessions")
	}
}

func TestRealisticHasLinesAsInRealSessions(t *testing.T) {
	var b bytes.Buffer
	if _, err := Realistic(&b, seeded(2), 64<<20); err != nil {
		t.Fatal(err)
	}
	var sizes []int
	for line := range bytes.Lines(b.Bytes()) {
		sizes = append(sizes, len(line))
	}
	slices.Sort(sizes)
	for _, q := range []struct{ percent, low, high int }{{50, 900, 1600}, {90, 45_000, 70_000}, {99, 150_000, 215_000}} {
		if n := sizes[len(sizes)*q.percent/100]; n < q.low || n > q.high {
			t.Errorf("p%d of the line lengths is %d, want %d to %d", q.percent, n, q.low, q.high)
		}
	}
	share := func(is func(byte) bool) (percent float64) {
		n := 0
		for _, c := range b.Bytes() {
			n += count(is(c))
		}
		return 100 * float64(n) / float64(b.Len())
	}
	if x := share(func(c byte) bool { return c == '\\' }); x < 5 || x > 7.5 {
		t.Errorf("%.1f %% backslashes", x)
	}
	if x := share(func(c byte) bool { return c >= 0x80 }); x < 1 || x > 8 {
		t.Errorf("%.1f %% of the bytes are not ASCII", x)
	}
}

func TestArchive(t *testing.T) {
	paths, err := Archive(t.TempDir(), seeded(4), 12, 6<<20)
	if err != nil {
		t.Fatal(err)
	}
	ids, total := map[string]bool{}, 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := read(data)
		if err != nil {
			t.Fatalf("%s: %v", filepath.Base(path), err)
		}
		for _, p := range s.check() {
			t.Errorf("%s: %s", filepath.Base(path), p)
		}
		ids[str(s.header["id"])] = true
		total += len(data)
	}
	if len(ids) != 12 || total < 6<<20 || total > 24<<20 {
		t.Errorf("%d sessions, %d bytes", len(ids), total)
	}
}

func TestRealisticReportsAFailingWriter(t *testing.T) {
	_, err := Realistic(&failing{after: 100_000}, seeded(5), 10<<20)
	if err != io.ErrShortWrite {
		t.Errorf("got %v", err)
	}
}

// failing takes some bytes and then no more.
type failing struct{ after int }

func (w *failing) Write(b []byte) (int, error) {
	if w.after -= len(b); w.after < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

func BenchmarkRealistic(b *testing.B) {
	const size = 64 << 20
	b.SetBytes(size)
	for b.Loop() {
		if _, err := Realistic(io.Discard, seeded(1), size); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRandom(b *testing.B) {
	r := seeded(1)
	for b.Loop() {
		n := 0
		for _, f := range Random(r, Options{Entries: 1000, Records: true, Decisions: true, Branches: true}).Files {
			n += len(f.Data)
		}
		b.SetBytes(int64(n))
	}
}
