package source

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"hash/maphash"
	"strconv"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/pi"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
	"github.com/sessionspan/sessionspan/internal/lines"
)

// Pi is the session file of the coding agent pi, and of its port orb, versions 1 to 3.
var Pi = Format{
	Name:       "pi",
	Looks:      `a line {"type":"session","id":"…",…} without a format`,
	Detect:     detectPi,
	New:        func(Place) Decoder { return newPiSession() },
	LateHeader: true,
	EntrySize:  piEntrySize,
}

func detectPi(first []byte) bool {
	var d pi.Decoder
	e, err := d.Decode(first)
	return err == nil && e.IsHeader() && e.Raw("format") == nil
}

// piSession decodes a file of pi. There is no record of runs in it: they are found along the chain of parents, for which it
// keeps a [piPlace] for each entry.
type piSession struct {
	header  *pi.Header
	decoder pi.Decoder
	values  int    // how many JSON values the file has had; the header is number 0
	before  string // version 1: the key of the entry before

	seed   maphash.Seed
	at     map[uint64]int32 // the place of each entry, by the hash of its key
	places []piPlace        // number 0 is that of no entry
	runs   []string         // the id of each run; number 0 means none
	tags   map[string]int32 // strings of which there are few, and their numbers
	tag    []string
	custom map[int32]piCustom

	copied bool // so far, all entries are copied from owner
	owner  string
	last   time.Time // of the last entry that has a time
	// appended is when the entry before the one at hand was appended; zero when that is not known.
	appended time.Time
	held     piHeld
	batch    piBatch
	initial  *activity.Settings

	emit  func(*activity.Event)
	event activity.Event
	facts struct { // the frequent ones, used again
		input    activity.Input
		call     activity.Call
		result   activity.Result
		response activity.Response
	}
}

func newPiSession() *piSession {
	return &piSession{
		seed: maphash.MakeSeed(), at: map[uint64]int32{}, places: make([]piPlace, 1), runs: make([]string, 1),
		tags: map[string]int32{"": 0}, tag: []string{""}, custom: map[int32]piCustom{},
	}
}

func (d *piSession) Decode(l lines.Line, emit func(*activity.Event)) error {
	if l.TooLong() {
		d.values++ // most likely
		return &format.DamageError{Err: format.ErrLineTooLong, Data: l.Data}
	}
	e, err := d.decoder.Decode(l.Data)
	if err != nil {
		if jsonscan.Valid(l.Data, true) {
			return d.noObject(err)
		}
		return err
	}
	d.values++
	if d.header == nil {
		return d.begin(e, l, emit)
	}
	if e.ID == "" && streamEvents[e.Type] {
		return &format.DamageError{Err: format.ErrInvalidEntry, Detail: "an event as pi --mode json writes it, which is no session file", Data: l.Data}
	}
	key := d.keyOf(e)
	if key == "" {
		return nil
	}
	d.appended = d.last
	if !e.Time.IsZero() {
		if !d.last.IsZero() && e.Time.Sub(d.last) >= activity.Silence {
			d.Flush(Silence, emit)
		}
		d.last = e.Time
	}
	d.copied = d.copied && (e.Time.IsZero() || e.Time.Before(d.header.Time))
	d.event = activity.Event{Key: key, Parent: d.parentOf(e), Time: e.Time, Line: l.Number, Offset: l.Offset}
	if d.copied {
		d.event.Owner = d.owner
	}
	d.emit = emit
	d.entry(e)
	d.emit, d.before = nil, key
	return nil
}

// streamEvents are the types of what stands behind a header in the output of a running agent.
var streamEvents = map[string]bool{
	"agent_start": true, "agent_end": true, "turn_start": true, "turn_end": true, "message_start": true, "message_update": true,
	"message_end": true, "tool_execution_start": true, "tool_execution_update": true, "tool_execution_end": true,
}

// noObject takes a JSON value that is no object, which the agents keep and read nothing from.
func (d *piSession) noObject(err error) error {
	d.values++
	if damage, ok := errors.AsType[*format.DamageError](err); ok && d.header == nil {
		damage.Err = errors.Join(format.ErrNoHeader, damage.Err) // the first value is the header
	}
	return err
}

