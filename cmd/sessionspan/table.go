package main

import (
	"bufio"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/sessionspan/sessionspan/internal/waterfall"
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
	// rank says what is left out first where the table does not fit: the highest. 0: never.
	rank int
}

// cell is the text of one cell, sanitised, and its style.
type cell struct {
	text  string
	style ansi.Style
}

// table is rows under a header, aligned by what is seen.
type table struct {
	columns []column
	rows    [][]cell
}

// look says what a table is written for.
type look struct {
	width int // of the terminal; 0: as wide as it gets
	color bool
	ascii bool
}

// lookFor is what suits what w is. wide asks for full width on a terminal too.
func lookFor(w io.Writer, wide bool) look {
	o := waterfall.OptionsFor(w, os.Environ())
	l := look{color: o.Color, ascii: o.ASCII}
	if isTerminal(w) && !wide {
		l.width = o.Width
	}
	return l
}

// safe makes text from a file a cell's text. What says nothing is a dash, so that every cell has something.
func (l look) safe(s string) string {
	if s = strings.TrimSpace(waterfall.Sanitize(cutBytes(s, 8*maxCell))); s == "" {
		return "-"
	}
	return ansi.Truncate(l.plain(s), maxCell, l.ellipsis())
}

// plain writes ? for what a terminal without Unicode does not have.
func (l look) plain(s string) string {
	if !l.ascii {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r > '~' {
			return '?'
		}
		return r
	}, s)
}

// cutBytes bounds what is looked at of a text of any length; what it cuts is longer than a cell all the same.
func cutBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "")
}

func (l look) ellipsis() string {
	if l.ascii {
		return ".."
	}
	return "…"
}

// write writes the table.
func (t *table) write(w io.Writer, l look) error {
	shown, widths := t.fit(l.width)
	out := bufio.NewWriter(colorprofile.NewWriter(w, os.Environ()))
	header := make([]cell, len(t.columns))
	for i, c := range t.columns {
		header[i] = cell{c.title, ansi.NewStyle(ansi.AttrBold)}
	}
	t.line(out, header, shown, widths, l)
	for _, row := range t.rows {
		t.line(out, row, shown, widths, l)
	}
	return out.Flush()
}

// line writes one row. What went wrong is known when the writer is flushed.
func (t *table) line(w *bufio.Writer, row []cell, shown, widths []int, l look) {
	pad := 0 // blanks before the next text: none are written at the end of a line
	for at, i := range shown {
		text := row[i].text
		if at > 0 {
			pad += gap
		}
		width := ansi.StringWidth(text)
		if width > widths[i] {
			text = ansi.Truncate(text, widths[i], l.ellipsis())
			width = ansi.StringWidth(text)
		}
		left, right := 0, widths[i]-width
		if t.columns[i].right {
			left, right = right, left
		}
		w.WriteString(strings.Repeat(" ", pad+left))
		if l.color && row[i].style != nil {
			text = row[i].style.Styled(text)
		}
		w.WriteString(text)
		pad = right
	}
	w.WriteByte('\n')
}

// fit chooses the columns that fit into a width, and how wide each is: it cuts those that may be cut, then leaves out
// one after the other.
func (t *table) fit(width int) (shown, widths []int) {
	widths = make([]int, len(t.columns))
	for i, c := range t.columns {
		widths[i] = len(c.title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], ansi.StringWidth(row[i].text))
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
