package otelwrap

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/store"
)

// Store is a store whose sessions are traced. It is for many goroutines at once.
type Store struct {
	inner    store.Store
	recorder *Recorder
}

var (
	_ store.Store        = (*Store)(nil)
	_ store.HeaderReader = (*Store)(nil)
)

// Wrap returns a store that keeps sessions in another one, and turns what is appended into spans.
//
// Sessions are traced from when they are created or opened through it. What is appended to such a session past it is traced with the
// next append that goes through it.
func Wrap(inner store.Store, opts ...Option) *Store {
	w := &Store{inner: inner, recorder: NewRecorder(opts...)}
	w.recorder.config.headers = w.Header
	return w
}

// Unwrap returns the store that is wrapped: for what only that one can do.
func (w *Store) Unwrap() store.Store { return w.inner }

// Create implements [store.Store]. The header of a subsession is given a member sessionspan:root_session, which names the session at the
// top of its trace, where that is known; that of a session which hangs from its caller ([ParentCaller]) a member sessionspan:caller; and
// one that names no harness the one of [WithAgentName].
func (w *Store) Create(ctx context.Context, h format.Header) (*format.Session, error) {
	r := w.recorder
	if h.Harness == nil {
		h.Harness = r.config.agent
	}
	if r.inside(ctx) {
		return w.inner.Create(ctx, h)
	}
	r.guarded(h.ID, func() { h = r.Prepare(ctx, h) })
	s, err := w.inner.Create(ctx, h)
	if err == nil {
		r.release(r.begin(ctx, s.Header(), s, nil, true))
	}
	return s, err
}

// Open implements [store.Store]. A session that is not traced yet is from now on: its entries so far are read, and what they
// left open is ended here as it goes on.
func (w *Store) Open(ctx context.Context, id string) (*format.Session, error) {
	s, err := w.inner.Open(ctx, id)
	if err == nil && !w.recorder.inside(ctx) {
		t := w.recorder.acquire(id)
		if t == nil {
			t = w.recorder.begin(ctx, s.Header(), s, s.Since(0), false)
		}
		w.recorder.release(w.following(ctx, t, s))
	}
	return s, err
}

// Append implements [store.Store].
func (w *Store) Append(ctx context.Context, id string, e format.Entry) (string, error) {
	r := w.recorder
	if r.inside(ctx) {
		return w.inner.Append(ctx, id, e)
	}
	t := r.acquire(id)
	defer func() { r.release(t) }()
	var closed error
	if t == nil && r.wants(id) { // before the append, so that its entry is not among those of the past
		var s *format.Session
		if s, closed = w.inner.Open(ctx, id); closed == nil {
			t = w.following(ctx, r.begin(ctx, s.Header(), s, s.Since(0), false), s)
		}
	}
	entry, err := w.inner.Append(ctx, id, e)
	switch {
	case err != nil:
	case closed != nil:
		w.untraced(id, closed)
	case t != nil && !t.take(ctx, entry): // the store has let go of the object, and made another one
		s, err := w.inner.Open(context.WithoutCancel(ctx), id)
		if err != nil {
			w.untraced(id, err)
			break
		}
		if t = w.following(ctx, t, s); t != nil {
			t.take(ctx, entry)
		}
	}
	return entry, err
}

// following returns what traces a session by the object that the store has for it now. Where that is another session of the same id, which
// was deleted and created past the wrapper, its entries are all new.
func (w *Store) following(ctx context.Context, t *session, s *format.Session) *session {
	if t == nil || t.follow(s) {
		return t
	}
	w.recorder.release(t)
	return w.recorder.begin(ctx, s.Header(), s, nil, true)
}

// untraced tells of a session that can be appended to and not opened.
func (w *Store) untraced(id string, err error) {
	if w.recorder.refused(id) {
		w.recorder.report(fmt.Errorf("session %.100s: %w: %w", id, ErrUntraced, err))
	}
}

// Header implements [store.HeaderReader], if the store that is wrapped does; else the error wraps [errors.ErrUnsupported].
func (w *Store) Header(ctx context.Context, id string) (*format.Header, error) {
	if h, ok := w.inner.(store.HeaderReader); ok {
		return h.Header(ctx, id)
	}
	return nil, fmt.Errorf("header of session %.100s: %w", id, errors.ErrUnsupported)
}

// List implements [store.Store].
func (w *Store) List(ctx context.Context, f store.ListFilter) iter.Seq2[store.Summary, error] {
	return w.inner.List(ctx, f)
}

// Delete implements [store.Store]. The session is forgotten.
func (w *Store) Delete(ctx context.Context, id string) error {
	r := w.recorder
	if r.inside(ctx) {
		return w.inner.Delete(ctx, id)
	}
	t := r.acquire(id)
	defer r.release(t)
	err := w.inner.Delete(ctx, id)
	if err == nil {
		r.deleted(id, t)
	}
	return err
}

// CallContext is [Recorder.CallContext].
func (w *Store) CallContext(ctx context.Context, sessionID, callID string) context.Context {
	return w.recorder.CallContext(ctx, sessionID, callID)
}

// RunContext is [Recorder.RunContext].
func (w *Store) RunContext(ctx context.Context, sessionID string) context.Context {
	return w.recorder.RunContext(ctx, sessionID)
}

// Close is [Recorder.Close]. In the store the session is what it was.
func (w *Store) Close(ctx context.Context, sessionID string) error {
	return w.recorder.Close(ctx, sessionID)
}

// Shutdown is [Recorder.Shutdown]. The store goes on, untraced.
func (w *Store) Shutdown(ctx context.Context) error { return w.recorder.Shutdown(ctx) }
