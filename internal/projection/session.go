package projection

import (
	"fmt"
	"strconv"
	"time"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// instant is how long a span lasts that stands for a moment.
const instant = int64(time.Microsecond)

// begin takes what the header says.
func (p *Projector) begin(s *activity.Session) {
	if p.session != nil {
		return
	}
	p.spawn, p.forkOf, p.promise, p.infer = s.Spawn, s.ForkOf, s.PromisesDispatch, s.InferRuns
	p.facts, p.version, p.loose = s.Attributes, s.FormatVersion, s.Loose
	p.session = &Session{
		ID: s.ID, Harness: s.Harness, Version: s.Version, Format: s.Format, Created: s.Created, CWD: s.CWD,
	}
	if p.spawn != nil && p.spawn.Session == s.ID {
		p.opts.Report(Problem{Line: 1, Err: ErrOwnAncestor, Note: true, Detail: fmt.Sprintf("%q; it stands alone", cut(s.ID, maxName))})
		p.spawn = nil
	}
	if p.forkOf == s.ID {
		p.forkOf = ""
	}
	p.session.Root = p.rootOf(s.ID, p.spawn)
	p.session.TraceID = p.ids.trace(p.session.Root)
	p.owner = p.session
}

// rootOf finds the session at the top of the trace: the one the source names, else by following who spawned whom as far
// as headers are known. It depends on headers alone, never on the order in which files are read.
func (p *Projector) rootOf(id string, spawn *activity.Spawn) string {
	at := id
	if spawn != nil {
		if spawn.Root != "" {
			return spawn.Root
		}
		at = spawn.Session
	}
	if p.opts.Ancestors == nil {
		return at
	}
	seen := map[string]bool{id: true}
	for {
		if spawn != nil && seen[at] {
			p.opts.Report(Problem{Line: 1, Err: ErrOwnAncestor, Note: true, Detail: fmt.Sprintf("%q; it stands alone", cut(id, maxName))})
			p.spawn = nil
			return id
		}
		seen[at] = true
		up, known := p.opts.Ancestors.Ancestor(at)
		if !known || up == "" || seen[up] && spawn == nil {
			return at
		}
		at = up
	}
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
	s.Start, s.End = wall(start), wall(start+instant)
	s.add(func(a *attributes) {
		a.string(names.AgentName, p.session.Harness)
		a.string(names.Format, p.session.Format)
		a.string(names.FormatVersion, p.version)
		a.string(names.HarnessName, p.session.Harness)
		a.string(names.HarnessVersion, p.session.Version)
		a.string(names.SessionCWD, p.session.CWD)
		a.all(p.facts)
	})
	p.hang(s)
	if p.forkOf != "" {
		origin := p.forkOf
		if p.opts.Group != GroupRun {
			origin = p.rootOf(p.forkOf, nil)
		}
		id := p.ids.trace(origin)
		s.addLink(spanRef{p.ids.span(p.forkOf, TypeSession), &id}.link(names.LinkForkOf))
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

// newSpan makes a span with what every span has.
func (p *Projector) newSpan(typ Type, id trace.SpanID, name string) *Span {
	s := &Span{SpanID: id, Type: typ, Name: cut(name, maxName), Kind: trace.SpanKindInternal, Session: p.owner, Seq: p.seq}
	s.Attributes = make([]attribute.KeyValue, 0, 24)
	p.seq++
	s.node = p.at
	if typ == TypeSession {
		s.Session = p.session
	}
	s.add(func(a *attributes) {
		a.string(names.SessionID, s.Session.Root)
		a.string(names.ConversationID, s.Session.ID)
		a.string(names.OwnSession, s.Session.ID)
		a.string(names.SpanType, string(typ))
	})
	return s
}

// start sends a span of the current tip on its way, once its links are complete. The caller makes it the last span of the
// path.
func (p *Projector) start(s *Span) spanRef {
	t := p.cur
	if b := t.branch; b != nil {
		t.branch = nil
		if b.from.ok() {
			s.addLink(b.from.link(names.LinkBranch))
		}
		s.add(func(a *attributes) {
			a.flag(names.ParentLost, b.lost)
			if !b.lost {
				a.string(names.BranchPoint, b.entry)
			}
		})
	}
	p.sendStart(s)
	return spanRef{span: s.SpanID, trace: p.traceOf(s)}
}

// traceOf returns a lasting pointer to the trace id of a span.
func (p *Projector) traceOf(s *Span) *trace.TraceID {
	if s.TraceID == p.owner.TraceID {
		return &p.owner.TraceID
	}
	if run := p.cur.st.run; run != nil && run.trace == s.TraceID {
		return &run.trace
	}
	id := s.TraceID
	return &id
}

// placed gives a span its trace and its parent: the run the tip is in, else the session's mark.
func (p *Projector) placed(s *Span, in *segment) {
	if in != nil {
		s.TraceID, s.Parent = in.run.trace, in.ref.span
		return
	}
	s.TraceID, s.Parent = p.owner.TraceID, p.sessionMark()
}
