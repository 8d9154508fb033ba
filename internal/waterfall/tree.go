package waterfall

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/trace"
)

// node is a span in its tree. Times are counted from the start of the trace.
type node struct {
	span     *span
	facts    *facts // the span's
	parent   *node
	children []*node
	// from and to bound the bar: of a session, everything below it.
	from, to time.Duration
	open     bool
	last     bool // the last child of its parent
	depth    int
	row      int // its place in the rows of the tree
}

// tree is the spans of one trace.
type tree struct {
	rows   []*node // in the order in which they are drawn
	bySpan map[trace.SpanID]*node
	origin time.Time
	end    time.Duration

	sessions map[string]bool // the ids of those that have spans here
}

// newTree orders the spans of one trace: children under their parents, by start, then by number. A span whose parent is
// not there is a root. Open spans reach to now, or to the last time recorded.
func newTree(spans []*span, now time.Time) *tree {
	t := &tree{bySpan: make(map[trace.SpanID]*node, len(spans)), sessions: make(map[string]bool)}
	nodes := make([]*node, len(spans))
	for i, s := range spans {
		n := &node{span: s, facts: &s.facts, open: s.End.IsZero()}
		nodes[i], t.bySpan[s.SpanID] = n, n
		if s.Session != nil {
			t.sessions[s.Session.ID] = true
		}
		if !s.Start.IsZero() && (t.origin.IsZero() || s.Start.Before(t.origin)) {
			t.origin = s.Start
		}
	}
	for _, n := range nodes {
		if !n.span.Start.IsZero() {
			n.from = n.span.Start.Sub(t.origin)
		}
		if !n.open {
			n.to = n.span.End.Sub(t.origin)
		}
		n.to = max(n.to, n.from)
		t.end = max(t.end, n.to)
	}
	if !now.IsZero() {
		t.end = max(t.end, now.Sub(t.origin))
	}
	for _, n := range nodes {
		if n.open {
			n.to = t.end
		}
	}

	slices.SortStableFunc(nodes, func(a, b *node) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.span.Seq, b.span.Seq))
	})
	var roots []*node
	for _, n := range nodes {
		if p := t.bySpan[n.span.Parent]; p != nil && p != n && n.span.Parent.IsValid() {
			n.parent = p
			p.children = append(p.children, n)
		} else {
			roots = append(roots, n)
		}
	}
	t.rows = make([]*node, 0, len(nodes))
	for _, n := range roots {
		t.add(n)
	}
	if len(t.rows) < len(nodes) { // parents in a circle
		t.addRest(nodes)
	}
	t.spread()
	return t
}

// add appends a root and what is below it, depth first, without recursion: a chain of parents can be as long as a file.
func (t *tree) add(root *node) {
	stack := []*node{root}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n.row = len(t.rows)
		t.rows = append(t.rows, n)
		for i, c := range slices.Backward(n.children) {
			c.depth, c.last = n.depth+1, i == len(n.children)-1
			stack = append(stack, c)
		}
	}
}

// addRest cuts each circle of parents open at its earliest span.
func (t *tree) addRest(nodes []*node) {
	seen := make(map[*node]bool, len(nodes))
	for _, n := range t.rows {
		seen[n] = true
	}
	for _, n := range nodes {
		if seen[n] {
			continue
		}
		n.parent.children = slices.DeleteFunc(n.parent.children, func(c *node) bool { return c == n })
		n.parent = nil
		at := len(t.rows)
		t.add(n)
		for _, m := range t.rows[at:] {
			seen[m] = true
		}
	}
}

// spread makes the bar of each session reach around what is below it, and open where something below it is.
func (t *tree) spread() {
	type reach struct {
		from, to time.Duration
		open     bool
	}
	around := make([]reach, len(t.rows)) // what is below each row
	for i := range around {
		around[i].from = math.MaxInt64
	}
	for i, n := range slices.Backward(t.rows) {
		r := around[i]
		r = reach{min(r.from, n.from), max(r.to, n.to), r.open || n.open}
		if n.span.Type == projection.TypeSession {
			n.from, n.to, n.open = r.from, r.to, r.open
		}
		if n.parent != nil {
			up := &around[n.parent.row]
			*up = reach{min(up.from, r.from), max(up.to, r.to), up.open || r.open}
		}
	}
}

// barKind says what the bar of a node means.
type barKind uint8

const (
	barWork  barKind = iota // a model or a tool at work
	barWaits                // waiting for a person
	barHolds                // encloses work
	barPoint                // a moment
	barNone                 // nothing happened
)

func (n *node) bar() barKind {
	switch n.span.Type {
	case projection.TypeSession:
		return barHolds
	case projection.TypeRun:
		if slices.ContainsFunc(n.children, func(c *node) bool { return c.works() }) {
			return barHolds
		}
		return barWork
	case projection.TypeApproval:
		return barWaits
	case projection.TypeTool:
		switch n.facts.state {
		case names.StateNeverStarted, names.StateUnknown: // it did not run, or the file does not say
			return barNone
		case names.StateHeld, names.StateRejected, names.StateAnswered: // the tool did not run
			if n.to-n.from <= moment {
				return barNone
			}
			return barWaits
		}
		if slices.ContainsFunc(n.children, func(c *node) bool { return c.span.Type == projection.TypeSession }) {
			return barHolds // its work is that of the subsession
		}
		return barWork
	case projection.TypeChat:
		if n.facts.timing == string(activity.Inferred) && n.to-n.from <= moment && !n.open { // nothing is known but that it was
			return barPoint
		}
	case projection.TypeCompaction, projection.TypeBranch, projection.TypeEvent:
		if n.to-n.from <= moment && !n.open {
			return barPoint
		}
	}
	return barWork
}

// works reports whether a model or a tool is behind the span.
func (n *node) works() bool {
	return n.span.Type == projection.TypeChat || n.span.Type == projection.TypeTool
}

// moment is how long a span lasts at most that stands for one.
const moment = 2 * time.Microsecond
