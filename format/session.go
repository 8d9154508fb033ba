package format

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/sessionspan/sessionspan/internal/lines"
)

// Session is a session in memory: the header, the entries in file order, the tree that they form, and the lines they were
// read from. It owns its bytes, so everything in its entries stays valid. Entries are shared and must not be changed. It may
// be used from several goroutines at once.
type Session struct {
	header *Header

	// writing is held for as long as an entry takes to be appended, writing it out included; mu only while it becomes a part of
	// the session. What changes under both may be read under either, so that nobody who reads waits for a disk.
	writing sync.Mutex
	mu      sync.RWMutex
	text    []lines.Line   // the file line by line, without a torn tail; lines in a row that nothing is read from are one
	rows    []row          // the entries, in file order
	index   map[string]int // ids to rows
	base    int            // row of the header's base; -1 without one
	leaf    int            // row; -1 without one
	torn    *DamageError
	repeats []int // lines in text
	dec     Decoder
	write   func(more []byte, e Entry) error // see Attach; nil for none
	// For appends, under writing alone: the call ids of the first rows, and the calls on the path to one.
	calls     map[string]bool
	callsSeen int
	book      *book
	bookAt    int
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
//
// [WithDamage] makes it lenient.
func ReadSession(r io.Reader, opts ...ReaderOption) (*Session, error) {
	s := &Session{index: map[string]int{}, base: -1}
	report := configure(opts).damage
	reader, err := newReader(r, s.keep, opts)
	if err != nil {
		return nil, err
	}
	s.header = reader.Header()
	for e, err := range reader.Entries() {
		damage, _ := errors.AsType[*DamageError](err)
		if errors.Is(err, ErrTornTail) {
			s.torn = damage
			s.text = s.text[:s.lineAt(damage.Line)]
			break
		}
		switch {
		case err == nil:
			err = s.add(e, reader.line, report)
		case report != nil && damage != nil:
			kept := damage.Clone()
			kept.Entry = damage.Entry
			report(kept)
			err = nil
			if damage.Entry != nil {
				err = s.add(damage.Entry, reader.line, report)
			} else {
				s.fold(damage.Line)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	if s.header.Base != "" && s.base < 0 {
		first := s.headerLine()
		damage := &DamageError{Line: first.Number, Offset: first.Offset, Err: ErrBase, Detail: "the base is not in the file", Data: first.Data}
		if report == nil {
			return nil, damage
		}
		report(damage)
	}
	s.leaf = s.findLeaf()
	return s, nil
}

func (s *Session) keep(line lines.Line) lines.Line {
	if n := len(s.text); n > 0 && line.Blank() && s.text[n-1].Blank() {
		join(&s.text[n-1], line)
		return line
	}
	line = line.Clone()
	s.text = append(s.text, line)
	return line
}

// join makes one line of two that nothing is read from.
func join(to *lines.Line, line lines.Line) {
	to.Raw = append(to.Raw, line.Raw...)
	to.Data, to.Size, to.Terminated = nil, to.Size+line.Size, line.Terminated
}

// fold takes a damaged line for one that nothing is read from, and joins it to one before it.
func (s *Session) fold(number int) {
	i := s.lineAt(number)
	if s.text[i].TooLong() {
		return // it is not all here
	}
	s.text[i].Data = nil
	if i > 0 && s.text[i-1].Blank() {
		join(&s.text[i-1], s.text[i])
		s.text = slices.Delete(s.text, i, i+1)
	}
}

// lineAt returns the place in text of the line with a number.
func (s *Session) lineAt(number int) int {
	i, found := slices.BinarySearchFunc(s.text, number, func(l lines.Line, n int) int { return cmp.Compare(l.Number, n) })
	if !found {
		i-- // one of several blank lines
	}
	return i
}

// headerLine returns the line of the header, the first that is not blank.
func (s *Session) headerLine() lines.Line {
	if s.text[0].Blank() {
		return s.text[1]
	}
	return s.text[0]
}

// add puts an entry that was read into the tree. What does not fit is the error, or where there is a report is told to it.
func (s *Session) add(e Entry, line lines.Line, report func(*DamageError)) error {
	var strict error
	damage := func(sentinel error, format string, args ...any) {
		d := &DamageError{Err: sentinel, Detail: fmt.Sprintf(format, args...), Data: line.Data, Entry: e}
		d.place(line)
		if report != nil {
			report(d)
		} else if strict == nil {
			strict = d
		}
	}
	env := e.Base()
	if i, ok := s.index[env.ID]; ok {
		first := s.text[s.rows[i].line]
		if s.header.rules().Repeats && isRepeat(first.Data, line.Data, env.ID) {
			s.repeats = append(s.repeats, s.lineAt(line.Number))
			return nil
		}
		damage(ErrDuplicateEntry, "%.100q, first on line %d", env.ID, first.Number)
		return strict
	}
	parent := -1
	if env.Parent != "" {
		i, ok := s.index[env.Parent]
		switch {
		case env.Parent == env.ID:
			damage(ErrNoParent, "%.100q names itself", env.ID)
		case !ok:
			damage(ErrNoParent, "%.100q", env.Parent)
		default:
			parent = i
		}
	}
	if s.header.Base != "" {
		if trouble := s.checkBase(parent); trouble != "" {
			damage(ErrBase, "%s", trouble)
		}
		if env.ID == s.header.Base && isMark(e) {
			damage(ErrBase, "the base is a leaf mark")
		}
	}
	if strict == nil {
		s.link(e, s.lineAt(line.Number), parent)
	}
	return strict
}

// isRepeat reports whether a line with the id of an earlier one says the same, if in other words (C, 0.5).
func isRepeat(first, again []byte, id string) bool {
	if bytes.Equal(first, again) {
		return true
	}
	hash, err := ContentID(again)
	return err == nil && hash == id
}

// link makes an entry the newest child of its parent.
func (s *Session) link(e Entry, line, parent int) {
	id := e.Base().ID
	i := len(s.rows)
	s.index[id] = i
	s.rows = append(s.rows, row{entry: e, line: line, parent: parent, firstChild: -1, lastChild: -1, next: -1})
	if parent >= 0 {
		p := &s.rows[parent]
		if p.lastChild < 0 {
			p.firstChild = i
		} else {
			s.rows[p.lastChild].next = i
		}
		p.lastChild = i
	}
	if s.base < 0 && s.header.Base == id {
		s.base = i
	}
}

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

// Header returns the header, which must not be changed.
func (s *Session) Header() *Header { return s.header }

// ID returns the id of the session.
func (s *Session) ID() string { return s.header.ID }

// Len returns the number of entries.
func (s *Session) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.rows)
}

// Entries returns the entries in file order.
func (s *Session) Entries() []Entry {
	s.mu.RLock()
	defer s.mu.RUnlock()
	entries := make([]Entry, len(s.rows))
	for i := range s.rows {
		entries[i] = s.rows[i].entry
	}
	return entries
}

// Entry returns the entry with that id.
func (s *Session) Entry(id string) (Entry, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	i, ok := s.index[id]
	if !ok {
		return nil, false
	}
	return s.rows[i].entry, true
}

// Line returns the line that the entry with that id was read from.
func (s *Session) Line(id string) (Line, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
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
	s.mu.RLock()
	defer s.mu.RUnlock()
	var repeats []Line
	for _, i := range s.repeats {
		repeats = append(repeats, Line(s.text[i]))
	}
	return repeats
}

// Labels returns the label that each labelled entry has now, by the entry's id: the last one given and not cleared (A.6).
// [LeafLabel] is a label like any other here.
func (s *Session) Labels() map[string]string {
	s.mu.RLock()
	defer s.mu.RUnlock()
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
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, r := range slices.Backward(s.rows) {
		if e, ok := r.entry.(*InfoEntry); ok && e.Name != "" {
			return e.Name
		}
	}
	return ""
}

// SupersededBy returns the id of the session that the last continued_in link names (A.14), or "".
func (s *Session) SupersededBy() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, r := range slices.Backward(s.rows) {
		if e, ok := r.entry.(*LinkEntry); ok && e.Rel == RelContinuedIn {
			return e.Session
		}
	}
	return ""
}
