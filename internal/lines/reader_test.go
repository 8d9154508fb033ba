package lines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// line is a Line in a form that tests can compare and print.
type line struct {
	Number     int
	Offset     int64
	Raw, Data  string
	Size       int64
	Terminated bool
}

// readAll reads to the end and returns the error that was there in place of io.EOF.
func readAll(r *Reader) ([]line, error) {
	var all []line
	for {
		l, err := r.Next()
		if err == io.EOF {
			return all, nil
		} else if err != nil {
			return all, err
		}
		all = append(all, line{l.Number, l.Offset, string(l.Raw), string(l.Data), l.Size, l.Terminated})
	}
}

// split is what a Reader must do, the simple way.
func split(data []byte, limit int) []line {
	if limit <= 0 {
		limit = DefaultLimit
	}
	var all []line
	offset := int64(0)
	for number, raw := range bytes.SplitAfter(data, []byte{'\n'}) {
		if len(raw) == 0 {
			break
		}
		l := line{Number: number + 1, Offset: offset, Raw: string(raw), Size: int64(len(raw))}
		content, terminated := strings.CutSuffix(string(raw), "\n")
		l.Data, l.Terminated = content, terminated
		if terminated {
			l.Data = strings.TrimSuffix(content, "\r")
		}
		if len(content) > limit {
			l.Raw = l.Raw[:min(limit, 1024)]
			l.Data = l.Raw
		}
		if number == 0 {
			l.Data = strings.TrimPrefix(l.Data, "\ufeff")
		}
		all = append(all, l)
		offset += l.Size
	}
	return all
}

// odd reads chunks of the sizes that a random source gives, and sometimes nothing or the error with the last bytes.
type odd struct {
	data   []byte
	random *rand.Rand
	most   int
}

func (o *odd) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), o.random.IntN(o.most+1))], o.data)
	o.data = o.data[n:]
	if len(o.data) == 0 && (n == 0 || o.random.IntN(2) == 0) {
		return n, io.EOF
	}
	return n, nil
}

// sources are ways in which a stream may hand out the same bytes.
func sources(data []byte) map[string]io.Reader {
	random := rand.New(rand.NewPCG(1, uint64(len(data))))
	return map[string]io.Reader{
		"whole":             bytes.NewReader(data),
		"byte by byte":      iotest.OneByteReader(bytes.NewReader(data)),
		"halves":            iotest.HalfReader(bytes.NewReader(data)),
		"EOF with the data": iotest.DataErrReader(bytes.NewReader(data)),
		"odd small chunks":  &odd{data, random, 7},
		"odd large chunks":  &odd{data, random, 100_000},
	}
}

