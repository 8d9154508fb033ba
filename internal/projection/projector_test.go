package projection_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/spantest"
)

// file builds the events of a session: each entry a second after the one before it.
type file struct {
	events []activity.Event
	lines  int
}

var origin = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func session(s activity.Session) *file {
	if s.ID == "" {
		s.ID = "s"
	}
	s.Created = origin
	return &file{events: []activity.Event{{Fact: &s, Line: 1}}, lines: 1}
}

// add appends an entry below the one before it.
func (f *file) add(key string, facts ...activity.Fact) *file {
	parent := ""
	for _, ev := range f.events {
		if ev.Part == 0 {
			parent = ev.Key
		}
	}
	return f.below(parent, key, facts...)
}

// below appends an entry below another one.
func (f *file) below(parent, key string, facts ...activity.Fact) *file {
	f.lines++
	if len(facts) == 0 {
		facts = []activity.Fact{nil}
	}
	for part, fact := range facts {
		f.events = append(f.events, activity.Event{
			Key: key, Parent: parent, Part: part, Time: f.time(), Line: f.lines, Fact: fact,
		})
	}
	return f
}

// late appends a further event of an earlier entry.
func (f *file) late(key string, part int, fact activity.Fact) *file {
	f.events = append(f.events, activity.Event{Key: key, Part: part, Time: f.time(), Line: f.lines, Fact: fact})
	return f
}

// owned says that the last entry was copied from another session.
func (f *file) owned(by string) *file {
	f.events[len(f.events)-1].Owner = by
	return f
}

func (f *file) time() time.Time { return origin.Add(time.Duration(f.lines) * time.Second) }

// outcome is what came of a projection.
type outcome struct {
	*spantest.Recorder
	problems []error
}

func (f *file) project(t *testing.T, o projection.Options) outcome {
	t.Helper()
	out := outcome{Recorder: &spantest.Recorder{}}
	o.Report = func(p projection.Problem) { out.problems = append(out.problems, p) }
	p := projection.New(o, out)
	for i := range f.events {
		p.Feed(&f.events[i])
	}
	p.Finish()
	for _, err := range spantest.Check(out.Recorder) {
		t.Error(err)
	}
	return out
}

// names lists the names of the spans, in the order in which they ended, with an attribute of each.
func (o outcome) names(keys ...string) []string {
	var list []string
	for _, s := range o.Ended {
		name := s.Name
		for _, key := range keys {
			for _, kv := range s.Attributes {
				if string(kv.Key) == key {
					name += " " + kv.Value.String()
				}
			}
		}
		list = append(list, name)
	}
	return list
}

