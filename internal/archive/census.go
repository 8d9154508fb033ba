package archive

import (
	"math"
	"slices"
	"time"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
)

// census counts what one file has, and notes what is needed to say where the work at its leaf stands. It is the sink of
// the file's projector, and stands before it: a span that comes while an event is fed comes of that event.
//
// Which path is the leaf's is known at the end only, so what matters there is noted with the entry that brought it about:
// starts and ends of runs, and what became of the calls that were held. Both are few.
type census struct {
	of *Overview
	p  *projection.Projector

	event      *activity.Event // the one that is being fed, nil outside
	skippedKey string          // the entry that was left out last
	skipped    int             // its line
	asked      int             // calls that the model asked for
	drawn      int             // calls that have a span
	runs       []runMark
	looseEnds  []runMark             // ends of runs that were not open
	runEnded   bool                  // the event ended a run
	holds      map[string][]holdMark // by call id
	hold       bool                  // the event began a wait for a person
	open       map[*projection.Span]struct{}

	marked         bool   // the file has leaf marks
	aside, asideUp string // the entry that was appended off the leaf last, and its parent
}

// runMark is where a run started, or ended for a reason.
type runMark struct {
	entry  string
	reason string // "" for a start
}

// holdMark is where a call was held, or let go.
type holdMark struct {
	entry string
	held  bool
}

func (c *census) tap(p *projection.Projector) func(*activity.Event) {
	c.p = p
	c.open = map[*projection.Span]struct{}{}
	return c.feed
}

func (c *census) feed(ev *activity.Event) {
	if ev.Within != "" {
		c.within(ev)
		return
	}
	before := c.p.Entries()
	c.event, c.hold, c.runEnded = ev, false, false
	c.p.Feed(ev)
	c.event = nil
	switch {
	case c.p.Session() == nil, isSession(ev):
		return
	case ev.Part == 0 && c.p.Entries() == before: // its id was there before
		c.skippedKey, c.skipped = ev.Key, ev.Line
		return
	case ev.Part > 0 && ev.Key == c.skippedKey && ev.Line == c.skipped:
		return
	}
	if usable(ev.Time) {
		if c.of.Start.IsZero() {
			c.of.Start = ev.Time
		}
		if ev.Time.After(c.of.End) {
			c.of.End = ev.Time
		}
	}
	c.fact(ev)
	c.followLeaf(ev)
}

// within takes an event of an agent whose work is in the file. Its runs are not the session's.
func (c *census) within(ev *activity.Event) {
	c.event = nil
	c.p.Feed(ev)
	switch ev.Fact.(type) {
	case *activity.Session:
		c.of.Agents++
	case *activity.Call:
		if ev.Owner == "" {
			c.asked++
		}
	}
	if usable(ev.Time) && ev.Time.After(c.of.End) {
		c.of.End = ev.Time
	}
}

func isSession(ev *activity.Event) bool {
	_, ok := ev.Fact.(*activity.Session)
	return ok
}

func (c *census) fact(ev *activity.Event) {
	own := ev.Owner == "" || ev.Owner == c.p.Session().ID
	switch f := ev.Fact.(type) {
	case *activity.Name:
		c.of.Name = f.Name
	case *activity.Link:
		if own && f.Rel == "continued_in" {
			c.of.ContinuedIn = f.Session
		}
	case *activity.Call:
		if own {
			c.asked++
		}
	case *activity.RunEnd:
		if !c.runEnded {
			c.looseEnds = append(c.looseEnds, runMark{ev.Key, f.Reason})
		}
	case *activity.Decision:
		// A call held again while it waits, and one that is held in copied history, begin no span.
		_, known := c.holds[f.CallID]
		if held := f.Verdict == activity.Hold; known || held && (c.hold || !own) {
			c.holdMark(f.CallID, ev.Key, held)
		}
	case *activity.Dispatch:
		c.release(f.CallID, ev.Key)
	case *activity.Result:
		c.release(f.CallID, ev.Key)
	}
}

func (c *census) release(call, entry string) {
	if _, known := c.holds[call]; known {
		c.holdMark(call, entry, false)
	}
}

func (c *census) holdMark(call, entry string, held bool) {
	if c.holds == nil {
		c.holds = map[string][]holdMark{}
	}
	c.holds[call] = append(c.holds[call], holdMark{entry, held})
}

// followLeaf keeps the id of the leaf. Without a leaf mark it is the last entry; with one the leaf is after an event one
// of a few entries: the one it was, the entry that was read or its parent, the one that the mark names, or the one that
// was appended off the leaf.
func (c *census) followLeaf(ev *activity.Event) {
	mark, _ := ev.Fact.(*activity.Mark)
	c.marked = c.marked || mark != nil
	if move, ok := ev.Fact.(*activity.Move); ok {
		c.of.Leaf = move.Target
		if _, there := c.p.LeafPath(move.Target); !there && move.Target != "" {
			c.of.Leaf = ev.Parent
		}
		return
	}
	if !c.marked {
		if ev.Part == 0 {
			c.of.Leaf = ev.Key
		}
		return
	}
	target := ""
	if mark != nil {
		target = mark.Target
	}
	candidates := []string{ev.Key, c.of.Leaf, target, ev.Parent, c.aside, c.asideUp}
	i := slices.IndexFunc(candidates, func(key string) bool {
		_, leaf := c.p.LeafPath(key)
		return leaf
	})
	c.of.Leaf = ""
	if i >= 0 {
		c.of.Leaf = candidates[i]
	}
	if i != 0 && ev.Part == 0 {
		c.aside, c.asideUp = ev.Key, ev.Parent
	}
}

