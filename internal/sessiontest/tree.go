package sessiontest

import (
	"bytes"
	"iter"
	"math/rand/v2"
	"time"
)

// Random returns a session made of what the options allow, with its subsessions.
func Random(r *rand.Rand, o Options) *Case {
	o = o.withDefaults()
	f := newFile(new(bytes.Buffer), r, o, someTime(r))
	f.header()
	f.grow()
	c := &Case{}
	f.collect(c)
	return c
}

// someTime returns a time in 2026, in whole milliseconds.
func someTime(r *rand.Rand) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.IntN(300*24*3600*1000)) * time.Millisecond)
}

// collect completes the file and those below it.
func (f *file) collect(c *Case) {
	f.finish()
	file := File{SessionID: f.id, SpawnedBy: f.spawnedBy, Data: f.out.(*bytes.Buffer).Bytes(), Truth: f.truth}
	if f.parent != nil {
		file.ParentSession = f.parent.id
	}
	c.Files = append(c.Files, file)
	for _, k := range f.kids {
		k.collect(c)
	}
}

// spawn does the work of a call in a session of its own. A second hand-off of the call appends a new root to it (A.13).
func (f *file) spawn(c *call) {
	if k := c.child; k != nil {
		k.now = f.now
		if k.limit > 0 {
			k.limit += k.o.Entries
		}
		p := k.root()
		p.turn()
	} else {
		k := newFile(new(bytes.Buffer), f.r, f.o.below(), f.now)
		k.id, k.parent, k.spawnedBy = c.truth.Session, f, c.truth.ID
		c.child = k
		f.kids = append(f.kids, k)
		k.header()
		k.grow()
	}
	if !c.truth.Background && c.child.now.After(f.now) {
		f.now = c.child.now
	}
}

// root starts a new root.
func (f *file) root() *pen {
	p := &pen{f: f, at: -1}
	p.config()
	return p
}

// grow writes turns until the file is long enough.
func (f *file) grow() {
	p := f.root()
	for len(f.nodes) < f.o.Entries && !f.full() {
		switch {
		case f.o.Alternating && f.oneIn(3):
			p = f.alternate(p)
			continue
		case f.o.Branches && f.oneIn(3):
			p = f.branch(p)
		case f.o.LeafMarks && f.oneIn(3):
			p = f.moveMark(p)
		}
		p.turn()
		p.aside()
		f.wait(5 * time.Minute)
	}
}

// branch leaves the leaf for an earlier entry, a tip that was left before, or a new root.
func (f *file) branch(p *pen) *pen {
	left := p.at
	f.tips = append(f.tips, left)
	if f.oneIn(10) {
		return f.root()
	}
	q := &pen{f: f}
	switch f.r.IntN(3) {
	case 0:
		q.at = f.tips[f.r.IntN(len(f.tips))]
	case 1:
		q.at = f.entry(max(0, len(f.nodes)-12))
	default:
		q.at = f.entry(0)
	}
	if f.oneIn(4) && q.at != left {
		q.summarize(left)
	}
	return q
}

// entry returns the index of an entry that others may follow, from index from on if there is one.
func (f *file) entry(from int) int {
	i := from + f.r.IntN(len(f.nodes)-from)
	for f.nodes[i].leafLabel {
		i = f.nodes[i].parent
	}
	return i
}

// moveMark moves the leaf by a label, or takes the label in force away.
func (f *file) moveMark(p *pen) *pen {
	if f.mark >= 0 && f.oneIn(2) {
		p.label(f.mark, "")
		return p
	}
	target := f.entry(0)
	p.label(target, "leaf")
	return &pen{f: f, at: target}
}

// alternate has two writers do a turn each, both from the same entry and entry by entry. Now and then one of them never
// comes to its end.
func (f *file) alternate(p *pen) *pen {
	pens := []*pen{{f: f, at: p.at}, {f: f, at: p.at}}
	var steps []func() (struct{}, bool)
	for _, q := range pens {
		next, stop := iter.Pull(func(yield func(struct{}) bool) {
			q.yield = yield
			q.turn()
		})
		defer stop()
		steps = append(steps, next)
	}
	abandon := f.oneIn(3)
	for len(steps) > 0 {
		i := f.r.IntN(len(steps))
		if _, ok := steps[i](); !ok {
			steps = append(steps[:i], steps[i+1:]...)
			if abandon {
				break
			}
		}
	}
	return &pen{f: f, at: pens[f.r.IntN(2)].at}
}
