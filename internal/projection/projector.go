package projection

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"time"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
)

// What a projection reports. A [Problem] wraps one of them.
var (
	ErrDuplicateEntry = errors.New("duplicate entry id")
	ErrParentLost     = errors.New("parent is not an earlier entry")
	ErrTime           = errors.New("no usable time")
	ErrNoCall         = errors.New("no such call on the path")
	ErrNoRun          = errors.New("no such run on the path")
	ErrNotQueued      = errors.New("no such input waits on the path")
	ErrOwnAncestor    = errors.New("session is among its own ancestors")
	ErrNewerFormat    = errors.New("written in a newer version of the format than is known here")
)

// Projector turns the events of one session file, in file order, into spans. It is not safe for concurrent use.
type Projector struct {
	opts Options
	sink Sink
	ids  *ids

	session *Session // the session of the file
	owners  map[string]*Session
	spawn   *activity.Spawn
	forkOf  string
	facts   []activity.Attribute
	promise bool // the file promises dispatches
	version string
	base    string // the last entry of copied history
	infer   bool   // runs are to be inferred
	loose   bool   // missing parents are normal
	repeats bool   // and so are repeated entries
	takesUp bool   // a run's calls are also the earlier ones that it takes up
	begun   bool   // an entry that is not copied was read
	seq     *uint32
	outer   bool // it stands in the file of another session
	inner   inner

	tree *tree
	ops  chunked[op]
	kept kept
	runs map[[2]string]*runIdent // by owner and key
	used map[uint64]struct{}     // ids of calls and responses met so far
	// Of few calls: the sessions that they spawned, and the span that says of one that it was not handed over when the file
	// fell silent.
	spawned  map[*call][]string
	spoken   map[*call]*handoff
	children map[uint64]bool // the sessions that were spawned, by the hash of their ids

	leaf  tip // where the next entry is expected
	aside tip // where an entry was appended off the leaf
	cur   *tip
	at    uint32   // the entry that the event speaks of
	owner *Session // whose that entry is
	mark  uint32   // the entry that a leaf mark in force names

	now      int64          // the time of the entry being read, or the last usable one before it
	last     int64          // the time of the last entry that has one; -1 before the first
	awake    int64          // the time of the first entry after the last silence
	timeless bool           // the entry being read has no usable time
	skipped  activity.Event // the entry that was left out last, by its key and line
	entries  int

	open openWork
}

// New returns a projector that gives the spans of one session file to sink.
func New(opts Options, sink Sink) *Projector {
	opts = opts.withDefaults()
	if opts.Report == nil {
		opts.Report = func(Problem) {}
	}
	p := &Projector{
		opts:     opts,
		sink:     sink,
		ids:      newIDs(opts.Salt),
		tree:     newTree(),
		runs:     map[[2]string]*runIdent{},
		kept:     newKept(),
		used:     map[uint64]struct{}{},
		spawned:  map[*call][]string{},
		spoken:   map[*call]*handoff{},
		children: map[uint64]bool{},
		seq:      new(uint32),
		last:     -1,
	}
	p.ops.add(op{}) // number 0 means none
	p.leaf.live = true
	p.cur = &p.leaf
	return p
}

// Feed takes the next event of the file. The first one says what session it is; events before it are dropped.
func (p *Projector) Feed(ev *activity.Event) {
	if ev.Within != "" {
		p.within(ev)
		return
	}
	if s, ok := ev.Fact.(*activity.Session); ok {
		p.begin(s)
		return
	}
	if p.session == nil {
		return
	}
	if ev.Part > 0 {
		p.resume(ev)
		return
	}
	parent := p.tree.find(ev.Parent)
	lost := parent == root && ev.Parent != ""
	if p.tree.find(ev.Key) != root {
		p.skipped = *ev
		p.report(ev, ErrDuplicateEntry, fmt.Sprintf("%q; the entry is left out", cut(ev.Key, maxName)), p.repeats)
		return
	}
	if lost && p.loose {
		parent, lost = p.cur.node, false
	}
	if lost {
		p.report(ev, ErrParentLost,
			fmt.Sprintf("%q has the parent %q; it becomes a root", cut(ev.Key, maxName), cut(ev.Parent, maxName)), false)
	}
	p.clock(ev)
	p.own(ev)
	if p.entries == 0 {
		p.startSession()
	}
	p.entries++
	p.enter(ev, parent, lost)
	p.converge(ev)
	p.fact(ev)
	if !p.timeless {
		p.last = p.now
	}
}

// resume takes a further event of an entry that has its place already.
func (p *Projector) resume(ev *activity.Event) {
	if ev.Key == p.skipped.Key && ev.Line == p.skipped.Line {
		return
	}
	n := p.tree.find(ev.Key)
	if n == root {
		p.report(ev, ErrParentLost, fmt.Sprintf("nothing is known of entry %q", cut(ev.Key, maxName)), false)
		return
	}
	p.clock(ev)
	p.own(ev)
	at := p.cur
	if n != p.cur.node {
		p.late(n)
	}
	p.at = n
	p.fact(ev)
	if p.cur != &p.leaf && p.cur != &p.aside {
		p.cur = at // the next entry does not go on from a branch that was left
	}
}

