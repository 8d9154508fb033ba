package terminal

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
)

// However text is cut before it comes to a writer, what comes out is what comes of it as a whole.
func TestWriterKeepsCharactersWhole(t *testing.T) {
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "%s %d é…日本\n", Look{Color: true}.Draw(Fail.Piece("●")), i)
	}
	text.WriteString("the last line, without an end …")
	plain := strings.NewReplacer("\x1b[31m", "", "\x1b[m", "").Replace(text.String())
	for _, environ := range []struct{ force, want string }{{"", plain}, {"1", text.String()}} {
		t.Setenv("CLICOLOR_FORCE", environ.force)
		t.Setenv("NO_COLOR", "")
		t.Setenv("TERM", "xterm-256color")
		for _, size := range []int{1, 3, 7, 1000, 4096, text.Len()} {
			var got bytes.Buffer
			w := NewWriter(&got, &got)
			for rest := text.String(); rest != ""; {
				n := min(size, len(rest))
				if _, err := w.WriteString(rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			if got.String() != environ.want {
				t.Errorf("in pieces of %d bytes, colours %q: %d bytes, want %d", size, environ.force, got.Len(), len(environ.want))
			}
		}
	}
}

// A writer that failed takes nothing more, and says so each time.
func TestWriterKeepsItsError(t *testing.T) {
	w := NewWriter(iotest.TruncateWriter(failing{}, 1), &bytes.Buffer{})
	if _, err := w.WriteString("a line\n"); err != nil {
		t.Fatalf("it was written at once: %v", err)
	}
	first := w.Flush()
	_, again := w.WriteString("more\n")
	if first != errFull || again != first || w.Flush() != first {
		t.Errorf("%v, then %v, then %v", first, again, w.Flush())
	}
}

var errFull = fmt.Errorf("the disk is full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }
