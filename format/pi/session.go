package pi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// Kind says what a line of a file is.
type Kind uint8

// The kinds of lines.
const (
	// Blank: nothing but white space, as JavaScript has it.
	Blank Kind = iota
	// Damaged: no JSON value.
	Damaged
	// Value: a JSON value that is no object, or one that is no entry. It is kept, and nothing is read from it.
	Value
	// HeaderLine: a header. The first one is that of the session.
	HeaderLine
	// EntryLine: an entry.
	EntryLine
)

// Line is one line of a file.
type Line struct {
	Kind Kind
	// Raw is the line with its line feed, if it has one.
	Raw []byte
	// Offset is that of its first byte.
	Offset int64
	// Entry is nil for lines that are none.
	Entry *Entry
	// Number is that of the JSON value among the values of the file, from 0; -1 where there is none.
	Number int
}

// Session is a session file in memory. It does not change.
type Session struct {
	header  *Header
	lines   []Line
	entries []*Entry
	index   map[string]int // entries by id; of several with one id the last
	kids    func() map[string][]*Entry
}

// Read reads a session file. The error wraps [format.ErrNoHeader] or [format.ErrEmpty] where the file is no session.
func Read(r io.Reader) (*Session, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return Parse(data)
}

// Parse is [Read] for a file that is in memory already. The session keeps the bytes, which must not change.
func Parse(data []byte) (*Session, error) {
	s := &Session{index: map[string]int{}}
	s.kids = sync.OnceValue(s.byParent)
	var d Decoder
	values := 0
	offset := int64(0)
	for raw := range bytes.Lines(data) {
		l := Line{Raw: raw, Offset: offset, Number: -1}
		offset += int64(len(raw))
		if err := s.take(&l, &d, &values); err != nil {
			return nil, err
		}
		s.lines = append(s.lines, l)
	}
	switch {
	case s.header == nil && values == 0 && strings.TrimFunc(string(data), isSpace) == "":
		return nil, format.ErrEmpty
	case s.header == nil:
		return nil, fmt.Errorf("%w: no line is a JSON value", format.ErrNoHeader)
	}
	return s, nil
}

// take finds out what a line is.
func (s *Session) take(l *Line, d *Decoder, values *int) error {
	text := bytes.TrimSuffix(l.Raw, []byte("\n"))
	switch {
	case len(bytes.TrimFunc(text, isSpace)) == 0:
		l.Kind = Blank
		return nil
	case !jsonscan.Valid(text, true):
		l.Kind = Damaged
		return nil
	}
	l.Kind, l.Number = Value, *values
	*values++
	e, err := d.Decode(text)
	if s.header == nil {
		if err == nil {
			s.header, err = e.Header()
		}
		if err != nil {
			return notSession(l, len(s.lines)+1, err)
		}
		l.Kind = HeaderLine
		return nil
	}
	switch {
	case err != nil:
	case e.Type == TypeSession:
		l.Kind = HeaderLine
	default:
		l.Kind, l.Entry = EntryLine, e.clone(text)
		if e.ID != "" {
			s.index[e.ID] = len(s.entries)
		}
		s.entries = append(s.entries, l.Entry)
	}
	return nil
}

// notSession says that the first value of a file is no header.
func notSession(l *Line, number int, err error) error {
	if !errors.Is(err, format.ErrNoHeader) {
		err = fmt.Errorf("%w: the first value is no object", format.ErrNoHeader)
	}
	return &format.DamageError{Line: number, Offset: l.Offset, Err: err, Data: l.Raw}
}

// clone keeps a view of a line for good.
func (e *Entry) clone(line []byte) *Entry {
	keep := *e
	escaped := bytes.IndexByte(line, '\\') >= 0 // names may lie in memory of the scanner
	keep.members = cloneMembers(e.members, escaped)
	keep.message.members = cloneMembers(e.message.members, escaped)
	return &keep
}

func cloneMembers(members []jsonscan.Member, escaped bool) []jsonscan.Member {
	keep := make([]jsonscan.Member, len(members))
	copy(keep, members)
	for i := range keep {
		if escaped {
			keep[i].Name = bytes.Clone(keep[i].Name)
		}
	}
	return keep
}

// isSpace reports whether JavaScript takes a character for white space.
func isSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF:
		return true
	}
	return r >= 0x2000 && r <= 0x200A
}

// Header returns the header.
func (s *Session) Header() *Header { return s.header }

// Lines returns the lines of the file. They must not be changed.
func (s *Session) Lines() []Line { return s.lines }

// Entries returns the entries, in file order. They must not be changed.
func (s *Session) Entries() []*Entry { return s.entries }

// Entry returns the entry of an id, of several the last; nil when there is none.
func (s *Session) Entry(id string) *Entry {
	if i, ok := s.index[id]; ok {
		return s.entries[i]
	}
	return nil
}

// Count counts the lines of a kind.
func (s *Session) Count(k Kind) int {
	n := 0
	for i := range s.lines {
		if s.lines[i].Kind == k {
			n++
		}
	}
	return n
}

// WriteTo writes the file as it was read, byte for byte.
func (s *Session) WriteTo(w io.Writer) (n int64, err error) {
	for i := range s.lines {
		k, err := w.Write(s.lines[i].Raw)
		n += int64(k)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
