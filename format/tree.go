package format

import (
	"fmt"
	"slices"
)

// Leaf returns the id of the entry that work goes on from, or "" in a session without one (A.4): the newest entry that
// descends from the marked one and stands after the mark, the marked one itself when there is none, and the last entry of
// the file when no mark is in force. It is never itself a mark, and never above the header's base.
func (s *Session) Leaf() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.leaf < 0 {
		return ""
	}
	return s.id(s.leaf)
}

// Leaves returns the ids of the entries that nothing continues, in file order. Leaf marks do not count: neither as leaves
// nor as what continues an entry, unless something hangs from them.
func (s *Session) Leaves() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	continued := make([]bool, len(s.rows))
	var leaves []string
	for i, r := range slices.Backward(s.rows) {
		if !continued[i] && isMark(r.entry) {
			continue
		}
		if r.parent >= 0 {
			continued[r.parent] = true
		}
		if !continued[i] {
			leaves = append(leaves, s.id(i))
		}
	}
	slices.Reverse(leaves)
	return leaves
}

// Roots returns the ids of the entries without a parent, in file order.
func (s *Session) Roots() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var roots []string
	for i, r := range s.rows {
		if r.parent < 0 {
			roots = append(roots, s.id(i))
		}
	}
	return roots
}

// Children returns the ids of the entries whose parent has that id, in file order.
func (s *Session) Children(id string) []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	i, ok := s.index[id]
	if !ok {
		return nil
	}
	var children []string
	for child := s.rows[i].firstChild; child >= 0; child = s.rows[child].next {
		children = append(children, s.id(child))
	}
	return children
}

// Path returns the entries from a root down to the one with that id, root first. The path to "" is empty, as that of an
// unset leaf; an id that no entry has gives [ErrNoEntry].
func (s *Session) Path(id string) ([]Entry, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if id == "" {
		return nil, nil
	}
	i, ok := s.index[id]
	if !ok {
		return nil, fmt.Errorf("%w: %.100q", ErrNoEntry, id)
	}
	return s.path(i), nil
}

// path returns the path to a row.
func (s *Session) path(i int) []Entry {
	var path []Entry
	for ; i >= 0; i = s.rows[i].parent {
		path = append(path, s.rows[i].entry)
	}
	slices.Reverse(path)
	return path
}

func (s *Session) id(i int) string { return s.rows[i].entry.Base().ID }

// isMark reports whether an entry is a durable leaf mark.
func isMark(e Entry) bool {
	label, ok := e.(*LabelEntry)
	return ok && label.Label != nil && *label.Label == LeafLabel
}

// findLeaf applies the leaf rule to the whole file, in two passes over it.
func (s *Session) findLeaf() int {
	leaf := len(s.rows) - 1
	if target, mark := s.mark(); target >= 0 {
		leaf = target
		under := make([]bool, len(s.rows))
		under[target] = true
		for i := target + 1; i < len(s.rows); i++ { // a parent always comes before its children
			if parent := s.rows[i].parent; parent >= 0 && under[parent] {
				under[i] = true
				if i > mark {
					leaf = i
				}
			}
		}
	}
	return max(s.unmarked(leaf), s.base)
}

// unmarked returns a row, or the nearest one above it that is no leaf mark.
func (s *Session) unmarked(row int) int {
	for row >= 0 && isMark(s.rows[row].entry) {
		row = s.rows[row].parent
	}
	return row
}

// mark returns the rows of the marked entry and of the mark in force, or -1 and -1. A mark on an entry that is not in the
// file, that is a mark itself, or that is above the base, never was in force.
func (s *Session) mark() (target, mark int) {
	target, mark = -1, -1
	for i, r := range s.rows {
		label, ok := r.entry.(*LabelEntry)
		if !ok {
			continue
		}
		labelled, ok := s.index[label.Target]
		switch {
		case !ok:
		case isMark(label) && labelled >= s.base && !isMark(s.rows[labelled].entry):
			target, mark = labelled, i
		case label.Label == nil && labelled == target:
			target, mark = -1, -1
		}
	}
	return target, mark
}
