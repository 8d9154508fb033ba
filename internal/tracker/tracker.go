package tracker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/follow"
	"github.com/sessionspan/sessionspan/internal/lines"
	"github.com/sessionspan/sessionspan/internal/source"
)

// Tracker turns session files into spans as they grow. It is for one goroutine.
type Tracker struct {
	o        Options
	consumer Consumer
	follower *follow.Follower
	format   *source.Format // nil for any

	units    map[*follow.Tracked]*unit
	sessions map[string][]*unit // by format and id
	spawners map[string]string  // of sessions whose header is known, "" for none
	records  map[string]*record // of files that have not been met, by key
	byPath   map[string]*record // the same by path
	options  uint64             // the fingerprint of those that count

	readable []*unit // in which there is something to be read
	waiting  map[*unit]bool
	since    time.Time // when the first of those began to wait
	retrying []*batch
	dirty    map[*unit]bool // whose record is not what is in the checkpoint
	begun    bool           // the files that are there at the start are known

	clock  uint64
	states int64 // bytes that the states of sessions take
	primed int64
	stats  Stats
}

// Stats count what a tracker has done.
type Stats struct {
	Files, Sessions    int
	Sent, Refused      int64 // spans
	Retrying           int   // spans that wait to be tried again
	BytesRead, Reread  int64
	LinesRead, Problem int64
}

// New returns a tracker that gives spans to a consumer. The error is that of the checkpoints, or says that an option cannot be used.
func New(o Options, consumer Consumer) (*Tracker, error) {
	o = o.withDefaults()
	if err := o.Projection.Validate(); err != nil {
		return nil, err
	}
	f, err := source.Lookup(o.Source.Format)
	if err != nil {
		return nil, err
	}
	t := &Tracker{
		o: o, consumer: consumer, format: f, units: map[*follow.Tracked]*unit{}, sessions: map[string][]*unit{}, spawners: map[string]string{},
		records: map[string]*record{}, byPath: map[string]*record{}, waiting: map[*unit]bool{}, dirty: map[*unit]bool{},
		options: fingerprint(o.Projection),
	}
	if err := t.load(); err != nil {
		return nil, err
	}
	o.Follow.MaxLine = o.Source.MaxLine
	t.follower = follow.New(o.Follow, t.known)
	return t, nil
}

// Close lets go of all files. What has not been accepted is given again by the next tracker of the same checkpoints.
func (t *Tracker) Close() error { return t.follower.Close() }

// Stats returns what was done so far.
func (t *Tracker) Stats() Stats {
	s := t.stats
	s.Files, s.Sessions, s.Reread = len(t.units), len(t.sessions), t.primed
	for _, b := range t.retrying {
		s.Retrying += len(b.spans)
	}
	return s
}

// Run follows the files until the context is done, and then gives the consumer what has ended. The error is that of the checkpoints.
func (t *Tracker) Run(ctx context.Context) error {
	var changed <-chan string
	if n := t.o.Follow.Notifier; n != nil {
		changed = n.Changed()
	}
	for ctx.Err() == nil {
		if err := t.Step(ctx); err != nil {
			return err
		}
		timer := time.NewTimer(time.Until(t.next()))
		select {
		case <-timer.C:
		case <-ctx.Done():
		case path := <-changed:
			t.follower.Heard(path)
		}
		timer.Stop()
	}
	return t.Flush(context.WithoutCancel(ctx))
}

// Flush gives the consumer what has ended, once, and stores how far that is.
func (t *Tracker) Flush(ctx context.Context) error {
	t.deliver(ctx, time.Now())
	return t.save()
}

// Step looks at the files once, reads what is new, and gives it to the consumer as far as that is due.
func (t *Tracker) Step(ctx context.Context) error {
	t.take(ctx, t.follower.Poll(ctx))
	for t.readOn(ctx) {
		if now := time.Now(); t.due(now) {
			t.deliver(ctx, now)
		}
	}
	now := time.Now()
	t.silence(ctx, now)
	if t.due(now) || len(t.retrying) > 0 {
		t.deliver(ctx, now)
	}
	t.evict()
	return t.save()
}

// Idle reports whether all that was found has been read and accepted.
func (t *Tracker) Idle() bool {
	return len(t.readable) == 0 && len(t.waiting) == 0 && len(t.retrying) == 0
}

// next is when there is something to be done again.
func (t *Tracker) next() time.Time {
	next := t.follower.Next()
	earlier := func(at time.Time) {
		if at.Before(next) {
			next = at
		}
	}
	if !t.since.IsZero() {
		earlier(t.since.Add(t.o.BatchWait))
	}
	for _, b := range t.retrying {
		earlier(b.next)
	}
	return next
}

