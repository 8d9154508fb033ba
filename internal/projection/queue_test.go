package projection_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/spantest"
)

// links writes the links of a span, each as its kind and the name and entry of the span that it leads to.
func (o outcome) links(s *projection.Span) []string {
	var list []string
	for _, l := range s.Links {
		to := l.SpanID.String()
		for _, x := range o.Started {
			if x.SpanID == l.SpanID && x.TraceID == l.TraceID {
				to = x.Name + " " + spantest.Attribute(x, "agentsession.entry.id").AsString()
			}
		}
		for _, kv := range l.Attributes {
			if kv.Key == "agentsession.link" {
				to = kv.Value.AsString() + " " + to
			}
		}
		list = append(list, to)
	}
	return list
}

// span finds the span of an entry.
func (o outcome) span(t *testing.T, name, entry string) *projection.Span {
	t.Helper()
	i := slices.IndexFunc(o.Started, func(s *projection.Span) bool {
		return s.Name == name && spantest.Attribute(s, "agentsession.entry.id").AsString() == entry
	})
	if i < 0 {
		t.Fatalf("entry %s has no span %s", entry, name)
	}
	return o.Started[i]
}

func TestQueuedInputs(t *testing.T) {
	human := activity.Trigger{Kind: "human", Ref: "m1"}
	f := session(activity.Session{}).
		add("r1", &activity.RunStart{RunID: "1"}).
		add("i1", &activity.Input{Role: "user"}, &activity.Arrival{Trigger: human}).
		add("q1", &activity.Queued{Mode: "steer"}).
		add("q2", &activity.Queued{Mode: "followup"}).
		add("q3", &activity.Queued{Mode: "steer"}).
		add("c1", &activity.Response{ID: "1", Model: "x"}).
		add("i2", &activity.Input{Role: "user"}, &activity.Arrival{Queued: "q1"}).
		add("e1", &activity.RunEnd{RunID: "1", Reason: "done"}).
		add("r2", &activity.RunStart{RunID: "2", Trigger: activity.Trigger{Kind: "schedule"}}).
		add("i3", &activity.Input{Role: "user"}, &activity.Arrival{Queued: "q2", Trigger: human}).
		add("e2", &activity.RunEnd{RunID: "2", Reason: "done"}).
		add("i4", &activity.Input{Role: "user"}, &activity.Arrival{Queued: "q2"}, &activity.Arrival{Queued: "nothing"}).
		add("q4", &activity.Queued{}).
		add("r3", &activity.RunStart{RunID: "3"}).
		add("i5", &activity.Arrival{Queued: "q4"}).
		add("q5", &activity.Queued{}).
		add("r4", &activity.RunStart{RunID: "4"}).
		below("q2", "b", &activity.Arrival{Queued: "q2"}).
		add("e4", &activity.RunEnd{RunID: "1", Reason: "done"})
	out := f.project(t, projection.Options{})
	expect(t, []string{
		"agentsession.session", "chat x", "agentsession.input 4000", // q1
		"invoke_agent human m1 2", "agentsession.input 6000", // q2
		"invoke_agent schedule 6000", "agentsession.input", "agentsession.input", // twice what does not wait
		"agentsession.queued",
		"agentsession.input 2000", "invoke_agent 2000 1", // cut off with q5 waiting
		"invoke_agent 1",                             // nothing ended the third, so q5 waits for the fourth
		"agentsession.input 14000", "invoke_agent 1", // on the branch q1 was not taken up
	}, out.names("agentsession.run.trigger.kind", "agentsession.run.trigger", "agentsession.input.wait_ms",
		"agentsession.run.wait_ms", "agentsession.run.queued"))
	for entry, want := range map[string][]string{
		"i2": {"queued invoke_agent r1"},
		"i3": {"queued invoke_agent r1"},
		"i5": {"queued agentsession.queued q4"},
		"b":  {"queued invoke_agent r1"},
	} {
		if diff := cmp.Diff(want, out.links(out.span(t, "agentsession.input", entry))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", entry, diff)
		}
	}
	n := 0
	for _, err := range out.problems {
		if errors.Is(err, projection.ErrNotQueued) {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d inputs are reported that do not wait, want 2: %v", n, out.problems)
	}
}

// Where runs are inferred, their ends leave what waits behind as well.
func TestQueuedInputsOfInferredRuns(t *testing.T) {
	out := session(activity.Session{InferRuns: true}).
		add("i1", &activity.Input{Role: "user"}).
		add("q1", &activity.Queued{}).
		add("c1", &activity.Response{ID: "1"}).
		add("i2", &activity.Input{Role: "user"}).
		add("c2", &activity.Response{ID: "2"}).
		add("i3", &activity.Input{Role: "user"}, &activity.Arrival{Queued: "q1"}).
		add("q2", &activity.Queued{}).
		project(t, projection.Options{})
	expect(t, []string{
		"agentsession.session", "chat", "invoke_agent 1", "chat", "invoke_agent", "agentsession.input", "invoke_agent 4000 1",
	}, out.names("agentsession.run.wait_ms", "agentsession.run.queued"))
}

func TestConvergence(t *testing.T) {
	merge := func(f *file, refs ...activity.Ref) *file {
		f.events[len(f.events)-1].Merged = refs
		return f
	}
	f := session(activity.Session{}).
		add("r1", &activity.RunStart{RunID: "1"}).
		add("l", &activity.Link{Rel: "subsession", Session: "child"}).
		add("o1", &activity.Output{ResponseID: "1"}).
		add("o2", &activity.Output{ResponseID: "1"}).
		add("c1", &activity.Response{ID: "1", Model: "x"}).
		add("e1", &activity.RunEnd{RunID: "1", Reason: "done"}).
		below("r1", "c2", &activity.Response{ID: "2", Model: "x"})
	merge(f.below("e1", "i1"), activity.Ref{Key: "c2"}, activity.Ref{Key: "missing"}, activity.Ref{Session: "s", Key: "o1"})
	merge(f.add("i2"), activity.Ref{Session: "child", Key: "a"}, activity.Ref{Session: "far", Key: "b"})
	f.add("c3", &activity.Response{ID: "3", Model: "x"})
	f.add("c4", &activity.Response{ID: "4", Model: "x"})
	f.below("i1", "c5", &activity.Response{ID: "5", Model: "x"})
	out := f.project(t, projection.Options{})
	mark := func(id string) string { return projection.SpanID("", id, projection.TypeSession).String() }
	for entry, want := range map[string][]string{
		"c3": {
			"previous_turn chat x c1", // which is what o1 is a piece of
			"converged chat x c2", "converged " + mark("child"), "converged " + mark("far"),
		},
		"c4": {"previous_turn chat x c3"},
		"c5": {"previous_turn chat x c1", "converged chat x c2"},
	} {
		if diff := cmp.Diff(want, out.links(out.span(t, "chat x", entry))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", entry, diff)
		}
	}
	for _, l := range out.span(t, "chat x", "c3").Links {
		here := l.TraceID == projection.TraceID("", "s")
		if far := l.SpanID.String() == mark("far"); here == far {
			t.Errorf("%s is in trace %s", l.SpanID, l.TraceID)
		}
	}
}

func TestManyConverge(t *testing.T) {
	f := session(activity.Session{})
	for i := range 300 {
		f.add(fmt.Sprint("i", i))
		f.events[len(f.events)-1].Merged = []activity.Ref{{Session: fmt.Sprint("s", i), Key: "e"}}
	}
	out := f.add("c", &activity.Response{ID: "1", Model: "x"}).project(t, projection.Options{})
	s := out.span(t, "chat x", "c")
	if len(s.Links) != 128 || s.DroppedLinks != 172 {
		t.Errorf("got %d links and dropped %d, want 128 and 172", len(s.Links), s.DroppedLinks)
	}
	if want := projection.SpanID("", "s0", projection.TypeSession); s.Links[0].SpanID != want {
		t.Errorf("the first link leads to %s, want %s", s.Links[0].SpanID, want)
	}
}

func TestBase(t *testing.T) {
	for _, group := range []projection.Group{projection.GroupSession, projection.GroupRun} {
		out := session(activity.Session{ForkOf: "old", Base: "e1"}).
			add("r1", &activity.RunStart{RunID: "1"}).owned("old").
			add("e1", &activity.RunEnd{RunID: "1", Reason: "done"}).owned("old").
			add("i").
			add("r2", &activity.RunStart{RunID: "2"}).
			add("c", &activity.Response{ID: "1", Model: "x"}).
			below("i", "c2", &activity.Response{ID: "2", Model: "x"}).
			project(t, projection.Options{Group: group})
		mark := projection.SpanID("", "old", projection.TypeSession).String()
		want := []string{"base " + mark}
		if group == projection.GroupRun {
			want = append([]string{"previous_run " + projection.SpanID("", "old", projection.TypeRun, "run", "1", "1").String()}, want...)
		}
		if diff := cmp.Diff(want, out.links(out.span(t, "invoke_agent", "r2"))); diff != "" {
			t.Errorf("the first span (-want +got):\n%s", diff)
		}
		if got := spantest.Attribute(out.Started[0], "agentsession.session.base").AsString(); got != "e1" {
			t.Errorf("the session's mark names the base %q", got)
		}
	}
}

func TestJudges(t *testing.T) {
	out := session(activity.Session{}).
		add("r1", &activity.RunStart{RunID: "1"}).
		add("o1", &activity.Output{ResponseID: "1"}).
		add("l1", &activity.Link{Rel: "judged_by", Session: "judge", Target: "o1"}).
		add("c1", &activity.Response{ID: "1", Model: "x"}).
		add("n1", &activity.Note{What: "outcome", Target: "o1"}).
		add("e1", &activity.RunEnd{RunID: "1", Reason: "done"}).
		add("l2", &activity.Link{Rel: "judged_by", Session: "judge", Target: "o1"}).
		add("n2", &activity.Note{What: "outcome", Target: "o1"}).
		add("n3", &activity.Note{What: "outcome", Target: "free text"}).
		project(t, projection.Options{})
	judge := "judged_by " + projection.SpanID("", "judge", projection.TypeSession).String()
	for _, tt := range []struct {
		name, entry string
		want        []string
	}{
		{"agentsession.link", "l1", []string{judge, "about invoke_agent r1"}}, // its model call has not ended
		{"agentsession.link", "l2", []string{judge, "about chat x c1"}},
		{"agentsession.outcome", "n2", []string{"about chat x c1"}},
		{"agentsession.outcome", "n3", nil},
	} {
		if diff := cmp.Diff(tt.want, out.links(out.span(t, tt.name, tt.entry))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.entry, diff)
		}
	}
	if l := out.span(t, "agentsession.link", "l1"); l.Parent != out.span(t, "invoke_agent", "r1").SpanID {
		t.Error("a judge in a run does not stand in it")
	}
}

