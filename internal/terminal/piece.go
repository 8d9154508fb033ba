package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Ink says what a piece of text is; its style follows from it.
type Ink uint8

// The inks.
const (
	Plain Ink = iota
	Faint
	Strong
	ID    // what names something
	Model // what a model does, or said
	Work  // what a tool does, or what is being done
	Mark  // what changes the session: compaction, branch, event
	Wait  // what waits for somebody, or is not as usual
	Fail
	Here // where one is
)

// styles use the basic colours only, those that can be read on dark and on light backgrounds.
var styles = [...]ansi.Style{
	Plain:  nil,
	Faint:  ansi.NewStyle(ansi.AttrFaint),
	Strong: ansi.NewStyle(ansi.AttrBold),
	ID:     ansi.NewStyle(ansi.AttrYellowForegroundColor),
	Model:  ansi.NewStyle(ansi.AttrMagentaForegroundColor),
	Work:   ansi.NewStyle(ansi.AttrCyanForegroundColor),
	Mark:   ansi.NewStyle(ansi.AttrGreenForegroundColor),
	Wait:   ansi.NewStyle(ansi.AttrYellowForegroundColor),
	Fail:   ansi.NewStyle(ansi.AttrRedForegroundColor),
	Here:   ansi.NewStyle(ansi.AttrBold, ansi.AttrGreenForegroundColor),
}

// Piece is text in one style. It is safe: of our own making, or through [Look.Text].
type Piece struct {
	Text string
	Ink  Ink
}

// Piece returns text in the ink.
func (i Ink) Piece(text string) Piece { return Piece{Text: text, Ink: i} }

// Blank is a number of blanks.
func Blank(n int) Piece { return Plain.Piece(strings.Repeat(" ", max(n, 0))) }

// Widths is how many columns pieces take side by side.
func Widths(list []Piece) int {
	w := 0
	for _, p := range list {
		w += Width(p.Text)
	}
	return w
}

// Draw writes a piece in its style.
func (l Look) Draw(p Piece) string {
	if !l.Color || p.Text == "" || styles[p.Ink] == nil {
		return p.Text
	}
	return styles[p.Ink].Styled(p.Text)
}

// Fit cuts pieces to a number of columns.
func (l Look) Fit(list []Piece, columns int) []Piece {
	for i, p := range list {
		w := Width(p.Text)
		if w <= columns {
			columns -= w
			continue
		}
		p.Text = l.Cut(p.Text, columns)
		return append(list[:i:i], p)
	}
	return list
}

// Line joins pieces, without the blanks at the end.
func (l Look) Line(list []Piece) string {
	for len(list) > 0 {
		last := &list[len(list)-1]
		if last.Text = strings.TrimRight(last.Text, " "); last.Text != "" {
			break
		}
		list = list[:len(list)-1]
	}
	var b strings.Builder
	for _, p := range list {
		b.WriteString(l.Draw(p))
	}
	return b.String()
}
