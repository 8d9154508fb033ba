package tracker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/follow"
	"github.com/sessionspan/sessionspan/internal/source"
)

// Tracker turns session files into spans as they grow. It is for one goroutine.
type Tracker struct {
	o        Options
	consumer Consumer
	follower *follow.Follower
	kind     *source.Format // of all files; nil for any
	kin      *source.Kin

	units    map[*follow.Tracked]*unit
	sessions map[string][]*unit // by format and id
	spawners map[string]string  // of sessions whose header is known, "" for none
	records  map[string]*record // of files that are not there, by key
	byPath   map[string]*record // the same by path
	resumed  bool               // an earlier tracker has begun, and knows what was there then
	options  uint64             // the fingerprint of those that count

	readable []*unit        // in which there is something to be read
	awaiting map[*unit]bool // of which nothing is read until another file says something
	blocked  []*unit        // of those, the compressed ones for which there is no memory
	reading  map[*unit]bool // compressed ones that are read in part, or were
	waiting  map[*unit]bool
	since    time.Time // when the first of those began to wait
	retrying []*batch
	held     int            // the bytes of all spans that wait, and those that are tried again
	dirty    map[*unit]bool // whose record is not what is in the checkpoint
	listened time.Time      // when all was looked through for silence
	missed   time.Time      // when it was looked for records that are of no use any more
	saved    time.Time      // when it was tried to store the records
	unsaved  error          // what came of that
	stale    time.Time      // since when that fails
	begun    bool           // the files that are there at the start are known

	clock  uint64
	states int64 // bytes that the states of sessions take
	primed int64
	stats  Stats
}

// New returns a tracker that gives spans to a consumer. The error is that of the checkpoints, or says that an option cannot be used; the
// notifier is closed then.
func New(o Options, consumer Consumer) (_ *Tracker, err error) {
	o = o.withDefaults()
	defer func() {
		if n := o.Follow.Notifier; err != nil && n != nil {
			err = errors.Join(err, n.Close())
		}
	}()
	if err := o.Projection.Validate(); err != nil {
		return nil, err
	}
	f, err := source.Lookup(o.Source.Format)
	if err != nil {
		return nil, err
	}
	t := &Tracker{
		o: o, consumer: consumer, kind: f, units: map[*follow.Tracked]*unit{}, sessions: map[string][]*unit{}, spawners: map[string]string{},
		records: map[string]*record{}, byPath: map[string]*record{}, waiting: map[*unit]bool{}, dirty: map[*unit]bool{},
		reading: map[*unit]bool{}, awaiting: map[*unit]bool{}, kin: source.NewKin(),
		options: fingerprint(o.Projection, o.Generation),
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

// Run follows the files until the context is done. What has ended by then is for [Tracker.Flush]. The error is that of the checkpoints.
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
	return nil
}

// flushTime is how long the consumer has for what is left at the end.
const flushTime = 10 * time.Second

// Flush gives the consumer what has ended, once, and stores how far that is.
func (t *Tracker) Flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	t.deliver(ctx, time.Now())
	t.unsaved = nil
	return t.store()
}

// Waiting is how many spans have not been accepted.
func (t *Tracker) Waiting() int {
	n := t.Stats().Retrying
	for u := range t.waiting {
		n += len(u.pending)
	}
	return n
}

// Step looks at the files once, reads what is new, and gives it to the consumer as far as that is due.
func (t *Tracker) Step(ctx context.Context) error {
	t.take(ctx, t.follower.Poll(ctx))
	if now := time.Now(); now.Sub(t.missed) >= missEvery && ctx.Err() == nil {
		t.missed = now
		if err := t.missing(now); err != nil && t.stored(err) != nil {
			return err
		}
	}
	for start := time.Now(); time.Since(start) < stepTime && t.readOn(ctx); {
		t.evict()
		if now := time.Now(); t.due(now) {
			t.deliver(ctx, now)
		}
	}
	now := time.Now()
	if now.Sub(t.listened) >= listenEvery {
		t.listened = now
		t.silence(ctx, now)
		t.askAgain()
		t.survey()
	}
	if t.due(now) || t.retryDue(now) {
		t.deliver(ctx, now)
	}
	err := t.store()
	t.o.Stats(t.Stats())
	return err
}

