package projection

import (
	"slices"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
)

// sendInstant sends a span for something that happened at one moment, in a segment of a run or, when that is nil,
// outside runs.
func (p *Projector) sendInstant(typ Type, ev *activity.Event, name string, seg *segment, more func(*Span, *attributes)) {
	s := p.newSpan(typ, p.ids.span(p.owner.ID, typ, keyOf(ev)...), name)
	at := p.now
	adjusted := false
	if seg != nil {
		from := seg.start
		adjusted = at < from
		at = max(at, from)
		seg.child = max(seg.child, at)
		seg.adjusted = seg.adjusted || adjusted
	}
	s.Start = wall(at)
	p.placed(s, seg)
	s.add(func(a *attributes) {
		a.string(names.EntryID, ev.Key)
		a.flag(names.ClockAdjusted, adjusted)
		more(s, a)
	})
	ref := p.start(s)
	p.do(p.cur, spanSeen{&ref})
	s.End = wall(seg.lasting(at, at))
	p.sendEnd(s)
}

func (p *Projector) compacted(ev *activity.Event, f *activity.Compaction) {
	if f.Call != nil {
		p.otherChat(ev, f.Call)
	}
	p.sendInstant(TypeCompaction, ev, names.Namespace+"compaction", p.segment(p.now), func(_ *Span, a *attributes) {
		a.string(names.CompactionFirstKept, f.FirstKept)
		a.count(names.CompactionTokensBefore, f.TokensBefore)
		a.positive(names.CompactionPinned, int64(f.Pinned))
		a.all(f.Attributes)
	})
	p.keepFrom(f.FirstKept)
	if f.Settings != nil {
		p.settle(f.Settings)
	}
}

func (p *Projector) summarized(ev *activity.Event, f *activity.BranchSummary) {
	if f.Call != nil {
		p.otherChat(ev, f.Call)
	}
	var from spanRef
	if n := p.tree.find(f.From); n != root {
		from = p.stateAt(n).last
	}
	p.sendInstant(TypeBranch, ev, names.Namespace+"branch", p.segment(p.now), func(s *Span, a *attributes) {
		a.string(names.BranchFrom, f.From)
		if from.ok() {
			s.addLink(from.link(names.LinkBranchFrom))
		}
	})
}

// remark puts a fact about the session on the run in which it was recorded, or on a span of its own outside runs.
func (p *Projector) remark(ev *activity.Event, what string, fill func(*attributes)) {
	if r := p.cur.st.run; r != nil && r.open != nil {
		var a attributes
		a.string(names.EntryID, ev.Key)
		fill(&a)
		at := max(p.now, r.open.start)
		r.open.child = max(r.open.child, at)
		r.open.span.addEvent(Event{Name: names.Namespace + what, Time: wall(at), Attributes: a.list()})
		return
	}
	p.sendInstant(TypeEvent, ev, names.Namespace+what, nil, func(_ *Span, a *attributes) { fill(a) })
}

func (p *Projector) named(ev *activity.Event, f *activity.Name) {
	if r := p.cur.st.run; r != nil && r.open != nil {
		r.open.name = f.Name
	}
	p.remark(ev, "info", func(a *attributes) { a.string(names.SessionName, f.Name) })
}

func (p *Projector) noted(ev *activity.Event, f *activity.Note) {
	what := cut(f.What, maxName)
	about, ok := p.about(f.Target)
	if r := p.cur.st.run; !ok || r != nil && r.open != nil {
		p.remark(ev, what, func(a *attributes) { a.all(f.Attributes) })
		return
	}
	p.sendInstant(TypeEvent, ev, names.Namespace+what, nil, func(s *Span, a *attributes) {
		a.all(f.Attributes)
		s.addLink(about)
	})
}

// about makes the link to the span of an entry that something is said of, if there is one.
func (p *Projector) about(key string) (l Link, ok bool) {
	n := p.tree.find(key)
	if n == root {
		return Link{}, false
	}
	ref := p.near(n)
	return ref.linkTo(names.LinkAbout, activity.Ref{Key: key}), ref.ok()
}

// linked takes a reference to another session. A subsession stands on the span of the call that spawns it, if that has
// not ended, wherever the link stands before it. A judge has a span of its own, also in a run, since it leads elsewhere.
func (p *Projector) linked(ev *activity.Event, f *activity.Link) {
	if f.Rel == "subsession" && p.owner == p.session {
		p.children[p.hashOf(f.Session)] = true
	}
	if f.Rel == "subsession" && f.CallID != "" {
		if cs := p.cur.st.calls.get(p.hashOf(f.CallID)); cs != nil {
			if list := p.spawned[cs.call]; len(list) < maxPerSpan && !slices.Contains(list, f.Session) {
				p.spawned[cs.call] = append(list, f.Session)
			}
			if h := cs.handoff; h != nil && !h.ended {
				h.span.add(func(a *attributes) { putSubsession(h.span, a, f.Session) })
			}
		}
	}
	fill := func(a *attributes) {
		a.string(names.LinkRel, f.Rel)
		a.string(names.LinkSession, f.Session)
		a.string(names.LinkCallID, f.CallID)
		a.string(names.LinkTarget, f.Target)
		a.flag(names.LinkMissing, f.Missing)
	}
	if r := p.cur.st.run; f.Missing && r != nil && r.open != nil {
		r.open.lowerBound = true
	}
	if f.Rel != "judged_by" {
		p.remark(ev, "link", fill)
		return
	}
	about, ok := p.about(f.Target)
	p.sendInstant(TypeEvent, ev, names.Namespace+"link", p.segment(p.now), func(s *Span, a *attributes) {
		fill(a)
		s.addLink(p.markOf(f.Session).linkTo(names.LinkJudgedBy, activity.Ref{Session: f.Session}))
		if ok {
			s.addLink(about)
		}
	})
}
