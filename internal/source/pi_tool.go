package source

import (
	"time"

	"github.com/sessionspan/sessionspan/format/pi"
	"github.com/sessionspan/sessionspan/internal/activity"
)

// piBatch holds the results of one message's calls that have a duration, until all of them are there: only together do they
// tell whether the tools ran side by side or one after the other.
type piBatch struct {
	asker int32 // the place of the message; 0 when nothing is held
	place int32 // that of the last result
	left  int   // how many calls have no result yet
	asked time.Time
	held  []piResultHeld
}

// piResultHeld is the result of a call, and the model call that its tool made, if it did.
type piResultHeld struct {
	event  activity.Event
	result activity.Result
	ended  time.Time // when the result was made: the tool had ended by then
	call   *activity.Response
}

// toolResult takes the output of a call. Its time is the end of the tool, and in a batch that may be the end of the batch: a
// duration is then true, but not where it lies.
func (d *piSession) toolResult(n int32, m *pi.Message) {
	p := &d.places[n]
	r := &d.facts.result
	*r = activity.Result{CallID: m.Text("toolCallId"), End: m.Time, Duration: m.Duration(), Timing: activity.Bounded}
	if m.Flag("isError") {
		r.Failure = &activity.Failure{}
	}
	if nested, ok := m.NestedCalls(); ok {
		r.Attributes = nestedAttributes(nested)
	}
	var call *activity.Response
	if _, ok := m.Usage(); ok { // a model call that the tool made
		call = &activity.Response{
			Purpose: "other", Timing: activity.Bounded,
			Attributes: []activity.Attribute{{Name: "chat.kind", Value: "tool"}, {Name: "chat.call_id", Value: r.CallID}},
		}
		spend(call, m.Usage)
	}
	if p.state == piWaits { // it goes on after a cut answer
		d.held.place, p.state = 0, piOpen
	}
	p.kind, p.at = piResult, d.event.Time.UnixMilli()

	switch {
	case r.Duration > 0 && p.calls > 1:
		d.hold(n, p, call)
		return
	case r.Duration > 0:
		r.Timing = activity.Measured
	case p.calls > 0:
		r.Start = time.UnixMilli(p.asked)
	}
	d.sayResult(d.say, r, call)
}

// sayResult says what a tool gave, and then what it used.
func (d *piSession) sayResult(say func(activity.Fact), r *activity.Result, call *activity.Response) {
	start, end := r.Start, r.End
	if start.IsZero() && r.Duration > 0 && !end.IsZero() {
		start = end.Add(-r.Duration)
	}
	say(r)
	if call != nil {
		call.Start, call.End = start, end
		say(call)
	}
}

// hold keeps a result of a batch, and places all of them when it is the last.
func (d *piSession) hold(n int32, p *piPlace, call *activity.Response) {
	b := &d.batch
	if b.asker == 0 {
		*b = piBatch{asker: p.asker, left: int(p.calls), asked: time.UnixMilli(p.asked), held: b.held[:0]}
	}
	d.say(nil)
	held := piResultHeld{event: d.event, result: d.facts.result, ended: d.facts.result.End, call: call}
	if held.ended.IsZero() {
		held.ended = d.event.Time
	}
	b.held = append(b.held, held)
	b.place = n
	if b.left--; b.left <= 0 {
		d.place(d.emit)
	}
}

// settleBatch places what is held of a batch, unless an entry is the next result of it.
func (d *piSession) settleBatch(up int32, e *pi.Entry, emit func(*activity.Event)) {
	b := &d.batch
	if b.asker == 0 {
		return
	}
	m := e.Message()
	if up == b.place && e.Type == pi.TypeMessage && m != nil && m.Role == pi.RoleToolResult && m.Duration() > 0 {
		return
	}
	d.place(emit)
}

// place says of the results of a batch when their tools ran: one after the other if their durations fill the time that the batch
// took, else side by side from its beginning.
func (d *piSession) place(emit func(*activity.Event)) {
	b := &d.batch
	if b.asker == 0 {
		return
	}
	b.asker = 0
	var sum, longest time.Duration
	end := b.asked
	for i := range b.held {
		h := &b.held[i]
		sum += h.result.Duration
		longest = max(longest, h.result.Duration)
		if h.ended.After(end) {
			end = h.ended
		}
	}
	took := end.Sub(b.asked)
	inTurn := len(b.held) > 1 && sum <= took && sum-longest > 0 && took-sum < (sum-longest)/2
	at := b.asked
	for i := range b.held {
		h := &b.held[i]
		r := h.result
		r.Start, r.End, r.Timing = at, at.Add(r.Duration), activity.Inferred
		if inTurn {
			at = r.End
		}
		h.event.Time = h.ended
		d.sayResult(func(f activity.Fact) {
			h.event.Fact = f
			emit(&h.event)
			h.event.Part++
		}, &r, h.call)
		*h = piResultHeld{}
	}
	b.held = b.held[:0]
}
