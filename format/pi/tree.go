package pi

import (
	"slices"
	"strings"
	"time"
)

// Leaf returns the id of the entry from which work goes on; false where that is before the first one. It is not stored: it is
// the last entry of the file that has an id, whatever its type. In a file with entries of type leaf, each of those moves to
// its target, or to before the first entry.
func (s *Session) Leaf() (id string, ok bool) {
	moves := slices.ContainsFunc(s.entries, func(e *Entry) bool { return e.Type == TypeLeaf })
	for _, e := range s.entries {
		switch {
		case moves && e.Type == TypeLeaf:
			id = e.Text("targetId")
		case e.ID != "":
			id = e.ID
		}
	}
	return id, id != ""
}

// Path returns the entries from a root to the entry of an id, which is nil for an id that is not there. It ends where ids
// run in a circle.
func (s *Session) Path(id string) []*Entry {
	var path []*Entry
	seen := map[string]bool{}
	for e := s.Entry(id); e != nil && !seen[e.ID]; e = s.Entry(e.Parent) {
		seen[e.ID] = true
		path = append(path, e)
	}
	slices.Reverse(path)
	return path
}

// root reports whether an entry is shown as a root: it has no parent, is its own, or has one that is not in the file.
func (s *Session) root(e *Entry) bool {
	return e.Parent == "" || e.Parent == e.ID || s.Entry(e.Parent) == nil
}

// Roots returns the entries with an id that hang from nothing, oldest first.
func (s *Session) Roots() []*Entry {
	var roots []*Entry
	for i, e := range s.entries {
		if e.ID != "" && s.index[e.ID] == i && s.root(e) {
			roots = append(roots, e)
		}
	}
	sortByTime(roots)
	return roots
}

// Children returns the entries that continue the one of an id, oldest first.
func (s *Session) Children(id string) []*Entry { return s.kids()[id] }

func (s *Session) byParent() map[string][]*Entry {
	kids := map[string][]*Entry{}
	for i, e := range s.entries {
		if e.ID != "" && s.index[e.ID] == i && !s.root(e) {
			kids[e.Parent] = append(kids[e.Parent], e)
		}
	}
	for _, list := range kids {
		sortByTime(list)
	}
	return kids
}

// Leaves returns the entries with an id that no other continues, in file order.
func (s *Session) Leaves() []*Entry {
	var leaves []*Entry
	for i, e := range s.entries {
		if e.ID != "" && s.index[e.ID] == i && len(s.Children(e.ID)) == 0 {
			leaves = append(leaves, e)
		}
	}
	return leaves
}

// sortByTime keeps entries without a time, and those of the same, as they are in the file.
func sortByTime(list []*Entry) {
	slices.SortStableFunc(list, func(a, b *Entry) int {
		if a.Time.IsZero() || b.Time.IsZero() {
			return 0
		}
		return a.Time.Compare(b.Time)
	})
}

// Label is a bookmark on an entry.
type Label struct {
	Text string
	Time time.Time // of the entry that set it
}

// Labels returns the bookmarks by the id of their entries, over all branches. The last in the file counts; one without a
// text takes it back.
func (s *Session) Labels() map[string]Label {
	labels := map[string]Label{}
	for _, e := range s.entries {
		if e.Type != TypeLabel {
			continue
		}
		target := e.Text("targetId")
		if text := e.Text("label"); text != "" {
			labels[target] = Label{Text: text, Time: e.Time}
		} else {
			delete(labels, target)
		}
	}
	return labels
}

// Name returns the display name: what the last entry of the file that gives one says, also if that is nothing.
func (s *Session) Name() string {
	for _, e := range slices.Backward(s.entries) {
		if e.Type == TypeSessionInfo {
			return strings.TrimFunc(e.Text("name"), isSpace)
		}
	}
	return ""
}