// late finds the tip on whose path an entry lies that a late event speaks of.
func (p *Projector) late(n uint32) {
	switch {
	case p.tree.above(n, p.leaf.node):
		p.cur = &p.leaf
	case p.aside.live && p.tree.above(n, p.aside.node):
		p.cur = &p.aside
	default: // on a branch that was left
		p.cur = p.detached(n)
	}
}

// detached makes a tip at an entry for one event alone.
func (p *Projector) detached(n uint32) *tip {
	return &tip{live: true, node: n, since: p.now, st: p.stateAt(n)}
}

// clock sets the time of the entry that is read.
func (p *Projector) clock(ev *activity.Event) {
	p.timeless = !usable(ev.Time)
	if !p.timeless {
		p.now = ev.Time.UnixNano()
		if ev.Part == 0 && p.last >= 0 && p.now-p.last >= int64(Silence) {
			p.silence()
			p.awake = p.now
		}
		return
	}
	switch {
	case p.last >= 0:
		p.now = p.last
	case usable(p.session.Created):
		p.now = p.session.Created.UnixNano()
	}
	if ev.Part == 0 {
		what := "the entry has none"
		if !ev.Time.IsZero() {
			what = ev.Time.Format(time.RFC3339) + " is outside 1970 to 2262"
		}
		p.note(ev, ErrTime, what+"; the time of the entry before is used")
	}
}

// usable reports whether a span can hold the time.
func usable(t time.Time) bool {
	s := t.Unix()
	return s > 0 && s < math.MaxInt64/int64(time.Second)
}

// own sets the session whose the entry is.
func (p *Projector) own(ev *activity.Event) {
	p.owner = p.session
	if ev.Owner == "" || ev.Owner == p.session.ID {
		return
	}
	if p.owners[ev.Owner] == nil {
		if p.owners == nil {
			p.owners = map[string]*Session{}
		}
		s := *p.session
		s.ID, s.common = ev.Owner, nil
		s.Root = p.rootOf(ev.Owner)
		s.TraceID = p.ids.trace(s.Root)
		p.owners[ev.Owner] = &s
	}
	p.owner = p.owners[ev.Owner]
}

// enter gives an entry its place and makes the tip on whose path it lies the current one.
func (p *Projector) enter(ev *activity.Event, parent uint32, lost bool) {
	moves := p.mark == root || p.tree.above(p.mark, parent)
	switch {
	case parent == p.leaf.node && !lost:
		p.leave(&p.aside)
		p.cur = &p.leaf
	case p.aside.live && parent == p.aside.node:
		if moves {
			p.takeAside()
		} else {
			p.cur = &p.aside
		}
	default:
		p.cur = p.fork(ev.Parent, parent, lost, moves)
	}
	p.keep(p.cur)
	p.cur.node = p.tree.add(ev.Key, parent, p.now)
	p.at = p.cur.node
	if p.cur.since == 0 {
		p.cur.since = p.now
	}
	run := p.cur.st.run
	switch {
	case run != nil && run.owner != p.owner: // what is open in copied history is its owner's to end
		p.do(p.cur, runOver{run})
	case run != nil && run.open != nil:
		run.open.last = p.now
	}
}

// fork starts a branch at an entry: work goes on from the state that its path has. An entry that is appended off the
// leaf, in a file with a leaf mark, leaves the leaf where it is.
func (p *Projector) fork(entry string, at uint32, lost, moves bool) *tip {
	st := p.stateAt(at)
	p.leave(&p.aside)
	to := &p.aside
	if moves {
		p.leave(&p.leaf)
		to = &p.leaf
	}
	*to = tip{live: true, node: at, st: st}
	if st.last.ok() || lost {
		to.branch = &branchStart{from: st.last, entry: entry, lost: lost}
	}
	return to
}

// leave ends the open segment of the run that a tip is in, because work goes on elsewhere.
func (p *Projector) leave(t *tip) {
	if t.live && t.node != root {
		p.kept.leave(t.node, t.st)
	}
	if run := t.st.run; t.live && run != nil && run.open != nil && !p.shared(t, run) {
		p.cutOff(run, names.CutByBranch)
	}
	if t == &p.aside {
		p.aside = tip{}
	}
}

// shared reports whether the other tip is in the run too.
func (p *Projector) shared(t *tip, run *run) bool {
	other := &p.leaf
	if t == other {
		other = &p.aside
	}
	return other.live && other.st.run == run
}

