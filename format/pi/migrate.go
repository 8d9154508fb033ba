package pi

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"strconv"

	"github.com/google/uuid"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// Migrated returns the session as the agents rewrite a file of an older version when they open it: in memory, the file stays
// as it is. A session of version 3 or later is returned as it is. Entries of version 1 get ids from newID, or at random when
// that is nil; ids that it gives twice are asked for again.
//
// Lines that are blank or damaged are left out, as in the agents' rewriting. Values that are no objects stay.
func (s *Session) Migrated(newID func() string) (*Session, error) {
	if s.header.Version >= Newest {
		return s, nil
	}
	m := migration{from: s.header.Version, newID: newID, taken: map[string]bool{}}
	if newID == nil {
		m.newID = shortID
	}
	var out []byte
	for i := range s.lines {
		l := &s.lines[i]
		if l.Number < 0 {
			continue
		}
		text := bytes.Trim(l.Raw, " \t\r\n")
		if l.Kind == HeaderLine || l.Kind == EntryLine {
			o := parseObject(text)
			m.object(o, l.Kind == HeaderLine)
			m.ids = append(m.ids, o.get("id"))
			m.headers = append(m.headers, l.Kind == HeaderLine)
			out = o.append(out)
		} else {
			m.ids, m.headers = append(m.ids, nil), append(m.headers, false)
			out = append(out, text...)
		}
		out = append(out, '\n')
	}
	return Parse(out)
}

type migration struct {
	from    int
	newID   func() string
	taken   map[string]bool
	before  []byte   // the id of the entry before, written
	ids     [][]byte // of the values so far
	headers []bool   // which of them are headers
}

func (m *migration) object(o *object, header bool) {
	if header {
		o.set("version", strconv.AppendInt(nil, Newest, 10))
		return
	}
	if m.from < 2 {
		m.tree(o)
	}
	if string(o.get("type")) != `"message"` || jsonscan.Kind(o.get("message")) != '{' {
		return
	}
	message := parseObject(o.get("message"))
	if string(message.get("role")) == `"`+RoleHook+`"` {
		message.set("role", quoted(RoleCustom))
		o.set("message", message.append(nil))
	}
}

// tree gives an entry of version 1 its place in a tree. What a compaction keeps is named by its number among the values; it
// has an id if it stands before.
func (m *migration) tree(o *object) {
	id := quoted(m.unused())
	o.set("id", id)
	parent := m.before
	if parent == nil {
		parent = []byte("null")
	}
	o.set("parentId", parent)
	m.before = id
	kept := o.get("firstKeptEntryIndex")
	if string(o.get("type")) != `"compaction"` || jsonscan.Kind(kept) != '0' {
		return
	}
	at, whole := jsonscan.Int64(kept)
	if whole && at == int64(len(m.ids)) { // itself
		o.set("firstKeptEntryId", id)
	}
	if whole && at >= 0 && at < int64(len(m.ids)) && !m.headers[at] && m.ids[at] != nil {
		o.set("firstKeptEntryId", m.ids[at])
	}
	o.remove("firstKeptEntryIndex")
}

// unused is an id that no entry has: a UUID when a hundred attempts have not found one.
func (m *migration) unused() string {
	for range 100 {
		if id := m.newID(); !m.taken[id] {
			m.taken[id] = true
			return id
		}
	}
	id := uuid.NewString()
	m.taken[id] = true
	return id
}

// shortID is eight hexadecimal digits.
func shortID() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}