// store saves, if it is not too soon after it failed.
func (t *Tracker) store() error {
	if len(t.dirty) == 0 || t.unsaved != nil && time.Since(t.saved) < saveEvery {
		return nil
	}
	t.saved = time.Now()
	return t.stored(t.save())
}

// stored takes what came of storing something. It returns the error if nobody else is to be told.
func (t *Tracker) stored(err error) error {
	if t.o.Unsaved == nil {
		return err
	}
	if err != nil || t.unsaved != nil {
		t.o.Unsaved(err)
	}
	switch t.unsaved = err; {
	case err == nil:
		t.stale = time.Time{}
	case t.stale.IsZero():
		t.stale = time.Now()
	}
	return nil
}

// saveEvery is how often it is tried to store how far files have been accepted, after that has failed.
const saveEvery = time.Second

// listenEvery is how often all sessions are looked through for those in which nothing happens any more. There is a step for every file
// that is looked at.
const listenEvery = time.Second

// stepTime is how long is read before there is another look at the files.
const stepTime = 2 * time.Second

// retryDue reports whether a batch is to be tried again now.
func (t *Tracker) retryDue(now time.Time) bool {
	return slices.ContainsFunc(t.retrying, func(b *batch) bool { return !b.next.After(now) })
}

// Idle reports whether all that was found has been read and accepted.
func (t *Tracker) Idle() bool {
	if len(t.readable) > 0 || len(t.blocked) > 0 || len(t.waiting) > 0 || len(t.retrying) > 0 || t.follower.Waits() {
		return false
	}
	now := time.Now()
	for _, u := range t.units {
		if u.said == "" && u.quietDue(now) { // one that cannot be read does not hold up the others
			return false
		}
	}
	return true
}

