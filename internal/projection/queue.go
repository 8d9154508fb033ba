package projection

import (
	"fmt"
	"time"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
)

// waits is the mark of an input that waits (C.7).
type waits struct{}

// inputQueued has an input wait; its number is that of its entry.
type inputQueued uint32

func (c inputQueued) apply(st *state) {
	st.waiting++
	st.queued = st.queued.set(uint64(c), &waits{})
}

// inputTaken ends the wait of an input.
type inputTaken uint32

func (c inputTaken) apply(st *state) {
	if st.queued.get(uint64(c)) == nil {
		return
	}
	st.queued = st.queued.set(uint64(c), nil)
	if uint32(c) > st.ended {
		st.waiting--
	}
}

// inputsLeft is the end of a run that left inputs waiting. They are not counted again.
type inputsLeft uint32

func (c inputsLeft) apply(st *state) { st.waiting, st.ended = 0, uint32(c) }

// queue notes an input that waits for its turn.
func (p *Projector) queue(ev *activity.Event, f *activity.Queued) {
	p.remark(ev, "queued", func(a *attributes) {
		a.string(names.QueuedMode, f.Mode)
		a.string(names.QueuedTrigger, f.Trigger.Ref)
		a.string(names.QueuedTriggerKind, f.Trigger.Kind)
		a.string(names.QueuedTriggerSource, f.Trigger.Source)
	})
	p.do(p.cur, inputQueued(p.at))
}

// arrived says how an input came. One that waited has a span of its own, also in a run, since it leads to where it began
// to wait. What the run began with is said on the run as well.
func (p *Projector) arrived(ev *activity.Event, f *activity.Arrival) {
	fill := func(a *attributes) {
		a.string(names.InputMode, f.Mode)
		a.string(names.InputQueuedFrom, f.Queued)
		a.string(names.InputTrigger, f.Trigger.Ref)
		a.string(names.InputTriggerKind, f.Trigger.Kind)
		a.string(names.InputTriggerSource, f.Trigger.Source)
	}
	n := p.tree.find(f.Queued)
	if f.Queued == "" && usable(f.Since) {
		wait := max(p.now-f.Since.UnixNano(), 0) / int64(time.Millisecond)
		p.beganWith(f.Trigger, wait)
		p.remark(ev, "input", func(a *attributes) {
			fill(a)
			a.add(names.InputWait.Int64(wait))
		})
		return
	}
	if f.Queued == "" || p.cur.st.queued.get(uint64(n)) == nil {
		if f.Queued != "" {
			p.note(ev, ErrNotQueued, fmt.Sprintf("the item says that it was taken from %q", cut(f.Queued, maxName)))
		}
		p.beganWith(f.Trigger, -1)
		p.remark(ev, "input", fill)
		return
	}
	wait := max(p.now-p.tree.at(n).time, 0) / int64(time.Millisecond)
	from := p.near(n)
	p.do(p.cur, inputTaken(n))
	p.beganWith(f.Trigger, wait)
	p.sendInstant(TypeEvent, ev, names.Namespace+"input", p.segment(p.now), func(s *Span, a *attributes) {
		fill(a)
		a.add(names.InputWait.Int64(wait))
		if from.ok() {
			s.addLink(from.linkTo(names.LinkQueued, activity.Ref{Key: f.Queued}))
		}
	})
}

// beganWith says on the run how its first input came, if no model call was made before: what caused it, unless the run says
// that itself, and how long it had waited; wait is -1 when it had not.
func (p *Projector) beganWith(t activity.Trigger, wait int64) {
	r := p.cur.st.run
	if r == nil || r.open == nil || r.open.begun || r.open.chats > 0 || r.segments > 1 {
		return
	}
	r.open.begun = true
	r.open.span.add(func(a *attributes) {
		if r.start.Trigger == (activity.Trigger{}) {
			putRunTrigger(a, t)
		}
		if wait >= 0 {
			a.add(names.RunWait.Int64(wait))
		}
	})
}

// endRun ends a run where the file does. What waits then is not what the next run was asked for (C.7), though that may take
// it up.
func (p *Projector) endRun(r *run) {
	p.do(p.cur, runOver{r})
	if p.cur.st.waiting > 0 {
		p.do(p.cur, inputsLeft(p.at))
	}
}

// waiting counts the inputs that wait on the path that a run is on, as it ends: those that came since the end before.
func (p *Projector) waiting(r *run) int64 {
	for _, t := range []*tip{p.cur, &p.leaf, &p.aside} {
		if t != nil && t.st.lastRun == r {
			return int64(t.st.waiting)
		}
	}
	return 0
}
