package outline

import "github.com/sessionspan/sessionspan/internal/terminal"

var kindInks = map[string]terminal.Ink{
	"user": terminal.Strong, "developer": terminal.Strong, "system": terminal.Strong,
	"assistant": terminal.Model, "reasoning": terminal.Model, "response": terminal.Model,
	"call": terminal.Work, "output": terminal.Work, "dispatch": terminal.Work,
	"decision": terminal.Wait, "queued": terminal.Wait,
	"config": terminal.Mark, "compaction": terminal.Mark, "branch_summary": terminal.Mark, "label": terminal.Mark,
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

func (s symbol) ink() terminal.Ink {
	switch s {
	case symbolHere:
		return terminal.Here
	case symbolDamage:
		return terminal.Fail
	case symbolAside, symbolFolded:
		return terminal.Faint
	}
	return terminal.Plain
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

// alphabet is what a drawing is made of.
type alphabet struct {
	terminal.Look
	symbols [symbolCount]string
	strokes strokes
}

func newAlphabet(l terminal.Look) alphabet {
	if l.ASCII {
		return alphabet{l, [symbolCount]string{"@", "*", ".", "o", "!"}, asciiStrokes}
	}
	return alphabet{l, [symbolCount]string{"◆", "●", "·", "○", "✗"}, unicodeStrokes}
}
