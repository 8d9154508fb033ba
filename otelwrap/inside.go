package otelwrap

import "context"

// Span processors and samplers are called as a span starts, under the lock of its session, with a context that says so. What they ask of us
// there waits for nothing: an append is read by whoever started the span.

// inside reports whether a context is that of a span of ours that is being started.
func (r *Recorder) inside(ctx context.Context) bool {
	if ctx == nil {
		return false
	}
	w, _ := ctx.Value(wantedKey{}).(*wanted)
	return w != nil && w.by == r
}

// abandon lets go of sessions without reading what is left of them, unless somebody else uses them and will.
func (r *Recorder) abandon(leaving []*session) {
	var over []*session
	r.mu.Lock()
	for _, t := range leaving {
		t.users--
		if t.users == 0 && r.sessions[t.id] == t {
			delete(r.sessions, t.id)
			over = append(over, t)
		}
	}
	r.mu.Unlock()
	for _, t := range over {
		if t.mu.TryLock() {
			t.off = true
			t.stopped()
			t.mu.Unlock()
		}
		close(t.gone)
	}
}
