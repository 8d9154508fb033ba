package projection

import (
	"slices"

	"github.com/sessionspan/sessionspan/internal/names"
)

// openWork holds the spans that have started and not ended.
type openWork struct {
	segments  map[*segment]struct{}
	tools     map[*handoff]struct{}
	approvals map[*approval]struct{}
	calls     map[*call]struct{} // calls that no span speaks of yet
}

// Open counts the work of a session that nothing in the file has ended yet.
type Open struct {
	Runs, Tools, Approvals int
	// Pending counts the calls of which no span says how they stand: not handed to a tool, and without a result.
	Pending int
}

func (o Open) plus(b Open) Open {
	return Open{
		Runs: o.Runs + b.Runs, Tools: o.Tools + b.Tools, Approvals: o.Approvals + b.Approvals, Pending: o.Pending + b.Pending,
	}
}

// Total is the number of open spans.
func (o Open) Total() int { return o.Runs + o.Tools + o.Approvals }

// opened adds to the open work, unless it is that of another session, whose history was copied.
func (p *Projector) opened(w any) {
	if p.owner == p.session {
		p.open.add(w)
	}
}

func (o *openWork) add(w any) {
	switch w := w.(type) {
	case *segment:
		put(&o.segments, w)
	case *handoff:
		put(&o.tools, w)
	case *approval:
		put(&o.approvals, w)
	case *call:
		put(&o.calls, w)
	}
}

func put[T comparable](m *map[T]struct{}, v T) {
	if *m == nil {
		*m = map[T]struct{}{}
	}
	(*m)[v] = struct{}{}
}

func (o *openWork) remove(w any) {
	switch w := w.(type) {
	case *segment:
		delete(o.segments, w)
	case *handoff:
		delete(o.tools, w)
	case *approval:
		delete(o.approvals, w)
	case *call:
		delete(o.calls, w)
	}
}

func (o *openWork) count() Open {
	return Open{Runs: len(o.segments), Tools: len(o.tools), Approvals: len(o.approvals), Pending: len(o.calls)}
}

// bySeq lists what is in a set in the order in which it started.
func bySeq[T comparable](m map[T]struct{}, seq func(T) uint32) []T {
	list := make([]T, 0, len(m))
	for v := range m {
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b T) int { return int(seq(a)) - int(seq(b)) })
	return list
}

// endOpen ends all open spans at the last entry, children before the runs that hold them.
func (p *Projector) endOpen(by string) {
	at := p.now
	for _, c := range bySeq(p.open.calls, func(c *call) uint32 { return c.seq }) {
		p.speakOf(c)
	}
	for _, r := range bySeq(p.open.segments, func(s *segment) uint32 { return s.span.Seq }) {
		p.closeTools(r, at, "no output before the record fell silent")
	}
	for _, h := range bySeq(p.open.tools, func(h *handoff) uint32 { return h.span.Seq }) {
		p.endTool(h, at, h.left(), "no output before the record fell silent")
	}
	for _, a := range bySeq(p.open.approvals, func(a *approval) uint32 { return a.span.Seq }) {
		p.endApproval(a, at, func(kv *attributes) { kv.string(names.ApprovalVerdict, names.StateHeld) })
	}
	for _, s := range bySeq(p.open.segments, func(s *segment) uint32 { return s.span.Seq }) {
		s.last = at
		p.cutOff(s.run, by)
	}
}
