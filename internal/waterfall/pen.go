package waterfall

import (
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// stroke is how a bar looks: a full column, its left half, its right half.
type stroke struct{ full, left, right rune }

// symbols is one alphabet.
type symbols struct {
	types                  map[projection.Type]string
	failed                 string
	work, waits, holds     stroke
	open, fold, none, tick rune
	pass, tee, elbow, deep string
	atMost, about, back    string
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
	atMost: "≤", about: "~", back: "↩",
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
	atMost: "<", about: "~", back: "<-",
}

// pen writes text in one alphabet, with styles or without.
type pen struct {
	*symbols
	terminal.Look
}

func newPen(l terminal.Look) pen {
	if l.ASCII {
		return pen{&asciiSymbols, l}
	}
	return pen{&unicodeSymbols, l}
}

// Glyph is the sign for a kind of span, or for one that has failed, in its colour.
func Glyph(l terminal.Look, typ projection.Type, failed bool) terminal.Piece {
	p := newPen(l)
	if failed {
		return terminal.Fail.Piece(p.failed)
	}
	return inkOfType(typ).Piece(p.types[typ])
}