func TestCallsTakenUp(t *testing.T) {
	for takesUp, want := range map[bool][]string{
		true:  {"invoke_agent 3", "invoke_agent 2", "invoke_agent 2"},
		false: {"invoke_agent 3", "invoke_agent 1", "invoke_agent 0"},
	} {
		out := session(activity.Session{TakesUp: takesUp}).
			add("r1", &activity.RunStart{RunID: "1"}).
			add("c1", &activity.Call{ID: "1"}).add("c2", &activity.Call{ID: "2"}).add("c3", &activity.Call{ID: "3"}).
			add("e1", &activity.RunEnd{RunID: "1"}).
			add("r2", &activity.RunStart{RunID: "2"}).
			add("d1", &activity.Decision{CallID: "1", Verdict: "proceed"}).
			add("p1", &activity.Dispatch{CallID: "1"}).
			add("o1", &activity.Result{CallID: "1"}).
			add("c4", &activity.Call{ID: "4"}).
			add("o4", &activity.Result{CallID: "4"}).
			add("e2", &activity.RunEnd{RunID: "2"}).
			add("r3", &activity.RunStart{RunID: "3"}).
			add("p2", &activity.Dispatch{CallID: "2"}).
			add("o3", &activity.Result{CallID: "3"}).
			add("e3", &activity.RunEnd{RunID: "3"}).
			project(t, projection.Options{})
		var got []string
		for _, name := range out.names("agentsession.run.calls") {
			if len(name) > 12 && name[:12] == "invoke_agent" {
				got = append(got, name)
			}
		}
		expect(t, want, got)
	}
}

func TestRepeatedEntries(t *testing.T) {
	for _, repeats := range []bool{true, false} {
		f := session(activity.Session{Repeats: repeats}).add("a")
		f.events = append(f.events, f.events[1])
		out := f.project(t, projection.Options{})
		var p projection.Problem
		if len(out.problems) != 1 || !errors.As(out.problems[0], &p) || p.Note != repeats {
			t.Errorf("got %v, want a note: %v", out.problems, repeats)
		}
	}
}
