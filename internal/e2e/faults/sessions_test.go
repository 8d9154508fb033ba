package faults

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/internal/sessiontest"
)

// session is a session file as it is to be in the end.
type session struct {
	path string
	size int64
	// header is how long the header of a session is that a call spawned, else 0. It is there from the start: without it nobody could tell
	// the trace of what such a session spawns itself.
	header int64
}

// makeSessions writes sessions of about so many bytes in all below a folder: some of every kind, and long ones as real ones are.
func makeSessions(t testing.TB, r *rand.Rand, dir string, size int64) (list []session) {
	t.Helper()
	add := func(header int64, write func(*bufio.Writer) error) {
		one := session{path: filepath.Join(dir, fmt.Sprintf("%05d.jsonl", len(list))), header: header}
		out, err := os.Create(one.path)
		if err != nil {
			t.Fatal(err)
		}
		w := bufio.NewWriterSize(out, 1<<20)
		if err := errors.Join(write(w), w.Flush(), out.Close()); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(one.path)
		if err != nil {
			t.Fatal(err)
		}
		one.size = info.Size()
		list = append(list, one)
	}
	for range 16 {
		o := sessiontest.All(r)
		o.Entries, o.Minor, o.Silences, o.Spellings = min(o.Entries, 60), min(o.Minor, 4), false, false
		for _, f := range sessiontest.Random(r, o).Files {
			data := later(f.Data)
			header := int64(0)
			if f.ParentSession != "" {
				header = int64(bytes.IndexByte(data, '\n')) + 1
			}
			add(header, func(w *bufio.Writer) error {
				_, err := w.Write(data)
				return err
			})
		}
	}
	const usual = 2 << 20
	for left := size; left > 0; {
		n := min(left, int64(min(float64(size)/4, usual*math.Exp(r.NormFloat64()))))
		left -= n
		add(0, func(w *bufio.Writer) error {
			_, err := sessiontest.Realistic(sameHead{w}, r, n)
			return err
		})
	}
	return list
}

// later puts the times of entries a hundred years on. What lies in the past is taken to have ended when its file is silent, and a replay and
// a Collector that was started anew do not agree on when a file is that.
func later(lines []byte) []byte {
	for _, name := range []string{"created_at", "ts"} {
		was := fmt.Sprintf(`"%s":"20`, name)
		lines = bytes.ReplaceAll(lines, []byte(was), []byte(strings.Replace(was, "20", "21", 1)))
	}
	return lines
}

// sameHead is a writer of sessions that all begin with the same bytes, more than what a file is known by.
type sameHead struct{ to *bufio.Writer }

// Write takes a line.
func (s sameHead) Write(line []byte) (int, error) {
	text := later(line)
	if bytes.HasPrefix(text, []byte(`{"type":"session",`)) {
		text = fmt.Appendf(nil, `{"notes":"%s",%s`, strings.Repeat("the same for all ", 200), text[1:])
	}
	_, err := s.to.Write(text)
	return len(line), err
}
