package otelwrap

import (
	"context"

	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/tracing"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// begin starts a span in the tracer.
func (t *session) begin(s *projection.Span, key tracing.Key) tracing.Span {
	caller := trace.SpanContextFromContext(t.ctx)
	if s.Type == projection.TypeSession && !caller.IsValid() {
		caller = t.caller
	}
	ctx, parent := t.under(s, caller)
	span := tracing.Start(t.r.withWanted(ctx, key), t.r.tracer, s, t.contextOf, t.callerLink(s, caller)...)
	is := span.SpanContext()
	if is.IsValid() && is.SpanID() != parent { // else it is no span, but what a provider without an SDK hands on
		t.notice(is, key)
	}
	if t.r.random.Load() {
		if t.known == nil {
			t.known = map[tracing.Key]trace.SpanContext{}
		}
		t.known[key] = is
	}
	switch s.Type {
	case projection.TypeSession:
		mark := is
		t.mark.Store(&mark)
	case projection.TypeTool:
		t.r.putTool(key, is)
	}
	return span
}

// notice finds out whether the provider has our generator.
func (t *session) notice(is trace.SpanContext, key tracing.Key) {
	if is.SpanID() == key.Span {
		return
	}
	t.r.random.Store(true)
	t.r.noticed.Do(func() { t.errors = append(t.errors, ErrNoIDGenerator) })
}

// maxLinks is how many links a span of the SDK holds; of more it drops the first.
const maxLinks = 128

// callerLink leads from the first spans of the session's work to the one that the caller was in.
func (t *session) callerLink(s *projection.Span, caller trace.SpanContext) []trace.Link {
	first := s.Type == projection.TypeSession || s.Type == projection.TypeRun
	if !first || t.r.config.parent != ParentLink || !caller.IsValid() || caller.TraceID() == s.TraceID || len(s.Links) >= maxLinks {
		return nil
	}
	if mark := t.mark.Load(); mark != nil && mark.TraceID() == caller.TraceID() {
		return nil
	}
	return []trace.Link{{SpanContext: caller, Attributes: []attribute.KeyValue{names.Link.String(names.LinkCaller)}}}
}

// under returns a context with the span that another one hangs from, and the id of that.
func (t *session) under(s *projection.Span, caller trace.SpanContext) (context.Context, trace.SpanID) {
	if up := t.open[tracing.Key{Trace: s.TraceID, Span: s.Parent}]; up != nil {
		return trace.ContextWithSpan(t.ctx, up.span.Span), up.span.SpanContext().SpanID()
	}
	parent := t.parentOf(s, caller)
	return trace.ContextWithSpanContext(t.ctx, parent), parent.SpanID()
}

// parentOf returns the context of the span that another hangs from; none for the root of a trace.
func (t *session) parentOf(s *projection.Span, caller trace.SpanContext) trace.SpanContext {
	top := s.Type == projection.TypeSession
	switch {
	case top && t.home.IsValid():
		return t.home
	case !s.Parent.IsValid():
		return trace.SpanContext{}
	case top:
		return t.spawnerOf(tracing.Key{Trace: s.TraceID, Span: s.Parent}, caller)
	}
	key := tracing.Key{Trace: s.TraceID, Span: s.Parent}
	if is, ok := t.here(key); ok {
		return is
	}
	mark := t.mark.Load()
	switch {
	case mark == nil:
		return tracing.Elsewhere(key, trace.FlagsSampled)
	case key.Trace == t.markKey.Trace:
		key.Trace = mark.TraceID()
		return tracing.Elsewhere(key, mark.TraceFlags()).WithTraceState(mark.TraceState())
	}
	return t.sampled(key, projection.TypeRun, names.OperationInvokeAgent) // of a run with a trace of its own, which has ended
}

// here returns the context of a span of this session that this process has started.
func (t *session) here(key tracing.Key) (trace.SpanContext, bool) {
	if o := t.open[key]; o != nil {
		return o.span.SpanContext(), true
	}
	if is, ok := t.known[key]; ok {
		return is, true
	}
	if mark := t.mark.Load(); mark != nil && key == t.markKey {
		return *mark, true
	}
	return trace.SpanContext{}, false
}

// contextOf returns the context of a span that a link leads to.
func (t *session) contextOf(key tracing.Key) trace.SpanContext {
	if is, ok := t.here(key); ok {
		return is
	}
	if mark := t.mark.Load(); mark != nil && key.Trace == t.markKey.Trace && !t.r.random.Load() {
		key.Trace = mark.TraceID() // which is another one for a session that hangs from its caller
	}
	if mark := t.markOfSpawner(); mark != nil && key.Span == projection.SpanID("", t.spawn.Session, projection.TypeSession) {
		return *mark
	}
	return tracing.Elsewhere(key, trace.FlagsSampled)
}

// markOfSpawner returns the context of the mark of the session that spawned this one; nil when that is not traced here.
func (t *session) markOfSpawner() *trace.SpanContext {
	if t.spawn == nil {
		return nil
	}
	if up := t.r.peek(t.spawn.Session); up != nil {
		return up.mark.Load()
	}
	return nil
}

// spawnerOf returns the context of the span of the call that spawned this session.
func (t *session) spawnerOf(key tracing.Key, caller trace.SpanContext) trace.SpanContext {
	if is, ok := t.r.tool(key); ok {
		return is
	}
	if caller.TraceID() == key.Trace { // it came by the environment, or with the work
		return tracing.Elsewhere(key, caller.TraceFlags()).WithTraceState(caller.TraceState())
	}
	mark := t.markOfSpawner()
	var root trace.SpanContext
	if mark == nil {
		id := t.projector.Session().Root
		root = t.sampled(tracing.Key{Trace: key.Trace, Span: projection.SpanID("", id, projection.TypeSession)},
			projection.TypeSession, names.Namespace+"session")
		mark = &root
	}
	switch {
	case !t.r.random.Load():
		key.Trace = mark.TraceID()
		return tracing.Elsewhere(key, mark.TraceFlags()).WithTraceState(mark.TraceState())
	case mark != &root:
		return *mark
	}
	return caller
}

// sampled returns the context of the root of a trace that another process has sent, or this one before: it asks the provider whether the
// trace is sampled, by a span that is never ended.
func (t *session) sampled(key tracing.Key, typ projection.Type, name string) trace.SpanContext {
	ctx := t.r.withWanted(trace.ContextWithSpanContext(t.ctx, trace.SpanContext{}), key)
	_, span := t.r.tracer.Start(ctx, name, trace.WithAttributes(names.SpanType.String(string(typ))))
	is := span.SpanContext()
	if is.IsValid() {
		t.notice(is, key)
	}
	return tracing.Elsewhere(key, is.TraceFlags()).WithTraceState(is.TraceState())
}

// putTool notes the open span of a call, dropTool that it has ended.
func (r *Recorder) putTool(key tracing.Key, is trace.SpanContext) {
	r.toolsMu.Lock()
	defer r.toolsMu.Unlock()
	r.tools[key] = is
}

func (r *Recorder) dropTool(s *projection.Span, key tracing.Key) {
	if s.Type != projection.TypeTool {
		return
	}
	r.toolsMu.Lock()
	defer r.toolsMu.Unlock()
	delete(r.tools, key)
}

func (r *Recorder) dropTools(open map[tracing.Key]*openSpan) {
	for key, o := range open {
		r.dropTool(o.of, key)
	}
}

func (r *Recorder) tool(key tracing.Key) (trace.SpanContext, bool) {
	r.toolsMu.Lock()
	defer r.toolsMu.Unlock()
	is, ok := r.tools[key]
	return is, ok
}
