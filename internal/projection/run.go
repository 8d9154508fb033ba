package projection

import (
	"fmt"
	"strconv"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
	"go.opentelemetry.io/otel/trace"
)

// run is a run of the file. On the wire it is one span for each segment: a part of it that was read in one piece.
type run struct {
	*runIdent
	start    activity.RunStart
	inferred bool
	entry    string        // the entry that started it
	trace    trace.TraceID // its own when each run has one, else the session's
	before   *run          // the run before it on the path
	open     *segment      // nil when no segment is open
}

// runIdent counts the segments of all runs of one id, so that an id used twice does not give one span id twice.
type runIdent struct {
	owner    *Session
	key      string
	segments int
	latest   spanRef // the last segment
	until    int64   // when it ended
}

// segment is a span of a run. What is only needed while it is open is let go when it ends.
type segment struct {
	run   *run
	ref   spanRef
	start int64
	child int64 // the latest end of a child, and of the segment itself once it has ended
	shown int64 // the same as it is sent
	ended bool
	*openSegment
}

// openSegment is what is known of a segment that has not ended, and what is summed up for it.
type openSegment struct {
	span  *Span
	last  int64 // time of the last entry
	tools []*handoff
	tally
	name     string // the display name the session was given in it
	firm     bool   // an entry says when it started
	begun    bool   // it is known how the input came that it began with
	adjusted bool
}

// tally sums up the model calls of a segment.
type tally struct {
	input, output   int64
	hasInput        bool
	hasOutput       bool
	lowerBound      bool
	chats, calls    int
	model, provider string
	models          int
	finish          []string
}

// runKey is the stable key of a run's span.
func runKey(id string, segment int) []string { return []string{"run", id, strconv.Itoa(segment)} }

type runOpened struct{ *run }

func (c runOpened) apply(st *state) { st.run, st.lastRun = c.run, c.run }

type runOver struct{ *run }

func (c runOver) apply(st *state) {
	if st.run == c.run {
		st.run = nil
	}
}

func (p *Projector) runStarted(ev *activity.Event, f *activity.RunStart) {
	p.infer = false
	if open := p.cur.st.run; open != nil {
		p.endRunBefore(open, names.CutByStart)
	}
	p.startSegment(p.newRun(ev.Key, *f, false), p.now).firm = true
}

// endRunBefore ends a run at its last entry before the one being read.
func (p *Projector) endRunBefore(r *run, by string) {
	if r.open != nil {
		r.open.last = p.before()
		p.cutOff(r, by)
	}
	p.do(p.cur, runOver{r})
}

func (p *Projector) newRun(entry string, f activity.RunStart, inferred bool) *run {
	key := f.RunID
	if inferred {
		key = entry
	}
	ident := p.runs[[2]string{p.owner.ID, key}]
	if ident == nil {
		ident = &runIdent{owner: p.owner, key: key}
		p.runs[[2]string{p.owner.ID, key}] = ident
	}
	r := &run{runIdent: ident, start: f, inferred: inferred, entry: entry, trace: p.owner.TraceID, before: p.cur.st.lastRun}
	if p.opts.Group == GroupRun {
		r.trace = p.ids.trace(p.owner.Root, p.owner.ID, key)
	}
	p.do(p.cur, runOpened{r})
	return r
}

// segment returns the open segment of the run that the tip is in, opening the next one if there is none; nil outside
// runs. A segment that is opened for the sake of a child starts with the first entry of the branch, or with the child.
func (p *Projector) segment(child int64) *segment {
	r := p.cur.st.run
	if r == nil || r.owner != p.owner {
		return nil
	}
	if r.open != nil {
		return r.open
	}
	start := min(child, p.now)
	if p.cur.since != 0 {
		start = min(child, max(p.cur.since, r.until))
	}
	return p.startSegment(r, start)
}

// startSegment starts the span of a run's next segment.
func (p *Projector) startSegment(r *run, start int64) *segment {
	r.segments++
	name := names.Namespace + "run"
	if p.opts.Naming == NamingGenAI {
		name = spanName(names.OperationInvokeAgent, p.agent(r))
	}
	s := p.newSpan(TypeRun, p.ids.span(p.owner.ID, TypeRun, runKey(r.key, r.segments)...), name)
	s.Start = wall(start)
	s.TraceID = r.trace
	if p.opts.Group != GroupRun {
		s.Parent = p.sessionMark()
	}
	s.add(func(a *attributes) {
		a.string(names.EntryID, r.entry)
		a.string(names.Operation, names.OperationInvokeAgent)
		a.string(names.AgentName, p.agent(r))
		if p.opts.Semconv == Semconv141 {
			a.string(names.AgentVersion, p.session.Version)
		}
		a.string(names.RunID, r.start.RunID)
		a.flag(names.RunInferred, r.inferred || r.start.Inferred)
		if r.segments > 1 {
			a.add(names.RunSegment.Int(r.segments))
		}
		a.string(names.RunSource, r.start.Source)
		putRunTrigger(a, r.start.Trigger)
	})
	switch {
	case r.latest.ok():
		s.addLink(r.latest.link(names.LinkPreviousSegment))
	case p.opts.Group == GroupRun && r.before != nil && r.before.latest.ok():
		s.addLink(r.before.latest.link(names.LinkPreviousRun))
	}
	seg := &segment{run: r, start: start, child: start, openSegment: &openSegment{span: s, last: p.now}}
	seg.ref = p.start(s)
	p.do(p.cur, spanSeen{&seg.ref})
	p.opened(seg)
	r.open, r.latest = seg, seg.ref
	return seg
}