func expect(t *testing.T, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOneEntryMaySaySeveralThings(t *testing.T) {
	out := session(activity.Session{}).
		add("u", &activity.RunStart{RunID: "r"}).
		add("a", &activity.Call{ID: "c1", Name: "bash", ResponseID: "m"}, &activity.Call{ID: "c2", Name: "read", ResponseID: "m"},
			&activity.Response{ID: "m", Model: "x"}, &activity.Name{Name: "n"}, &activity.Note{What: "env"}, &activity.Note{What: "env"}).
		add("b", &activity.Result{CallID: "c1"}, &activity.Result{CallID: "c2", Failure: &activity.Failure{Message: "no such file"}}).
		add("e", &activity.RunEnd{RunID: "r", Reason: "done"}, &activity.Note{What: "env"}, &activity.Note{What: "env"}).
		project(t, projection.Options{})
	expect(t, []string{
		"agentsession.session", "chat x", "execute_tool bash completed", "execute_tool read completed tool_error",
		"invoke_agent", "agentsession.env", "agentsession.env",
	}, out.names("agentsession.call.state", "error.type"))
}

// A model's message may be known to be complete only by a later line, after the results of its calls.
func TestLateResponse(t *testing.T) {
	out := session(activity.Session{}).
		add("u", &activity.RunStart{RunID: "r"}).
		add("a", &activity.Call{ID: "c", Name: "bash", ResponseID: "m"}).
		add("b", &activity.Result{CallID: "c"}).
		add("d").
		late("a", 1, &activity.Response{ID: "m", Model: "x", Usage: activity.Usage{Output: new(int64(7))}}).
		add("f", &activity.Response{ID: "n", Model: "x"}).
		add("e", &activity.RunEnd{RunID: "r", Reason: "done"}).
		project(t, projection.Options{})
	expect(t, []string{
		"agentsession.session", "execute_tool bash b", "chat x a 7", "chat x f", "invoke_agent u 7",
	}, out.names("agentsession.entry.id", "gen_ai.usage.output_tokens"))
	if last := out.Ended[3]; len(last.Links) != 1 || last.Links[0].SpanID != out.Ended[2].SpanID {
		t.Errorf("the next model call links to %v, want the late one", last.Links)
	}
}

func TestLateFactsCountForBranchesBelowTheirEntry(t *testing.T) {
	out := session(activity.Session{}).
		add("u", &activity.RunStart{RunID: "r"}).
		add("a").
		add("b").
		late("a", 1, &activity.RunEnd{RunID: "r", Reason: "done"}).
		below("b", "c", &activity.Response{ID: "m", Model: "x"}).
		below("b", "d", &activity.Response{ID: "n", Model: "x"}).
		project(t, projection.Options{})
	expect(t, []string{"agentsession.session", "invoke_agent done", "chat x", "chat x"}, out.names("agentsession.run.reason"))
}

func TestCopiedHistoryBelongsToItsOrigin(t *testing.T) {
	history := func(f *file, owner string) *file {
		mark := func(f *file) *file {
			if owner != "" {
				return f.owned(owner)
			}
			return f
		}
		f = mark(f.add("u", &activity.RunStart{RunID: "r"}))
		f = mark(f.add("cfg", &activity.Settings{Model: "x"}))
		f = mark(f.add("a", &activity.Response{ID: "m"}))
		return mark(f.add("e", &activity.RunEnd{RunID: "r", Reason: "done"}))
	}
	original := history(session(activity.Session{ID: "old"}), "").project(t, projection.Options{})

	fork := history(session(activity.Session{ID: "new"}), "old").
		add("u2", &activity.RunStart{RunID: "r2"}).
		add("b", &activity.Response{ID: "n"}).
		add("e2", &activity.RunEnd{RunID: "r2", Reason: "done"})
	out := &spantest.Recorder{}
	p := projection.New(projection.Options{}, out)
	for i := range fork.events {
		p.Feed(&fork.events[i])
	}
	var names []string
	for _, s := range out.Ended {
		names = append(names, s.Session.ID+" "+s.Name)
	}
	expect(t, []string{"new agentsession.session", "new chat x", "new invoke_agent"}, names)

	// The first chat of the fork links to the last of the original, in its own trace.
	chat, before := out.Ended[1], original.Ended[1]
	if len(chat.Links) != 1 || chat.Links[0].SpanID != before.SpanID || chat.Links[0].TraceID != before.TraceID {
		t.Errorf("got the links %v, want one to %s of trace %s", chat.Links, before.SpanID, before.TraceID)
	}
}

func TestARunThatWasOpenInCopiedHistoryIsNotTheForksToEnd(t *testing.T) {
	f := session(activity.Session{ID: "new"})
	f = f.add("u", &activity.RunStart{RunID: "r"}).owned("old")
	f = f.add("c", &activity.Call{ID: "c", Name: "bash"}).owned("old")
	f = f.add("d", &activity.Dispatch{CallID: "c"}).owned("old")
	f = f.add("b", &activity.Response{ID: "n", Model: "x"})
	out := &spantest.Recorder{}
	p := projection.New(projection.Options{}, out)
	for i := range f.events {
		p.Feed(&f.events[i])
	}
	p.Finish()
	if len(out.Ended) != 2 || out.Ended[1].Name != "chat x" || len(out.Broken) > 0 {
		t.Errorf("got %d spans, want the mark and the chat: %v", len(out.Ended), out.Broken)
	}
}

func TestEntriesTwiceAndParentsLost(t *testing.T) {
	build := func(loose bool) *file {
		return session(activity.Session{Loose: loose}).
			add("u", &activity.RunStart{RunID: "r"}).
			add("a", &activity.Response{ID: "m", Model: "x"}).
			below("u", "a", &activity.Response{ID: "again", Model: "x"}).
			below("nowhere", "b", &activity.Response{ID: "n", Model: "x"})
	}
	t.Run("strict", func(t *testing.T) {
		out := build(false).project(t, projection.Options{})
		if len(out.problems) != 2 || !errors.Is(out.problems[0], projection.ErrDuplicateEntry) || !errors.Is(out.problems[1], projection.ErrParentLost) {
			t.Errorf("got the problems %v", out.problems)
		}
		expect(t, []string{
			"agentsession.session", "chat x", "invoke_agent", "chat x true",
		}, out.names("agentsession.entry.parent_lost"))
	})
	t.Run("loose", func(t *testing.T) {
		out := build(true).project(t, projection.Options{})
		for _, err := range out.problems {
			if p := err.(projection.Problem); !p.Note {
				t.Errorf("%v is no note", p)
			}
		}
		expect(t, []string{"agentsession.session", "chat x", "chat x", "invoke_agent"}, out.names())
	})
}

func TestSubsessionsFindTheirRoot(t *testing.T) {
	tests := []struct {
		name  string
		spawn activity.Spawn
		known map[string]string // parent by session
		want  string
	}{
		{"parent unknown", activity.Spawn{Session: "p", CallID: "c"}, nil, "p"},
		{"parent is the root", activity.Spawn{Session: "p", CallID: "c"}, map[string]string{"p": ""}, "p"},
		{"three levels up", activity.Spawn{Session: "p", CallID: "c"}, map[string]string{"p": "q", "q": "r", "r": ""}, "r"},
		{"top not known", activity.Spawn{Session: "p", CallID: "c"}, map[string]string{"p": "q"}, "q"},
		{"named by the source", activity.Spawn{Session: "p", CallID: "c", Root: "z"}, map[string]string{"p": "q"}, "z"},
		{"its own parent", activity.Spawn{Session: "s", CallID: "c"}, nil, "s"},
		{"a ring", activity.Spawn{Session: "p", CallID: "c"}, map[string]string{"p": "q", "q": "s", "s": "p"}, "s"},
		{"a ring above", activity.Spawn{Session: "p", CallID: "c"}, map[string]string{"p": "q", "q": "p"}, "s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := &spantest.Recorder{}
			p := projection.New(projection.Options{Ancestors: ancestors(tt.known)}, rec)
			p.Feed(&activity.Event{Fact: &activity.Session{ID: "s", Spawn: &tt.spawn}})
			p.Feed(&activity.Event{Key: "a", Time: origin})
			if got := p.Session().Root; got != tt.want {
				t.Errorf("the root is %q, want %q", got, tt.want)
			}
			hangs := rec.Ended[0].Parent.IsValid()
			if want := tt.want != "s"; hangs != want {
				t.Errorf("hangs from a call: %v, want %v", hangs, want)
			}
		})
	}
}

