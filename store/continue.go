package store

import (
	"context"
	"fmt"

	"github.com/sessionspan/sessionspan/format"
)

// Continue goes on with a session in a new one, for a conversation that has outgrown its file (A.14). The successor has the old
// header's harness, records, working directory, media mode and format, and parent_session names the old session. Its first entry
// is a configuration with the settings in force at the old leaf, so that the first request in it is rebuilt as it was sent;
// then come the summary, unless it is empty, and the display name, if there is one. Last, the old session gets the link that
// retires it. So whatever fails on the way, the old session goes on being the one that counts, and what is left behind is a
// successor that nobody refers to: the error says which.
func Continue(ctx context.Context, in Store, id string, summary format.Item) (*format.Session, error) {
	old, err := in.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	c, err := old.Context(old.Leaf())
	if err != nil {
		return nil, fmt.Errorf("continue session %.100s: %w", id, err)
	}
	h := old.Header()
	next, err := in.Create(ctx, format.Header{
		Format: h.Format, ParentSession: old.ID(), Harness: h.Harness, Records: h.Records, CWD: h.CWD, Media: h.Media,
	})
	if err != nil {
		return nil, fmt.Errorf("continue session %.100s: %w", id, err)
	}
	config, err := c.Settings.Entry()
	if err != nil {
		return nil, fmt.Errorf("continue session %.100s: %w; session %s is left behind", id, err, next.ID())
	}
	entries := []format.Entry{config}
	if summary.Type != "" || len(summary.Raw) > 0 {
		entries = append(entries, format.NewItem(summary))
	}
	if name := old.Name(); name != "" {
		entries = append(entries, format.NewInfo(name))
	}
	for _, e := range entries {
		if _, err := in.Append(ctx, next.ID(), e); err != nil {
			return nil, fmt.Errorf("continue session %.100s: %s: %w; session %s is left behind", id, e.EntryType(), err, next.ID())
		}
	}
	if _, err := in.Append(ctx, old.ID(), format.NewLink(format.RelContinuedIn, next.ID())); err != nil {
		return nil, fmt.Errorf("continue session %.100s: link: %w; session %s is left behind", id, err, next.ID())
	}
	return next, nil
}

// RefuseSuperseded returns a store whose Append takes nothing more for a session that was continued in another one, with an error
// that wraps [ErrSuperseded] and names that one. In all else it is the store given: what is appended to a session by itself is
// not looked at.
func RefuseSuperseded(in Store) Store { return refusing{in} }

type refusing struct{ Store }

func (r refusing) Append(ctx context.Context, id string, e format.Entry) (string, error) {
	s, err := r.Open(ctx, id)
	if err != nil {
		return "", err
	}
	if by := s.SupersededBy(); by != "" {
		return "", fmt.Errorf("%w: session %.100s goes on in %.100s", ErrSuperseded, id, by)
	}
	return r.Store.Append(ctx, id, e)
}
