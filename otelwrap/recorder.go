package otelwrap

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/scope"
	"github.com/sessionspan/sessionspan/internal/tracing"
	"go.opentelemetry.io/otel/trace"
)

// Recorder turns the entries of sessions into spans as they are appended. A harness with a store of its own feeds it; others wrap
// their store ([Wrap]). It is for many goroutines at once.
type Recorder struct {
	config  *config
	tracer  trace.Tracer
	metrics *instruments // nil for none
	// header finds the header of a session that is not traced here; nil finds none.
	header func(ctx context.Context, id string) (*format.Header, error)

	mu       sync.Mutex
	sessions map[string]*session
	swept    time.Time
	down     bool

	random  atomic.Bool // the provider makes ids of its own
	noticed sync.Once

	// tools are the open spans of calls, for the sessions that they spawn.
	toolsMu sync.Mutex
	tools   map[tracing.Key]trace.SpanContext
}

// NewRecorder returns a recorder.
func NewRecorder(opts ...Option) *Recorder {
	r := &Recorder{
		config: newConfig(opts), sessions: map[string]*session{}, swept: time.Now(), tools: map[tracing.Key]trace.SpanContext{},
	}
	r.guarded("", func() {
		r.tracer = r.config.tracers.Tracer(scope.Name, trace.WithInstrumentationVersion(scope.Version()),
			trace.WithSchemaURL(projection.SchemaURL(r.config.projection.Semconv)))
		if r.config.meters != nil {
			var err error
			if r.metrics, err = newInstruments(r.config.meters, r.config.projection.Semconv); err != nil {
				r.config.wrong = append(r.config.wrong, err)
			}
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
	if h != nil {
		r.begin(ctx, h, nil, past, true)
	}
}

// Record tells of the next entry of a session, as it is kept: with id, parent and time. Entries are told of in the order in which
// they were appended, one call at a time for each session. The error wraps [ErrUnknownSession]; that, too, is no reason not to
// go on.
func (r *Recorder) Record(ctx context.Context, sessionID string, e format.Entry) error {
	t := r.find(sessionID)
	if t == nil {
		return fmt.Errorf("%w: %.100q", ErrUnknownSession, sessionID)
	}
	if e != nil {
		t.project(ctx, e)
	}
	return nil
}

// Close forgets a session and flushes the providers, as far as they can be. What the session has not ended stays open; whoever
// goes on with it ends that.
func (r *Recorder) Close(ctx context.Context, sessionID string) error {
	if t := r.peek(sessionID); t != nil {
		t.catchUp(ctx)
	}
	r.forget(sessionID)
	return r.flush(ctx)
}

// Shutdown forgets all sessions and flushes the providers, as far as they can be, with the time that ctx gives: at the end of a program
// that was interrupted, take one that was not (context.WithoutCancel). It is for whoever made the providers to shut them down. Nothing
// is traced any more.
func (r *Recorder) Shutdown(ctx context.Context) error {
	r.mu.Lock()
	r.down = true
	all := r.sessions
	r.sessions = map[string]*session{}
	r.mu.Unlock()
	for _, t := range all {
		t.catchUp(ctx)
		t.stop()
	}
	return r.flush(ctx)
}

// flush has the providers send what they hold, if they can.
func (r *Recorder) flush(ctx context.Context) error {
	var errs []error
	for _, p := range []any{r.config.tracers, r.config.meters} {
		if f, ok := p.(interface{ ForceFlush(context.Context) error }); ok {
			r.guarded("", func() { errs = append(errs, f.ForceFlush(ctx)) })
		}
	}
	return errors.Join(errs...)
}

// find returns a session that is known, or nil.
func (r *Recorder) find(id string) *session {
	now := time.Now()
	r.mu.Lock()
	t := r.sessions[id]
	if t != nil {
		t.used = now
	}
	var idle []*session
	if now.Sub(r.swept) > r.config.idle/4 {
		r.swept = now
		for id, t := range r.sessions {
			if now.Sub(t.used) > r.config.idle {
				idle = append(idle, t)
				delete(r.sessions, id)
			}
		}
	}
	r.mu.Unlock()
	for _, t := range idle {
		t.stop()
	}
	return t
}

// isDown reports whether nothing is traced any more.
func (r *Recorder) isDown() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.down
}

// peek is find for a session that is only looked at.
func (r *Recorder) peek(id string) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessions[id]
}

// begin makes a session known. The entries that it has, the past, are read in silence, unless it is new. When it is that of live
// already, it is left as it is.
func (r *Recorder) begin(ctx context.Context, h *format.Header, live *format.Session, past []format.Entry, anew bool) *session {
	t := newSession(r, h, live)
	t.mu.Lock() // whoever finds it waits until it is ready
	r.mu.Lock()
	if r.down {
		r.mu.Unlock()
		t.mu.Unlock()
		return nil
	}
	old := r.sessions[h.ID]
	if old != nil && !anew && old.live == live {
		old.used = time.Now()
		r.mu.Unlock()
		t.mu.Unlock()
		return old
	}
	t.used = time.Now()
	r.sessions[h.ID] = t
	r.mu.Unlock()
	result := t.locked(ctx, func(t *session) { t.start(ctx, past) })
	t.mu.Unlock()
	t.settle(result)
	if old != nil {
		old.stop()
	}
	return t
}

// forget lets go of a session.
func (r *Recorder) forget(id string) {
	r.mu.Lock()
	t := r.sessions[id]
	delete(r.sessions, id)
	r.mu.Unlock()
	if t != nil {
		t.stop()
	}
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