// Start takes a span that starts.
func (c *census) Start(s *projection.Span) {
	switch s.Type {
	case projection.TypeRun:
		if s.Session != c.p.Session() {
			break
		}
		c.of.Runs++
		if c.event != nil {
			c.runs = append(c.runs, runMark{entry: c.event.Key})
		}
	case projection.TypeTool:
		if !continuesCall(s) {
			c.drawn++
		}
		if c.event != nil {
			c.open[s] = struct{}{}
		}
	case projection.TypeApproval:
		c.hold = true
	}
}

// End takes a complete span. What ends because nothing more was read ends at no entry: it stands as it is.
func (c *census) End(s *projection.Span) {
	if s.Status.Code == codes.Error {
		c.of.Errors++
	}
	if s.Type == projection.TypeRun && value(s, names.LowerBound).AsBool() { // what an agent used is not known, perhaps
		c.of.Tokens.LowerBound = true
	}
	switch {
	case s.Type == projection.TypeChat:
		c.chat(s)
	case c.event == nil, s.Session != c.p.Session():
	case s.Type == projection.TypeTool:
		delete(c.open, s)
	case s.Type == projection.TypeRun:
		reason := value(s, names.RunReason).AsString()
		switch {
		case reason != activity.ReasonCutOff:
			c.runEnded = true
			c.runs = append(c.runs, runMark{c.event.Key, reason})
		case value(s, names.RunCutBy).AsString() == names.CutBySilence && value(s, names.RunInferred).AsBool():
			// Nothing that comes later takes it up again. The run of a file goes on in its next segment.
			c.runs = append(c.runs, runMark{c.of.Leaf, reason})
		}
	}
}

// continuesCall reports whether a span is a later part of a call that another span counts.
func continuesCall(s *projection.Span) bool {
	return slices.ContainsFunc(s.Links, func(l projection.Link) bool {
		return slices.ContainsFunc(l.Attributes, func(kv attribute.KeyValue) bool {
			kind := kv.Value.AsString()
			return kv.Key == names.Link && (kind == names.LinkDispatchedAgain || kind == names.LinkFollowsHandOff)
		})
	})
}

// chat counts a model call. One that does not state a count makes the sum a lower bound.
func (c *census) chat(s *projection.Span) {
	c.of.Chats++
	t := &c.of.Tokens
	for _, kv := range s.Attributes {
		switch kv.Key {
		case names.InputTokens:
			t.Input = sum(t.Input, kv.Value.AsInt64())
		case names.OutputTokens:
			t.Output = sum(t.Output, kv.Value.AsInt64())
		case names.LowerBound:
			t.LowerBound = true
		}
	}
	if value(s, names.InputTokens).Type() == attribute.EMPTY || value(s, names.OutputTokens).Type() == attribute.EMPTY {
		t.LowerBound = true
	}
}

// sum adds a count, as far as one can hold the result.
func sum(a *int64, b int64) *int64 {
	if a == nil {
		return &b
	}
	*a += min(b, math.MaxInt64-*a)
	return a
}

// value returns the value of an attribute of a span.
func value(s *projection.Span, key attribute.Key) attribute.Value {
	for _, kv := range s.Attributes {
		if kv.Key == key {
			return kv.Value
		}
	}
	return attribute.Value{}
}

// finish says what follows from all that was read.
func (c *census) finish(now time.Time) {
	v := c.of
	v.Calls = max(c.asked, c.drawn)
	if t := &v.Tokens; t.Input == nil && t.Output == nil {
		t.LowerBound = false
	}
	v.State = Empty
	if c.p == nil {
		return
	}
	s := c.p.Session()
	if s != nil {
		v.TraceID = s.TraceID.String()
	}
	if v.End.Before(v.Start) {
		v.End = v.Start
	}
	v.State = c.state(now)
}

func (c *census) state(now time.Time) State {
	ended, running := Empty, false
	if mark := c.lastRun(c.runs); mark != nil {
		ended, running = stateAfter(mark.reason), mark.reason == ""
	} else if mark = c.lastRun(c.looseEnds); mark != nil {
		// The path has an end without its start: the start is on another one, is damaged, or is another session's.
		ended = stateAfter(mark.reason)
	}
	onLeaf := c.p.OnLeaf()
	for s := range c.open {
		running = running || onLeaf(s)
	}
	switch {
	case c.held():
		return Waiting
	case !running:
		return ended
	case c.p.Quiet(now):
		return CutOff
	default:
		return Working
	}
}

// held reports whether a call waits for a person on the path to the leaf.
func (c *census) held() bool {
	for _, marks := range c.holds {
		for i := len(marks) - 1; i >= 0; i-- {
			if c.onPath(marks[i].entry) {
				if marks[i].held {
					return true
				}
				break
			}
		}
	}
	return false
}

// lastRun is the last of the marks that is on the path to the leaf, or nil.
func (c *census) lastRun(marks []runMark) *runMark {
	for i := len(marks) - 1; i >= 0; i-- {
		if c.onPath(marks[i].entry) {
			return &marks[i]
		}
	}
	return nil
}

func (c *census) onPath(entry string) bool {
	on, _ := c.p.LeafPath(entry)
	return on
}

// stateAfter says how things stand after a run that ended for a reason.
func stateAfter(reason string) State {
	switch reason {
	case activity.ReasonDone:
		return Done
	case activity.ReasonStopped:
		return Stopped
	case activity.ReasonInterrupted:
		return Interrupted
	case activity.ReasonInputRequired:
		return Waiting
	case activity.ReasonAborted:
		return Aborted
	case activity.ReasonError:
		return Failed
	case activity.ReasonCutOff:
		return CutOff
	}
	return Ended
}
