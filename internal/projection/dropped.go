package projection

import (
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
)

// dropped sends a span without duration for a call that is not handed to its tool, after the model call that asked for it.
func (p *Projector) dropped(ev *activity.Event, f *activity.Dropped) {
	cs := p.pending(ev, f.CallID, "")
	if cs == nil {
		return
	}
	at := cs.call.asked()
	h := p.startTool(p.segment(at), cs, cs.call.entry, at, 0, func(_ *Span, a *attributes) {
		a.string(names.Timing, string(activity.Bounded))
	})
	p.do(p.cur, spanSeen{&h.ref})
	p.endTool(h, at, names.StateNeverStarted, "")
	p.do(p.cur, settled{cs.call})
}
