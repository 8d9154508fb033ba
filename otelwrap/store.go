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
	w.recorder.header = w.Header
	return w
}

// Unwrap returns the store that is wrapped: for what only that one can do.
func (w *Store) Unwrap() store.Store { return w.inner }

// Create implements [store.Store]. The header of a subsession is given a member sessionspan:root_session, which names the session at the
// top of its trace, where that is known; one that names no harness the one of [WithAgentName].
func (w *Store) Create(ctx context.Context, h format.Header) (*format.Session, error) {
	if h.Harness == nil {
		h.Harness = w.recorder.config.agent
	}
	w.recorder.guarded(h.ID, func() { h = w.recorder.withRoot(ctx, h) })
	s, err := w.inner.Create(ctx, h)
	if err == nil {
		w.trace(ctx, s, nil)
	}
	return s, err
}

// Open implements [store.Store]. A session that is not traced yet is from now on: its entries so far are read, and what they
// left open is ended here as it goes on.
func (w *Store) Open(ctx context.Context, id string) (*format.Session, error) {
	s, err := w.inner.Open(ctx, id)
	if err == nil {
		w.resume(ctx, s)
	}
	return s, err
}

// Append implements [store.Store].
func (w *Store) Append(ctx context.Context, id string, e format.Entry) (string, error) {
	var closed error
	t := w.recorder.find(id)
	if t == nil && !w.recorder.isDown() { // before the append, so that its entry is not among those of the past
		var s *format.Session
		if s, closed = w.inner.Open(ctx, id); closed == nil {
			t = w.resume(ctx, s)
		}
	}
	entry, err := w.inner.Append(ctx, id, e)
	switch {
	case err != nil:
	case closed != nil:
		w.untraced(id, closed)
	case t != nil && !t.take(ctx, entry):
		w.replaced(ctx, id, entry)
	}
	return entry, err
}

// untraced tells of a session that can be appended to and not opened.
func (w *Store) untraced(id string, err error) {
	w.recorder.report(fmt.Errorf("session %.100s: %w: %w", id, ErrUntraced, err))
}

// resume traces a session that was opened, unless it is traced.
func (w *Store) resume(ctx context.Context, s *format.Session) *session {
	if t := w.recorder.find(s.ID()); t != nil && t.live == s {
		return t
	}
	return w.trace(ctx, s, s.Since(0))
}

// replaced goes on with the object that the store has for a session now: it has let go of the one that was traced. What was
// appended to the new one before the entry is the past.
func (w *Store) replaced(ctx context.Context, id, entry string) {
	s, err := w.inner.Open(ctx, id)
	if err != nil {
		w.untraced(id, err)
		return
	}
	past := s.Since(0)
	for i, e := range past {
		if e.Base().ID == entry {
			past = past[:i]
			break
		}
	}
	if t := w.trace(ctx, s, past); t != nil {
		t.take(ctx, entry)
	}
}

// trace begins to trace a session that has a past.
func (w *Store) trace(ctx context.Context, s *format.Session, past []format.Entry) *session {
	return w.recorder.begin(ctx, s.Header(), s, past, false)
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
	err := w.inner.Delete(ctx, id)
	if err == nil {
		w.recorder.forget(id)
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
