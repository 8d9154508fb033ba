package format

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sessionspan/sessionspan/internal/lines"
)

// NewSession starts an empty session. What the header leaves empty is filled in: the format ([DefaultFormat]), the payload, an
// id ([NewSessionID]) and the time. The header is copied. The error is that of [EncodeHeader].
//
// A format of a later minor makes a session that is written by the rules of that minor.
func NewSession(h Header) (*Session, error) {
	header := h.clone()
	if header.Format == "" {
		header.Format = DefaultFormat
	}
	if header.Payload == "" {
		header.Payload = DefaultPayload
	}
	if header.ID == "" {
		header.ID = NewSessionID()
	}
	if header.CreatedAt.IsZero() {
		header.CreatedAt = time.Now().UTC()
	}
	line, err := EncodeHeader(header)
	if err != nil {
		return nil, err
	}
	header, err = DecodeHeader(line)
	switch {
	case err != nil:
		return nil, err
	case header.Base != "":
		return nil, fmt.Errorf("header: %w: a new session has no entry %.100q to be its base", ErrBase, header.Base)
	}
	s := &Session{header: header, index: map[string]int{}, base: -1, leaf: -1}
	if err := s.writable(); err != nil {
		return nil, err
	}
	s.writeLine(append(line, '\n'))
	return s, nil
}

// writable returns why nothing may be appended to the session; nil when something may.
func (s *Session) writable() error {
	if s.header.Newer() {
		return fmt.Errorf("%w: it is of %s, and the newest whose rules are known is 0.%d", ErrNewerFormat, s.header.Format, newestMinor)
	}
	if s.torn != nil && errors.Is(s.torn, ErrInvalidEntry) { // a torn line may be left behind, a whole one not
		return fmt.Errorf("the last line is complete, and no entry: %w", s.torn)
	}
	return nil
}

// Append adds an entry to the session and returns its id. An id of "" is filled in, a parent of "" is the leaf, a zero time is
// now. So an explicit parent branches in place. The session keeps an entry of its own, decoded from the line that stands for
// the one given, which is neither kept nor changed.
//
// The new entry becomes the leaf. A leaf mark ([LeafLabel]) makes its target the leaf. In files from minor 5 on, whose ids are
// hashes and are filled in, what has no exact canonical form is respelled and recorded, and an entry whose explicit parent is not the leaf leaves the leaf where it is (C, 0.5). Who reads the
// file later knows of no leaf but the one that the last mark gives, else the last entry ([Session.Leaf]): after branching, mark.
//
// The session is appended to by the rules of its header's minor. The error wraps [ErrInvalidEntry], [ErrNoParent],
// [ErrDuplicateEntry], [ErrBase], [ErrNewerFormat], [ErrCallRejected], [ErrCallOrder] or [ErrNotCanonical], and nothing was
// appended.
func (s *Session) Append(e Entry) (string, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.writable(); err != nil {
		return "", err
	}
	if e == nil {
		return "", errNoEntry
	}
	env := *e.Base()
	parent, err := s.parentOf(&env)
	if err != nil {
		return "", err
	}
	now := env.Time.IsZero()
	if now {
		env.Time = time.Now().UTC()
	}
	line, err := s.encode(e, &env, now)
	if err != nil {
		return "", err
	}
	if len(line) > DefaultMaxLine {
		return "", fmt.Errorf("%w: %s: %w: %d bytes, and readers take %d", ErrInvalidEntry, e.EntryType(), ErrLineTooLong, len(line), DefaultMaxLine)
	}
	line = append(line, '\n')
	own, err := s.dec.Decode(line[:len(line)-1])
	switch {
	case err != nil:
		return "", invalid(e, err)
	case own.Base().ID != env.ID:
		return "", fmt.Errorf("%w: %s: the id %.100q is not UTF-8", ErrInvalidEntry, e.EntryType(), env.ID)
	}
	if err := s.validate(own, parent); err != nil {
		return "", err
	}
	if err := s.writeOut(line, own); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeLine(line)
	s.link(own, len(s.text)-1, parent)
	s.follow(own, parent)
	s.moveLeaf(own, parent)
	return env.ID, nil
}

// Attach has every entry that is appended from now on written before it is a part of the session: write is given what the file
// grows by, which ends with a line feed, and the entry, neither of which it may keep or change. It is called in the order of the
// entries, one call at a time, and must not append to the session or move its leaf. Meanwhile others may read the session as it was before. When it fails, nothing is appended, and its error is that of
// [Session.Append]. It is how a store has the session in memory never say more than what is stored, whoever appends.
//
// Nil writes nothing, as at first.
func (s *Session) Attach(write func(more []byte, e Entry) error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.write = write
}

// writeOut gives the line of an entry to what is attached. A last line of the file that lacks its line feed gets it first.
func (s *Session) writeOut(line []byte, e Entry) error {
	if s.write == nil {
		return nil
	}
	if n := len(s.text); n > 0 && !s.text[n-1].Terminated {
		line = append([]byte{'\n'}, line...)
	}
	return s.write(line, e)
}

// parentOf fills in the parent of an entry and returns its row, -1 for a root.
func (s *Session) parentOf(env *Envelope) (int, error) {
	parent := s.leaf
	if env.Parent != "" {
		i, ok := s.index[env.Parent]
		if !ok {
			return 0, fmt.Errorf("%w: %.100q", ErrNoParent, env.Parent)
		}
		parent = i
	}
	if s.header.Base != "" && parent < s.base {
		return 0, fmt.Errorf("%w: %s", ErrBase, s.checkBase(parent))
	}
	env.Parent = ""
	if parent >= 0 {
		env.Parent = s.id(parent)
	}
	return parent, nil
}

