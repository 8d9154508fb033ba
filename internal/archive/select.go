package archive

import (
	"fmt"
	"time"

	"github.com/sessionspan/sessionspan/internal/projection"
)

// Selection chooses which spans of a session are wanted. The zero value wants all. The mark of the session is always
// among them, so that a trace has its root.
type Selection struct {
	// Leaf is the id of an entry: spans on the path to it are wanted.
	Leaf string
	// Current: spans on the path to the session's leaf are wanted.
	Current bool
	// Since and Until bound the time: a span is wanted if some of it lies in between. Zero is no bound.
	Since, Until time.Time
}

// Active reports whether anything is chosen.
func (s Selection) Active() bool {
	return s.Leaf != "" || s.Current || !s.Since.IsZero() || !s.Until.IsZero()
}

// noLeafError: the entry that a selection names is not in the file.
type noLeafError struct{ id string }

func (e noLeafError) Error() string { return fmt.Sprintf("no entry has the id %q", e.id) }

// filter returns what tells whether a span is wanted, once the whole file has been read.
func (s Selection) filter(p *projection.Projector) (func(*projection.Span) bool, error) {
	onPath := func(*projection.Span) bool { return true }
	switch {
	case s.Leaf != "":
		on, ok := p.OnPath(s.Leaf)
		if !ok {
			return nil, noLeafError{s.Leaf}
		}
		onPath = on
	case s.Current:
		onPath = p.OnLeaf()
	}
	return func(span *projection.Span) bool {
		if span.Type == projection.TypeSession {
			return true
		}
		return onPath(span) && s.inTime(span)
	}, nil
}

func (s Selection) inTime(span *projection.Span) bool {
	if !s.Until.IsZero() && !span.Start.Before(s.Until) {
		return false
	}
	return s.Since.IsZero() || span.End.IsZero() || !span.End.Before(s.Since)
}
