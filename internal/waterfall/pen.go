package waterfall

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/sessionspan/sessionspan/internal/projection"
)

// ink says what a piece of text is; the style follows from it.
type ink uint8

const (
	inkPlain ink = iota
	inkFaint
	inkStrong
	inkChat
	inkTool
	inkMark // compaction, branch, event
	inkWait
	inkFail
)

// styles use the basic colours only, those that can be read on dark and on light backgrounds.
var styles = [...]ansi.Style{
	inkPlain:  nil,
	inkFaint:  ansi.NewStyle(ansi.AttrFaint),
	inkStrong: ansi.NewStyle(ansi.AttrBold),
	inkChat:   ansi.NewStyle(ansi.AttrMagentaForegroundColor),
	inkTool:   ansi.NewStyle(ansi.AttrCyanForegroundColor),
	inkMark:   ansi.NewStyle(ansi.AttrGreenForegroundColor),
	inkWait:   ansi.NewStyle(ansi.AttrYellowForegroundColor),
	inkFail:   ansi.NewStyle(ansi.AttrRedForegroundColor),
}

// stroke is how a bar looks: a full column, its left half, its right half.
type stroke struct{ full, left, right rune }

// symbols is one alphabet.
type symbols struct {
	types                   map[projection.Type]string
	failed                  string
	work, waits, holds      stroke
	open, fold, none, tick  rune
	pass, tee, elbow, deep  string
	dot, to, atMost, about  string
	atLeast, back, ellipsis string
}

var unicodeSymbols = symbols{
	types: map[projection.Type]string{
		projection.TypeSession: "◆", projection.TypeRun: "►", projection.TypeChat: "●", projection.TypeTool: "■",
		projection.TypeApproval: "○", projection.TypeCompaction: "▼", projection.TypeBranch: "↳", projection.TypeEvent: "•",
	},
	failed: "✗",
	work:   stroke{'▄', '▖', '▗'},
	waits:  stroke{'╌', '╴', '╶'},
	holds:  stroke{'─', '╴', '╶'},
	open:   '→', fold: '┊', none: '·', tick: '╷',
	pass: "│ ", tee: "├ ", elbow: "└ ", deep: "⋯ ",
	dot: " · ", to: "→", atMost: "≤", about: "~", atLeast: "≥", back: "↩", ellipsis: "…",
}

var asciiSymbols = symbols{
	types: map[projection.Type]string{
		projection.TypeSession: "@", projection.TypeRun: ">", projection.TypeChat: "o", projection.TypeTool: "#",
		projection.TypeApproval: "?", projection.TypeCompaction: "v", projection.TypeBranch: "%", projection.TypeEvent: "*",
	},
	failed: "x",
	work:   stroke{'=', '=', '='},
	waits:  stroke{'.', '.', '.'},
	holds:  stroke{'-', '-', '-'},
	open:   '>', fold: ':', none: '\'', tick: '|',
	pass: "| ", tee: "|-", elbow: "`-", deep: "~ ",
	dot: " - ", to: ">", atMost: "<", about: "~", atLeast: ">=", back: "<-", ellipsis: "..",
}

// pen writes text in one alphabet, with styles or without.
type pen struct {
	*symbols
	color, ascii bool
}

func newPen(o Options) pen {
	if o.ASCII {
		return pen{&asciiSymbols, o.Color, true}
	}
	return pen{&unicodeSymbols, o.Color, false}
}

// text makes text from a file safe.
func (p pen) text(s string) string {
	s = Sanitize(s)
	if !p.ascii {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r > '~' {
			return '?'
		}
		return r
	}, s)
}

// draw writes a piece of text in its style.
func (p pen) draw(t piece) string {
	if !p.color || t.text == "" {
		return t.text
	}
	return styles[t.ink].Styled(t.text)
}

// piece is text in one style. It is safe: of our own making, or through [pen.text].
type piece struct {
	text string
	ink  ink
}

// textWidth is ansi.StringWidth, with a short way for the text that is most of a picture.
func textWidth(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// width is that of pieces side by side.
func width(list []piece) int {
	w := 0
	for _, p := range list {
		w += textWidth(p.text)
	}
	return w
}

// fit cuts pieces to a width.
func (p pen) fit(list []piece, columns int) []piece {
	for i, t := range list {
		w := textWidth(t.text)
		if w <= columns {
			columns -= w
			continue
		}
		t.text = ansi.Truncate(t.text, columns, p.ellipsis)
		return append(list[:i:i], t)
	}
	return list
}

// line joins pieces, without the blanks at the end.
func (p pen) line(list []piece) string {
	for len(list) > 0 {
		last := &list[len(list)-1]
		if last.text = strings.TrimRight(last.text, " "); last.text != "" {
			break
		}
		list = list[:len(list)-1]
	}
	var b strings.Builder
	for _, t := range list {
		b.WriteString(p.draw(t))
	}
	return b.String()
}

func blank(n int) piece { return piece{strings.Repeat(" ", max(n, 0)), inkPlain} }
