package projection

import (
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
	"go.opentelemetry.io/otel/attribute"
)

// dueLink is a link for the next span of the path, and what else is due.
type dueLink struct {
	Link
	before *dueLink
	n      uint32 // how many, those over the limit of a span included
}

type linkDue struct{ *Link }

func (c linkDue) apply(st *state) {
	due := &dueLink{Link: *c.Link, before: st.due, n: 1}
	if b := st.due; b != nil {
		due.n = b.n + 1
		if b.n >= maxPerSpan { // it is only counted
			due.Link, due.before = b.Link, b.before
		}
	}
	st.due = due
}

// put gives a span the links that were due, in the order of the file.
func (d *dueLink) put(s *Span) {
	if d == nil {
		return
	}
	var list []*dueLink
	s.DroppedLinks += max(d.n, maxPerSpan) - maxPerSpan
	for ; d != nil; d = d.before {
		list = append(list, d)
	}
	for i := len(list) - 1; i >= 0; i-- {
		s.addLink(list[i].Link)
	}
}

// linkTo is link with what the file names: an entry, and the session when that is another one.
func (r spanRef) linkTo(kind string, to activity.Ref) Link {
	if !r.ok() {
		return Link{}
	}
	a := attributes{kv: []attribute.KeyValue{names.Link.String(kind)}}
	a.string(names.LinkSession, to.Session)
	a.string(names.LinkEntry, to.Key)
	return Link{TraceID: *r.trace, SpanID: r.span, Attributes: a.list()}
}

// converge has the next span of the path lead to the work that an entry merges (C, 0.4), and the first one after copied
// history to the session that it was copied from (C.5).
func (p *Projector) converge(ev *activity.Event) {
	if p.owner == p.session && !p.begun {
		p.begun = true
		origin := p.forkOf
		if p.spawn != nil {
			origin = p.spawn.Session
		}
		if p.base != "" && origin != "" {
			l := p.markOf(origin).linkTo(names.LinkBase, activity.Ref{Session: origin, Key: p.base})
			p.do(p.cur, linkDue{&l})
		}
	}
	for _, m := range ev.Merged {
		var ref spanRef
		if m.Session == "" || m.Session == p.session.ID {
			if n := p.tree.find(m.Key); n != root {
				ref = p.near(n)
			}
		} else {
			ref = p.markOf(m.Session)
		}
		if ref.ok() {
			l := ref.linkTo(names.LinkConverged, m)
			p.do(p.cur, linkDue{&l})
		}
	}
}

// maxPieces is how far below a piece of a model's output the end of the model call is looked for.
const maxPieces = 64

// near returns the span that an entry belongs to: the model call whose output it is a piece of, when that ended on the
// path, else the span nearest above.
func (p *Projector) near(n uint32) spanRef {
	st := p.stateAt(n)
	if st.output.response == 0 || !p.tree.above(n, p.at) {
		return st.last
	}
	depth := p.tree.at(n).depth
	for d := depth + 1; d <= min(depth+maxPieces, p.tree.at(p.at).depth); d++ {
		if c := p.chatAt(p.tree.up(p.at, d)); c != nil {
			if c.of == st.output.response {
				return c.ref
			}
			break
		}
	}
	return st.last
}

// chatAt returns the model call that an entry completes, or nil.
func (p *Projector) chatAt(n uint32) *chat {
	last := p.tree.at(n).op
	for o := last; o != 0; {
		o = p.ops.at(o).next
		if c, ok := p.ops.at(o).change.(chatDone); ok {
			return c.chat
		}
		if o == last {
			break
		}
	}
	return nil
}
