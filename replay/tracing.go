package replay

import (
	"context"
	"maps"

	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Spans are the spans of a session that a tracer was given, with the contexts that the tracer gave them.
type Spans struct {
	contexts map[spanKey]trace.SpanContext
	entries  map[string]trace.SpanContext
	sent     map[spanKey]bool      // those that have ended
	live     map[spanKey]*liveSpan // those that have not
	ended    int
}

// spanKey names a span as the projection does.
type spanKey struct {
	trace trace.TraceID
	span  trace.SpanID
}

// Entry returns the context of the span that an entry stands behind: the run that it starts, the model call that it completes,
// the hand-off of a call. Of several it is the first.
func (s *Spans) Entry(id string) (trace.SpanContext, bool) {
	c, ok := s.entries[id]
	return c, ok
}

// Ended returns how many spans this replay has ended.
func (s *Spans) Ended() int { return s.ended }

// Open returns how many spans were started, by this replay or one before it, and are left open, since the session has no end for
// them. A later replay that is told of them ([WithKnown]) ends them.
func (s *Spans) Open() int { return len(s.live) }

// tracing gives the spans of a projection to a tracer.
type tracing struct {
	ctx    context.Context
	tracer trace.Tracer
	spans  *Spans
}

// liveSpan is a span that has started.
type liveSpan struct {
	trace.Span
	attributes int // that it started with, and that stay what they are
}

// firmAttributes counts the attributes of a span that has started; the count of texts that were cut comes last and goes on.
func firmAttributes(s *projection.Span) int {
	n := len(s.Attributes)
	if n > 0 && s.Attributes[n-1].Key == names.Truncated {
		n--
	}
	return n
}

func newTracing(ctx context.Context, tracer trace.Tracer, known *Spans) *tracing {
	t := &tracing{
		ctx: ctx, tracer: tracer,
		spans: &Spans{
			contexts: map[spanKey]trace.SpanContext{}, entries: map[string]trace.SpanContext{}, sent: map[spanKey]bool{},
			live: map[spanKey]*liveSpan{},
		},
	}
	if known != nil {
		maps.Copy(t.spans.contexts, known.contexts)
		maps.Copy(t.spans.entries, known.entries)
		maps.Copy(t.spans.sent, known.sent)
		maps.Copy(t.spans.live, known.live)
	}
	return t
}

// Start starts a span, unless an earlier replay has.
func (t *tracing) Start(s *projection.Span) {
	key := spanKey{s.TraceID, s.SpanID}
	if t.spans.sent[key] || t.spans.live[key] != nil {
		return
	}
	ctx := t.ctx
	if parent, ok := t.spans.contexts[spanKey{s.TraceID, s.Parent}]; ok {
		ctx = trace.ContextWithSpanContext(ctx, parent)
	}
	links := make([]trace.Link, len(s.Links))
	for i, l := range s.Links {
		links[i] = trace.Link{SpanContext: t.contextOf(spanKey{l.TraceID, l.SpanID}), Attributes: l.Attributes}
	}
	_, span := t.tracer.Start(ctx, s.Name, trace.WithTimestamp(s.Start), trace.WithSpanKind(s.Kind),
		trace.WithAttributes(s.Attributes...), trace.WithLinks(links...))
	t.spans.live[key] = &liveSpan{span, firmAttributes(s)}
	t.spans.contexts[key] = span.SpanContext()
	if id := entryOf(s); id != "" {
		if _, have := t.spans.entries[id]; !have {
			t.spans.entries[id] = span.SpanContext()
		}
	}
}

// contextOf returns the context that a span has got. One that the tracer was not given, of another session, has the ids that it
// has wherever it is sent as it is.
func (t *tracing) contextOf(k spanKey) trace.SpanContext {
	if c, ok := t.spans.contexts[k]; ok {
		return c
	}
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: k.trace, SpanID: k.span, TraceFlags: trace.FlagsSampled, Remote: true})
}

// End completes a span.
func (t *tracing) End(s *projection.Span) {
	key := spanKey{s.TraceID, s.SpanID}
	span := t.spans.live[key]
	if span == nil {
		return
	}
	delete(t.spans.live, key)
	t.spans.sent[key] = true
	t.spans.ended++
	span.SetAttributes(s.Attributes[span.attributes:]...)
	for _, e := range s.Events {
		span.AddEvent(e.Name, trace.WithTimestamp(e.Time), trace.WithAttributes(e.Attributes...))
	}
	span.SetStatus(s.Status.Code, s.Status.Description)
	span.End(trace.WithTimestamp(s.End))
}

func entryOf(s *projection.Span) string {
	for _, a := range s.Attributes {
		if a.Key == names.EntryID && a.Value.Type() == attribute.STRING {
			return a.Value.AsString()
		}
	}
	return ""
}
