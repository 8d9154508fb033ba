package projection

import (
	"time"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
	"go.opentelemetry.io/otel/attribute"
)

// decision is a decision about a call.
type decision struct {
	call      *call
	verdict   string
	by        string
	entry     string
	time      int64
	rewritten bool
	approval  *approval // the wait that a hold begins
	wait      int64     // the wait that it ends
	placed    bool      // it stands on the span of the hand-off that was open when it was made
	before    *decision // the one before it that stands on no span
}

// approval is the span of a wait for a person.
type approval struct {
	span  *Span
	start int64
	ended bool
}

type decisionMade struct{ *decision }

func (c decisionMade) apply(st *state) {
	st.update(c.call, func(cs *callState) {
		cs.held = c.verdict == activity.Hold
		cs.rejected = c.verdict == activity.Reject
		cs.answered = c.verdict == activity.Answer
		cs.rewritten = cs.rewritten || c.rewritten && c.verdict != activity.Answer
		cs.wait += c.wait
		switch {
		case c.approval != nil:
			cs.approval = c.approval
		case !cs.held:
			cs.approval = nil
		}
		if !c.placed {
			c.before = cs.waiting
			cs.waiting = c.decision
		}
	})
}

// each calls f for the decisions in the order in which they were made.
func (d *decision) each(f func(*decision)) {
	var list []*decision
	for ; d != nil && len(list) <= maxPerSpan; d = d.before {
		list = append(list, d)
	}
	for i := len(list) - 1; i >= 0; i-- {
		f(list[i])
	}
}

// place puts the decision on a span as an event. One that was made before the span began stands at its beginning and
// says its own time.
func (d *decision) place(s *Span) {
	at := wall(d.time)
	kv := []attribute.KeyValue{names.EntryID.String(cut(d.entry, maxValue)), names.DecisionVerdict.String(cut(d.verdict, maxName))}
	if d.by != "" {
		kv = append(kv, names.DecisionBy.String(cut(d.by, maxName)))
	}
	if d.rewritten {
		kv = append(kv, names.CallArgsRewritten.Bool(true))
	}
	if at.Before(s.Start) {
		kv = append(kv, names.OriginalTime.String(at.Format(time.RFC3339Nano)))
		at = s.Start
	}
	s.addEvent(Event{Name: names.Namespace + "decision", Time: at, Attributes: kv})
}

func (p *Projector) decided(ev *activity.Event, f *activity.Decision) {
	cs := p.pending(ev, f.CallID, f.Target)
	if cs == nil {
		return
	}
	p.takeUp(cs.call)
	d := &decision{
		call: cs.call, verdict: f.Verdict, by: f.By, entry: ev.Key, time: p.now, rewritten: f.ArgsRewritten,
	}
	switch {
	case f.Verdict != activity.Hold:
		d.wait = p.answer(cs, f.Verdict, f.By)
	case cs.approval == nil || cs.approval.ended:
		d.approval = p.hold(ev, cs.call)
	}
	if h := cs.handoff; h != nil && !h.ended {
		d.place(h.span)
		d.placed = true
		h.held = f.Verdict == activity.Hold
		h.answer = f.Verdict == activity.Answer
	} else {
		p.opened(cs.call) // no span says this yet
	}
	p.do(p.cur, decisionMade{d})
	if !d.placed {
		cs.call.decisions = d
	}
}

// hold starts the wait for a person. It hangs from the session: the answer may come in another run.
func (p *Projector) hold(ev *activity.Event, c *call) *approval {
	s := p.newSpan(TypeApproval, p.ids.span(p.owner.ID, TypeApproval, keyOf(ev)...), names.Namespace+"approval")
	s.Start = wall(p.now)
	p.placed(s, nil)
	s.add(func(a *attributes) {
		a.string(names.EntryID, ev.Key)
		a.string(names.ApprovalCallID, c.id)
		a.string(names.ApprovalTool, c.name)
	})
	if c.chat != nil {
		s.addLink(c.chat.ref.link(names.LinkProducedBy))
	}
	ref := p.start(s)
	p.do(p.cur, spanSeen{&ref})
	a := &approval{span: s, start: p.now}
	p.opened(a)
	return a
}

// answer ends the wait for a person, if there is one, and returns how long it was in nanoseconds.
func (p *Projector) answer(cs *callState, verdict, by string) int64 {
	a := cs.approval
	if a == nil {
		return 0
	}
	if !a.ended {
		p.endApproval(a, p.now, func(at *attributes) {
			at.string(names.ApprovalVerdict, verdict)
			at.string(names.ApprovalBy, by)
		})
	}
	return max(p.now-a.start, 0)
}

func (p *Projector) endApproval(a *approval, at int64, more func(*attributes)) {
	s := a.span
	end := max(at, a.start)
	s.End = wall(max(end, a.start+instant))
	s.add(func(kv *attributes) {
		kv.flag(names.ClockAdjusted, end != at)
		more(kv)
	})
	a.ended, a.span = true, nil
	p.open.remove(a)
	p.sendEnd(s)
}
