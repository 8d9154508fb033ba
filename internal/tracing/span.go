package tracing

import (
	"context"

	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/trace"
)

// Key names a span as the projection does.
type Key struct {
	Trace trace.TraceID
	Span  trace.SpanID
}

// KeyOf returns the key of a span.
func KeyOf(s *projection.Span) Key { return Key{s.TraceID, s.SpanID} }

// Span is a span of a projection that has started in a tracer.
type Span struct {
	trace.Span
	firm int // the attributes that it started with, which stay what they are
}

// Start starts a span, under the one that ctx carries. Context returns the contexts of the spans that it links to; further links
// may follow them.
func Start(ctx context.Context, tracer trace.Tracer, s *projection.Span, contextOf func(Key) trace.SpanContext, more ...trace.Link) Span {
	links := make([]trace.Link, 0, len(s.Links)+len(more))
	for _, l := range s.Links {
		links = append(links, trace.Link{SpanContext: contextOf(Key{l.TraceID, l.SpanID}), Attributes: l.Attributes})
	}
	_, span := tracer.Start(ctx, s.Name, trace.WithTimestamp(s.Start), trace.WithSpanKind(s.Kind),
		trace.WithAttributes(s.Attributes...), trace.WithLinks(append(links, more...)...))
	return Span{span, firmAttributes(s)}
}

// firmAttributes counts the attributes of a span that has started; the count of texts that were cut comes last and goes on.
func firmAttributes(s *projection.Span) int {
	n := len(s.Attributes)
	if n > 0 && s.Attributes[n-1].Key == names.Truncated {
		n--
	}
	return n
}

// Complete ends the span as the projection has ended it.
func (o Span) Complete(s *projection.Span) {
	if o.IsRecording() {
		o.SetAttributes(s.Attributes[o.firm:]...)
		for _, e := range s.Events {
			o.AddEvent(e.Name, trace.WithTimestamp(e.Time), trace.WithAttributes(e.Attributes...))
		}
		o.SetStatus(s.Status.Code, s.Status.Description)
	}
	o.End(trace.WithTimestamp(s.End))
}

// Elsewhere is the context of a span that is not at hand: it has the ids that it has wherever it is sent as it is. That another process may have
// sent it is not said, since a replay could not say so, and the two would not be equal.
func Elsewhere(k Key, flags trace.TraceFlags) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: k.Trace, SpanID: k.Span, TraceFlags: flags})
}