// take takes what a look at the files has found.
func (t *Tracker) take(ctx context.Context, news follow.News) {
	for path, err := range news.Errs {
		t.o.Problem(path, err, false)
	}
	isNew := map[*follow.Tracked]bool{}
	for _, file := range news.New {
		isNew[file] = true
		t.meet(ctx, file)
	}
	t.begun = true
	for _, file := range news.Again {
		t.again(ctx, t.units[file])
	}
	for _, file := range news.Grown {
		if u := t.units[file]; u != nil {
			if !isNew[file] {
				u.grew = time.Now()
			}
			t.queue(u)
		}
	}
	for _, file := range news.Gone {
		t.lose(ctx, t.units[file])
	}
}

// meet takes a file that was not known.
func (t *Tracker) meet(ctx context.Context, file *follow.Tracked) {
	u := &unit{t: t, file: file, key: recordKey(file.Path, file.ID), accepted: file.Position(), stored: file.Position()}
	t.units[file] = u
	if r := t.recordOf(file.Path, file.ID); r != nil && r.Offset > 0 && r.position() == file.Position() {
		u.kept = true
		u.root, u.open, u.last, u.silent = r.Root, r.Open, r.Last, r.Silent
		if r.Session != "" {
			u.session = &activity.Session{ID: r.Session, Format: r.Format}
			if r.Spawner != "" {
				u.session.Spawn = &activity.Spawn{Session: r.Spawner}
			}
			t.introduce(u)
		} else {
			t.introduceBy(ctx, u)
		}
		delete(t.records, u.key)
		return
	}
	if t.o.FromNow && !t.begun {
		u.quietTo = file.Size()
	}
	t.introduceBy(ctx, u)
}

// introduceBy reads the header of a file.
func (t *Tracker) introduceBy(ctx context.Context, u *unit) {
	var decoder source.Decoder
	err := u.file.Peek(ctx, func(l lines.Line) bool {
		if l.Blank() {
			return true
		}
		if decoder == nil {
			f, err := t.formatOf(l)
			if err != nil {
				return false // it is told when the file is read
			}
			decoder = f.New()
		}
		if err := decoder.Decode(l, func(ev *activity.Event) {
			if s, ok := ev.Fact.(*activity.Session); ok && u.session == nil {
				u.session = s
			}
		}); err != nil {
			return false
		}
		return u.session == nil
	})
	if err == nil && u.session != nil {
		t.introduce(u)
	}
}

// introduce has other sessions know of one.
func (t *Tracker) introduce(u *unit) {
	spawner := ""
	if s := u.session.Spawn; s != nil {
		spawner = s.Session
	}
	if _, have := t.spawners[u.session.ID]; !have {
		t.spawners[u.session.ID] = spawner
	}
	key := u.session.Format + "\x00" + u.session.ID
	if others := t.sessions[key]; len(others) > 0 && others[0].file.Path != u.file.Path {
		t.o.Problem(u.file.Path, fmt.Errorf("%w: %s has it as well", ErrCopy, others[0].file.Path), true)
	}
	t.sessions[key] = append(t.sessions[key], u)
}

// ErrCopy: two files have the same session. Both are read; what they agree in has the same ids.
var ErrCopy = errors.New("a copy of a session")

// formatOf finds out the format of a file by its first line.
func (t *Tracker) formatOf(l lines.Line) (*source.Format, error) {
	if t.format != nil {
		return t.format, nil
	}
	return source.Detect(l)
}

// Ancestor implements [projection.Resolver].
func (t *Tracker) Ancestor(id string) (parent string, known bool) {
	parent, known = t.spawners[id]
	return parent, known
}

// queue has a file be read, unless nothing of it is to be read yet.
func (t *Tracker) queue(u *unit) {
	switch {
	case u.readable || u.refused != nil:
	case u.state == nil && u.quietTo > 0 && u.file.Size() <= u.quietTo && u.file.Position().Offset == 0:
	default:
		u.readable = true
		t.readable = append(t.readable, u)
	}
}

// chunk is how much is read of one file before it is the next one's turn.
const chunk = 4 << 20

