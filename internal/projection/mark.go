package projection

import (
	"fmt"

	"github.com/sessionspan/sessionspan/internal/activity"
)

// marked applies a leaf mark (the format's newer rule, A.4): it names the leaf, and while it is in force only entries
// that descend from it move the leaf. The entry that carries the mark never is the leaf.
func (p *Projector) marked(ev *activity.Event, f *activity.Mark) {
	target := p.tree.find(f.Target)
	label := p.cur.node
	switch {
	case f.Clear && target != root && target == p.mark:
		p.mark = root
		if p.cur != &p.leaf {
			p.takeAside()
		}
		return
	case f.Clear:
		return
	case target == root:
		p.note(ev, ErrParentLost, fmt.Sprintf("the leaf mark names %q, which is not in the file", cut(f.Target, maxName)))
		p.unstep(ev)
		return
	}
	p.mark = target
	if target == label {
		p.unstep(ev)
		return
	}
	key := f.Target
	p.unstep(ev)
	p.moveLeaf(key, target)
}

// moved moves the leaf, once: what is appended later moves it on, wherever it hangs.
func (p *Projector) moved(ev *activity.Event, f *activity.Move) {
	target := p.tree.find(f.Target)
	p.unstep(ev)
	if target == root && f.Target != "" {
		p.note(ev, ErrParentLost, fmt.Sprintf("the leaf moves to %q, which is not in the file", cut(f.Target, maxName)))
		return
	}
	p.moveLeaf(f.Target, target)
}

// unstep takes the current tip back from a label that must not be the leaf to the entry it hangs from. A mark that is a
// further part of an entry leaves the entry where it is.
func (p *Projector) unstep(ev *activity.Event) {
	if ev.Part > 0 {
		return
	}
	label := p.tree.at(p.cur.node)
	p.cur.node = label.parent
	if label.op != 0 {
		p.cur.st = p.stateAt(label.parent)
	}
}

// moveLeaf makes entry n the leaf, as a leaf mark asks for.
func (p *Projector) moveLeaf(key string, n uint32) {
	switch {
	case n == p.leaf.node:
		return
	case p.aside.live && n == p.aside.node:
		p.takeAside()
		return
	}
	p.cur = p.fork(key, n, false, true)
}

// takeAside makes the tip aside the leaf, and leaves the leaf that was.
func (p *Projector) takeAside() {
	p.leave(&p.leaf)
	p.leaf, p.aside = p.aside, tip{}
	p.cur = &p.leaf
}
