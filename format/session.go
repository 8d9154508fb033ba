package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/sessionspan/sessionspan/internal/lines"
)

// Session is a session in memory: the header, the entries in file order, the tree that they form, and the lines they were
// read from. It owns its bytes, so everything in its entries stays valid. Entries are shared and must not be changed. It may
// be used from several goroutines at once.
type Session struct {
	header  *Header
	text    []lines.Line   // the file line by line, without a torn tail
	rows    []row          // the entries, in file order
	index   map[string]int // ids to rows
	base    int            // row of the header's base; -1 without one
	leaf    int            // row; -1 without one
	torn    *DamageError
	repeats []int // lines in text
}

// row is an entry with its line and its place in the tree. Other rows are named by index, -1 for none.
type row struct {
	entry Entry
	line  int // in text
	// The children are a linked list in file order.
	parent, firstChild, lastChild, next int
}

// ReadSession reads a whole session and is strict about it: any damage is the error, a [*DamageError] with its place,
// except for a last line that does not decode ([Session.Torn]). To what [Reader] reports it adds
//   - [ErrDuplicateEntry]: an id that an earlier entry has; from minor 5 on a repeated line is the same entry
//     ([Session.Repeats]),
//   - [ErrNoParent]: a parent that is no earlier entry,
//   - [ErrBase]: a file that breaks the rules of its header's base.
func ReadSession(r io.Reader, opts ...ReaderOption) (*Session, error) {
	s := &Session{index: map[string]int{}, base: -1}
	reader, err := newReader(r, s.keep, opts)
	if err != nil {
		return nil, err
	}
	s.header = reader.Header()
	for e, err := range reader.Entries() {
		if errors.Is(err, ErrTornTail) {
			s.torn, _ = errors.AsType[*DamageError](err)
			s.text = s.text[:s.torn.Line-1]
			break
		}
		if err == nil {
			err = s.add(e, reader.line)
		}
		if err != nil {
			return nil, err
		}
	}
	if s.header.Base != "" && s.base < 0 {
		return nil, &DamageError{Line: s.text[0].Number, Err: ErrBase, Detail: "the base is not in the file", Data: s.text[0].Data}
	}
	s.leaf = s.findLeaf()
	return s, nil
}

func (s *Session) keep(line lines.Line) lines.Line {
	line = line.Clone()
	s.text = append(s.text, line)
	return line
}

// add puts an entry into the tree. Lines are numbered without a gap, so that a line's number tells its place in text.
func (s *Session) add(e Entry, line lines.Line) error {
	damage := func(sentinel error, format string, args ...any) error {
		d := &DamageError{Err: sentinel, Detail: fmt.Sprintf(format, args...), Data: line.Data, Entry: e}
		return d.place(line)
	}
	env := e.Base()
	if i, ok := s.index[env.ID]; ok {
		first := s.text[s.rows[i].line]
		if s.header.Minor() >= minorRepeats && bytes.Equal(first.Data, line.Data) {
			s.repeats = append(s.repeats, line.Number-1)
			return nil
		}
		return damage(ErrDuplicateEntry, "%q, first on line %d", env.ID, first.Number)
	}
	r := row{entry: e, line: line.Number - 1, parent: -1, firstChild: -1, lastChild: -1, next: -1}
	if env.Parent != "" {
		parent, ok := s.index[env.Parent]
		switch {
		case env.Parent == env.ID:
			return damage(ErrNoParent, "%q names itself", env.ID)
		case !ok:
			return damage(ErrNoParent, "%q", env.Parent)
		}
		r.parent = parent
	}
	if s.header.Base != "" {
		if trouble := s.checkBase(r.parent); trouble != "" {
			return damage(ErrBase, "%s", trouble)
		}
	}
	i := len(s.rows)
	s.index[env.ID] = i
	s.rows = append(s.rows, r)
	if r.parent >= 0 {
		p := &s.rows[r.parent]
		if p.lastChild < 0 {
			p.firstChild = i
		} else {
			s.rows[p.lastChild].next = i
		}
		p.lastChild = i
	}
	if s.base < 0 && s.header.Base == env.ID {
		s.base = i
	}
	return nil
}

// minorRepeats is the first minor in which a repeated id is the same entry.
const minorRepeats = 5

// checkBase says how the next entry breaks the rules of a file with a base (C.5); "" when it does not.
func (s *Session) checkBase(parent int) string {
	switch {
	case s.base < 0 && parent != len(s.rows)-1:
		return "an entry before the base does not continue the line before it"
	case s.base >= 0 && parent < s.base:
		return "an entry after the base hangs from above it"
	}
	return ""
}

// Header returns the header.
func (s *Session) Header() *Header { return s.header }

// Len returns the number of entries.
func (s *Session) Len() int { return len(s.rows) }

// Entries returns the entries in file order.
func (s *Session) Entries() []Entry {
	entries := make([]Entry, len(s.rows))
	for i := range s.rows {
		entries[i] = s.rows[i].entry
	}
	return entries
}

// Entry returns the entry with that id.
func (s *Session) Entry(id string) (Entry, bool) {
	i, ok := s.index[id]
	if !ok {
		return nil, false
	}
	return s.rows[i].entry, true
}

// Line returns the line that the entry with that id was read from.
func (s *Session) Line(id string) (Line, bool) {
	i, ok := s.index[id]
	if !ok {
		return Line{}, false
	}
	return Line(s.text[s.rows[i].line]), true
}

// Torn returns the last line of the file when it did not decode, else nil. Its entry, if it has one, is not part of the
// session.
func (s *Session) Torn() *DamageError { return s.torn }

// Repeats returns the lines that repeat the line of an earlier entry, which is the same entry in files from minor 5 on.
func (s *Session) Repeats() []Line {
	var repeats []Line
	for _, i := range s.repeats {
		repeats = append(repeats, Line(s.text[i]))
	}
	return repeats
}

// Labels returns the label that each labelled entry has now, by the entry's id: the last one given and not cleared (A.6).
// [LeafLabel] is a label like any other here.
func (s *Session) Labels() map[string]string {
	labels := map[string]string{}
	for _, r := range s.rows {
		if e, ok := r.entry.(*LabelEntry); ok {
			if e.Label == nil {
				delete(labels, e.Target)
			} else {
				labels[e.Target] = *e.Label
			}
		}
	}
	return labels
}

// Name returns the display name that the last info entry with one gives the session (A.6), or "".
func (s *Session) Name() string {
	for _, r := range slices.Backward(s.rows) {
		if e, ok := r.entry.(*InfoEntry); ok && e.Name != "" {
			return e.Name
		}
	}
	return ""
}

// SupersededBy returns the id of the session that the last continued_in link names (A.14), or "".
func (s *Session) SupersededBy() string {
	for _, r := range slices.Backward(s.rows) {
		if e, ok := r.entry.(*LinkEntry); ok && e.Rel == RelContinuedIn {
			return e.Session
		}
	}
	return ""
}
