package projection_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/spantest"
)

var seeds = flag.Uint64("seeds", 400, "number of random event sequences")

// chaos makes random events, most of which make no sense together: what any source could emit for any file.
type chaos struct {
	*rand.Rand
	late, owners, marks, silence, clock, parts, repeats, lost, timeless bool

	infer            bool
	branchEvery      int
	entries          []chaosEntry
	runs, calls, ids int
}

type chaosEntry struct {
	key, owner string
	parts      int
}

func newChaos(seed uint64) *chaos {
	c := &chaos{Rand: rand.New(rand.NewPCG(seed, 7))}
	for _, option := range []*bool{
		&c.late, &c.owners, &c.marks, &c.silence, &c.clock, &c.parts, &c.repeats, &c.lost, &c.timeless, &c.infer,
	} {
		*option = c.IntN(3) == 0
	}
	if c.IntN(3) > 0 {
		c.branchEvery = 1 + c.IntN(6)
	}
	return c
}

func (c *chaos) recent(n int) int { return max(1, n-c.IntN(4)) }

func (c *chaos) anyEntry() string { return c.entries[c.IntN(len(c.entries))].key }

func (c *chaos) callID() string { return fmt.Sprint("c", c.recent(c.calls)) }

func (c *chaos) fact() activity.Fact {
	switch c.IntN(32) {
	case 0, 1:
		if c.infer && c.IntN(20) > 0 {
			return &activity.Input{Role: "user"}
		}
		if c.IntN(3) == 0 || c.runs == 0 {
			c.runs++
		}
		return &activity.RunStart{RunID: fmt.Sprint("r", c.runs)}
	case 2, 3, 4:
		return &activity.RunEnd{RunID: fmt.Sprint("r", c.recent(c.runs)), Reason: []string{"done", "error", "input_required"}[c.IntN(3)]}
	case 5, 6, 7:
		if !c.repeats || c.IntN(4) > 0 {
			c.calls++
		}
		return &activity.Call{ID: fmt.Sprint("c", c.calls), Name: "bash", ResponseID: fmt.Sprint("m", c.ids)}
	case 8, 9, 10:
		return &activity.Dispatch{CallID: c.callID()}
	case 11, 12, 13:
		return &activity.Result{CallID: c.callID()}
	case 14, 15, 16:
		r := &activity.Response{ID: fmt.Sprint("m", c.ids), Model: "x", Latency: time.Duration(c.IntN(5000)) * time.Millisecond}
		if !c.repeats || c.IntN(4) > 0 {
			c.ids++
		}
		if c.IntN(5) == 0 {
			r.Failure = &activity.Failure{Type: "t"}
		}
		return r
	case 17:
		return &activity.Output{ResponseID: fmt.Sprint("m", c.ids), Reasoning: c.IntN(2) == 0}
	case 18, 19:
		return &activity.Decision{CallID: c.callID(), Verdict: []string{"hold", "hold", "proceed", "reject", "answer"}[c.IntN(5)]}
	case 20:
		return c.settings()
	case 21:
		if len(c.entries) > 0 {
			return &activity.BranchSummary{From: c.anyEntry(), Call: &activity.Response{Purpose: "branch_summary"}}
		}
	case 22:
		f := &activity.Compaction{Pinned: c.IntN(3)}
		if len(c.entries) > 0 {
			f.FirstKept = c.recentEntry()
		}
		if c.IntN(2) == 0 {
			f.Settings = c.settings()
			f.Settings.Replace = true
		}
		return f
	case 23:
		return &activity.Note{What: "env"}
	case 24:
		return &activity.Link{Rel: "subsession", Session: fmt.Sprint("S", c.IntN(5)), CallID: c.callID()}
	case 25:
		if c.marks && len(c.entries) > 0 {
			return &activity.Mark{Target: c.anyEntry(), Clear: c.IntN(3) == 0}
		}
	case 26, 27:
		return &activity.Queued{Mode: "steer", Trigger: activity.Trigger{Kind: "k"}}
	case 28, 29:
		a := &activity.Arrival{Trigger: activity.Trigger{Ref: "t"}}
		if len(c.entries) > 0 {
			a.Queued = c.recentEntry()
		}
		return a
	case 30:
		if len(c.entries) > 0 {
			return &activity.Note{What: "outcome", Target: c.recentEntry()}
		}
	case 31:
		l := &activity.Link{Rel: "judged_by", Session: "judge"}
		if len(c.entries) > 0 {
			l.Target = c.anyEntry()
		}
		return l
	}
	return nil
}

func (c *chaos) recentEntry() string { return c.entries[max(0, len(c.entries)-1-c.IntN(9))].key }

// settings returns a change of everything that counts over a path.
func (c *chaos) settings() *activity.Settings {
	s := &activity.Settings{Replace: c.IntN(8) == 0}
	if c.IntN(2) == 0 {
		s.Model = fmt.Sprint("x", c.IntN(3))
	}
	if c.IntN(3) == 0 {
		s.Parts = &activity.Listing{Given: c.Int64N(4), Kept: c.Int64N(4)}
	}
	if c.IntN(2) == 0 {
		s.Omit = &activity.Omit{OtherModels: c.IntN(2) == 0, Clear: c.IntN(5) == 0}
		for len(c.entries) > 0 && c.IntN(2) == 0 {
			s.Omit.Items = append(s.Omit.Items, c.recentEntry())
		}
	}
	return s
}

