package projection

import (
	"fmt"
	"strconv"
	"time"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
	"go.opentelemetry.io/otel/trace"
)

// mark is how long that of a session lasts, and instant a span that stands for a moment, and any other at least. Jaeger warns of a
// span that takes no time, and of one outside of its parent that is not longer than that.
const (
	mark    = int64(time.Microsecond)
	instant = 2 * mark
)

// begin takes what the header says.
func (p *Projector) begin(s *activity.Session) {
	if p.session != nil {
		return
	}
	p.spawn, p.forkOf, p.promise, p.infer = s.Spawn, s.ForkOf, s.PromisesDispatch, s.InferRuns
	p.facts, p.version, p.loose, p.base = s.Attributes, s.FormatVersion, s.Loose, s.Base
	p.repeats, p.takesUp = s.Loose || s.Repeats, s.TakesUp
	p.session = &Session{
		ID: s.ID, Harness: cut(s.Harness, maxValue), Version: cut(s.Version, maxValue), Format: s.Format,
		Created: s.Created, CWD: s.CWD,
	}
	root, ring := RootOf(s.ID, s.Spawn, p.opts.Ancestors)
	if ring {
		p.opts.Report(Problem{Line: 1, Err: ErrOwnAncestor, Note: true, Detail: fmt.Sprintf("%q; it stands alone", cut(s.ID, maxName))})
		p.spawn = nil
	}
	if s.Newer {
		p.opts.Report(Problem{Line: 1, Err: ErrNewerFormat, Note: true, Detail: fmt.Sprintf("%s %s; what that added is left out of the trace",
			s.Format, cut(s.FormatVersion, maxName))})
	}
	if p.forkOf == s.ID {
		p.forkOf = ""
	}
	p.session.Root = root
	p.session.TraceID = p.ids.trace(p.session.Root)
	p.owner = p.session
}

// RootOf finds the session at the top of a session's trace: the one that the source names, else by following who spawned
// whom as far as headers are known. It depends on headers alone, never on the order in which files are read. A session that
// is among its own ancestors is its own root, and ring is true.
func RootOf(id string, spawn *activity.Spawn, ancestors Resolver) (root string, ring bool) {
	switch {
	case spawn == nil:
		return id, false
	case spawn.Root != "":
		return spawn.Root, false
	}
	at, seen := spawn.Session, map[string]bool{id: true}
	for ancestors != nil && !seen[at] {
		seen[at] = true
		up, known := ancestors.Ancestor(at)
		if !known || up == "" {
			return at, false
		}
		at = up
	}
	if seen[at] {
		return id, true
	}
	return at, false
}

// rootOf is RootOf for a session of which the file only names the id.
func (p *Projector) rootOf(id string) string {
	if p.opts.Ancestors == nil {
		return id
	}
	up, known := p.opts.Ancestors.Ancestor(id)
	if !known || up == "" {
		return id
	}
	root, _ := RootOf(id, &activity.Spawn{Session: up}, p.opts.Ancestors)
	return root
}

// markOf names the mark of a session of which the file only has the id. One that was spawned here is in this trace.
func (p *Projector) markOf(id string) spanRef {
	if id == p.session.ID {
		return spanRef{p.ids.span(id, TypeSession), &p.session.TraceID}
	}
	root := id
	switch {
	case p.opts.Group == GroupRun:
	case p.children[p.hashOf(id)]:
		root = p.session.Root
	default:
		root = p.rootOf(id)
	}
	t := p.ids.trace(root)
	return spanRef{p.ids.span(id, TypeSession), &t}
}

