package archive

import (
	"time"

	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
)

// Shifted is a sink that holds the spans of one trace back and then moves all of them by one distance, so that the last
// one ends at a given time.
type Shifted struct{ held holder }

// maxAttributes is the limit of a span.
const maxAttributes = 128

// Start takes a span.
func (s *Shifted) Start(span *projection.Span) { s.held.Start(span) }

// End takes a complete span.
func (s *Shifted) End(span *projection.Span) { s.held.End(span) }

// Release gives the sink the spans, moved so that the last end is at now. Their own times stay as attributes.
func (s *Shifted) Release(to projection.Sink, now time.Time) {
	var last time.Time
	for _, span := range s.held.started {
		last = later(last, later(span.Start, span.End))
	}
	by := now.Sub(last)
	for _, span := range s.held.started {
		if room := maxAttributes - 2; len(span.Attributes) > room {
			span.DroppedAttributes += uint32(len(span.Attributes) - room)
			span.Attributes = span.Attributes[:room]
		}
		span.Attributes = append(span.Attributes, names.OriginalStart.String(span.Start.Format(time.RFC3339Nano)))
		if !span.End.IsZero() {
			span.Attributes = append(span.Attributes, names.OriginalEnd.String(span.End.Format(time.RFC3339Nano)))
			span.End = span.End.Add(by)
		}
		span.Start = span.Start.Add(by)
		for i := range span.Events {
			span.Events[i].Time = span.Events[i].Time.Add(by)
		}
	}
	s.held.release(to, func(*projection.Span) bool { return true })
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
