package projection

import "github.com/sessionspan/sessionspan/internal/activity"

// inner are the sessions that stand in the file of another one, each with a projector of its own, in the order in which they
// began.
type inner struct {
	by      map[string]*Projector
	all     []*Projector
	entries int // of all of them
}

// within takes an event of a session in the file of this one. What happens in it happens in the file, so that the session
// of the file is not silent meanwhile.
func (p *Projector) within(ev *activity.Event) {
	in := p.inner.by[ev.Within]
	if in == nil {
		if _, begins := ev.Fact.(*activity.Session); !begins || p.session == nil {
			return
		}
		in = New(p.opts, p.sink)
		in.seq, in.outer = p.seq, true
		if p.inner.by == nil {
			p.inner.by = map[string]*Projector{}
		}
		p.inner.by[ev.Within] = in
		p.inner.all = append(p.inner.all, in)
	}
	before, entries := in.last, in.entries
	own := *ev
	own.Within = ""
	in.Feed(&own)
	p.inner.entries += in.entries - entries
	if in.last == before || ev.Part > 0 {
		return
	}
	p.last = max(p.last, in.last)
	for _, t := range []*tip{&p.leaf, &p.aside} {
		if run := t.st.run; t.live && run != nil && run.open != nil {
			run.open.last = max(run.open.last, in.last)
		}
	}
}
