package main

import (
	"io"
	"slices"
	"strings"

	"github.com/sessionspan/sessionspan/internal/terminal"
)

// maxCell bounds the columns of a terminal that one cell may take: what is longer is cut, wherever it goes.
const maxCell = 100

// gap is between the columns of a table.
const gap = 2

// column is one of a table.
type column struct {
	title string
	right bool // numbers stand to the right
	// least is how few columns of a terminal it may be cut to; 0: it is never cut.
	least int
	// last is how few it may be cut to when nothing more can be left out; 0: not even then.
	last int
	// rank says what is left out first where the table does not fit: the highest. 0: never.
	rank int
}

// table is rows of cells under a header, aligned by what is seen.
type table struct {
	columns []column
	rows    [][]terminal.Piece
}

// cellText makes text from a file that of a cell. What says nothing is a dash, so that every cell has something.
func cellText(l terminal.Look, s string) string {
	if s = strings.TrimSpace(l.Text(cutBytes(s, 8*maxCell))); s == "" {
		return "-"
	}
	return l.Cut(s, maxCell)
}

// cutBytes bounds what is looked at of a text of any length; what it cuts is longer than a cell all the same.
func cutBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

// remove takes a column away.
func (t *table) remove(title string) {
	at := slices.IndexFunc(t.columns, func(c column) bool { return c.title == title })
	t.columns = slices.Delete(slices.Clone(t.columns), at, at+1)
	for i := range t.rows {
		t.rows[i] = slices.Delete(t.rows[i], at, at+1)
	}
}

// write writes the table, no wider than the look says; 0: as wide as it gets.
func (t *table) write(w io.Writer, l terminal.Look) error {
	shown, widths := t.fit(l.Width)
	out := terminal.NewWriter(w, w)
	header := make([]terminal.Piece, len(t.columns))
	for i, c := range t.columns {
		header[i] = terminal.Strong.Piece(c.title)
	}
	for _, row := range append([][]terminal.Piece{header}, t.rows...) {
		_, _ = out.WriteString(l.Line(t.line(row, shown, widths, l)) + "\n") // what went wrong is known when the writer is flushed
	}
	return out.Flush()
}

// line lays out one row.
func (t *table) line(row []terminal.Piece, shown, widths []int, l terminal.Look) []terminal.Piece {
	var line []terminal.Piece
	for at, i := range shown {
		if at > 0 {
			line = append(line, terminal.Blank(gap))
		}
		cell := row[i]
		cell.Text = l.Cut(cell.Text, widths[i])
		room := terminal.Blank(widths[i] - terminal.Width(cell.Text))
		if t.columns[i].right {
			line = append(line, room, cell)
		} else {
			line = append(line, cell, room)
		}
	}
	return line
}

// fit chooses the columns that fit into a width, and how wide each is: it cuts those that may be cut, then leaves out
// one after the other.
func (t *table) fit(width int) (shown, widths []int) {
	widths = make([]int, len(t.columns))
	for i, c := range t.columns {
		widths[i] = len(c.title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], terminal.Width(row[i].Text))
		}
		shown = append(shown, i)
	}
	if width <= 0 {
		return shown, widths
	}
	for {
		need, first := -gap, -1
		for at, i := range shown {
			need += gap + t.narrowest(i, widths[i])
			if r := t.columns[i].rank; r > 0 && (first < 0 || r > t.columns[shown[first]].rank) {
				first = at
			}
		}
		if need <= width {
			return shown, t.widen(shown, widths, width-need)
		}
		if first < 0 {
			for _, i := range shown {
				if c := t.columns[i]; c.last > 0 {
					cut := min(need-width, max(widths[i]-max(c.last, len(c.title)), 0))
					widths[i] -= cut
					need -= cut
				}
			}
			return shown, t.widen(shown, widths, 0)
		}
		shown = append(shown[:first], shown[first+1:]...)
	}
}

// narrowest is how narrow a column may be.
func (t *table) narrowest(i, natural int) int {
	if c := t.columns[i]; c.least > 0 {
		return min(natural, max(c.least, len(c.title)))
	}
	return natural
}

// widen gives the columns that may be cut what room is left.
func (t *table) widen(shown, natural []int, room int) []int {
	widths := make([]int, len(natural))
	for _, i := range shown {
		widths[i] = t.narrowest(i, natural[i])
		more := min(room, natural[i]-widths[i])
		widths[i] += more
		room -= more
	}
	return widths
}