func TestReader(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for _, test := range []struct {
		name, data string
		limit      int
		want       []line
	}{
		{"empty", "", 0, nil},
		{"one line", "a\n", 0, []line{{1, 0, "a\n", "a", 2, true}}},
		{"two lines", "a\nbc\n", 0, []line{{1, 0, "a\n", "a", 2, true}, {2, 2, "bc\n", "bc", 3, true}}},
		{"torn last line", "a\nbc", 0, []line{{1, 0, "a\n", "a", 2, true}, {2, 2, "bc", "bc", 2, false}}},
		{"blank lines count", "\n\n", 0, []line{{1, 0, "\n", "", 1, true}, {2, 1, "\n", "", 1, true}}},
		{
			"carriage return before the line feed", "a\r\nb\r\n", 0,
			[]line{{1, 0, "a\r\n", "a", 3, true}, {2, 3, "b\r\n", "b", 3, true}},
		},
		{"two carriage returns, one of them data", "a\r\r\n", 0, []line{{1, 0, "a\r\r\n", "a\r", 4, true}}},
		{"carriage return inside", "a\rb\n", 0, []line{{1, 0, "a\rb\n", "a\rb", 4, true}}},
		{"carriage return last in a torn line", "a\r", 0, []line{{1, 0, "a\r", "a\r", 2, false}}},
		{"other line separators are data", "a\u2028b\u0085c\vd\n", 0, []line{{1, 0, "a\u2028b\u0085c\vd\n", "a\u2028b\u0085c\vd", 11, true}}},
		{"byte order mark", "\ufeffa\nb\n", 0, []line{{1, 0, "\ufeffa\n", "a", 5, true}, {2, 5, "b\n", "b", 2, true}}},
		{"byte order mark only", "\ufeff", 0, []line{{1, 0, "\ufeff", "", 3, false}}},
		{
			"byte order mark on the second line is data", "a\n\ufeffb\n", 0,
			[]line{{1, 0, "a\n", "a", 2, true}, {2, 2, "\ufeffb\n", "\ufeffb", 5, true}},
		},
		{"one of two byte order marks is data", "\ufeff\ufeffa\n", 0, []line{{1, 0, "\ufeff\ufeffa\n", "\ufeffa", 8, true}}},
		{"NUL and invalid UTF-8", "\x00\xff\n", 0, []line{{1, 0, "\x00\xff\n", "\x00\xff", 3, true}}},
		{
			"longer than the first buffer", long + "\nb\n", 0,
			[]line{{1, 0, long + "\n", long, 200_001, true}, {2, 200_001, "b\n", "b", 2, true}},
		},
		{"at the limit", "abc\nd\n", 3, []line{{1, 0, "abc\n", "abc", 4, true}, {2, 4, "d\n", "d", 2, true}}},
		{"at the limit without line feed", "abc", 3, []line{{1, 0, "abc", "abc", 3, false}}},
		{"over the limit", "abcd\ne\n", 3, []line{{1, 0, "abc", "abc", 5, true}, {2, 5, "e\n", "e", 2, true}}},
		{"over the limit without line feed", "abcd", 3, []line{{1, 0, "abc", "abc", 4, false}}},
		{"over the limit: carriage return at its end", "abc\r\n", 3, []line{{1, 0, "abc", "abc", 5, true}}},
		{"over the limit: byte order mark", "\ufeffabcd\n", 5, []line{{1, 0, "\ufeffab", "ab", 8, true}}},
		{
			"over the limit: the first 1 KiB is kept", long + "\nb\n", 150_000,
			[]line{{1, 0, long[:1024], long[:1024], 200_001, true}, {2, 200_001, "b\n", "b", 2, true}},
		},
		{
			"over the limit twice", long + "\n" + long, 70_000,
			[]line{{1, 0, long[:1024], long[:1024], 200_001, true}, {2, 200_001, long[:1024], long[:1024], 200_000, false}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, split([]byte(test.data), test.limit)); diff != "" {
				t.Errorf("the oracle (-want +got):\n%s", diff)
			}
			for how, src := range sources([]byte(test.data)) {
				got, err := readAll(NewReader(src, test.limit))
				if err != nil {
					t.Errorf("%s: %v", how, err)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", how, diff)
				}
			}
		})
	}
}

func TestReaderIsAtTheEndForGood(t *testing.T) {
	r := NewReader(strings.NewReader("a\n"), 0)
	if _, err := readAll(r); err != nil {
		t.Fatal(err)
	}
	if l, err := r.Next(); err != io.EOF {
		t.Errorf("Next = %+v, %v, want EOF again", l, err)
	}
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		name, data string
		limit      int
		want       []string
	}{
		{"at once", "", 0, nil},
		{"after a line", "a\n", 0, []string{"a\n"}},
		{"inside a line, which is dropped", "a\nb\nc", 0, []string{"a\n", "b\n"}},
		{"inside a line over the limit", "a\nlonger", 3, []string{"a\n"}},
		{"after a line over the limit", "longer\na\nb", 3, []string{"lon", "a\n"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for how, src := range map[string]io.Reader{
				"after the data":            io.MultiReader(strings.NewReader(test.data), iotest.ErrReader(broken)),
				"with the last of it":       iotest.DataErrReader(io.MultiReader(strings.NewReader(test.data), iotest.ErrReader(broken))),
				"after it, byte by byte":    iotest.OneByteReader(io.MultiReader(strings.NewReader(test.data), iotest.ErrReader(broken))),
				"after it, with a time-out": io.MultiReader(strings.NewReader(test.data), iotest.TimeoutReader(iotest.ErrReader(broken))),
			} {
				r := NewReader(src, test.limit)
				lines, err := readAll(r)
				var got []string
				for _, l := range lines {
					got = append(got, l.Raw)
				}
				if err != broken {
					t.Errorf("%s: error = %v, want the reader's own", how, err)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", how, diff)
				}
				if _, err := r.Next(); err != broken {
					t.Errorf("%s: then %v, want the same error again", how, err)
				}
			}
		})
	}
}

// nothing reads no bytes and no error, again and again.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, nil }

func TestReaderGivesUpOnNothing(t *testing.T) {
	if _, err := NewReader(nothing{}, 0).Next(); err != io.ErrNoProgress {
		t.Errorf("error = %v, want %v", err, io.ErrNoProgress)
	}
}

// counted counts how much was read.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