// encode writes the line of an entry with that envelope, and fills in its id. The time may be moved by some nanoseconds when
// it is of our own making.
func (s *Session) encode(e Entry, env *Envelope, now bool) ([]byte, error) {
	if s.header.rules().ContentIDs {
		return s.encodeHashed(e, env, now)
	}
	if env.ID == "" {
		env.ID = s.newID()
	} else if _, taken := s.index[env.ID]; taken {
		return nil, fmt.Errorf("%w: %.100q", ErrDuplicateEntry, env.ID)
	}
	return encodeEntry(e, env, false)
}

// encodeHashed writes the canonical line of an entry whose id is the hash of it (C.4).
func (s *Session) encodeHashed(e Entry, env *Envelope, now bool) ([]byte, error) {
	wanted := env.ID
	for {
		env.ID = "-" // any; it is not part of what is hashed
		line, err := encodeNormalised(e, env)
		if err != nil {
			return nil, err
		}
		if _, err := DecodeEntry(line); err != nil {
			return nil, invalid(e, err)
		}
		if env.ID, err = ContentID(line); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrInvalidEntry, e.EntryType(), err)
		}
		_, taken := s.index[env.ID]
		switch {
		case wanted != "" && wanted != env.ID:
			return nil, fmt.Errorf("%w: %s: the id %.100q is not the hash of the entry, which is %s",
				ErrInvalidEntry, e.EntryType(), wanted, env.ID)
		case taken && now: // the same was said within a tick of the clock
			env.Time = env.Time.Add(1)
			continue
		case taken:
			return nil, fmt.Errorf("%w: %.100q", ErrDuplicateEntry, env.ID)
		}
		if line, err = encodeNormalised(e, env); err != nil {
			return nil, err
		}
		return canonicalLine(line)
	}
}

// encodeNormalised writes the line of an entry with everything in it respelled that has no exact canonical form.
func encodeNormalised(e Entry, env *Envelope) ([]byte, error) {
	line, err := encodeEntry(e, env, true)
	if err != nil {
		return nil, err
	}
	if line, err = withNormalised(line); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInvalidEntry, e.EntryType(), err)
	}
	return line, nil
}

// newID returns an id that no entry has.
func (s *Session) newID() string {
	for try := 0; ; try++ {
		id := NewEntryID()
		if try > 4 { // the short ones are getting scarce
			id = randomID(16)
		}
		if _, taken := s.index[id]; !taken {
			return id
		}
	}
}

// writeLine appends a line, with its line feed, to the text. A last line of the file that lacks its line feed gets it first.
func (s *Session) writeLine(raw []byte) {
	next := lines.Line{Number: 1}
	if n := len(s.text); n > 0 {
		last := s.text[n-1]
		if !last.Terminated {
			last.Raw = append(slices.Clip(last.Raw), '\n')
			last.Size, last.Terminated = last.Size+1, true
			s.text = slices.Clone(s.text) // somebody may be reading the lines as they were
			s.text[n-1] = last
		}
		next.Number, next.Offset = last.Number+bytes.Count(last.Raw, []byte{'\n'}), last.Offset+last.Size
	}
	next.Raw, next.Data, next.Size, next.Terminated = raw, raw[:len(raw)-1], int64(len(raw)), true
	s.text = append(s.text, next)
}

// moveLeaf makes the newest entry the leaf, or what the rules say instead.
func (s *Session) moveLeaf(e Entry, parent int) {
	steady := s.header.rules().SteadyLeaf
	if isMark(e) {
		if target, ok := s.index[e.(*LabelEntry).Target]; ok && target >= s.base && !isMark(s.rows[target].entry) {
			s.leaf = target
			return
		}
	}
	if !steady || parent == s.leaf {
		s.leaf = s.unmarked(len(s.rows) - 1)
	}
}

// Branch makes an entry the leaf, or what a mark hangs from in place of the mark, so that the next append continues it. It is not kept in the file: append what [Session.MarkLeaf]
// returns for that. The error wraps [ErrNoEntry], or [ErrBase] for an entry above the header's base.
func (s *Session) Branch(id string) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.index[id]
	switch {
	case !ok:
		return fmt.Errorf("%w: %.100q", ErrNoEntry, id)
	case i < s.base:
		return fmt.Errorf("%w: %.100q is above it", ErrBase, id)
	}
	s.leaf = s.unmarked(i)
	return nil
}

// ResetLeaf clears the leaf, so that the next append is a new root. In a file with a base it goes back to the base.
func (s *Session) ResetLeaf() {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaf = s.base
}

// MarkLeaf returns the entry that makes the leaf durable, so that a session which is read again goes on from it. The error is
// [ErrNoLeaf].
func (s *Session) MarkLeaf() (*LabelEntry, error) {
	leaf := s.Leaf()
	if leaf == "" {
		return nil, ErrNoLeaf
	}
	return NewLabel(leaf, LeafLabel), nil
}

// Since returns the entries from a position on, in file order; the position after the last of them is that plus their
// number. It is for whoever wants to see each entry once: start at 0 and go on from there.
func (s *Session) Since(position int) []Entry {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var entries []Entry
	for _, r := range s.rows[min(max(position, 0), len(s.rows)):] {
		entries = append(entries, r.entry)
	}
	return entries
}
