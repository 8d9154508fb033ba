package otelwrap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/scope"
	"github.com/sessionspan/sessionspan/internal/tracing"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
)

// Recorder turns the entries of sessions into spans as they are appended. A harness with a store of its own feeds it; others wrap
// their store ([Wrap]). It is for many goroutines at once.
type Recorder struct {
	config   *config
	tracer   trace.Tracer
	metrics  atomic.Pointer[instruments] // nil for none
	mu       sync.Mutex
	sessions map[string]*session
	swept    time.Time            // when those were looked for in which nothing happens
	down     bool                 // nothing is traced any more
	given    map[string]bool      // sessions that were given up
	closed   map[string]time.Time // sessions that could not be opened, and when
	headers  map[string]found     // of sessions that are not traced here

	random  atomic.Bool // the provider makes ids of its own
	noticed sync.Once

	// tools are the open spans of calls, for the sessions that they spawn.
	toolsMu sync.Mutex
	tools   map[tracing.Key]trace.SpanContext
}

// NewRecorder returns a recorder.
func NewRecorder(opts ...Option) *Recorder {
	r := &Recorder{
		config: newConfig(opts), sessions: map[string]*session{}, given: map[string]bool{}, closed: map[string]time.Time{},
		headers: map[string]found{},
		swept:   time.Now(), tools: map[tracing.Key]trace.SpanContext{},
	}
	r.guarded("", func() {
		r.tracer = r.config.tracers.Tracer(scope.Name, trace.WithInstrumentationVersion(scope.Version()),
			trace.WithSchemaURL(projection.SchemaURL(r.config.projection.Semconv)))
		if r.config.meters != nil {
			m, err := newInstruments(r.config.meters, r.config.projection.Semconv)
			if err != nil {
				r.config.wrong = append(r.config.wrong, fmt.Errorf("there are no metrics: %w", err))
				return
			}
			r.metrics.Store(m)
		}
	})
	r.down = r.tracer == nil
	for _, err := range r.config.wrong {
		r.report(err)
	}
	return r
}

// Begin tells of a session: a new one, or, with its entries so far, one to go on with. What those have ended is not sent again;
// what they left open is ended here, under the ids and start times that it has always had. A session that the recorder knows
// already is begun anew.
//
// Header and entries must not change afterwards.
func (r *Recorder) Begin(ctx context.Context, h *format.Header, past ...format.Entry) {
	if h != nil && !r.inside(ctx) {
		r.release(r.begin(ctx, h, nil, past, true))
	}
}

// Record tells of the next entry of a session, as it is kept: with id, parent and time. Entries are told of in the order in which
// they were appended, one call at a time for each session. The error wraps [ErrUnknownSession]; that, too, is no reason not to
// go on.
func (r *Recorder) Record(ctx context.Context, sessionID string, e format.Entry) error {
	t := r.acquire(sessionID)
	switch {
	case t != nil:
		defer r.release(t)
	case r.wants(sessionID):
		return fmt.Errorf("%w: %.100q", ErrUnknownSession, sessionID)
	}
	if t != nil && e != nil {
		t.project(func(t *session) {
			t.ctx = orBackground(ctx)
			t.entry(e)
		})
	}
	return nil
}

// Close forgets a session and flushes the providers, as far as they can be. What the session has not ended stays open; whoever
// goes on with it ends that.
func (r *Recorder) Close(ctx context.Context, sessionID string) error {
	ctx = orBackground(ctx)
	leaving := r.dismiss(func(all map[string]*session) []*session {
		if t := all[sessionID]; t != nil {
			return []*session{t}
		}
		return nil
	})
	if r.inside(ctx) { // under the lock of a session: whoever is at work there has it leave
		r.abandon(leaving)
		return nil
	}
	return errors.Join(r.leave(ctx, leaving...), r.flush(ctx))
}

// Shutdown forgets all sessions and flushes the providers, as far as they can be, with the time that ctx gives: at the end of a program
// that was interrupted, take one that was not (context.WithoutCancel). It waits for appends that are under way, and is for whoever made
// the providers to shut them down afterwards. Nothing is traced any more.
func (r *Recorder) Shutdown(ctx context.Context) error {
	ctx = orBackground(ctx)
	leaving := r.dismiss(func(all map[string]*session) []*session {
		r.down = true
		return slices.Collect(maps.Values(all))
	})
	if r.inside(ctx) {
		r.abandon(leaving)
		return nil
	}
	return errors.Join(r.leave(ctx, leaving...), r.flush(ctx))
}

// flush has the providers send what they hold, if they can.
func (r *Recorder) flush(ctx context.Context) error {
	var errs []error
	tracers := r.config.tracers
	if r.config.global {
		tracers = otel.GetTracerProvider() // it may have been set since
	}
	for _, p := range []any{tracers, r.config.meters} {
		if f, ok := p.(interface{ ForceFlush(context.Context) error }); ok {
			r.guarded("", func() { errs = append(errs, f.ForceFlush(ctx)) })
		}
	}
	return errors.Join(errs...)
}

// giveUp has a session not be traced again by this process.
func (r *Recorder) giveUp(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.given[id] = true
}

// measure counts a span that has ended. A panic is the end of metrics, and not of the session.
func (r *Recorder) measure(o openSpan) {
	m := r.metrics.Load()
	if m == nil {
		return
	}
	defer func() {
		if v := recover(); v != nil && r.metrics.CompareAndSwap(m, nil) {
			r.report(fmt.Errorf("there are no metrics any more: %w", &PanicError{Value: v, Stack: debug.Stack()}))
		}
	}()
	m.record(o.span, o.of)
}

// report tells the error handler, which may not be better than what it is told of.
func (r *Recorder) report(err error) {
	defer func() { _ = recover() }()
	r.config.handle(err)
}

// guarded calls f, and reports a panic.
func (r *Recorder) guarded(session string, f func()) {
	defer func() {
		if v := recover(); v != nil {
			r.report(&PanicError{Session: session, Value: v, Stack: debug.Stack()})
		}
	}()
	f()
}
