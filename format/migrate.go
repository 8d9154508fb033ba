package format

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

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
// something that has no canonical form; or it names another entry where that cannot be told from a word: in an extension, in
// application data, in a member that the format does not define. An outcome of minor 1 may have a target in words, too.
func (s *Session) Migrate(format string) (*Session, error) {
	header := s.header.clone()
	header.Format = format
	switch {
	case s.header.rules().ContentIDs:
		return nil, fmt.Errorf("%w: it is of %s, whose ids are hashes already", ErrMigrate, s.header.Format)
	case !header.rules().ContentIDs:
		return nil, fmt.Errorf("%w: the ids of %.100q are no hashes", ErrMigrate, format)
	}
	to, err := NewSession(*header)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMigrate, err)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	m := migration{ids: map[string]string{}, all: s.index}
	for _, r := range s.rows {
		line, err := m.line(s.text[r.line].Data, r.entry)
		if err == nil {
			err = to.adopt(line)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrMigrate, s.text[r.line].Number, err)
		}
		m.ids[r.entry.Base().ID] = to.id(len(to.rows) - 1)
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
		return fmt.Errorf("%w: %.100q", ErrDuplicateEntry, e.Base().ID)
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

// migration holds the new ids of the entries so far, by their old ones, and the old ids of all.
type migration struct {
	ids map[string]string
	all map[string]int
}

// line returns the canonical line of an entry under its new id.
func (g *migration) line(line []byte, e Entry) ([]byte, error) {
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
		case name == "id":
		case name == legacyID:
			return nil, fmt.Errorf("%w: it has a member %.100q of its own", ErrReference, legacyID)
		case name == "ts":
			o.Text(name, formatTime(e.Base().Time))
		case name == "parents" && len(e.Base().Parents) > 0:
			refs, err := g.refs(e.Base().Parents)
			if err != nil {
				return nil, err
			}
			jsonwrite.Array(&o, name, refs, appendRef)
		case isText && text != "" && (name == "parent" || slices.Contains(renamed[e.EntryType()], name)):
			id, ok := g.ids[text]
			if !ok {
				return nil, fmt.Errorf("%w: %s is %.100q", ErrReference, name, text)
			}
			o.Text(name, id)
		case e.Base().Unknown.Get(name) != nil || name == "data":
			if id := g.named(m.Value); id != "" {
				return nil, fmt.Errorf("%w: %.100q names %.100q, and cannot be rewritten", ErrReference, name, id)
			}
			o.Raw(name, m.Value)
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

// named returns the id of an entry that a raw value of an extension or an application has among its strings, or "".
func (g *migration) named(raw []byte) string {
	d := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return ""
		}
		if token.Kind() == jsontext.KindString {
			if _, is := g.all[token.String()]; is {
				return token.String()
			}
		}
	}
}

// refs rewrites references to merged work. Their order is that of the new ids.
func (g *migration) refs(refs []Ref) ([]Ref, error) {
	refs = slices.Clone(refs)
	for i := range refs {
		if refs[i].Session != "" {
			return nil, fmt.Errorf("%w: parents names %.100q of another session, whose new id is not known here", ErrReference, refs[i].Entry)
		}
		id, ok := g.ids[refs[i].Entry]
		if !ok {
			return nil, fmt.Errorf("%w: parents names %.100q", ErrReference, refs[i].Entry)
		}
		refs[i].Entry = id
	}
	slices.SortFunc(refs, Ref.compare)
	return refs, nil
}