func (d *piSession) begin(e *pi.Entry, l lines.Line, emit func(*activity.Event)) error {
	h, err := e.Header()
	if err == nil && e.Raw("format") != nil {
		err = fmt.Errorf("%w: one with a format is that of another kind of file", format.ErrNoHeader)
	}
	if err != nil {
		return &format.DamageError{Err: err, Data: l.Data}
	}
	d.header = h
	s := &activity.Session{
		ID: h.ID, Created: h.Time, Format: Pi.Name, FormatVersion: strconv.Itoa(h.Version), Newer: h.Version > pi.Newest,
		Harness: "pi", CWD: h.CWD, ForkOf: originOf(h.ParentSession),
	}
	if s.ID == "" {
		s.ID = unnamed(l.Data)
	}
	if s.ForkOf == "" {
		s.ForkOf = originOf(h.BranchedFrom)
	} else if !h.Time.IsZero() {
		d.copied, d.owner = true, s.ForkOf
	}
	if h.Provider != "" || h.ModelID != "" || h.ThinkingLevel != "" {
		d.initial = &activity.Settings{Provider: h.Provider, Model: h.ModelID}
		if h.ThinkingLevel != "" {
			d.initial.Reasoning = &h.ThinkingLevel
		}
		d.places[0].model, d.places[0].provider = d.number(h.ModelID), d.number(h.Provider)
		d.places[0].level, d.places[0].chose = d.number(h.ThinkingLevel), true
	}
	emit(&activity.Event{Line: l.Number, Offset: l.Offset, Fact: s})
	return nil
}

// unnamed is the id of a session whose header has an empty one, as the agents allow: made of the header, so that such sessions
// are told apart, and one of them is the same wherever its file is.
func unnamed(header []byte) string {
	h := fnv.New64a()
	_, _ = h.Write(bytes.TrimSpace(header)) // it never fails
	return fmt.Sprintf("unnamed-%016x", h.Sum64())
}

// originOf is the id of the session in a file of which the path is known: files are called <time>_<id>.jsonl.
func originOf(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	name = strings.TrimSuffix(name, ".jsonl")
	if at, id, ok := strings.Cut(name, "_"); ok && len(at) >= len("2006-01-02T15") && at[0]-'0' <= 9 && strings.Contains(at, "T") {
		return id
	}
	return name
}

// keyOf is the stable key of an entry: its id, else how many values stand before it. It is "" for what is no entry: a
// further header, and an object without a type.
func (d *piSession) keyOf(e *pi.Entry) string {
	switch {
	case e.Type == pi.TypeSession:
		return ""
	case d.header.Version == 1: // ids are made by chance when the agent migrates the file
		return strconv.Itoa(d.values - 1)
	case e.ID != "":
		return e.ID
	case e.Type == "":
		return ""
	}
	return "#" + strconv.Itoa(d.values-1)
}

func (d *piSession) parentOf(e *pi.Entry) string {
	if d.header.Version == 1 {
		return d.before
	}
	return e.Parent
}

// Flush says what was held back for the rest of a batch, or for a retry: nothing more comes.
func (d *piSession) Flush(why Why, emit func(*activity.Event)) {
	if why == Silence {
		d.place(emit)
		d.release(emit)
	}
}

// say emits what the entry says, at its own time.
func (d *piSession) say(f activity.Fact) { d.sayAt(d.event.Time, f) }

// sayAt emits what the entry says of another time. The first event of an entry has the time of the entry.
func (d *piSession) sayAt(t time.Time, f activity.Fact) {
	own := d.event.Time
	if d.event.Part == 0 && !t.Equal(own) && !t.IsZero() {
		d.say(nil)
	}
	if !t.IsZero() {
		d.event.Time = t
	}
	d.event.Fact = f
	d.emit(&d.event)
	d.event.Part++
	d.event.Time = own
	if d.initial != nil && d.event.Part == 1 {
		settings := d.initial
		d.initial = nil
		d.say(settings)
	}
}

// number numbers a string of which there are few.
func (d *piSession) number(s string) int32 {
	n, ok := d.tags[s]
	if !ok {
		n = int32(len(d.tag))
		d.tags[s] = n
		d.tag = append(d.tag, s)
	}
	return n
}

func (d *piSession) hash(key string) uint64 { return maphash.String(d.seed, key) }
