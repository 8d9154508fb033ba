package otelwrap

import (
	"context"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
	"github.com/sessionspan/sessionspan/internal/jsonwrite"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/tracing"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// ancestors tells the projector of a session who spawned whom.
type ancestors struct{ of *session }

// Ancestor implements [projection.Resolver].
func (a ancestors) Ancestor(id string) (parent string, known bool) {
	h := a.of.r.headerOf(a.of.ctx, id)
	if h == nil {
		return "", false
	}
	if spawn := source.SessionOf(h).Spawn; spawn != nil {
		return spawn.Session, true
	}
	return "", true
}

// What was found of the headers of sessions that are not traced here is remembered: so many, and that there is none for so long.
const (
	maxHeaders  = 4096
	noHeaderFor = 10 * time.Second
)

// found is what was found of a header; nil for none.
type found struct {
	header *format.Header
	at     time.Time
}

// headerOf returns the header of a session, or nil. Where it is not traced here it is looked for, once: what an entry leads to is to be the same
// whoever reads it.
func (r *Recorder) headerOf(ctx context.Context, id string) *format.Header {
	if r.config.headers == nil {
		if t := r.peek(id); t != nil {
			return t.header
		}
		return nil
	}
	r.mu.Lock()
	t, have := r.sessions[id], r.headers[id]
	r.mu.Unlock()
	switch {
	case t != nil:
		return t.header
	case have.header != nil, time.Since(have.at) < noHeaderFor:
		return have.header
	}
	h, err := r.config.headers(context.WithoutCancel(ctx), id)
	if err != nil {
		h = nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.headers) >= maxHeaders {
		clear(r.headers)
	}
	r.headers[id] = found{h, time.Now()}
	return h
}

// rootOf returns the session at the top of the trace of another one, if all headers up to it are known.
func (r *Recorder) rootOf(ctx context.Context, id string) (root string, known bool) {
	for seen := map[string]bool{}; !seen[id]; {
		seen[id] = true
		h := r.headerOf(orBackground(ctx), id)
		if h == nil {
			return "", false
		}
		spawn := source.SessionOf(h).Spawn
		switch {
		case spawn == nil:
			return id, true
		case spawn.Root != "":
			return spawn.Root, true
		}
		id = spawn.Session
	}
	return "", false
}

// Prepare returns the header of a session as it is to be written, for a harness with a store of its own; [Store.Create] does it by itself.
// A subsession's names the session at the top of its trace, so that whoever reads the file alone finds the trace as well. With
// [ParentCaller] the header says which span the session hangs from, so that later processes know.
func (r *Recorder) Prepare(ctx context.Context, h format.Header) format.Header {
	add := func(name, value string) {
		h.Unknown = h.Unknown.Clone()
		h.Unknown.Set(name, jsonwrite.AppendText(nil, value))
	}
	if h.ParentSession != "" && h.SpawnedBy != "" && h.Unknown.Get(source.RootMember) == nil {
		if root, known := r.rootOf(ctx, h.ParentSession); known {
			add(source.RootMember, root)
		}
	}
	if r.config.parent == ParentCaller && h.Unknown.Get(source.CallerMember) == nil {
		if caller := r.callerOf(ctx, &h); caller.IsValid() {
			carrier := propagation.MapCarrier{}
			propagation.TraceContext{}.Inject(trace.ContextWithSpanContext(context.Background(), caller), carrier)
			add(source.CallerMember, carrier.Get("traceparent"))
		}
	}
	return h
}

// callerOf returns the context of the span that a new session hangs from with [ParentCaller]: the call that spawned it, if that is open here,
// else what the caller's context carries.
func (r *Recorder) callerOf(ctx context.Context, h *format.Header) trace.SpanContext {
	if h.ParentSession != "" && h.SpawnedBy != "" {
		if root, known := r.rootOf(ctx, h.ParentSession); known {
			call := tracing.Key{Trace: TraceID(root), Span: projection.FirstToolSpanID("", h.ParentSession, h.SpawnedBy)}
			if is, open := r.tool(call); open {
				return is
			}
		}
	}
	return trace.SpanContextFromContext(ctx)
}

// settleHome finds out which span the session hangs from, if it hangs from its caller: the header says so, or, of a new session that was not
// prepared, the context.
func (t *session) settleHome(isNew bool) {
	if t.r.config.parent != ParentCaller {
		return
	}
	if said, ok := jsonscan.String(t.header.Unknown.Get(source.CallerMember)); ok {
		carrier := propagation.MapCarrier{"traceparent": said}
		t.home = trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), carrier))
	} else if isNew {
		t.home = t.r.callerOf(t.ctx, t.header)
	}
}
