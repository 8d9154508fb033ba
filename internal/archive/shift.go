package archive

import (
	"time"

	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
)

// shifted returns the options with other ids if traces are to be moved in time: a backend keeps the first copy of a span that
// it sees.
func (o Options) shifted() Options {
	if o.Shift {
		o.Now = o.now()
		o.Projection.Salt += "\x00shifted to " + o.Now.UTC().Format(time.RFC3339Nano)
	}
	return o
}

// shifted is a sink that holds the spans of one trace back and then moves all of them by one distance, so that the last
// one ends at a given time.
type shifted struct{ holder }

// maxAttributes is the limit of a span.
const maxAttributes = 128

// release gives the sink the spans, moved so that the last end is at now. Their own times stay as attributes.
func (s *shifted) release(to projection.Sink, now time.Time) {
	var last time.Time
	for _, span := range s.started {
		last = later(last, later(span.Start, span.End))
	}
	by := now.Sub(last)
	for _, span := range s.started {
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
	s.holder.release(to, func(*projection.Span) bool { return true })
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