// next is when there is something to be done again.
func (t *Tracker) next() time.Time {
	next := t.follower.Next()
	earlier := func(at time.Time) {
		if at.Before(next) {
			next = at
		}
	}
	if t.unblock(); len(t.readable) > 0 && !t.full() {
		return time.Time{}
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
	for _, pattern := range news.Empty {
		t.o.Problem(pattern, ErrNoFile, true)
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
			t.reconsider(ctx, u)
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
	u := &unit{t: t, file: file, met: time.Now(), key: recordKey(file.Path, file.ID)}
	t.units[file] = u
	defer func() {
		if u.session == nil {
			t.introduceBy(ctx, u)
		}
	}()
	r := t.recordOf(file.Path, file.ID)
	if r != nil && r.OmitTo > 0 && !t.o.FromNow { // what was left out before is asked for now
		t.follower.Restart(file)
		t.queue(u)
		r = nil
	}
	switch {
	case r != nil && r.Offset > 0 && r.position() == file.Position(), r != nil && r.Offset == 0 && u.omitBy(r):
		u.root, u.open, u.last, u.silent = r.Root, r.Open, r.Last, r.Silent
		if r.Offset > 0 {
			u.omitted = omitted{Position: follow.Position{Offset: r.OmitTo, Head: r.OmitHead}}
		}
		u.accepted = u.progress()
		u.stored = u.accepted
		if r.key != u.key {
			u.oldKey = r.key
		}
		if u.oldKey != "" || r.Missing != 0 {
			u.stored = progress{}
			t.dirty[u] = true
		}
		t.used(r)
		if r.Session != "" {
			u.session = &activity.Session{ID: r.Session, Format: r.Format}
			if r.Spawner != "" {
				u.session.Spawn = &activity.Spawn{Session: r.Spawner}
			}
			t.introduce(u)
		}
		return
	case file.Position().Offset > 0 && !t.acceptedOf(file): // its twin was read, and nothing says that this was accepted
		t.follower.Restart(file)
	}
	if other := t.records[u.key]; other != nil { // of a file that had this one's number
		t.used(other)
	}
	if t.o.FromNow && !t.begun && !t.resumed {
		u.omitPresent()
	} else if file.Position().Offset == 0 && t.o.FromNow {
		u.omitByTwin()
	}
}

// acceptedOf reports whether another file has been accepted to where this one goes on from: its twin.
func (t *Tracker) acceptedOf(file *follow.Tracked) bool {
	for _, r := range t.byPath {
		if r.position() == file.Position() {
			return true
		}
	}
	for _, other := range t.units {
		if other.accepted.known.Position == file.Position() {
			return true
		}
	}
	return false
}

// queue has a file be read, unless nothing of it is to be read yet.
func (t *Tracker) queue(u *unit) {
	switch {
	case u.readable || u.refused != nil:
	case u.leftAlone():
	default:
		u.endOmission()
		u.readable = true
		t.readable = append(t.readable, u)
	}
}

// chunk is how much is read of one file before it is the next one's turn.
const chunk = 4 << 20

// readOn reads a part of the next file in which there is something to be read, and reports whether there was one.
func (t *Tracker) readOn(ctx context.Context) bool {
	t.unblock()
	if len(t.readable) == 0 || t.full() || ctx.Err() != nil {
		return false
	}
	u := t.readable[0]
	t.readable = t.readable[1:]
	u.readable = false
	if u.sending != nil && u.bytes >= t.o.BatchBytes {
		return true // it has enough to be sent; the next look at it has it read on
	}
	if t.block(u) {
		return true
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
	t.wait(u)
	switch {
	case errors.Is(err, follow.ErrChanged):
		t.follower.Again(u.file)
		t.again(ctx, u)
		t.queue(u)
	case errors.Is(err, follow.ErrAway):
	case errors.Is(err, source.ErrWaits):
		u.drop()
		t.follower.Restart(u.file)
		t.awaiting[u] = true
		return true
	case err != nil && ctx.Err() == nil:
		t.failed(u, err)
	case !u.file.AtEnd() && (after.Offset > before.Offset || u.file.Reading()):
		if u.bytes < t.o.BatchBytes || u.sending == nil {
			t.queue(u)
		}
		if last := len(t.readable) - 1; u.readable && u.file.Reading() { // it is held until it is done
			copy(t.readable[1:], t.readable[:last])
			t.readable[0] = u
		}
	}
	t.settle(u)
	return true
}

// wait has what is pending of a file be put into the next batch.
func (t *Tracker) wait(u *unit) {
	if len(u.pending) == 0 {
		return
	}
	t.waiting[u] = true
	if t.since.IsZero() && u.sending == nil {
		t.since = time.Now()
	}
}

// again has a file be read from its start: it holds something else than what was read.
func (t *Tracker) again(ctx context.Context, u *unit) {
	if u == nil {
		return
	}
	t.stats.Generations++
	t.o.Problem(u.file.Path, fmt.Errorf("%w; it is read again from its start", follow.ErrChanged), true)
	u.drop()
	t.forget(u)
	u.session, u.root, u.refused, u.omitted = nil, "", nil, omitted{}
	u.open, u.silent, u.last = false, false, 0
	u.accepted = progress{}
	t.introduceBy(ctx, u)
}

// lose takes that a file is gone: what is still to be read of it is, if it is open.
func (t *Tracker) lose(ctx context.Context, u *unit) {
	if u == nil {
		return
	}
	for before := int64(-1); !u.file.AtEnd() && u.refused == nil && u.file.Position().Offset != before; {
		before = u.file.Position().Offset
		if err := u.read(ctx, chunk); err != nil {
			t.say(u, err)
			break
		}
		t.wait(u)
		if u.sending == nil {
			t.deliver(ctx, time.Now())
		}
	}
	if left := u.file.Size() - u.file.Position().Offset; left > 0 && u.refused == nil && u.omitted.Offset == 0 && !u.file.AtEnd() {
		t.o.Problem(u.file.Path, fmt.Errorf("it is gone, with %d bytes that were not read", left), false)
	}
	t.wait(u)
	t.follower.Release(u.file)
	u.drop()
	t.forget(u)
	delete(t.units, u.file)
	u.file.Gone = true
	t.settle(u)
}

// settle notes how far a file has been accepted of which nothing waits.
func (t *Tracker) settle(u *unit) {
	if len(u.pending) == 0 && u.sending == nil {
		u.accepted = u.progress()
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
		err := u.quiet(ctx, now)
		switch {
		case errors.Is(err, follow.ErrChanged):
			t.follower.Again(u.file)
			t.again(ctx, u)
			t.queue(u)
		case err != nil && ctx.Err() == nil && !errors.Is(err, follow.ErrAway):
			t.say(u, err)
		}
		t.wait(u)
		t.settle(u)
		t.evict()
	}
}
