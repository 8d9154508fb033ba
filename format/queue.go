package format

import (
	"slices"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// typeWithdraw is an entry type that a later minor is to bring: it takes a queued input back.
const typeWithdraw = "withdraw"

// Owed returns the queued inputs on the path to an entry that wait to be taken up (C.7): no item names them, and no run ended
// after them.
func (s *Session) Owed(leaf string) ([]*QueuedEntry, error) {
	path, err := s.Path(leaf)
	var owed []*QueuedEntry
	closed := map[string]bool{}
	for _, e := range path {
		switch e := e.(type) {
		case *QueuedEntry:
			owed = append(owed, e)
		case *RunEntry:
			if e.IsEnd() {
				owed = nil
			}
		case *ItemEntry:
			closed[e.QueuedFrom] = true
		case *UnknownEntry:
			if target, ok := jsonscan.String(e.Unknown.Get("target")); ok && e.Type == typeWithdraw {
				closed[target] = true
			}
		}
	}
	return slices.DeleteFunc(owed, func(q *QueuedEntry) bool { return closed[q.ID] }), err
}