type ancestors map[string]string

func (a ancestors) Ancestor(id string) (string, bool) {
	up, known := a[id]
	return up, known
}

func TestABackgroundSubsessionHangsFromTheRun(t *testing.T) {
	rec := &spantest.Recorder{}
	p := projection.New(projection.Options{}, rec)
	p.Feed(&activity.Event{Fact: &activity.Session{ID: "s", Spawn: &activity.Spawn{Session: "p", CallID: "c", RunID: "r", Background: true}}})
	p.Feed(&activity.Event{Key: "a", Time: origin})
	mark := rec.Ended[0]
	if want := projection.SpanID("", "p", projection.TypeRun, "run", "r", "1"); mark.Parent != want {
		t.Errorf("hangs from %s, want the run %s", mark.Parent, want)
	}
	if want := projection.SpanID("", "p", projection.TypeTool, "c", "1"); len(mark.Links) != 1 || mark.Links[0].SpanID != want {
		t.Errorf("links to %v, want the call %s", mark.Links, want)
	}
}

func TestLimits(t *testing.T) {
	harness := strings.Repeat("h", 100_000)
	f := session(activity.Session{Harness: harness, Version: harness}).add("u", &activity.RunStart{RunID: "r"})
	for i := range 300 {
		f.add(fmt.Sprint("n", i), &activity.Note{What: "env"})
	}
	var many []activity.Attribute
	for i := range 300 {
		many = append(many, activity.Attribute{Name: fmt.Sprint("x", i), Value: "v"})
	}
	long := make([]byte, 100_000)
	for i := range long {
		long[i] = "aä"[i%3]
	}
	f.add("e", &activity.RunEnd{RunID: "r", Reason: "done"})
	f.add("o", &activity.Note{What: string(long), Attributes: many})
	out := f.project(t, projection.Options{})
	run, note := out.Ended[1], out.Ended[2]
	if len(run.Events) != 128 || run.DroppedEvents != 172 {
		t.Errorf("the run has %d events and dropped %d, want 128 and 172", len(run.Events), run.DroppedEvents)
	}
	if n := len(note.Attributes) + int(note.DroppedAttributes); n != 305 || len(note.Attributes) > 128 {
		t.Errorf("the note has %d attributes and dropped %d", len(note.Attributes), note.DroppedAttributes)
	}
	if s := note.Session; len(s.Harness) > 4096 || len(s.Version) > 4096 {
		t.Errorf("the resource of every batch has a name of %d and a version of %d bytes", len(s.Harness), len(s.Version))
	}
	if len(note.Name) > 256 {
		t.Errorf("a name of %d bytes", len(note.Name))
	}
	if got := spantest.Attribute(note, "session.id").AsString(); got != "s" {
		t.Errorf("the ids do not come first: session.id is %q", got)
	}
}

