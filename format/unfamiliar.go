package format

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sessionspan/sessionspan/internal/lines"
)

// Unfamiliar is something in a file that this version of the package does not know, of a minor yet to come or out of a closed
// list. It is kept as it is, and nothing is made of it. That the file itself is of a minor yet to come, [Header.Newer] tells.
type Unfamiliar struct {
	// What says it in words, such as `verdict "defer"`.
	What string
	// Line is the first one that has it, Offset where that begins, and Count how many do.
	Line   int
	Offset int64
	Count  int
}

// Unfamiliar returns what this version does not know of the session, each once, in the order of the file. Extensions, whose
// types have a namespace, and members that the format does not define, in which harnesses keep their own, are not among it.
func (s *Session) Unfamiliar() []Unfamiliar {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.unfamiliar()
}

var knownTypes = []string{
	TypeItem, TypeResponse, TypeConfig, TypeCompaction, TypeBranchSummary, TypeRun, TypeDispatch, TypeDecision, TypeLabel,
	TypeInfo, TypeEnv, TypeOutcome, TypeLink, TypeCustom, TypeQueued, "session",
}

func (s *Session) unfamiliar() []Unfamiliar {
	seen := map[string]*Unfamiliar{}
	note := func(line lines.Line, what, value string) {
		key := fmt.Sprintf("%s %.80q", what, value)
		if len(seen) >= maxSettings && seen[key] == nil {
			key = "and more of the kind"
		}
		if seen[key] == nil {
			seen[key] = &Unfamiliar{What: key, Line: line.Number, Offset: line.Offset}
		}
		seen[key].Count++
	}
	word := func(line lines.Line, what, value string, known []string) {
		if value != "" && !slices.Contains(known, value) {
			note(line, what, value)
		}
	}
	for _, r := range s.rows {
		line := s.text[r.line]
		switch e := r.entry.(type) {
		case *UnknownEntry:
			if !IsExtension(e.Type) && !slices.Contains(knownTypes, e.Type) { // one of these was damaged, which was said
				note(line, "entry type", e.Type)
			}
		case *DecisionEntry:
			word(line, "verdict", e.Verdict, verdicts)
			word(line, "decider", e.By, deciders)
		case *RunEntry:
			word(line, "run source", e.Source, []string{SourceInput, SourceResume})
			if e.IsStart() { // that of an end is compared with what its segment tells
				word(line, "run reason", e.Reason, reasons)
			}
		case *OutcomeEntry:
			word(line, "outcome kind", e.Kind, outcomeKinds)
		case *LinkEntry:
			word(line, "link relation", e.Rel, relations)
		case *QueuedEntry:
			word(line, "queue mode", e.Mode, modes)
		case *EnvEntry:
			if e.Workspace != nil {
				word(line, "workspace kind", e.Workspace.Kind, workspaces)
			}
		}
	}
	var list []Unfamiliar
	for _, u := range seen {
		list = append(list, *u)
	}
	slices.SortFunc(list, func(a, b Unfamiliar) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.What, b.What)) })
	return list
}
