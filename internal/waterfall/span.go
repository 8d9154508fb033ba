package waterfall

import (
	"time"

	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/trace"
)

// span is what is kept of a span: what is drawn of it, which is a small part of its attributes.
type span struct {
	TraceID        trace.TraceID
	SpanID, Parent trace.SpanID
	Type           projection.Type
	Name           string
	Start, End     time.Time // End is zero while the span is open
	Session        *projection.Session
	Seq            uint32
	links          []reference // those with a hint
	facts          facts

	live *projection.Span // of an open span, which the projector still adds to
}

// reference is a link that is worth a word.
type reference struct {
	to   trace.SpanID
	kind string
}

func newSpan(s *projection.Span) *span {
	k := &span{
		TraceID: s.TraceID, SpanID: s.SpanID, Parent: s.Parent, Type: s.Type, Name: s.Name, Start: s.Start, End: s.End,
		Session: s.Session, Seq: s.Seq, facts: factsOf(s),
	}
	for _, l := range s.Links {
		if kind := linkKind(l); hints[kind] != "" {
			k.links = append(k.links, reference{l.SpanID, kind})
		}
	}
	if s.End.IsZero() {
		k.live = s
	}
	return k
}
