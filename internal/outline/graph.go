package outline

import "container/heap"

// graph lays the tree out in columns, one of which each entry stands in. The last child of an entry takes over its column;
// the others get the first one that is free.
type graph struct {
	up     []int
	column []int // of each entry
	left   []int // children that are still to come, of each entry
	most   int   // columns in use at the same time
	shown  int   // columns that are drawn; what stands further right is drawn in the last one

	busy []int // how many entries keep each column that is drawn open for later children
}

// newGraph lays out entries, each with the index of its parent, which stands before it; -1 for a root. At most so many columns
// are drawn.
func newGraph(up []int, columns int) *graph {
	g := &graph{up: up, column: make([]int, len(up)), left: make([]int, len(up))}
	for _, p := range up {
		if p >= 0 {
			g.left[p]++
		}
	}
	waiting := append([]int(nil), g.left...)
	var free freeColumns
	for i, p := range up {
		if p >= 0 {
			waiting[p]--
		}
		switch {
		case p >= 0 && waiting[p] == 0:
			g.column[i] = g.column[p]
		case len(free) > 0:
			g.column[i] = heap.Pop(&free).(int)
		default:
			g.column[i] = g.most
			g.most++
		}
		if waiting[i] == 0 {
			heap.Push(&free, g.column[i])
		}
	}
	g.shown = min(g.most, max(columns, 1))
	g.busy = make([]int, g.shown)
	return g
}

// freeColumns is a heap with the leftmost column first.
type freeColumns []int

func (f freeColumns) Len() int           { return len(f) }
func (f freeColumns) Less(i, j int) bool { return f[i] < f[j] }
func (f freeColumns) Swap(i, j int)      { f[i], f[j] = f[j], f[i] }
func (f *freeColumns) Push(x any)        { *f = append(*f, x.(int)) }

func (f *freeColumns) Pop() any {
	last := (*f)[len(*f)-1]
	*f = (*f)[:len(*f)-1]
	return last
}

// strokes are what lines are drawn with.
type strokes struct{ pass, tee, teeLeft, cross, dash, blank string }

var (
	unicodeStrokes = strokes{"│", "├", "┤", "┼", "─", " "}
	asciiStrokes   = strokes{"|", "|", "|", "+", "-", " "}
)

// row draws the row of the next entry, with its symbol. Rows are drawn in order, each once.
func (g *graph) row(i int, symbol string, s *strokes) string {
	own, from := g.shownColumn(i), -1
	if p := g.up[i]; p >= 0 {
		g.left[p]--
		if g.column[p] != g.column[i] {
			from = g.shownColumn(p)
		} else {
			g.busy[own]-- // it is taken over
		}
	}
	cells := g.cells(own, from, symbol, s)
	if g.left[i] > 0 {
		g.busy[own]++
	}
	return cells
}

// between draws the row of something that is no entry.
func (g *graph) between(s *strokes) string { return g.cells(-1, -1, "", s) }

func (g *graph) shownColumn(i int) int { return min(g.column[i], g.shown-1) }

// cells draws the columns: a symbol in its own, a line from another one to it, and what passes by.
func (g *graph) cells(own, from int, symbol string, s *strokes) string {
	var row []byte
	if from == own {
		from = -1
	}
	first, last := min(own, from), max(own, from)
	if from < 0 {
		first, last = own, own
	}
	for c := range g.shown {
		inside := c > first && c <= last
		if c > 0 {
			if inside {
				row = append(row, s.dash...)
			} else {
				row = append(row, s.blank...)
			}
		}
		busy := g.busy[c] > 0
		switch {
		case c == own:
			row = append(row, symbol...)
		case c == from && from < own:
			row = append(row, s.tee...)
		case c == from:
			row = append(row, s.teeLeft...)
		case inside && busy:
			row = append(row, s.cross...)
		case inside:
			row = append(row, s.dash...)
		case busy:
			row = append(row, s.pass...)
		default:
			row = append(row, s.blank...)
		}
	}
	return string(row)
}
