package main

import (
	"io"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/schollz/progressbar/v3"
)

// progressDelay is how long work may take before a bar is shown: what is over sooner needs none.
const progressDelay = 300 * time.Millisecond

// progress shows on a terminal how far a piece of work has come; anywhere else it shows nothing. It may be used from
// several goroutines.
type progress struct{ bar *progressbar.ProgressBar }

// newProgress begins to show the progress of reading that many bytes on w.
func newProgress(w io.Writer, what string, bytes int64) *progress {
	if !isTerminal(w) || bytes <= 0 {
		return &progress{}
	}
	return &progress{progressbar.NewOptions64(bytes,
		progressbar.OptionSetWriter(&lateWriter{w, time.Now().Add(progressDelay)}),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(true),
		progressbar.OptionShowTotalBytes(true),
		progressbar.OptionSetWidth(20),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

// add says that so many bytes more were read.
func (p *progress) add(bytes int64) {
	if p.bar != nil {
		_ = p.bar.Add64(bytes) // a bar that cannot be drawn keeps nothing from being read
	}
}

// end takes the bar away.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// lateWriter drops what is written too early.
type lateWriter struct {
	w     io.Writer
	after time.Time
}

func (l *lateWriter) Write(b []byte) (int, error) {
	if time.Now().Before(l.after) {
		return len(b), nil
	}
	return l.w.Write(b)
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(term.File)
	return ok && term.IsTerminal(f.Fd())
}
