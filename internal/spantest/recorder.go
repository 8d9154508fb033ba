package spantest

import (
	"fmt"

	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/trace"
)

// Recorder is a sink that keeps spans, and what a sink may rely on that did not hold.
type Recorder struct {
	// Started and Ended hold the spans in the order in which they started and ended.
	Started, Ended []*projection.Span
	// Broken are the calls that a sink must not see.
	Broken []error
	// Lone: the session that spawned the one recorded is not among the spans.
	Lone bool
	open map[*projection.Span]fixed
}

// fixed is what is final when a span starts.
type fixed struct {
	trace        trace.TraceID
	span, parent trace.SpanID
	name         string
	links        int
	attributes   int
}

func fixedOf(s *projection.Span) fixed {
	return fixed{s.TraceID, s.SpanID, s.Parent, s.Name, len(s.Links), len(s.Attributes)}
}

// Start records that a span has started.
func (r *Recorder) Start(s *projection.Span) {
	if r.open == nil {
		r.open = map[*projection.Span]fixed{}
	}
	if _, twice := r.open[s]; twice {
		r.Broken = append(r.Broken, fmt.Errorf("%s started twice", s.Name))
	}
	r.open[s] = fixedOf(s)
	r.Started = append(r.Started, s)
}

// End records that a span has ended.
func (r *Recorder) End(s *projection.Span) {
	at, started := r.open[s]
	now := fixedOf(s)
	switch {
	case !started:
		r.Broken = append(r.Broken, fmt.Errorf("%s ended without having started", s.Name))
	case now.trace != at.trace || now.span != at.span || now.parent != at.parent || now.name != at.name || now.links != at.links:
		r.Broken = append(r.Broken, fmt.Errorf("%s changed after it had started: %v, then %v", s.Name, at, now))
	case now.attributes < at.attributes:
		r.Broken = append(r.Broken, fmt.Errorf("%s lost attributes after it had started", s.Name))
	}
	delete(r.open, s)
	r.Ended = append(r.Ended, s)
}

// Open returns how many spans have started and not ended.
func (r *Recorder) Open() int { return len(r.open) }