func TestReaderReadsNoFurtherThanNeeded(t *testing.T) {
	src := &counted{Reader: strings.NewReader(strings.Repeat("0123456789abcde\n", 1<<20))}
	r := NewReader(src, 0)
	for range 1000 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if src.n > 16_000+chunkSize {
		t.Errorf("read %d bytes for 16000", src.n)
	}
}

func TestBufferFollowsTheLines(t *testing.T) {
	giant := strings.Repeat("x", 20<<20) + "\n"
	data := "a\n" + giant + strings.Repeat("small\n", 1000) + giant
	for how, src := range map[string]io.Reader{"whole": strings.NewReader(data), "halves": iotest.HalfReader(strings.NewReader(data))} {
		r := NewReader(src, 0)
		first, largest, last := 0, 0, 0
		for number := 1; number <= 1002; number++ {
			l, err := r.Next()
			if err != nil || l.Number != number {
				t.Fatalf("%s: line %d, %v, want line %d", how, l.Number, err, number)
			}
			if number == 1 {
				first = len(r.buf)
			}
			largest, last = max(largest, len(r.buf)), len(r.buf)
		}
		if first != chunkSize || largest < len(giant) || largest > 2*len(giant) || last > keepSize {
			t.Errorf("%s: the buffer is %d at first, %d at most, %d at last", how, first, largest, last)
		}
		if l, err := r.Next(); err != nil || string(l.Raw) != giant {
			t.Errorf("%s: the last line is %d bytes, %v", how, len(l.Raw), err)
		}
	}
}

func TestLargeLinesShareABuffer(t *testing.T) {
	data := strings.Repeat(strings.Repeat("x", 2<<20)+"\n"+strings.Repeat("small\n", 20), 20)
	r := NewReader(strings.NewReader(data), 0)
	sizes := map[int]bool{}
	for {
		l, err := r.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if l.Number > 1 {
			sizes[len(r.buf)] = true
		}
	}
	if len(sizes) != 1 {
		t.Errorf("the buffer had sizes %v, want one", sizes)
	}
}

func TestLongLinesAreNotHeld(t *testing.T) {
	const limit = 100_000
	data := strings.Repeat("x", 50<<20) + "\nb\n"
	r := NewReader(strings.NewReader(data), limit)
	l, err := r.Next()
	if err != nil || !l.TooLong() || l.Size != 50<<20+1 || len(l.Raw) != prefixSize {
		t.Fatalf("line of %d bytes, %d kept, %v", l.Size, len(l.Raw), err)
	}
	if len(r.buf) > limit+chunkSize {
		t.Errorf("the buffer grew to %d for a limit of %d", len(r.buf), limit)
	}
	if l, err = r.Next(); err != nil || string(l.Raw) != "b\n" || l.Offset != 50<<20+1 {
		t.Errorf("then %q at %d, %v", l.Raw, l.Offset, err)
	}
}

// A line over a large limit takes little more memory than the limit, garbage included, one below it little more than twice
// its length.
func TestLongLinesTakeLittleMoreThanTheirLength(t *testing.T) {
	const limit = 32 << 20
	for _, test := range []struct {
		name         string
		length, most int
	}{
		{"over the limit", 2 * limit, limit + 4<<20},
		{"as long as the limit", limit, 2*limit + 12<<20},
		{"a little over half of it", limit/2 + 1, limit + 12<<20},
	} {
		t.Run(test.name, func(t *testing.T) {
			data := "a\n" + strings.Repeat("x", test.length) + "\nb\n"
			r := NewReader(strings.NewReader(data), limit)
			defer r.Close()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range 3 {
				if _, err := r.Next(); err != nil {
					t.Fatal(err)
				}
			}
			runtime.ReadMemStats(&after)
			if took := int(after.TotalAlloc - before.TotalAlloc); took > test.most {
				t.Errorf("a line of %d bytes took %d, want at most %d", test.length, took, test.most)
			}
		})
	}
}

func TestLine(t *testing.T) {
	for _, test := range []struct {
		name, data     string
		blank, tooLong bool
	}{
		{"text", "a\n", false, false},
		{"nothing", "\n", true, false},
		{"white space", " \t\r\n", true, false},
		{"byte order mark only", "\ufeff\n", true, false},
		{"too long", "abcdefghij\n", false, true},
		{"too long, though blank", "          \n", false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := NewReader(strings.NewReader(test.data), 8).Next()
			if err != nil {
				t.Fatal(err)
			}
			if l.Blank() != test.blank || l.TooLong() != test.tooLong {
				t.Errorf("blank %t, too long %t, want %t, %t", l.Blank(), l.TooLong(), test.blank, test.tooLong)
			}
		})
	}
}

