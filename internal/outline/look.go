package outline

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/sessionspan/sessionspan/internal/waterfall"
)

// ink is the style of a piece of text.
type ink uint8

const (
	plain ink = iota
	faint
	strong
	idInk
	model
	tool
	good
	wait
	bad
	here
)

var styles = [...]ansi.Style{
	plain:  nil,
	faint:  ansi.NewStyle(ansi.AttrFaint),
	strong: ansi.NewStyle(ansi.AttrBold),
	idInk:  ansi.NewStyle(ansi.AttrYellowForegroundColor),
	model:  ansi.NewStyle(ansi.AttrMagentaForegroundColor),
	tool:   ansi.NewStyle(ansi.AttrCyanForegroundColor),
	good:   ansi.NewStyle(ansi.AttrGreenForegroundColor),
	wait:   ansi.NewStyle(ansi.AttrYellowForegroundColor),
	bad:    ansi.NewStyle(ansi.AttrRedForegroundColor),
	here:   ansi.NewStyle(ansi.AttrBold, ansi.AttrGreenForegroundColor),
}

var kindInks = map[string]ink{
	"user": strong, "developer": strong, "system": strong,
	"assistant": model, "reasoning": model, "response": model,
	"call": tool, "output": tool, "dispatch": tool,
	"decision": wait, "queued": wait,
	"config": good, "compaction": good, "branch_summary": good, "label": good,
}

// symbol stands in the tree for an entry.
type symbol uint8

const (
	symbolHere symbol = iota
	symbolPath
	symbolFolded
	symbolAside
	symbolDamage
	symbolCount
)

// symbolWords explain the symbols, but for that of the entry looked at, which has a mark of its own.
var symbolWords = [symbolCount]string{
	symbolPath: "on the path", symbolFolded: "folded away by a compaction",
	symbolAside: "on another branch", symbolDamage: "damaged",
}

func (s symbol) ink() ink {
	return [symbolCount]ink{symbolHere: here, symbolDamage: bad, symbolAside: faint, symbolFolded: faint}[s]
}

func (d *drawing) symbolOf(i int) symbol {
	switch d.Entries[i].Place {
	case Here:
		return symbolHere
	case OnPath:
		return symbolPath
	case Folded:
		return symbolFolded
	}
	return symbolAside
}

// look is the alphabet of a drawing, and whether it has colours.
type look struct {
	symbols       [symbolCount]string
	strokes       strokes
	dot, ellipsis string
	color, ascii  bool
}

func newLook(o Options) *look {
	if o.ASCII {
		return &look{
			symbols: [symbolCount]string{"@", "*", ".", "o", "!"}, strokes: asciiStrokes, dot: " - ", ellipsis: "..",
			color: o.Color, ascii: true,
		}
	}
	return &look{
		symbols: [symbolCount]string{"◆", "●", "·", "○", "✗"}, strokes: unicodeStrokes, dot: " · ", ellipsis: "…",
		color: o.Color,
	}
}

// safe makes text from a file safe for a terminal.
func (l *look) safe(s string) string {
	s = waterfall.Sanitize(s)
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

// piece is text in one style. It is safe.
type piece struct {
	text string
	ink  ink
}

func (l *look) styled(p piece) string {
	if !l.color || p.text == "" || styles[p.ink] == nil {
		return p.text
	}
	return styles[p.ink].Styled(p.text)
}

// textWidth is ansi.StringWidth, with a short way for the text that is most of a drawing.
func textWidth(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}
