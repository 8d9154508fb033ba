package waterfall

import (
	"errors"
	"io"
	"testing"

	"github.com/sessionspan/sessionspan/internal/projection"
)

var _ projection.Sink = (*Collector)(nil)

func TestCollectorLen(t *testing.T) {
	st := newStory()
	root := st.root()
	st.run(root, 0, stillOpen)
	if all, open := st.collector().Len(); all != 2 || open != 1 {
		t.Errorf("Len() = %d, %d; want 2, 1", all, open)
	}
}

// A span that two files hold is drawn once: the copy that has ended, and of two of those the first.
func TestCollectorKeepsOneCopy(t *testing.T) {
	st, c := newStory(), &Collector{}
	copyOf := func(name string, ended bool) *projection.Span {
		sp := &projection.Span{SpanID: spanID(1), Type: projection.TypeTool, Name: name, Start: st.start}
		if ended {
			sp.End = st.start.Add(s)
		}
		return sp
	}
	for _, sp := range []*projection.Span{
		copyOf("open", false), copyOf("first", true), copyOf("second", true), copyOf("late", false),
	} {
		c.Start(sp)
		if !sp.End.IsZero() {
			c.End(sp)
		}
	}
	var names []string
	for _, sp := range c.spans {
		names = append(names, sp.Name)
	}
	if len(names) != 1 || names[0] != "first" {
		t.Errorf("kept %q, want the first that ended", names)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestDrawReturnsErrorOfWriter(t *testing.T) {
	for _, st := range []*story{simple(), hundreds()} { // less and more than a buffer
		if err := st.Draw(brokenPipe{}, Options{}); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Draw to a closed pipe: %v", err)
		}
	}
}
