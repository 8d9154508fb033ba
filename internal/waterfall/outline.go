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

// outline chooses which nodes have rows of their own. When there are more than max, the tree is opened level by level as
// far as rows last, at each level first where something failed or is open, then from the latest on. A node that stays
// closed stands for what is below it. Children of a session that are too many have their middle left out.
func (t *tree) outline(max int) []entry {
	if max <= 0 || len(t.rows) <= max {
		entries := make([]entry, len(t.rows))
		for i, n := range t.rows {
			entries[i].node = n
		}
		return entries
	}

	below := make(map[*node]tally, len(t.rows)) // a node and what is below it
	top := &node{}
	for _, n := range slices.Backward(t.rows) {
		own := below[n]
		own.spans++
		if n.facts.failure != "" {
			own.failed++
		}
		if n.span.End.IsZero() {
			own.open++
		}
		below[n] = own
		if n.parent != nil {
			sum := below[n.parent]
			sum.add(own)
			below[n.parent] = sum
		}
		if n.depth == 0 {
			top.children = append(top.children, n)
		}
	}
	slices.Reverse(top.children)

	shown := make(map[*node]bool, max)
	left := make(map[*node]tally) // by the first child left out
	opened := make(map[*node]bool)
	for level := []*node{top}; len(level) > 0; {
		var next []*node
		for _, n := range level {
			show, cut := n.children, []*node(nil)
			if room := max - len(shown) - len(left); len(show) > room {
				if n.depth > 0 || room < 3 && n != top {
					continue
				}
				half := room / 2
				cut = show[half : len(show)-(room-1-half)]
				show = append(show[:half:half], show[half+len(cut):]...)
			}
			opened[n] = true
			for _, c := range show {
				shown[c] = true
			}
			if len(cut) > 0 {
				var sum tally
				for _, c := range cut {
					sum.add(below[c])
				}
				left[cut[0]] = sum
			}
			next = append(next, show...)
		}
		slices.SortStableFunc(next, func(a, b *node) int {
			x, y := below[a], below[b]
			return cmp.Or(-cmp.Compare(min(1, x.failed+x.open), min(1, y.failed+y.open)), -cmp.Compare(a.from, b.from))
		})
		level = next
	}

	var entries []entry
	for _, n := range t.rows {
		if sum, ok := left[n]; ok {
			entries = append(entries, entry{node: n, cut: true, hidden: sum})
		}
		if !shown[n] {
			continue
		}
		e := entry{node: n}
		if !opened[n] {
			e.hidden = below[n]
			e.hidden.spans--
		}
		entries = append(entries, e)
	}
	return entries
}
