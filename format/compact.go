package format

import "fmt"

// Compact returns the entry that folds the context at the leaf: everything before the entry firstKept, which is on the path, is
// replaced by the summary, a message or the server's compaction item. The settings in force become its checkpoint. It is not
// appended; its TokensBefore and Usage can still be set.
func (s *Session) Compact(firstKept string, summary Item) (*CompactionEntry, error) {
	leaf := s.Leaf()
	c, err := s.Context(leaf)
	if err != nil {
		return nil, err
	}
	if err := c.Settings.Err(); err != nil {
		return nil, err
	}
	path, err := s.Path(leaf)
	if err != nil {
		return nil, err
	}
	for _, e := range path {
		if e.Base().ID == firstKept {
			return &CompactionEntry{FirstKept: firstKept, Summary: summary, Config: c.Settings.Config()}, nil
		}
	}
	return nil, fmt.Errorf("%w: %.100q is not on the path to the leaf", ErrNoEntry, firstKept)
}

// CompactFrom is [Session.Compact] for a caller that split the input of a request: the items of the context at the leaf
// ([Context.Items]) from that index on are kept. What an earlier compaction put in front cannot be kept.
func (s *Session) CompactFrom(index int, summary Item) (*CompactionEntry, error) {
	c, err := s.Context(s.Leaf())
	if err != nil {
		return nil, err
	}
	if index < 0 || index >= len(c.Items) {
		return nil, fmt.Errorf("index %d: the context has %d items", index, len(c.Items))
	}
	first := c.ItemEntries[index]
	if _, folded := first.(*CompactionEntry); folded {
		return nil, fmt.Errorf("index %d: what the compaction %s put into the context cannot be kept by another one", index, first.Base().ID)
	}
	return s.Compact(first.Base().ID, summary)
}

// CompactKeeping is [Session.Compact] for a caller that keeps the last n items of the context at the leaf, at least one.
func (s *Session) CompactKeeping(n int, summary Item) (*CompactionEntry, error) {
	c, err := s.Context(s.Leaf())
	if err != nil {
		return nil, err
	}
	if n < 1 || n > len(c.Items) {
		return nil, fmt.Errorf("the last %d items: the context has %d", n, len(c.Items))
	}
	return s.CompactFrom(len(c.Items)-n, summary)
}

// SummarizeBranch returns the entry that carries context from the leaf that was left to the one where work goes on: move the
// leaf with [Session.Branch] first. It is not appended. The error wraps [ErrNoEntry] or [ErrNoLeaf].
func (s *Session) SummarizeBranch(from string, summary Item) (*BranchSummaryEntry, error) {
	if _, ok := s.Entry(from); !ok {
		return nil, fmt.Errorf("%w: %.100q", ErrNoEntry, from)
	}
	if s.Leaf() == "" {
		return nil, ErrNoLeaf
	}
	return &BranchSummaryEntry{From: from, Summary: summary}, nil
}
