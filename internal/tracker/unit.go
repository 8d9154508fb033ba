package tracker

import (
	"context"
	"errors"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/follow"
	"github.com/sessionspan/sessionspan/internal/lines"
	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
)

// unit is a file with what is known of its session.
type unit struct {
	t    *Tracker
	file *follow.Tracked

	session *activity.Session // what its header says; nil until that has been read
	root    string            // the session at the top of its trace, once that was decided
	state   *state            // nil when it has been let go of, or never was
	refused error             // why nothing is read of it

	omitted omitted   // what is not sent
	open    bool      // something is open in it
	last    int64     // the time of its last entry, in nanoseconds since 1970; 0 without one
	silent  bool      // what was open has ended, at the last entry
	grew    time.Time // when it was seen to grow; zero when it was not
	met     time.Time // when it was found

	pending  []*projection.Span // that ended, and are not in a batch
	bytes    int                // the size of those
	readable bool               // there is something to be read
	sending  *batch             // that has spans of it
	accepted progress           // what has been accepted
	stored   progress           // the same as it is in the checkpoint
	key      string             // of that
	oldKey   string             // of the record that it was known by, if that is another
	said     string             // what was told of it last
}

// progress is how far a file has come, with what has to be known to go on from there.
type progress struct {
	known        follow.Known
	omitted      omitted
	open, silent bool
	kept         bool // always, to tell it from what was never stored
	last         int64
}

// progress returns how far the unit has been read.
func (u *unit) progress() progress {
	return progress{known: u.file.Known(u.file.Position()), omitted: u.omitted, open: u.open, silent: u.silent, kept: true, last: u.last}
}

// state is what reading a session has come to.
type state struct {
	out       *sink
	format    *source.Format
	decoder   source.Decoder
	detector  source.Detector
	projector *projection.Projector
	held      *format.DamageError // damage that a later line shows to be no torn tail
	used      uint64              // when, in the tracker's count
	fresh     bool                // nothing was read of the file before
}

// entrySize is about what a projector holds of an entry, and stateSize of a session, in bytes.
const (
	entrySize = 180
	stateSize = 16 << 10
)

func (s *state) size() int64 {
	if s == nil {
		return 0
	}
	each := int64(entrySize)
	if s.format != nil {
		each += s.format.EntrySize
	}
	return stateSize + each*int64(s.projector.Entries())
}

// sink is where a unit's spans go, from the projector.
type sink struct {
	of     *unit
	silent bool // what comes has been sent, or is not to be
}

func (s *sink) Start(span *projection.Span) {
	if to := s.of.t.o.Sink; to != nil && !s.silent {
		to.Start(span)
	}
}

func (s *sink) End(span *projection.Span) {
	if s.silent {
		return
	}
	if to := s.of.t.o.Sink; to != nil {
		to.End(span)
	}
	if !span.End.Before(s.of.t.o.Since) {
		s.of.pending = append(s.of.pending, span)
		size := otlp.Size(span)
		s.of.bytes += size
		s.of.t.held += size
	}
}

// begin makes the state of a session of which nothing has been read.
func (u *unit) begin() *state {
	out := &sink{of: u, silent: true}
	o := u.t.o.Projection
	o.Ancestors = u.t
	o.Report = func(p projection.Problem) { u.problem(out, p, p.Note) }
	return &state{out: out, projector: projection.New(o, out), fresh: u.file.Position().Offset == 0}
}

// problem tells what is wrong with a file, unless that was told before.
func (u *unit) problem(out *sink, err error, note bool) {
	if !out.silent {
		u.t.o.Problem(u.file.Path, err, note)
	}
}