// fact applies what the event says.
func (p *Projector) fact(ev *activity.Event) {
	switch f := ev.Fact.(type) {
	case *activity.Input:
		p.input(ev, f)
	case *activity.Queued:
		p.queue(ev, f)
	case *activity.Arrival:
		p.arrived(ev, f)
	case *activity.Output:
		p.wrote(f.ResponseID, f.Reasoning)
	case *activity.Call:
		p.called(ev, f)
	case *activity.Dispatch:
		p.dispatched(ev, f)
	case *activity.Dropped:
		p.dropped(ev, f)
	case *activity.Decision:
		p.decided(ev, f)
	case *activity.Result:
		p.resulted(ev, f)
	case *activity.Response:
		p.responded(ev, f)
	case *activity.Settings:
		p.settle(f)
	case *activity.RunStart:
		p.runStarted(ev, f)
	case *activity.RunEnd:
		p.runEnded(ev, f)
	case *activity.Compaction:
		p.compacted(ev, f)
	case *activity.BranchSummary:
		p.summarized(ev, f)
	case *activity.Mark:
		p.marked(ev, f)
	case *activity.Move:
		p.moved(ev, f)
	case *activity.Name:
		p.named(ev, f)
	case *activity.Link:
		p.linked(ev, f)
	case *activity.Note:
		p.noted(ev, f)
	}
}

func (p *Projector) report(ev *activity.Event, err error, detail string, note bool) {
	p.opts.Report(Problem{Line: ev.Line, Offset: ev.Offset, Err: err, Detail: detail, Note: note})
}

func (p *Projector) note(ev *activity.Event, err error, detail string) {
	p.report(ev, err, detail, true)
}

// firstUse reports whether the id of a call or a response is met for the first time in the file.
func (p *Projector) firstUse(kind, id string) bool {
	var h maphash.Hash
	h.SetSeed(p.tree.seed)
	h.WriteString(kind)
	h.WriteByte(0)
	h.WriteString(p.owner.ID)
	h.WriteByte(0)
	h.WriteString(id)
	key := h.Sum64()
	_, have := p.used[key]
	p.used[key] = struct{}{}
	return !have
}

func (p *Projector) hashOf(id string) uint64 {
	if id == "" {
		return 0
	}
	return max(maphash.String(p.tree.seed, id), 1)
}

// silence ends what is open because nothing happened for [Silence].
func (p *Projector) silence() { p.finish(names.CutBySilence) }

// Silent ends what is open if nothing happened in the session for [Silence] until now.
func (p *Projector) Silent(now time.Time) {
	if p.Quiet(now) {
		p.silence()
	}
}

// Quiet reports whether nothing happened in the session for [Silence] until now.
func (p *Projector) Quiet(now time.Time) bool {
	return p.last >= 0 && now.UnixNano()-p.last >= int64(Silence)
}

// Finish ends what is open: somebody says that nothing more will come.
func (p *Projector) Finish() { p.finish(names.CutByFinish) }

// finish ends everything open, at the last entry.
func (p *Projector) finish(by string) {
	for _, in := range p.inner.all {
		in.finish(by) // before that from which it hangs
	}
	now := p.now
	p.now = p.last
	defer func(cur *tip, at uint32, owner *Session) { p.cur, p.at, p.owner = cur, at, owner }(p.cur, p.at, p.owner)
	for _, t := range []*tip{&p.leaf, &p.aside} {
		if !t.live {
			continue
		}
		if run := t.st.run; run != nil && run.inferred {
			p.at = t.node
			p.do(t, runOver{run})
		}
		t.since = 0
	}
	p.endOpen(by)
	p.now = now
}

// Open counts what has started and not ended.
func (p *Projector) Open() Open {
	sum := p.open.count()
	for _, in := range p.inner.all {
		sum = sum.plus(in.open.count())
	}
	return sum
}

// OnPath returns a filter for the spans on the path to an entry, and whether the file has it.
func (p *Projector) OnPath(key string) (on func(*Span) bool, ok bool) {
	n := p.tree.find(key)
	if n == root {
		return nil, false
	}
	return p.pathTo(n), true
}

// OnLeaf returns a filter for the spans on the path to the leaf.
func (p *Projector) OnLeaf() func(*Span) bool { return p.pathTo(p.leaf.node) }

// LeafPath reports whether an entry of the file lies on the path to the leaf, and whether it is the leaf.
func (p *Projector) LeafPath(key string) (on, leaf bool) {
	n := p.tree.find(key)
	return n != root && p.tree.above(n, p.leaf.node), n != root && n == p.leaf.node
}

func (p *Projector) pathTo(n uint32) func(*Span) bool {
	return func(s *Span) bool { return s.node == root || p.tree.above(s.node, n) }
}

// Entries returns how many entries the file has had so far, those of the sessions in it included.
func (p *Projector) Entries() int { return p.entries + p.inner.entries }

// Session returns what the file says of its session; nil before its first event.
func (p *Projector) Session() *Session { return p.session }