func TestClone(t *testing.T) {
	r := NewReader(strings.NewReader("\ufeffabc\r\nsecond line\n"), 0)
	l, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	kept := l.Clone()
	clear(r.buf)
	if string(kept.Raw) != "\ufeffabc\r\n" || string(kept.Data) != "abc" {
		t.Errorf("the clone changed with the buffer: %q, %q", kept.Raw, kept.Data)
	}
}

func TestRawCannotGrowIntoTheNextLine(t *testing.T) {
	r := NewReader(strings.NewReader("a\r\nb\n"), 0)
	l, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = append(l.Raw, '!'), append(l.Data, '!')
	if string(l.Raw) != "a\r\n" {
		t.Errorf("Raw changed to %q when Data was appended to", l.Raw)
	}
	if l, err = r.Next(); err != nil || string(l.Raw) != "b\n" {
		t.Errorf("the next line is %q, %v", l.Raw, err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nb\r\n\n\r\nlast"), 0, uint64(1), 3)
	f.Add([]byte("\ufeff{}\n\xff\x00\n"), 2, uint64(2), 1)
	f.Add([]byte("abcdefghij\nk\nlmnopqrst"), 4, uint64(3), 2)
	f.Add(bytes.Repeat([]byte("0123456789\r\n"), 20), 10, uint64(4), 5)
	f.Fuzz(func(t *testing.T, data []byte, limit int, seed uint64, most int) {
		src := &odd{data, rand.New(rand.NewPCG(seed, 0)), 1 + max(0, most)%200_000}
		check(t, data, limit, src)
	})
}

// TestReaderOnRandomText meets lines longer than the buffer, which fuzzing seldom does.
func TestReaderOnRandomText(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 60 {
		var data []byte
		for range random.IntN(40) {
			size := random.IntN(200)
			if random.IntN(4) == 0 {
				size = random.IntN(400_000)
			}
			if random.IntN(40) == 0 {
				size = random.IntN(6_000_000) // put together from pieces
			}
			data = append(data, bytes.Repeat([]byte{byte('a' + random.IntN(26))}, size)...)
			data = append(data, []string{"\n", "\r\n", "\n\n"}[random.IntN(3)]...)
		}
		limit := []int{0, 1, 100, 50_000, chunkSize - 1, chunkSize, chunkSize + 1, 300_000, 3_000_000}[n%9]
		for how, src := range sources(data) {
			if how != "byte by byte" && how != "odd small chunks" || len(data) < 500_000 {
				t.Run(fmt.Sprintf("%d %s", n, how), func(t *testing.T) { check(t, data, limit, src) })
			}
		}
	}
}

// check compares what a Reader makes of data with the oracle, and holds the lines together again.
func check(t *testing.T, data []byte, limit int, src io.Reader) {
	t.Helper()
	got, err := readAll(NewReader(src, limit))
	if err != nil {
		t.Fatal(err)
	}
	want := split(data, limit)
	if len(got) != len(want) {
		t.Fatalf("%d lines, want %d", len(got), len(want))
	}
	end := int64(0)
	for i, l := range got {
		if l != want[i] {
			t.Fatalf("line %d: number %d, offset %d, %d bytes of %d, data %d, terminated %t; want %d, %d, %d of %d, %d, %t", i+1,
				l.Number, l.Offset, len(l.Raw), l.Size, len(l.Data), l.Terminated, want[i].Number, want[i].Offset,
				len(want[i].Raw), want[i].Size, len(want[i].Data), want[i].Terminated)
		}
		whole := string(data[l.Offset : l.Offset+l.Size])
		if l.Offset != end || !strings.HasPrefix(whole, l.Raw) || int64(len(l.Raw)) == l.Size && l.Raw != whole {
			t.Fatalf("line %d is not what stands at its offset %d", i+1, l.Offset)
		}
		end += l.Size
	}
	if end != int64(len(data)) {
		t.Fatalf("the lines have %d bytes, the stream %d", end, len(data))
	}
}

func BenchmarkReader(b *testing.B) {
	for _, size := range []int{100, 1_200, 16_000, 200_000, 4 << 20} {
		b.Run(fmt.Sprintf("%d", size), func(b *testing.B) {
			data := bytes.Repeat(append(bytes.Repeat([]byte{'x'}, size), '\n'), max(1, 16<<20/size))
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				r := NewReader(bytes.NewReader(data), 0)
				for {
					if _, err := r.Next(); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
