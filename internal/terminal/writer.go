package terminal

import (
	"bytes"
	"io"
	"os"

	"github.com/charmbracelet/colorprofile"
)

// Writer writes text to what can show some of it: it takes out the escape sequences that are too much. What takes them out
// looks at each piece by itself, and drops what is cut within a character or a sequence, so it gets whole lines only. The
// rest waits for its line to end, or for [Writer.Flush]. It keeps its first error.
type Writer struct {
	to    io.Writer
	held  []byte
	whole int // bytes of held that are whole lines
	err   error
}

// handOn is how many bytes wait at least, so that not each line is written by itself.
const handOn = 4 << 10

// NewWriter returns a writer to w, of text that suits what out is: w itself, or what w stands before.
func NewWriter(w, out io.Writer) *Writer {
	return &Writer{to: &colorprofile.Writer{Forward: w, Profile: colorprofile.Detect(out, os.Environ())}}
}

// Write takes text.
func (w *Writer) Write(text []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	if end := bytes.LastIndexByte(text, '\n'); end >= 0 {
		w.whole = len(w.held) + end + 1
	}
	w.held = append(w.held, text...)
	if w.whole >= handOn {
		w.pass(w.whole)
	}
	return len(text), w.err
}

// WriteString takes text.
func (w *Writer) WriteString(text string) (int, error) { return w.Write([]byte(text)) }

// Flush writes what waits.
func (w *Writer) Flush() error {
	if w.err == nil && len(w.held) > 0 {
		w.pass(len(w.held))
	}
	return w.err
}

func (w *Writer) pass(n int) {
	_, w.err = w.to.Write(w.held[:n])
	w.held = append(w.held[:0], w.held[n:]...)
	w.whole = 0
}
