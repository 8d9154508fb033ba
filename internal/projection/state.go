package projection

import (
	"time"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// state is what the path to an entry has brought about, as far as later entries need it. It is a value, made by the changes
// of the path alone. The records of runs, calls, hand-offs and approvals that it points to also say what spans the file has
// had so far, whichever branch it is read on; no change reads that.
type state struct {
	run     *run              // the run that the path is in, nil outside
	lastRun *run              // the run that started last
	set     *request          // the settings in force
	chat    spanRef           // the last model call
	last    spanRef           // the last span of the path
	calls   *treap[callState] // calls without a result, by the hash of their id
	output  output            // the model output being written
	failed  bool              // the last model call had an error or was incomplete
	queued  *treap[waits]     // inputs that wait, by their entry
	waiting int32             // how many of them since the last end of a run
	ended   uint32            // the entry of that end, if inputs waited then
	due     *dueLink          // links for the next span of the path
	thought thoughts          // the reasoning on the path
	context *contextKept      // where the context begins that the last compaction left, nil when at a root
}

// request is the settings in force.
type request struct {
	model, provider, reasoning                           string
	temperature, topP, frequencyPenalty, presencePenalty *float64
	maxTokens, seed                                      *int64
	parts, omitted                                       int64     // of the instructions; -1 when that is not known
	omit                                                 *omission // items left out of requests, nil for none
	hash                                                 uint64    // of the model, 0 for none
}

// output is the model output whose response has not come yet.
type output struct {
	response uint64 // hash of the response id; 0 for none
	before   int64  // time of the entry before the first piece, or -1
	first    int64  // time of the first piece
	calls    *callList
}

type callList struct {
	call *call
	next *callList
}

// spanRef names a span that may have been forgotten.
type spanRef struct {
	span  trace.SpanID
	trace *trace.TraceID
}

func (r spanRef) ok() bool { return r.span.IsValid() }

// link makes a link of the given kind to the span.
func (r spanRef) link(kind string) Link {
	return Link{TraceID: *r.trace, SpanID: r.span, Attributes: []attribute.KeyValue{names.Link.String(kind)}}
}

// spanSeen makes a span the last one of the path.
type spanSeen struct{ *spanRef }

func (c spanSeen) apply(st *state) { st.last, st.due = *c.spanRef, nil }

// change is one thing that an entry did to the state. With the changes of a path its state can be made again, so that
// only one entry in many has to keep its own. Changes are records that exist anyway, seen as what they did.
type change interface{ apply(*state) }

// op is a change in the ring of an entry's changes, in which the last one leads to the first.
type op struct {
	change change
	next   uint32
}

// tip is a place in the tree where work goes on.
type tip struct {
	live  bool
	node  uint32
	since int64 // the time of the first entry since the tip became live
	st    state
	// branch is set until the first span of a branch has started.
	branch *branchStart
}

// branchStart is what the first span of a branch says of it.
type branchStart struct {
	from  spanRef // the span nearest above the branching point
	entry string  // the branching point
	lost  bool    // the parent of the entry is not in the file
}

// do notes what the entry did that the event speaks of, and brings the state of the tip up to date. The changes of a path
// apply in the order of its entries, whenever they become known: below an entry that is spoken of late, states are made
// again.
func (p *Projector) do(t *tip, c change) {
	if p.at == root {
		c.apply(&t.st)
		return
	}
	n, at := p.ops.add(op{change: c}), p.tree.at(p.at)
	if at.op == 0 {
		p.ops.at(n).next = n
	} else {
		p.ops.at(n).next, p.ops.at(at.op).next = p.ops.at(at.op).next, n
	}
	at.op = n
	if p.at == t.node && p.at == p.tree.newest() && (t == &p.leaf || t == &p.aside) {
		c.apply(&t.st) // nothing is kept of an entry that is still being read
		return
	}
	p.kept.drop(p.at, func(n uint32) bool { return p.tree.above(p.at, n) })
	for i, tip := range []*tip{&p.leaf, &p.aside, t} {
		switch {
		case i == 2 && (t == &p.leaf || t == &p.aside), !tip.live, tip.node == root, !p.tree.above(p.at, tip.node):
		case p.quietSince(tip.node):
			c.apply(&tip.st)
		default:
			tip.st = p.stateAt(tip.node)
		}
	}
}

// quietSince reports whether nothing was changed between the entry that is spoken of and a later one of its path, so that a
// change of the one comes last for the other. It gives up where that is far.
func (p *Projector) quietSince(n uint32) bool {
	for range checkpointEvery {
		if n == p.at {
			return true
		}
		at := p.tree.at(n)
		if at.op != 0 {
			return false
		}
		n = at.parent
	}
	return false
}

// stateAt makes the state after entry n, from the nearest one kept above it.
func (p *Projector) stateAt(n uint32) state {
	var path []uint32
	var st state
	for ; n != root; n = p.tree.at(n).parent {
		if kept := p.kept.get(n); kept != nil {
			st = *kept
			break
		}
		path = append(path, n)
	}
	for i := len(path) - 1; i >= 0; i-- {
		last := p.tree.at(path[i]).op
		for o := last; o != 0; {
			o = p.ops.at(o).next
			p.ops.at(o).change.apply(&st)
			if o == last {
				break
			}
		}
	}
	return st
}

// keep keeps the state of a tip if its place is one of those that do.
func (p *Projector) keep(t *tip) {
	if t.node != root && p.tree.at(t.node).depth%p.kept.every == 0 {
		p.kept.put(t.node, t.st)
	}
}

// settle returns the settings that follow from a change.
func (r *request) settle(c *activity.Settings) *request {
	next := request{}
	if r != nil && !c.Replace {
		next = *r
	}
	setString(&next.model, c.Model)
	setString(&next.provider, c.Provider)
	if c.Reasoning != nil {
		next.reasoning = *c.Reasoning
	}
	setPointer(&next.temperature, c.Temperature)
	setPointer(&next.topP, c.TopP)
	setPointer(&next.frequencyPenalty, c.FrequencyPenalty)
	setPointer(&next.presencePenalty, c.PresencePenalty)
	setPointer(&next.maxTokens, c.MaxTokens)
	setPointer(&next.seed, c.Seed)
	next.parts, next.omitted = relist(next.parts, c.Parts), relist(next.omitted, c.Omitted)
	for _, name := range c.Cleared {
		switch name {
		case activity.Temperature:
			next.temperature = nil
		case activity.TopP:
			next.topP = nil
		case activity.FrequencyPenalty:
			next.frequencyPenalty = nil
		case activity.PresencePenalty:
			next.presencePenalty = nil
		case activity.MaxTokens:
			next.maxTokens = nil
		case activity.Seed:
			next.seed = nil
		}
	}
	return &next
}

// relist returns how long a list is after a change. A change that takes over more than there is leaves that unknown.
func relist(before int64, c *activity.Listing) int64 {
	switch {
	case c == nil:
		return before
	case c.Unclear || c.Kept > max(before, 0):
		return -1
	}
	return sum(c.Given, c.Kept)
}

func setString(dst *string, v string) {
	if v != "" {
		*dst = v
	}
}

func setPointer[T any](dst **T, v *T) {
	if v != nil {
		*dst = v
	}
}

// wall turns the projector's clock, in nanoseconds since 1970, into a time.
func wall(nanos int64) time.Time { return time.Unix(0, nanos).UTC() }
