package outline

import (
	"context"

	"github.com/sessionspan/sessionspan/format"
)

// fromSession outlines a session in the Agent Session Format.
func fromSession(ctx context.Context, s *format.Session) (*Outline, error) {
	entries := s.Entries()
	o := &Outline{
		Name: s.Name(), Entries: make([]Entry, len(entries)), Leaf: -1, At: -1, Repeats: len(s.Repeats()),
		session: s, index: make(map[string]int, len(entries)),
	}
	for i, e := range entries {
		o.Entries[i].ID = e.Base().ID
	}
	ids := o.shortIDs()
	w := &words{tools: tools{}}
	w.ref = func(id string) string {
		if i, ok := o.index[id]; ok {
			return ids[i]
		}
		return shortID(id)
	}
	for i, e := range entries {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		base := e.Base()
		line, _ := s.Line(base.ID)
		up, ok := o.index[base.Parent]
		if !ok {
			up = -1
		}
		o.index[base.ID] = i
		o.Entries[i] = Entry{
			ID: base.ID, Parent: base.Parent, Type: e.EntryType(), Kind: e.EntryType(), Time: base.Time,
			Line: line.Number, Offset: line.Offset, Raw: line.Raw, up: up,
		}
		label, ok := e.(*format.LabelEntry)
		o.Entries[i].mark = ok && label.Label != nil && *label.Label == format.LeafLabel
		w.describe(&o.Entries[i], e)
	}
	for id, label := range s.Labels() {
		if i, ok := o.index[id]; ok && label != format.LeafLabel {
			o.Entries[i].Labels = []string{label}
		}
	}
	if leaf := s.Leaf(); leaf != "" {
		o.Leaf = o.index[leaf]
	}
	return o, nil
}
