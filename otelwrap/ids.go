package otelwrap

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"

	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/tracing"
	"go.opentelemetry.io/otel/trace"
)

// Generator makes the ids of spans. It has the methods of IDGenerator in go.opentelemetry.io/otel/sdk/trace.
type Generator interface {
	NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID)
	NewSpanID(ctx context.Context, traceID trace.TraceID) trace.SpanID
}

// IDGenerator returns a generator for sdktrace.WithIDGenerator: the spans of sessions get the ids that they have wherever the
// session is read, and all others random ones, as without it. One generator serves all providers and recorders.
func IDGenerator() Generator { return generator{randomIDs{}} }

// TraceID returns the id of the trace that a session is in, with [IDGenerator] and unless the caller has another one: root is the id of the
// session at the top, which is the session itself unless a call spawned it.
func TraceID(root string) trace.TraceID { return projection.TraceID("", root) }

// WrapIDGenerator is [IDGenerator] with the ids of all other spans made by another generator, for a host that has one.
func WrapIDGenerator(others Generator) Generator {
	if others == nil {
		return IDGenerator()
	}
	return generator{others}
}

type generator struct{ others Generator }

func (g generator) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if w := takeWanted(ctx); w != nil {
		return w.key.Trace, w.key.Span
	}
	return g.others.NewIDs(ctx)
}

func (g generator) NewSpanID(ctx context.Context, traceID trace.TraceID) trace.SpanID {
	if w := takeWanted(ctx); w != nil {
		return w.key.Span
	}
	return g.others.NewSpanID(ctx, traceID)
}

// wanted is a context with the ids of the span that is being started. They are taken once, so that a processor or sampler that starts
// spans of its own under the same context gets others.
type wanted struct {
	context.Context
	by    *Recorder
	key   tracing.Key
	taken atomic.Bool
}

type wantedKey struct{}

// Value implements [context.Context].
func (w *wanted) Value(key any) any {
	if key == (wantedKey{}) {
		return w
	}
	return w.Context.Value(key)
}

func (r *Recorder) withWanted(ctx context.Context, key tracing.Key) context.Context {
	return &wanted{Context: ctx, by: r, key: key}
}

func takeWanted(ctx context.Context) *wanted {
	w, _ := ctx.Value(wantedKey{}).(*wanted)
	if w == nil || w.taken.Swap(true) {
		return nil
	}
	return w
}

// randomIDs makes ids as the SDK does that is told of no generator.
type randomIDs struct{}

func (randomIDs) NewIDs(ctx context.Context) (id trace.TraceID, span trace.SpanID) {
	for !id.IsValid() {
		binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
		binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	}
	return id, randomIDs{}.NewSpanID(ctx, id)
}

func (randomIDs) NewSpanID(context.Context, trace.TraceID) (id trace.SpanID) {
	for !id.IsValid() {
		binary.NativeEndian.PutUint64(id[:], rand.Uint64())
	}
	return id
}
