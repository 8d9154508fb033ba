package otelwrap

import (
	"context"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/jsonwrite"
	"github.com/sessionspan/sessionspan/internal/source"
)

// ancestors tells the projector of a session who spawned whom.
type ancestors struct{ of *session }

// Ancestor implements [projection.Resolver].
func (a ancestors) Ancestor(id string) (parent string, known bool) {
	h := a.of.r.headerOf(a.of.search, id)
	if h == nil {
		return "", false
	}
	if spawn := source.SessionOf(h).Spawn; spawn != nil {
		return spawn.Session, true
	}
	return "", true
}

// headerOf returns the header of a session, or nil. Where it is not traced here it is looked for, unless ctx is nil: an append
// waits for no disk.
func (r *Recorder) headerOf(ctx context.Context, id string) *format.Header {
	if t := r.peek(id); t != nil {
		return t.header
	}
	if ctx == nil || r.header == nil {
		return nil
	}
	h, err := r.header(ctx, id)
	if err != nil {
		return nil
	}
	return h
}

// rootOf returns the session at the top of the trace of another one, if all headers up to it are known.
func (r *Recorder) rootOf(ctx context.Context, id string) (root string, known bool) {
	for seen := map[string]bool{}; !seen[id]; {
		seen[id] = true
		h := r.headerOf(ctx, id)
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

// withRoot has the header of a subsession name the session at the top of its trace, so that whoever reads its file alone finds the
// trace as well.
func (r *Recorder) withRoot(ctx context.Context, h format.Header) format.Header {
	if h.ParentSession == "" || h.SpawnedBy == "" || h.Unknown.Get(source.RootMember) != nil {
		return h
	}
	if root, known := r.rootOf(ctx, h.ParentSession); known {
		h.Unknown = h.Unknown.Clone()
		h.Unknown.Set(source.RootMember, jsonwrite.AppendText(nil, root))
	}
	return h
}
