package waterfall

import (
	"bytes"
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

func TestOptionsFor(t *testing.T) {
	tests := []struct {
		name    string
		environ []string
		want    Options
	}{
		{"pipe", []string{"TERM=xterm-256color", "LANG=en_US.UTF-8"}, Options{}},
		{"nothing known", nil, Options{}},
		{"columns", []string{"COLUMNS=90"}, Options{Width: 90}},
		{"columns that are none", []string{"COLUMNS=wide"}, Options{}},
		{"colours forced", []string{"TERM=xterm-256color", "CLICOLOR_FORCE=1"}, Options{Color: true}},
		{"forced and forbidden", []string{"TERM=xterm-256color", "CLICOLOR_FORCE=1", "NO_COLOR=yes"}, Options{}},
		{"dumb", []string{"TERM=dumb", "LANG=en_US.UTF-8"}, Options{ASCII: true}},
		{"locale without UTF-8", []string{"LANG=en_US.UTF-8", "LC_ALL=C"}, Options{ASCII: true}},
		{"locale with", []string{"LANG=C", "LC_CTYPE=de_DE.utf8"}, Options{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := OptionsFor(&bytes.Buffer{}, tt.environ); got != tt.want {
				t.Errorf("OptionsFor = %+v, want %+v", got, tt.want)
			}
		})
	}
}