func TestSilence(t *testing.T) {
	build := func(gap time.Duration) *file {
		f := session(activity.Session{}).
			add("u", &activity.RunStart{RunID: "r"}).
			add("c", &activity.Call{ID: "c", Name: "bash"}).
			add("d", &activity.Dispatch{CallID: "c"}).
			add("o", &activity.Result{CallID: "c"})
		f.events[len(f.events)-1].Time = f.events[len(f.events)-2].Time.Add(gap)
		return f
	}
	t.Run("a nanosecond short of it", func(t *testing.T) {
		out := build(projection.Silence-1).project(t, projection.Options{})
		expect(t, []string{"agentsession.session", "execute_tool bash completed", "invoke_agent finish"},
			out.names("agentsession.call.state", "agentsession.run.cut_off_by"))
	})
	t.Run("a day", func(t *testing.T) {
		out := build(projection.Silence).project(t, projection.Options{})
		expect(t, []string{
			"agentsession.session", "execute_tool bash in_flight", "invoke_agent silence", "execute_tool bash completed", "invoke_agent finish",
		}, out.names("agentsession.call.state", "agentsession.run.cut_off_by"))
	})
}

// BenchmarkBranches feeds files that branch at every entry. The time for an entry must not grow with the file.
func BenchmarkBranches(b *testing.B) {
	shapes := map[string]func(i int) string{
		"star":     func(int) string { return "0" },
		"comb":     func(i int) string { return fmt.Sprint(max(i-2, 0)) },
		"two tips": func(i int) string { return fmt.Sprint(max(i-2, 0)) },
		"deep then back": func(i int) string {
			if i < 5000 {
				return fmt.Sprint(i - 1)
			}
			return fmt.Sprint(9999 - i%5000 - 5000)
		},
	}
	for name, parent := range shapes {
		for _, n := range []int{10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					p := projection.New(projection.Options{}, &spantest.Recorder{})
					p.Feed(&activity.Event{Fact: &activity.Session{ID: "s"}})
					p.Feed(&activity.Event{Key: "0", Time: origin, Fact: &activity.RunStart{RunID: "r"}})
					for i := 1; i < n; i++ {
						p.Feed(&activity.Event{
							Key: fmt.Sprint(i), Parent: parent(i), Time: origin.Add(time.Duration(i) * time.Millisecond),
							Fact: &activity.Call{ID: fmt.Sprint("c", i), Name: "t"},
						})
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entry")
			})
		}
	}
}
