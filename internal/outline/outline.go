package outline

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/pi"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/stored"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// Outline is a session as people look at it.
type Outline struct {
	// Header is what the file says of its session, Name its display name.
	Header *activity.Session
	Name   string
	// Entries are those of the file, in its order.
	Entries []Entry
	// Leaf is the entry from which work would go on; -1 when there is none.
	Leaf int
	// At is the entry whose path is looked at: the leaf, unless [Outline.Look] has chosen another one.
	At int
	// Damage is what could not be read as it should be, in file order; Err why the file was not read to its end, or nil.
	Damage []stored.Damage
	Err    error
	// Repeats counts the lines that repeat an earlier one, where that makes them the same entry.
	Repeats int
	// Context is the context at the entry that is looked at. It is nil where the format does not tell, and where it cannot
	// be built, for the reason that ContextErr gives.
	Context    *format.Context
	ContextErr error

	// MessageContext is the same of a session whose context is a list of messages: of pi, or of Claude Code.
	MessageContext *MessageContext

	session *format.Session // nil for formats other than the Agent Session Format
	pi      *pi.Session     // nil for formats other than that of pi
	claude  bool            // its lines are those of Claude Code
	index   map[string]int
}

// Entry is one entry of a session, in a few words.
type Entry struct {
	// ID is the file's own id of the entry, Parent the one that it names as its parent, or "".
	ID, Parent string
	// Type is the entry's type in the words of its format, or what its first event is. Kind is what it is to people: the role
	// of a message, call, output, or the type.
	Type, Kind string
	// Text says what the entry says, cut to some hundred characters. It is as the file has it, and not safe for a terminal.
	Text string
	// Time is zero when the file gives none.
	Time time.Time
	// Line counts from 1, Offset is that of the line's first byte once decompressed.
	Line   int
	Offset int64
	// Raw is the line as it stands in the file, with its line feed if it has one.
	Raw []byte
	// Labels are those that the entry has now.
	Labels []string
	// Hidden: the model sees it, and a renderer of conversations would not show it.
	Hidden bool
	// Omitted is why requests at the entry that is looked at leave it out though it is on the path; "" when they do not.
	Omitted string
	// Failed: it says that something failed.
	Failed bool
	// Place is where it stands, seen from the entry that is looked at.
	Place Place
	// FirstKept: the compaction in force keeps the context from this entry on.
	FirstKept bool

	up    int  // its parent among the entries; -1 for a root
	inner bool // it is of an agent whose work is in the file, and so never the leaf
	mark  bool // it is nothing but a leaf mark, and so never the leaf
}

// Place says how an entry relates to the one that is looked at.
type Place uint8

// The places.
const (
	// Aside: on another branch.
	Aside Place = iota
	// Folded: on the path, before what the last compaction keeps.
	Folded
	// OnPath: on the path, and among what the context is made of.
	OnPath
	// Here: it is the one.
	Here
)

// Data returns the line without what ends it.
func (e *Entry) Data() []byte { return bytes.TrimRight(e.Raw, "\r\n") }

// ErrNoEntry: no entry, or more than one, has the id asked for.
var ErrNoEntry = errors.New("no such entry")

// maxText is how many characters are kept of what an entry says: as many as the widest picture has columns.
const maxText = terminal.MaxWidth

// Load reads a session file as [stored.Load] does, and outlines it, at its leaf. The error is that of [stored.Load].
func Load(ctx context.Context, path string, stdin io.Reader, o stored.Options) (*Outline, error) {
	b := newEventBuilder()
	o.Event = b.event
	f, err := stored.Load(ctx, path, stdin, o)
	if err != nil {
		return nil, err
	}
	var out *Outline
	if f.Session != nil {
		out, err = fromSession(ctx, f.Session)
	} else {
		out, err = b.outline(ctx, f.Text)
	}
	if err != nil {
		return nil, err
	}
	out.Header, out.Err = f.Header, f.Err
	switch f.Header.Format {
	case source.Pi.Name:
		out.fromPi(f.Text)
	case source.Claude.Name:
		out.fromClaude()
	}
	out.Damage = append(f.Damage, out.Damage...)
	slices.SortStableFunc(out.Damage, func(a, b stored.Damage) int { return cmp.Compare(a.Line, b.Line) })
	if out.Leaf >= 0 {
		out.look(out.Leaf)
	}
	return out, nil
}

// Look chooses the entry whose path and context are looked at, by its id or by a prefix of it that no other entry's id has;
// of an id that is a hash, also without the name of the hash. The error wraps [ErrNoEntry].
func (o *Outline) Look(id string) error {
	at, err := o.find(id)
	if err == nil {
		o.look(at)
	}
	return err
}

func (o *Outline) find(prefix string) (int, error) {
	if i, ok := o.index[prefix]; ok {
		return i, nil
	}
	var found []int
	for i := range o.Entries {
		id := o.Entries[i].ID
		if strings.HasPrefix(id, prefix) || strings.HasPrefix(strings.TrimPrefix(id, format.HashPrefix), prefix) {
			found = append(found, i)
		}
	}
	switch {
	case len(found) == 0 || prefix == "":
		return -1, fmt.Errorf("%w: the id of none is or begins with %q", ErrNoEntry, prefix)
	case len(found) > 1:
		return -1, fmt.Errorf("%w: %d ids begin with %q, those on lines %d and %d among them: give more of it", ErrNoEntry,
			len(found), prefix, o.Entries[found[0]].Line, o.Entries[found[1]].Line)
	}
	return found[0], nil
}

// look sets what depends on the entry that is looked at.
func (o *Outline) look(at int) {
	for i := range o.Entries {
		e := &o.Entries[i]
		e.Place, e.Omitted, e.FirstKept = Aside, "", false
	}
	o.At, o.Context, o.ContextErr, o.MessageContext = at, nil, nil, nil
	for i := at; i >= 0; i = o.Entries[i].up {
		o.Entries[i].Place = OnPath
	}
	o.Entries[at].Place = Here
	switch {
	case o.session != nil:
		o.lookAround(o.Entries[at].ID)
	case o.pi != nil:
		o.lookAtPi(o.Entries[at].ID)
	case o.claude:
		o.lookAtClaude(at)
	}
}

// lookAround builds the context, and marks the entries by what it makes of them.
func (o *Outline) lookAround(id string) {
	c, err := o.session.Context(id)
	if err != nil {
		o.ContextErr = err
		return
	}
	o.Context = c
	for _, omitted := range c.Omitted {
		o.Entries[o.index[omitted.Entry.ID]].Omitted = omitted.Reason
	}
	if len(c.Entries) == 0 {
		return
	}
	fold, ok := c.Entries[0].(*format.CompactionEntry)
	if !ok || len(c.Entries) < 2 || c.Entries[1].Base().ID != fold.FirstKept {
		return
	}
	first := o.index[fold.FirstKept]
	o.Entries[first].FirstKept = true
	for i := o.Entries[first].up; i >= 0; i = o.Entries[i].up {
		o.Entries[i].Place = Folded
	}
}

// Branches counts the entries that nothing continues. Leaf marks do not count, unless something hangs from them.
func (o *Outline) Branches() int {
	continued := make([]bool, len(o.Entries))
	n := 0
	for i, e := range slices.Backward(o.Entries) {
		if !continued[i] && e.mark {
			continue
		}
		if !continued[i] {
			n++
		}
		if e.up >= 0 {
			continued[e.up] = true
		}
	}
	return n
}