// readOn reads a part of the next file in which there is something to be read, and reports whether there was one.
func (t *Tracker) readOn(ctx context.Context) bool {
	if len(t.readable) == 0 || t.full() || ctx.Err() != nil {
		return false
	}
	u := t.readable[0]
	t.readable = t.readable[1:]
	u.readable = false
	if u.sending != nil && u.bytes >= t.o.BatchBytes {
		return true // it has enough to be sent; the next look at it has it read on
	}
	if u.session == nil {
		t.introduceBy(ctx, u)
	}
	before := u.file.Position()
	err := u.read(ctx, chunk)
	after := u.file.Position()
	if after.Offset > before.Offset {
		t.stats.BytesRead += after.Offset - before.Offset
		t.stats.LinesRead += int64(after.Lines - before.Lines)
	}
	if len(u.pending) > 0 {
		t.waiting[u] = true
		if t.since.IsZero() {
			t.since = time.Now()
		}
	}
	switch {
	case errors.Is(err, follow.ErrChanged):
		t.follower.Again(u.file)
		t.again(ctx, u)
		t.queue(u)
	case errors.Is(err, follow.ErrAway):
	case err != nil && ctx.Err() == nil:
		t.failed(u, err)
	case !u.file.AtEnd() && after.Offset > before.Offset:
		t.queue(u)
	}
	t.settle(u)
	return true
}

// failed notes that a file cannot be read. One that is no session is left alone from then on.
func (t *Tracker) failed(u *unit, err error) {
	if u.state == nil || u.state.projector.Session() == nil {
		u.refused = err
	}
	if u.state != nil && u.refused != nil {
		u.drop()
	}
	t.o.Problem(u.file.Path, err, false)
}

// again has a file be read from its start: it holds something else than what was read.
func (t *Tracker) again(ctx context.Context, u *unit) {
	if u == nil {
		return
	}
	t.o.Problem(u.file.Path, fmt.Errorf("%w; it is read again from its start", follow.ErrChanged), true)
	u.drop()
	t.forget(u)
	u.session, u.root, u.refused, u.quietTo = nil, "", nil, 0
	u.open, u.silent, u.last = false, false, 0
	u.accepted = follow.Position{}
	t.introduceBy(ctx, u)
}

// forget has other sessions not know of one any more, but for who spawned it.
func (t *Tracker) forget(u *unit) {
	if u.session == nil {
		return
	}
	key := u.session.Format + "\x00" + u.session.ID
	t.sessions[key] = slices.DeleteFunc(t.sessions[key], func(other *unit) bool { return other == u })
	if len(t.sessions[key]) == 0 {
		delete(t.sessions, key)
	}
}

// lose takes that a file is gone: what is still to be read of it is, if it is open.
func (t *Tracker) lose(ctx context.Context, u *unit) {
	if u == nil {
		return
	}
	for before := int64(-1); !u.file.AtEnd() && u.refused == nil && u.file.Position().Offset != before; {
		before = u.file.Position().Offset
		if u.read(ctx, chunk) != nil {
			break
		}
	}
	if len(u.pending) > 0 {
		t.waiting[u] = true
		if t.since.IsZero() {
			t.since = time.Now()
		}
	}
	t.follower.Release(u.file)
	u.drop()
	t.forget(u)
	delete(t.units, u.file)
	u.file.Gone = true
	t.settle(u)
}

// settle notes how far a file has been accepted of which nothing waits.
func (t *Tracker) settle(u *unit) {
	if len(u.pending) == 0 && u.sending == nil && u.file.Settled() {
		u.accepted = u.file.Position()
	}
	if u.accepted != u.stored || u.file.Gone {
		t.dirty[u] = true
	}
}

// silence ends what is open in sessions in which nothing happens any more.
func (t *Tracker) silence(ctx context.Context, now time.Time) {
	for _, u := range t.units {
		if !u.open || u.silent {
			continue
		}
		if err := u.quiet(ctx, now); err != nil && ctx.Err() == nil && !errors.Is(err, follow.ErrAway) {
			t.o.Problem(u.file.Path, err, false)
		}
		if len(u.pending) > 0 {
			t.waiting[u] = true
			if t.since.IsZero() {
				t.since = now
			}
		}
		if u.silent {
			t.dirty[u] = true
		}
	}
}

// evict lets go of the states of sessions that were read longest ago, until the others keep within what they may take.
func (t *Tracker) evict() {
	if t.states <= t.o.StateBytes {
		return
	}
	var with []*unit
	for _, u := range t.units {
		if u.state != nil {
			with = append(with, u)
		}
	}
	slices.SortFunc(with, func(a, b *unit) int {
		if a.state.used != b.state.used {
			if a.state.used < b.state.used {
				return -1
			}
			return 1
		}
		return strings.Compare(a.file.Path, b.file.Path)
	})
	for _, u := range with[:max(len(with)-1, 0)] {
		if t.states <= t.o.StateBytes {
			return
		}
		u.drop()
	}
}
