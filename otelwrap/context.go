package otelwrap

import (
	"context"
	"os"
	"strings"

	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// CallContext returns a context that carries the open span of a call, for the tool that it is handed to: what the tool does there hangs
// from it, the requests that it sends, the sessions that it spawns, and, with [Environ], the processes that it starts. It is to be
// asked for between dispatch and output: at any other time, of a call that was never dispatched, or of an unknown one, there is no such
// span, and it is ctx.
//
// Up to 32 attributes, events and links each that are added to the span are sent with it, by this process alone. Its name, status, end
// and the attributes that the session gives it are not the tool's to set.
func (r *Recorder) CallContext(ctx context.Context, sessionID, callID string) context.Context {
	return r.contextWith(ctx, sessionID, func(s *projection.Span) bool {
		return s.Type == projection.TypeTool && s.Attribute(names.ToolCallID).AsString() == callID
	})
}

// RunContext returns a context that carries the span of the session's open run, for what is done in it and is no tool's: the request to
// a model hangs from the run, beside the model call, whose span is made when its response is appended. When there is no open run, it
// is ctx.
func (r *Recorder) RunContext(ctx context.Context, sessionID string) context.Context {
	return r.contextWith(ctx, sessionID, func(s *projection.Span) bool { return s.Type == projection.TypeRun })
}

// contextWith returns a context with the open span that was started last of those that are wanted.
func (r *Recorder) contextWith(ctx context.Context, sessionID string, want func(*projection.Span) bool) context.Context {
	ctx = orBackground(ctx)
	if r.inside(ctx) {
		return ctx
	}
	t := r.acquire(sessionID)
	if t == nil {
		return ctx
	}
	defer r.release(t)
	t.catchUp()
	t.mu.Lock()
	defer t.mu.Unlock()
	var latest *openSpan
	for _, o := range t.open {
		if want(o.of) && (latest == nil || o.of.Seq > latest.of.Seq) {
			latest = o
		}
	}
	if latest == nil || !latest.span.SpanContext().IsValid() {
		return ctx
	}
	if latest.guest == nil {
		latest.guest = &guest{}
	}
	return trace.ContextWithSpan(ctx, handed{latest.span.Span, latest.guest})
}

// Environ returns the variables TRACEPARENT and TRACESTATE for the span that ctx carries, for the environment of a process that is
// started under it: behind what is there already, so that it counts. There are none without a span.
func Environ(ctx context.Context) []string {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return nil
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	var env []string
	for _, name := range []string{"traceparent", "tracestate"} { // an empty one, too: another trace's may be there
		env = append(env, strings.ToUpper(name)+"="+carrier.Get(name))
	}
	return env
}

// FromEnviron returns a context with the span that the environment of this process names, as [Environ] has it: for a process that
// is a tool, or records a sub-agent. It is ctx when there is none.
func FromEnviron(ctx context.Context) context.Context {
	carrier := propagation.MapCarrier{}
	for _, name := range (propagation.TraceContext{}).Fields() {
		carrier.Set(name, os.Getenv(strings.ToUpper(name)))
	}
	return propagation.TraceContext{}.Extract(ctx, carrier)
}