// startSession sends the mark of the session: it starts when the session was created, or with the first entry if that is
// earlier, and is complete at once, so that a trace always has its root.
func (p *Projector) startSession() {
	start := p.now
	if c := p.session.Created; usable(c) {
		if start = min(start, c.UnixNano()); p.owner != p.session {
			start = c.UnixNano() // the first entry is older than the session
		}
	}
	s := p.newSpan(TypeSession, p.ids.span(p.session.ID, TypeSession), names.Namespace+"session")
	s.TraceID = p.session.TraceID
	s.node = root
	s.Start, s.End = wall(start), wall(start+mark)
	s.add(func(a *attributes) {
		a.string(names.AgentName, p.session.Harness)
		a.string(names.Format, p.session.Format)
		a.string(names.FormatVersion, p.version)
		a.string(names.HarnessName, p.session.Harness)
		a.string(names.HarnessVersion, p.session.Version)
		a.string(names.SessionCWD, p.session.CWD)
		a.string(names.SessionBase, p.base)
		a.all(p.facts)
	})
	p.hang(s)
	if p.spawn != nil && s.Parent == p.ids.span(p.spawn.Session, TypeSession) {
		s.End = wall(start + instant) // it lies outside of another mark
	}
	if p.forkOf != "" {
		s.addLink(p.markOf(p.forkOf).link(names.LinkForkOf))
		s.add(func(a *attributes) { a.string(names.ParentSession, p.forkOf) })
	}
	p.sendStart(s)
	p.sendEnd(s)
}

// sendStart gives the sink a span that starts, unless it is that of another session, whose history was copied: it is
// sent where that session's own file is read.
func (p *Projector) sendStart(s *Span) {
	if s.Session == p.session {
		p.sink.Start(s)
	}
}

// sendEnd gives the sink a span that ends.
func (p *Projector) sendEnd(s *Span) {
	if s.Session == p.session {
		p.sink.End(s)
	}
}

// keyOf is the stable key of a span that stands for what one event says.
func keyOf(ev *activity.Event) []string {
	if ev.Part == 0 {
		return []string{ev.Key}
	}
	return []string{ev.Key, strconv.Itoa(ev.Part)}
}

// hang ties the mark of a subsession to the call that spawned it: as its child in the trace of the root session, or by a
// link when each run has a trace of its own, or when the call returned at once.
func (p *Projector) hang(s *Span) {
	if p.spawn == nil {
		return
	}
	s.add(func(a *attributes) {
		a.string(names.ParentSession, p.spawn.Session)
		a.string(names.SpawnedBy, p.spawn.CallID)
	})
	up := p.ids.span(p.spawn.Session, TypeSession)
	call := up
	if p.spawn.CallID != "" {
		call = p.firstToolID(p.spawn.Session, p.spawn.CallID)
	}
	switch {
	case p.opts.Group == GroupRun:
		id := p.ids.trace(p.spawn.Session)
		s.TraceID = p.ids.trace(p.session.ID)
		p.session.TraceID = s.TraceID
		s.addLink(spanRef{up, &id}.link(names.LinkSpawnedBy))
	case p.spawn.Background && p.spawn.RunID != "":
		s.Parent = p.ids.span(p.spawn.Session, TypeRun, runKey(p.spawn.RunID, 1)...)
		s.addLink(spanRef{call, &p.session.TraceID}.link(names.LinkSpawnedBy))
	case p.spawn.Background:
		s.Parent = up
		s.addLink(spanRef{call, &p.session.TraceID}.link(names.LinkSpawnedBy))
	default:
		s.Parent = call
	}
}

// sessionMark is the id of the mark of the session that owns the entry being read.
func (p *Projector) sessionMark() trace.SpanID { return p.ids.span(p.owner.ID, TypeSession) }

// firstToolID is the id of the first span of a call of any session: what a subsession hangs from, and all that its own
// header has to say for it.
func (p *Projector) firstToolID(session, callID string) trace.SpanID {
	return p.ids.span(session, TypeTool, callID, strconv.Itoa(1))
}

// FirstToolSpanID is the same for who has no projector.
func FirstToolSpanID(salt, session, callID string) trace.SpanID {
	return SpanID(salt, session, TypeTool, callID, strconv.Itoa(1))
}
