package otelwrap

import (
	"context"
	"fmt"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/projection"
)

// Sessions are let go of when nobody uses them. Whoever appends is a user from before the append until its entry has been read, so that what
// was appended is always read by somebody, and once.

// waitLimit bounds how long Close and Shutdown wait for those who are at work: one of them may be waiting for this very call.
const waitLimit = 5 * time.Second

// acquire returns a session that is known, to be released; or nil.
func (r *Recorder) acquire(id string) *session {
	now := time.Now()
	r.mu.Lock()
	t := r.sessions[id]
	if t != nil {
		t.users++
		t.used = now
	}
	idle := r.idle(now)
	r.mu.Unlock()
	for _, t := range idle {
		r.release(t)
	}
	return t
}

// idle has those sessions leave in which nothing has happened for long, and acquires them. What is open is kept for longer, since a tool may
// take its time.
func (r *Recorder) idle(now time.Time) (leaving []*session) {
	if now.Sub(r.swept) <= r.config.idle/4 {
		return nil
	}
	r.swept = now
	for _, t := range r.sessions {
		limit := r.config.idle
		if t.busy.Load() {
			limit = max(limit, projection.Silence)
		}
		if t.users == 0 && now.Sub(t.used) > limit {
			t.users++
			t.leaving = true
			leaving = append(leaving, t)
		}
	}
	for id, at := range r.closed {
		if now.Sub(at) > retryOpen {
			delete(r.closed, id)
		}
	}
	return leaving
}

// release lets go of a session. The last user of one that leaves reads what is left.
func (r *Recorder) release(t *session) {
	if t == nil {
		return
	}
	r.mu.Lock()
	if t.leaving && t.users == 1 {
		r.mu.Unlock()
		t.catchUp()
		r.mu.Lock()
	}
	t.users--
	over := t.leaving && t.users == 0
	if over && r.sessions[t.id] == t {
		delete(r.sessions, t.id)
	}
	r.mu.Unlock()
	if over {
		t.stop()
		close(t.gone)
	}
}

// leave has a session be let go of by its last user, and waits for that.
func (r *Recorder) leave(ctx context.Context, leaving ...*session) error {
	if len(leaving) == 0 {
		return nil
	}
	for _, t := range leaving {
		r.release(t)
	}
	limit := time.NewTimer(waitLimit)
	defer limit.Stop()
	for _, t := range leaving {
		select {
		case <-t.gone:
		case <-ctx.Done():
			return fmt.Errorf("session %.100s is still being traced: %w", t.id, context.Cause(ctx))
		case <-limit.C:
			return fmt.Errorf("session %.100s is still being traced after %v", t.id, waitLimit)
		}
	}
	return nil
}

// dismiss acquires sessions, and has them leave.
func (r *Recorder) dismiss(which func(sessions map[string]*session) []*session) []*session {
	r.mu.Lock()
	defer r.mu.Unlock()
	leaving := which(r.sessions)
	for _, t := range leaving {
		t.users++
		t.leaving = true
	}
	return leaving
}

// deleted has a session leave that is no more, and forgets what was said of its id. T is nil when it was not traced.
func (r *Recorder) deleted(id string, t *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.given, id)
	delete(r.closed, id)
	delete(r.headers, id)
	if t != nil {
		t.leaving = true
	}
}

// peek returns a session that is only looked at.
func (r *Recorder) peek(id string) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessions[id]
}

// retryOpen is how long it takes until a session that could not be opened is tried again.
const retryOpen = time.Minute

// wants reports whether a session that is not known is to be traced.
func (r *Recorder) wants(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, closed := r.closed[id]
	return !r.down && !r.given[id] && !(closed && time.Since(at) < retryOpen)
}

// refused notes that a session cannot be opened, and reports whether that is news.
func (r *Recorder) refused(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, known := r.closed[id]
	if known && time.Since(at) < retryOpen {
		return false
	}
	r.closed[id] = time.Now()
	return true
}

// begin makes a session known, and returns it acquired; nil when it is not to be traced. Its past is read in silence. A session of that id
// which is known already is returned as it is, unless this is another one.
func (r *Recorder) begin(ctx context.Context, h *format.Header, live *format.Session, past []format.Entry, another bool) *session {
	t := newSession(r, h, live)
	t.mu.Lock() // whoever finds it waits until it is ready
	r.mu.Lock()
	if another {
		delete(r.given, h.ID)
	}
	old := r.sessions[h.ID]
	switch {
	case r.down || r.given[h.ID]:
		t = nil
	case old != nil && !another:
		old.users++
		t = old
	default:
		t.users, t.used = 1, time.Now()
		r.sessions[h.ID] = t
		if old != nil {
			old.users++
			old.leaving = true
		}
	}
	r.mu.Unlock()
	if t == nil || t == old {
		return t
	}
	t.settle(func() result {
		defer t.mu.Unlock()
		return t.locked(ctx, func(t *session) { t.start(past) })
	}())
	if another {
		r.release(old)
	}
	return t
}