func putRunTrigger(a *attributes, t activity.Trigger) {
	a.string(names.RunTrigger, t.Ref)
	a.string(names.RunTriggerKind, t.Kind)
	a.string(names.RunTriggerSource, t.Source)
}

func (p *Projector) agent(r *run) string {
	if r.start.Agent != "" {
		return r.start.Agent
	}
	return p.owner.Harness
}

// spanName joins an operation and what it is done with.
func spanName(operation, what string) string {
	if what == "" {
		return operation
	}
	return operation + " " + what
}

func (p *Projector) runEnded(ev *activity.Event, f *activity.RunEnd) {
	r := p.cur.st.run
	if r == nil || r.inferred || r.owner != p.owner || r.start.RunID != f.RunID {
		p.note(ev, ErrNoRun, fmt.Sprintf("run %q ends but is not open", cut(f.RunID, maxName)))
		return
	}
	seg := p.segment(p.now)
	p.closeTools(seg, p.now, "no output before the run ended")
	p.endSegment(seg, p.now, ending{
		reason: f.Reason,
		fails:  f.Reason == activity.ReasonError || f.Reason == activity.ReasonAborted,
		why:    f.Cause,
		more: func(a *attributes) {
			a.string(names.RunCause, f.Cause)
			a.strings(names.RunPending, f.Pending)
		},
	})
	p.endRun(r)
}

// cutOff ends the open segment of a run that nothing in the file ends, at its last entry.
func (p *Projector) cutOff(r *run, by string) {
	seg := r.open
	fails := by != names.CutByBranch && !((r.inferred || r.start.Inferred) && by == names.CutByStart)
	why := ""
	if fails {
		why = "no output before the run was cut off"
	}
	p.closeTools(seg, seg.last, why)
	p.endSegment(seg, seg.last, ending{
		reason: activity.ReasonCutOff,
		fails:  fails,
		why:    "cut off by " + by,
		more:   func(a *attributes) { a.string(names.RunCutBy, by) },
	})
}

// ending says how a segment ends.
type ending struct {
	reason string
	fails  bool   // a crash, an abort or an error ended it, and not a person or a branch
	why    string // for people, if it fails
	more   func(*attributes)
}

// lasting returns when a span ends as it is sent, which is no sooner than a moment takes, and has the segment that it is in, if
// any, enclose it.
func (g *segment) lasting(start, end int64) int64 {
	end = max(end, start+instant)
	if g != nil && !g.ended {
		g.shown = max(g.shown, end)
	}
	return end
}

// endSegment completes the span of a segment.
func (p *Projector) endSegment(seg *segment, at int64, e ending) {
	s := seg.span
	end := max(at, seg.child, seg.start)
	shown := max(end, seg.shown, seg.start+instant)
	s.End = wall(shown)
	s.add(func(a *attributes) {
		a.string(names.RunReason, e.reason)
		a.string(names.SessionName, seg.name)
		a.positive(names.RunQueued, p.waiting(seg.run))
		if e.more != nil {
			e.more(a)
		}
		a.flag(names.ClockAdjusted, seg.adjusted || end-at > instant)
		a.add(names.RunChats.Int(seg.chats))
		a.add(names.RunCalls.Int(seg.calls))
		p.putTally(a, &seg.tally)
	})
	if e.fails {
		s.fail(e.reason, e.why)
	}
	p.open.remove(seg)
	seg.ended, seg.child, seg.shown, seg.openSegment = true, end, shown, nil
	seg.run.open, seg.run.until = nil, end
	p.sendEnd(s)
}

func (p *Projector) putTally(a *attributes, t *tally) {
	if t.models == 1 {
		a.string(names.RequestModel, t.model)
		if p.opts.Semconv == Semconv141 {
			a.string(names.Provider, t.provider)
		}
	}
	a.strings(names.FinishReasons, t.finish)
	if t.hasInput {
		a.add(names.InputTokens.Int64(t.input))
	}
	if t.hasOutput {
		a.add(names.OutputTokens.Int64(t.output))
	}
	a.flag(names.LowerBound, t.lowerBound && (t.hasInput || t.hasOutput))
}

// input opens an inferred run where the file has no run records: with a message from the user when none is open, or
// when the last model call of the open one failed or was incomplete.
func (p *Projector) input(ev *activity.Event, f *activity.Input) {
	if !p.infer || f.Role != "user" {
		return
	}
	if r := p.cur.st.run; r != nil {
		if !p.cur.st.failed {
			return
		}
		p.endInferred(r)
	}
	p.startSegment(p.newRun(ev.Key, activity.RunStart{}, true), p.now).firm = true
}

// endInferred ends an inferred run whose last model call failed, at its last entry before the one being read.
func (p *Projector) endInferred(r *run) {
	if seg := r.open; seg != nil {
		at := p.before()
		reason := activity.ReasonAborted
		for _, f := range seg.finish {
			if f == finishError {
				reason = activity.ReasonError
			}
		}
		p.closeTools(seg, at, "no output before the run ended")
		p.endSegment(seg, at, ending{reason: reason, fails: true, why: "the last model call did not complete"})
	}
	p.endRun(r)
}
