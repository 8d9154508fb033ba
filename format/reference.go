package format

import "fmt"

// reference is a member of an entry that names another entry of the file.
type reference struct{ member, id string }

// references lists what an entry names and has to be there, by the rules of its file. What is known of calls, and what a
// compaction keeps, depends on the path and has rules of its own.
func (r *Rules) references(e Entry) []reference {
	switch e := e.(type) {
	case *ItemEntry:
		if r.Queues {
			return []reference{{"queued_from", e.QueuedFrom}}
		}
	case *BranchSummaryEntry:
		return []reference{{"from", e.From}}
	case *OutcomeEntry:
		if r.OutcomeTargets {
			return []reference{{"target", e.Target}}
		}
	case *LinkEntry:
		if r.Judges {
			return []reference{{"target", e.Target}}
		}
	}
	return nil
}

// checkReferences says which entry that another one names is not there.
func (s *Session) checkReferences(e Entry) error {
	for _, ref := range s.header.rules().references(e) {
		if ref.id == "" {
			continue
		}
		row, ok := s.index[ref.id]
		if ok && ref.member == "queued_from" {
			_, ok = s.rows[row].entry.(*QueuedEntry)
		}
		if !ok {
			return fmt.Errorf("%w: %s is %.100q", ErrReference, ref.member, ref.id)
		}
	}
	return nil
}
