package waterfall

import (
	"slices"

	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// cell is one column of a bar.
type cell struct {
	rune
	ink terminal.Ink
}

// bar draws an entry on the axis, one piece for each stretch of one style.
func (p pen) bar(a *axis, e entry) []terminal.Piece {
	n := e.node
	cells := p.blankAxis(a)

	lo, hi := a.cells(n.from, n.to)
	color, kind := inkOf(n), n.bar()
	if kind == barHolds && e.hidden.spans > 0 && n.span.Type != projection.TypeSession {
		kind = barWork // it stands for the work below it
	}
	first, last := lo/2, (hi-1)/2
	switch kind {
	case barPoint:
		cells[first] = cell{[]rune(p.types[n.span.Type])[0], color}
	case barNone:
		cells[first] = cell{p.none, color}
	default:
		st := p.work
		if kind == barHolds {
			st = p.holds
			if color == terminal.Plain {
				color = terminal.Faint
			}
		} else if kind == barWaits {
			st = p.waits
		}
		all := !slices.Contains(a.folded[first:last+1], false) // nothing but folds: it would have no mark
		for c := first; c <= last; c++ {
			r := st.full
			switch {
			case lo > 2*c:
				r = st.right
			case hi < 2*c+2:
				r = st.left
			}
			if !a.folded[c] || all {
				cells[c] = cell{r, color}
			}
		}
		if n.open {
			cells[last] = cell{p.open, color}
		}
	}

	return pieces(cells)
}

// ruler draws the axis itself.
func (p pen) ruler(a *axis) []terminal.Piece {
	cells := p.blankAxis(a)
	for _, t := range a.ticks() {
		cells[t.column] = cell{p.tick, terminal.Faint}
		for i, r := range []rune(t.label) {
			cells[t.column+1+i] = cell{r, terminal.Plain}
		}
	}
	return pieces(cells)
}

// blankAxis returns the columns of a row without a bar.
func (p pen) blankAxis(a *axis) []cell {
	cells := make([]cell, a.width)
	for i := range cells {
		cells[i] = cell{' ', terminal.Plain}
		if a.folded[i] {
			cells[i] = cell{p.fold, terminal.Faint}
		}
	}
	return cells
}

// pieces joins neighbours of one style.
func pieces(cells []cell) []terminal.Piece {
	var list []terminal.Piece
	for i := 0; i < len(cells); {
		j := i
		var text []rune
		for ; j < len(cells) && cells[j].ink == cells[i].ink; j++ {
			text = append(text, cells[j].rune)
		}
		list = append(list, cells[i].ink.Piece(string(text)))
		i = j
	}
	return list
}
