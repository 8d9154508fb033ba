package projection

import (
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
)

// thoughts counts the reasoning on a path by the model that was in force when it was written. It is a value.
type thoughts struct {
	n, since uint32 // so far, and when the model in force came
	model    uint64 // the hash of the model in force, 0 for none
	models   *treap[uint32]
}

// reasoned is a piece of reasoning among a model's output that is not the first.
type reasoned struct{}

func (reasoned) apply(st *state) { st.thought.n++ }

// by counts what was written while a model was in force.
func (t thoughts) by(model uint64) uint32 {
	n := uint32(0)
	if before := t.models.get(model); before != nil {
		n = *before
	}
	if model == t.model {
		n += t.n - t.since
	}
	return n
}

// switched returns the count as another model comes into force.
func (t thoughts) switched(model uint64) thoughts {
	if model == t.model {
		return t
	}
	if t.n > t.since {
		n := t.by(t.model)
		t.models = t.models.set(t.model, &n)
	}
	t.since, t.model = t.n, model
	return t
}

// others counts what was written while a model other than the one named was in force. Where either is not known, nothing
// counts (C.6).
func (t thoughts) others(model uint64) uint32 {
	if model == 0 {
		return 0
	}
	return t.n - t.by(0) - t.by(model)
}

// omission is what is left out of requests (C.6).
type omission struct {
	otherModels bool
	listed      *treap[waits] // items that were named, by their entry
	items       uint32        // how many
	thought     thoughts      // which of them are reasoning
}

// omit returns what is left out after a change. Items that do not stand on the path, or before the context begins, are not
// in it anyway.
func (p *Projector) omit(before *omission, f *activity.Omit) *omission {
	if f == nil {
		return before
	}
	depth := uint32(0)
	if c := p.cur.st.context; c != nil {
		depth = c.depth
	}
	next := omission{}
	if before != nil && !f.Clear {
		next = *before
	}
	next.otherModels = next.otherModels || f.OtherModels
	for _, key := range f.Items {
		n := p.tree.find(key)
		if n == root || p.tree.at(n).depth < depth || !p.tree.above(n, p.at) || next.listed.get(uint64(n)) != nil {
			continue
		}
		next.listed = next.listed.set(uint64(n), &waits{})
		next.items++
		if p.reasonedAt(n) {
			next.thought = next.thought.switched(p.stateAt(n).thought.model)
			next.thought.n++
		}
	}
	return &next
}

// reasonedAt reports whether an entry holds reasoning.
func (p *Projector) reasonedAt(n uint32) bool {
	last := p.tree.at(n).op
	for o := last; o != 0; {
		o = p.ops.at(o).next
		switch p.ops.at(o).change.(type) {
		case reasoned, thoughtWritten:
			return true
		}
		if o == last {
			break
		}
	}
	return false
}

// putOmitted counts what the request of a model call left out.
func putOmitted(a *attributes, st *state) {
	if st.set == nil || st.set.omit == nil {
		return
	}
	o, model := st.set.omit, st.set.hash
	items := o.items
	if o.otherModels {
		n := st.thought.others(model)
		if st.context != nil {
			n -= st.context.before.others(model)
		}
		items -= o.thought.others(model)
		a.positive(names.OmittedOtherModels, int64(n))
	}
	a.positive(names.OmittedItems, int64(items))
}

type newSettings struct{ *request }

func (c newSettings) apply(st *state) {
	st.set = c.request
	st.thought = st.thought.switched(c.hash)
}

// settle applies a change of the settings.
func (p *Projector) settle(f *activity.Settings) {
	before := p.cur.st.set
	next := before.settle(f)
	next.hash = p.hashOf(next.model)
	var omit *omission
	if before != nil && !f.Replace {
		omit = before.omit
	}
	next.omit = p.omit(omit, f.Omit)
	p.do(p.cur, newSettings{next})
}

// contextKept says where the context begins that a compaction leaves: how deep, and what reasoning stands before it.
type contextKept struct {
	depth  uint32
	before thoughts
}

type compactedTo struct{ *contextKept }

func (c compactedTo) apply(st *state) { st.context = c.contextKept }

// keepFrom begins the context at the first entry that a compaction keeps, or at the compaction when that is not on its path.
func (p *Projector) keepFrom(firstKept string) {
	n := p.tree.find(firstKept)
	if n == root || !p.tree.above(n, p.at) {
		n = p.at
	}
	at := p.tree.at(n)
	p.do(p.cur, compactedTo{&contextKept{depth: at.depth, before: p.stateAt(at.parent).thought}})
}
