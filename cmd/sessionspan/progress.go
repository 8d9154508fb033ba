package main

import (
	"io"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// progressDelay is how long work may take before a bar is shown: what is over sooner needs none.
const progressDelay = 300 * time.Millisecond

// progress shows on a terminal how far a piece of work has come; anywhere else it shows nothing. It may be used from
// several goroutines.
type progress struct {
	bar    *progressbar.ProgressBar // nil for none
	screen *screen
}

// newProgress begins to show on w the progress of reading files.
func newProgress(w io.Writer, what string, paths []string) *progress {
	if !terminal.Is(w) {
		return &progress{}
	}
	var bytes int64
	for _, path := range paths {
		bytes += input.Size(path)
	}
	if bytes == 0 {
		return &progress{}
	}
	s := &screen{w: w, after: time.Now().Add(progressDelay)}
	// One byte more than there are: when all is read, it may still have to be sent, and a bar that is full is over.
	return &progress{progressbar.NewOptions64(bytes+1,
		progressbar.OptionSetWriter(s),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(true),
		progressbar.OptionShowTotalBytes(true),
		progressbar.OptionSetWidth(20),
		progressbar.OptionThrottle(100*time.Millisecond),
	), s}
}

// add says that so many bytes more were read.
func (p *progress) add(bytes int64) {
	if p.bar != nil {
		_ = p.bar.Add64(bytes) // a bar that cannot be drawn keeps nothing from being read
	}
}

// say has the bar say something else in front.
func (p *progress) say(what string) {
	if p.bar != nil {
		p.bar.Describe(what)
	}
}

// end takes the bar away for good.
func (p *progress) end() {
	if p.bar != nil {
		p.screen.end()
	}
}

// beside returns what text is to be written to that goes to w while the bar may stand on the same terminal.
func (p *progress) beside(w io.Writer) io.Writer {
	if p.bar == nil || !terminal.Is(w) {
		return w
	}
	return &besideBar{p.screen, w}
}

// screen is the terminal that a bar is drawn on. The bar gives way to text, and comes back with its next step once the
// line of the text has ended.
type screen struct {
	mu     sync.Mutex
	w      io.Writer
	after  time.Time // the bar is not drawn before
	width  int       // of the bar as it stands there; 0: it does not
	inLine bool      // text was written that has not ended its line
	ended  bool
}

// Write draws the bar.
func (s *screen) Write(bar []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inLine || s.ended || time.Now().Before(s.after) {
		return len(bar), nil
	}
	s.width = max(s.width, terminal.Width(strings.ReplaceAll(string(bar), "\r", "")))
	return s.w.Write(bar)
}

func (s *screen) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	s.ended = true
}

// clear takes the bar away.
func (s *screen) clear() {
	if s.width > 0 {
		_, _ = io.WriteString(s.w, "\r"+strings.Repeat(" ", s.width)+"\r")
		s.width = 0
	}
}

// besideBar writes text to the terminal of a bar.
type besideBar struct {
	screen *screen
	w      io.Writer
}

func (b *besideBar) Write(text []byte) (int, error) {
	s := b.screen
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	n, err := b.w.Write(text)
	if n > 0 {
		s.inLine = text[n-1] != '\n'
	}
	return n, err
}
