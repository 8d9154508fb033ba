package archive

import (
	"slices"
	"time"

	"github.com/sessionspan/sessionspan/internal/projection"
)

// Selection chooses which spans of a session are wanted. The zero value wants all. The mark of the session is among them, so
// that a trace has its root, unless nothing of the session lies within the bounds of time, its mark included.
type Selection struct {
	// Leaf is the id of an entry, or the beginning of the id of one in each session: spans on the path to it are wanted.
	Leaf string
	// Current: spans on the path to the session's leaf are wanted.
	Current bool
	// Since and Until bound the time: a span is wanted if some of it lies in between. Zero is no bound.
	Since, Until time.Time
}

// active reports whether anything is chosen.
func (s Selection) active() bool {
	return s.Leaf != "" || s.Current || !s.Since.IsZero() || !s.Until.IsZero()
}

// filter returns what tells whether a span is wanted, once the file has been read, and whether the file has the entry that
// is named: if not, nothing in it is wanted.
func (s Selection) filter(p *projection.Projector) (wanted func(*projection.Span) bool, ok bool) {
	onPath := func(*projection.Span) bool { return true }
	switch {
	case s.Leaf != "":
		if onPath, ok = p.OnPath(s.Leaf); !ok {
			return func(*projection.Span) bool { return false }, false
		}
	case s.Current:
		onPath = p.OnLeaf()
	}
	return func(span *projection.Span) bool {
		return span.Type == projection.TypeSession || onPath(span) && s.inTime(span)
	}, true
}

// outside reports whether the bounds of time leave nothing of a session, of whose spans want tells which are wanted.
func (s Selection) outside(spans []*projection.Span, want func(*projection.Span) bool) bool {
	if s.Since.IsZero() && s.Until.IsZero() {
		return false
	}
	return !slices.ContainsFunc(spans, func(span *projection.Span) bool {
		if span.Type == projection.TypeSession {
			return s.inTime(span)
		}
		return want(span)
	})
}

func (s Selection) inTime(span *projection.Span) bool {
	if !s.Until.IsZero() && !span.Start.Before(s.Until) {
		return false
	}
	return s.Since.IsZero() || span.End.IsZero() || !span.End.Before(s.Since)
}
