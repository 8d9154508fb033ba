package replay

import (
	"context"
	"maps"

	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/tracing"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Spans are the spans of a session that a tracer was given, with the contexts that the tracer gave them.
type Spans struct {
	contexts map[tracing.Key]trace.SpanContext
	entries  map[string]trace.SpanContext
	sent     map[tracing.Key]bool         // those that have ended
	live     map[tracing.Key]tracing.Span // those that have not
	ended    int
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

// tracerSink gives the spans of a projection to a tracer.
type tracerSink struct {
	ctx    context.Context
	tracer trace.Tracer
	spans  *Spans
}

func newTracerSink(ctx context.Context, tracer trace.Tracer, known *Spans) *tracerSink {
	t := &tracerSink{
		ctx: ctx, tracer: tracer,
		spans: &Spans{
			contexts: map[tracing.Key]trace.SpanContext{}, entries: map[string]trace.SpanContext{}, sent: map[tracing.Key]bool{},
			live: map[tracing.Key]tracing.Span{},
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
func (t *tracerSink) Start(s *projection.Span) {
	key := tracing.KeyOf(s)
	if t.spans.sent[key] || t.spans.live[key].Span != nil {
		return
	}
	ctx := t.ctx
	if parent, ok := t.spans.contexts[tracing.Key{Trace: s.TraceID, Span: s.Parent}]; ok {
		ctx = trace.ContextWithSpanContext(ctx, parent)
	}
	span := tracing.Start(ctx, t.tracer, s, t.contextOf)
	t.spans.live[key] = span
	t.spans.contexts[key] = span.SpanContext()
	if id := entryOf(s); id != "" {
		if _, have := t.spans.entries[id]; !have {
			t.spans.entries[id] = span.SpanContext()
		}
	}
}

// contextOf returns the context that a span has got. One that the tracer was not given, of another session, has the ids that it
// has wherever it is sent as it is.
func (t *tracerSink) contextOf(k tracing.Key) trace.SpanContext {
	if c, ok := t.spans.contexts[k]; ok {
		return c
	}
	return tracing.Elsewhere(k, trace.FlagsSampled)
}

// End completes a span.
func (t *tracerSink) End(s *projection.Span) {
	key := tracing.KeyOf(s)
	span := t.spans.live[key]
	if span.Span == nil {
		return
	}
	delete(t.spans.live, key)
	t.spans.sent[key] = true
	t.spans.ended++
	span.Complete(s)
}

func entryOf(s *projection.Span) string {
	for _, a := range s.Attributes {
		if a.Key == names.EntryID && a.Value.Type() == attribute.STRING {
			return a.Value.AsString()
		}
	}
	return ""
}