// ready has the state of a session there, as it is where the file has been read to. What was read is read again, in silence, if need be. The
// error wraps [follow.ErrChanged] when it is not what it was.
func (u *unit) ready(ctx context.Context) error {
	u.t.clock++
	if u.state != nil {
		u.state.used = u.t.clock
		return nil
	}
	st := u.begin()
	st.used = u.t.clock
	var failed error
	before := u.file.Position().Offset
	err := u.file.Prime(ctx, func(l lines.Line) {
		if failed == nil {
			failed = u.decode(st, l)
		}
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	u.t.primed += before
	if u.silent {
		st.projector.Finish()
	}
	st.out.silent = false
	u.state, u.t.states = st, u.t.states+st.size()
	return nil
}

// place is where the file stands. Its decoder can wait for other files only as long as nothing was read of it.
func (u *unit) place(waits bool) source.Place {
	return source.Place{Path: u.file.Path, Kin: u.t.kin, Waits: waits}
}

// decode gives a line to the session. The error says that the file is no session that can be read.
func (u *unit) decode(st *state, l lines.Line) error {
	if l.Blank() {
		return nil
	}
	if st.held != nil {
		u.problem(st.out, st.held, false)
		st.held = nil
	}
	if st.decoder == nil {
		f, err := u.t.formatOf(&st.detector, l)
		if f == nil {
			return err
		}
		for _, d := range st.detector.Damage {
			u.problem(st.out, d, false)
		}
		st.format, st.decoder = f, f.New(u.place(st.fresh))
	}
	begun := st.projector.Session() != nil
	err := st.decoder.Decode(l, func(ev *activity.Event) {
		if s, ok := ev.Fact.(*activity.Session); ok {
			u.rooted(s)
		}
		st.projector.Feed(ev)
		if ev.Part == 0 && !ev.Time.IsZero() && ev.Time.UnixNano() > 0 { // other parts may speak of another time
			u.last = ev.Time.UnixNano()
		}
	})
	if err == nil {
		return nil
	}
	damage, ok := errors.AsType[*format.DamageError](err)
	if !ok {
		return err
	}
	damage.Line, damage.Offset = l.Number, l.Offset
	if !begun && st.projector.Session() == nil && st.format.Ends(damage) {
		return damage
	}
	brief := *damage
	brief.Data = damage.Data[:min(len(damage.Data), 1<<10)]
	st.held = brief.Clone()
	return nil
}

// rooted has a session keep the root that was decided for it: whatever is known of its ancestors later, its trace stays the one that it is.
func (u *unit) rooted(s *activity.Session) {
	if s.Spawn == nil {
		return
	}
	if u.root == "" {
		u.root, _ = projection.RootOf(s.ID, s.Spawn, u.t)
	}
	spawn := *s.Spawn
	spawn.Root = u.root
	if u.root != s.ID { // else it is among its own ancestors, which the projector finds out for itself
		s.Spawn = &spawn
	}
}

// read reads on, until the file ends, or enough has been read for now.
func (u *unit) read(ctx context.Context, most int64) error {
	if err := u.ready(ctx); err != nil {
		return err
	}
	st, before := u.state, u.state.size()
	var failed error
	err := u.file.Read(ctx, most, func(l lines.Line) bool {
		u.silent = false
		st.out.silent = l.Offset+l.Size <= u.omitted.Offset
		failed = u.decode(st, l)
		return failed == nil && u.bytes < u.t.o.BatchBytes
	})
	u.t.states += st.size() - before
	u.look()
	if err = errors.Join(err, failed); err == nil && st.decoder == nil && len(st.detector.Damage) > 0 && u.file.AtEnd() {
		err = st.detector.Unknown(0) // unless it grows
	}
	return err
}

// look notes whether something is open.
func (u *unit) look() {
	open := u.state.projector.Open()
	u.open = open.Total() > 0 || open.Pending > 0
}

// quietDue reports whether nothing has happened for so long that what is open has ended, by the times of the entries, and, for a file that was
// seen to grow, by a clock that nobody sets.
func (u *unit) quietDue(now time.Time) bool {
	switch {
	case !u.open || u.silent || u.last == 0 || !u.file.AtEnd():
		return false
	case now.UnixNano()-u.last < int64(projection.Silence), !u.grew.IsZero() && time.Since(u.grew) < projection.Silence:
		return false
	case !u.file.Whole() && now.Sub(u.file.Modified()) < projection.Silence && time.Since(u.met) < projection.Silence:
		return false // somebody is about to write its end, as who copies an old session
	}
	return true
}

// quiet ends what is open if that is due, and all that came before has been accepted.
func (u *unit) quiet(ctx context.Context, now time.Time) error {
	if len(u.pending) > 0 || u.sending != nil || !u.quietDue(now) {
		return nil
	}
	if err := u.ready(ctx); err != nil {
		return err
	}
	u.state.decoder.Flush(source.Silence, u.state.projector.Feed)
	u.state.projector.Silent(now)
	u.silent = true
	u.look()
	return nil
}

// drop lets go of a unit's state.
func (u *unit) drop() {
	u.t.states -= u.state.size()
	u.state = nil
	u.file.Rewind()
}
