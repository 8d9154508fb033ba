package format

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
	"github.com/sessionspan/sessionspan/internal/jsonwrite"
)

// legacyID is the member that keeps the id which an entry had before it was migrated.
const legacyID = "legacy_id"

// Migrate returns the session as one of a later minor whose ids are hashes, such as "agentsession/0.11" (C.4), in memory. Every
// entry gets its new id, its old one as legacy_id, its time in the one spelling, and what it refers to by the new ids. Request
// hashes stay what they are, since they do not depend on ids.
//
// The error wraps [ErrMigrate]: the session has such ids already, or an entry refers to what is not in the file, or says
// something that has no canonical form.
func (s *Session) Migrate(format string) (*Session, error) {
	header := s.header.clone()
	header.Format = format
	switch {
	case s.header.rules().ContentIDs:
		return nil, fmt.Errorf("%w: it is of %s, whose ids are hashes already", ErrMigrate, s.header.Format)
	case !header.rules().ContentIDs:
		return nil, fmt.Errorf("%w: the ids of %q are no hashes", ErrMigrate, format)
	}
	to, err := NewSession(*header)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMigrate, err)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	ids := map[string]string{}
	var refused []error
	for _, r := range s.rows {
		line, err := migrated(s.text[r.line].Data, r.entry, ids)
		if err == nil {
			err = to.adopt(line)
		}
		if err != nil {
			refused = append(refused, fmt.Errorf("line %d: %w", s.text[r.line].Number, err))
			continue
		}
		ids[r.entry.Base().ID] = to.id(len(to.rows) - 1)
	}
	if len(refused) > 0 {
		return nil, fmt.Errorf("%w: %w", ErrMigrate, errors.Join(refused...))
	}
	to.leaf = to.findLeaf()
	return to, nil
}

// adopt adds a line that has its id already.
func (s *Session) adopt(line []byte) error {
	e, err := DecodeEntry(line)
	if err != nil {
		return err
	}
	parent := -1
	if id := e.Base().Parent; id != "" {
		parent = s.index[id]
	}
	if _, taken := s.index[e.Base().ID]; taken {
		return fmt.Errorf("%w: %q", ErrDuplicateEntry, e.Base().ID)
	}
	s.writeLine(append(line, '\n'))
	s.link(e, len(s.text)-1, parent)
	return nil
}

// renamed are the members by which an entry of each type names another one of its file. What item.response holds is the id
// of a provider.
var renamed = map[string][]string{
	TypeItem:          {"queued_from"},
	TypeCompaction:    {"first_kept"},
	TypeBranchSummary: {"from"},
	TypeDispatch:      {"target"},
	TypeDecision:      {"target"},
	TypeLabel:         {"target"},
	TypeOutcome:       {"target"},
	TypeLink:          {"target"},
}

// migrated returns the canonical line of an entry under its new id, given the new ids of all earlier ones.
func migrated(line []byte, e Entry, ids map[string]string) ([]byte, error) {
	var scan jsonscan.Scanner
	if err := scan.Scan(line, ""); err != nil {
		return nil, err
	}
	var o jsonwrite.Object
	for i := range scan.Members {
		m := &scan.Members[i]
		name := string(m.Name)
		text, isText := jsonscan.String(m.Value)
		switch {
		case name == "id" || name == legacyID:
		case name == "ts":
			o.Text(name, formatTime(e.Base().Time))
		case name == "parents" && len(e.Base().Parents) > 0:
			refs, err := migratedRefs(e.Base().Parents, ids)
			if err != nil {
				return nil, err
			}
			jsonwrite.Array(&o, name, refs, appendRef)
		case isText && text != "" && (name == "parent" || slices.Contains(renamed[e.EntryType()], name)):
			id, ok := ids[text]
			if !ok {
				return nil, fmt.Errorf("%w: %s is %q", ErrReference, name, text)
			}
			o.Text(name, id)
		default:
			o.Raw(name, m.Value)
		}
	}
	o.Text(legacyID, e.Base().ID)
	without := o.Bytes()
	id, err := ContentID(without)
	if err != nil {
		return nil, err
	}
	withID := append([]byte(`{"id":"`+id+`",`), without[1:]...)
	return canonicalLine(withID)
}

// migratedRefs rewrites references to merged work. Their order is that of the new ids.
func migratedRefs(refs []Ref, ids map[string]string) ([]Ref, error) {
	refs = slices.Clone(refs)
	for i := range refs {
		if refs[i].Session != "" {
			return nil, fmt.Errorf("%w: parents names %q of another session, whose new id is not known here", ErrReference, refs[i].Entry)
		}
		id, ok := ids[refs[i].Entry]
		if !ok {
			return nil, fmt.Errorf("%w: parents names %q", ErrReference, refs[i].Entry)
		}
		refs[i].Entry = id
	}
	slices.SortFunc(refs, Ref.compare)
	return refs, nil
}