// merged returns what an entry merges.
func (c *chaos) merged() (refs []activity.Ref) {
	for len(c.entries) > 0 && c.IntN(8) == 0 {
		refs = append(refs, activity.Ref{Key: c.anyEntry()}, activity.Ref{Session: fmt.Sprint("S", c.IntN(5)), Key: "e"})
	}
	return refs
}

func (c *chaos) events(n int) []activity.Event {
	events := []activity.Event{{Line: 1, Fact: &activity.Session{
		ID: "new", Created: origin, InferRuns: c.infer, Loose: c.IntN(3) == 0, PromisesDispatch: c.IntN(2) == 0,
		ForkOf: []string{"", "old"}[c.IntN(2)], Base: []string{"", "e3"}[c.IntN(2)], TakesUp: c.IntN(2) == 0,
	}}}
	now, parent := origin, ""
	for i := range n {
		switch {
		case c.silence && c.IntN(25) == 0:
			now = now.Add(25 * time.Hour)
		case c.clock && c.IntN(10) == 0:
			now = now.Add(-time.Duration(c.IntN(5)) * time.Second)
		default:
			now = now.Add(time.Duration(c.IntN(3)) * time.Second)
		}
		ev := activity.Event{Time: now, Line: i + 2}
		if c.timeless && c.IntN(10) == 0 {
			ev.Time = time.Time{}
		}
		further := func(e *chaosEntry) {
			ev.Key, ev.Part, ev.Owner, ev.Fact = e.key, e.parts, e.owner, c.fact()
			e.parts++
			events = append(events, ev)
		}
		if c.late && len(c.entries) > 0 && c.IntN(6) == 0 {
			further(&c.entries[max(0, len(c.entries)-1-c.IntN(12))])
			continue
		}
		if c.branchEvery > 0 && len(c.entries) > 0 && c.IntN(c.branchEvery) == 0 {
			parent = c.entries[max(0, len(c.entries)-1-c.IntN(8))].key
			if c.IntN(2) == 0 {
				parent = c.anyEntry()
			}
		}
		if c.lost && c.IntN(15) == 0 {
			parent = "lost"
		}
		e := chaosEntry{key: fmt.Sprint("e", i)}
		if c.owners && (i < n/3 || c.IntN(30) == 0) {
			e.owner = "old"
		}
		ev.Parent, ev.Merged = parent, c.merged()
		further(&e)
		ev.Merged = nil
		for c.parts && c.IntN(3) == 0 {
			further(&e)
		}
		c.entries = append(c.entries, e)
		parent = e.key
	}
	return events
}

// chaosRun projects events; keep says how many entries apart states are kept, 0 for as usual.
func chaosRun(events []activity.Event, o projection.Options, keep uint32, left, finish bool) *spantest.Recorder {
	rec := &spantest.Recorder{}
	p := projection.New(o, rec)
	if keep > 0 {
		p.KeepEvery(keep, left)
	}
	for i := range events {
		ev := events[i]
		p.Feed(&ev)
	}
	if finish {
		p.Finish()
	}
	return rec
}

// dumpEach writes the spans down one by one, so that the beginning of the text does not depend on the rest.
func dumpEach(rec *spantest.Recorder) string {
	var b strings.Builder
	for _, s := range rec.Ended {
		b.WriteString(spantest.Dump([]*projection.Span{s}))
	}
	return b.String()
}

// Whatever a source emits, the rules of a trace hold; the spans do not depend on which states were kept and which were made
// again; and what has ended in a part of the events has ended in the same way in the whole.
func TestRandomEvents(t *testing.T) {
	for seed := range *seeds {
		c := newChaos(seed)
		events := c.events(10 + c.IntN(150))
		o := projection.Options{Group: []projection.Group{projection.GroupSession, projection.GroupRun}[c.IntN(2)]}
		rec := chaosRun(events, o, 0, true, true)
		for _, err := range spantest.Check(rec) {
			t.Errorf("seed %d: %v", seed, err)
		}
		if n := rec.Open(); n != 0 {
			t.Errorf("seed %d: %d spans are open after the end", seed, n)
		}
		want := dumpEach(rec)
		for name, again := range map[string]*spantest.Recorder{
			"a second time":                  chaosRun(events, o, 0, true, true),
			"with the state of every entry":  chaosRun(events, o, 1, true, true),
			"with no state but that of tips": chaosRun(events, o, 1<<30, true, true),
			"with no state at all":           chaosRun(events, o, 1<<30, false, true),
		} {
			if diff := cmp.Diff(want, dumpEach(again)); diff != "" {
				t.Errorf("seed %d: %s the spans differ:\n%s", seed, name, diff)
			}
		}
		part := dumpEach(chaosRun(events[:1+c.IntN(len(events)-1)], o, 0, true, false))
		if whole := dumpEach(chaosRun(events, o, 0, true, false)); !strings.HasPrefix(whole, part) {
			t.Errorf("seed %d: what has ended in a part is not the beginning of the whole", seed)
		}
		if t.Failed() {
			return
		}
	}
}
