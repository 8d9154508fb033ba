package waterfall

import (
	"cmp"
	"slices"
)

// tally counts the spans that a row stands for.
type tally struct{ spans, failed, open int }

func (t *tally) add(o tally) {
	t.spans += o.spans
	t.failed += o.failed
	t.open += o.open
}

// entry is a row of the outline: a node, with what is folded into it, or the children of a node that are left out.
type entry struct {
	node   *node // for children left out, the first of them
	cut    bool
	hidden tally
}

// minPart is the least number of rows that a node is opened for of whose children only some have room.
const minPart = 8

// outline chooses which nodes have rows of their own. When there are more than max, the tree is opened level by level as
// far as rows last, at each level first where something failed or is open, then from the latest on. A node that stays
// closed stands for what is below it. Children of a session that are too many have their middle left out; with what rows
// remain then, so have those of other nodes.
func (t *tree) outline(max int) []entry {
	if max <= 0 || len(t.rows) <= max {
		entries := make([]entry, len(t.rows))
		for i, n := range t.rows {
			entries[i].node = n
		}
		return entries
	}
	o := &outline{
		room: max, below: make([]tally, len(t.rows)),
		shown: make(map[*node]bool, max), opened: make(map[*node]bool), left: make(map[*node]tally),
	}
	top := &node{}
	for i, n := range slices.Backward(t.rows) {
		own := &o.below[i]
		own.spans++
		if n.facts.failure != "" {
			own.failed++
		}
		if n.span.End.IsZero() {
			own.open++
		}
		if n.parent != nil {
			o.below[n.parent.row].add(*own)
		}
		if n.depth == 0 {
			top.children = append(top.children, n)
		}
	}
	slices.Reverse(top.children)

	o.open(top, 1)
	o.levels(top.children)
	for {
		n := o.closed(t.rows)
		if n == nil || !o.open(n, minPart) {
			break
		}
		o.levels(n.children)
	}
	return o.entries(t.rows)
}

// outline is the choice of rows while it is made.
type outline struct {
	room          int     // how many rows there may still be
	below         []tally // for each row of the tree, it and what is below it
	shown, opened map[*node]bool
	left          map[*node]tally // by the first child left out
}

// open gives the children of a node rows, without their middle where there is room for so many rows at least but not for all.
func (o *outline) open(n *node, least int) bool {
	show, cut := n.children, []*node(nil)
	if len(show) > o.room {
		if o.room < least {
			return false
		}
		half := o.room / 2
		cut = show[half : len(show)-(o.room-1-half)]
		show = append(show[:half:half], show[half+len(cut):]...)
	}
	o.opened[n] = true
	for _, c := range show {
		o.shown[c] = true
	}
	o.room -= len(show)
	if len(cut) > 0 {
		var sum tally
		for _, c := range cut {
			sum.add(o.below[c.row])
		}
		o.left[cut[0]] = sum
		o.room--
	}
	return true
}

// levels opens nodes that have rows, and what is below them, level by level.
func (o *outline) levels(level []*node) {
	for len(level) > 0 {
		var next []*node
		slices.SortStableFunc(level, o.urgency)
		for _, n := range level {
			switch {
			case !o.shown[n]:
			case len(n.children) <= o.room || n.depth == 0:
				if o.open(n, 3) {
					next = append(next, n.children...)
				}
			}
		}
		level = next
	}
}

// urgency orders nodes by which is to be opened first.
func (o *outline) urgency(a, b *node) int {
	x, y := o.below[a.row], o.below[b.row]
	return cmp.Or(-cmp.Compare(min(1, x.failed+x.open), min(1, y.failed+y.open)), -cmp.Compare(a.from, b.from))
}

// closed returns the node to open next of those that have a row and stand for others; nil when there is none.
func (o *outline) closed(rows []*node) *node {
	var first *node
	for _, n := range rows {
		if o.shown[n] && !o.opened[n] && len(n.children) > 0 && (first == nil || o.urgency(n, first) < 0) {
			first = n
		}
	}
	return first
}

// entries lists the rows in the order of the tree.
func (o *outline) entries(rows []*node) []entry {
	var entries []entry
	for _, n := range rows {
		if sum, ok := o.left[n]; ok {
			entries = append(entries, entry{node: n, cut: true, hidden: sum})
		}
		if !o.shown[n] {
			continue
		}
		e := entry{node: n}
		if !o.opened[n] {
			e.hidden = o.below[n.row]
			e.hidden.spans--
		}
		entries = append(entries, e)
	}
	return entries
}
