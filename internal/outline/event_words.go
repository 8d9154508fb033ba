package outline

import (
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// eventWords says in a few words what events say.
type eventWords struct{ tools }

// describe adds what a fact says, and returns its kind and whether it is a failure. A fact of which nobody needs to know has
// no kind.
func (w *eventWords) describe(t *text, fact activity.Fact) (kind string, failed bool) {
	switch f := fact.(type) {
	case *activity.Input:
		return f.Role, false
	case *activity.Queued:
		t.add("%s", f.Mode)
		trigger(t, f.Trigger)
		return "queued", false
	case *activity.Arrival:
		if f.Queued != "" {
			t.add("(queued as %s)", shortID(f.Queued))
		}
		trigger(t, f.Trigger)
	case *activity.Output:
		if f.Reasoning {
			return "reasoning", false
		}
		return "assistant", false
	case *activity.Call:
		w.tools[f.ID] = f.Name
		t.add("%s", w.call(f.ID))
		return "call", false
	case *activity.Dispatch:
		t.add("%s", w.call(f.CallID))
		return "dispatch", false
	case *activity.Decision:
		t.add("%s %s", f.Verdict, w.call(f.CallID))
		if f.By != "" {
			t.add("by %s", f.By)
		}
		if f.ArgsRewritten {
			t.add("with other arguments")
		}
		if f.Reason != "" {
			t.add("(%s)", f.Reason)
		}
		return "decision", false
	case *activity.Result:
		t.add("%s", w.call(f.CallID))
		if d := max(f.Duration, f.End.Sub(f.Start)); d > 0 && (f.Duration > 0 || !f.Start.IsZero()) {
			t.add("%s", terminal.Duration(d))
		}
		failure(t, f.Failure)
		return "output", f.Failure != nil
	case *activity.Response:
		modelCall(t, f)
		return "response", f.Failure != nil
	case *activity.Compaction:
		t.add("keeps from %s", shortID(f.FirstKept))
		if f.TokensBefore != nil {
			t.add("of %s tokens", terminal.Count(*f.TokensBefore))
		}
		return "compaction", false
	case *activity.BranchSummary:
		t.add("of the branch to %s", shortID(f.From))
		return "branch_summary", false
	case *activity.Settings:
		settings(t, f)
		return "config", false
	}
	return describeMark(t, fact)
}

// describeMark is describe for what frames the work.
func describeMark(t *text, fact activity.Fact) (kind string, failed bool) {
	switch f := fact.(type) {
	case *activity.RunStart:
		t.add("start %s %s %s", f.RunID, f.Source, f.Agent)
		trigger(t, f.Trigger)
		return "run", false
	case *activity.RunEnd:
		t.add("end %s %s", f.RunID, f.Reason)
		if len(f.Pending) > 0 {
			t.add("pending %s", names(f.Pending))
		}
		if f.Cause != "" {
			t.add("(%s)", f.Cause)
		}
		return "run", f.Reason == activity.ReasonError
	case *activity.Mark:
		if f.Clear {
			t.add("cleared: %s", shortID(f.Target))
		} else {
			t.add("leaf: %s", shortID(f.Target))
		}
		return "label", false
	case *activity.Name:
		t.add("%s", f.Name)
		return "info", false
	case *activity.Link:
		t.add("%s %s", f.Rel, f.Session)
		return "link", false
	case *activity.Note:
		if f.What == "model" || f.What == "thinking" {
			return f.What, false // the settings of the same entry say it
		}
		for _, a := range f.Attributes {
			t.add("%s=%v", strings.TrimPrefix(a.Name, f.What+"."), a.Value)
		}
		return f.What, false
	}
	return "", false
}

func trigger(t *text, g activity.Trigger) {
	if words := strings.Fields(g.Kind + " " + g.Ref + " " + g.Source); len(words) > 0 {
		t.add("(%s)", strings.Join(words, " "))
	}
}

func failure(t *text, f *activity.Failure) {
	if f == nil {
		return
	}
	said := f.Message
	if !strings.HasPrefix(said, f.Type) { // providers begin with the status
		said = f.Type + " " + said
	}
	if said = strings.TrimSpace(said); said == "" {
		t.add("failed")
		return
	}
	t.add("failed: %s", said)
}

func modelCall(t *text, r *activity.Response) {
	t.add("%s", r.Model)
	if r.Purpose != "" {
		t.add("for %s", strings.ReplaceAll(r.Purpose, "_", " "))
	}
	usage(t, r.Usage.Input, r.Usage.Output, r.Usage.CacheRead)
	if r.Latency > 0 {
		t.next("%s", terminal.Duration(r.Latency))
	}
	if r.Incomplete != "" {
		t.next("%s", r.Incomplete)
	}
	failure(t, r.Failure)
}

func settings(t *text, s *activity.Settings) {
	if s.Replace {
		t.next("nothing of before")
	}
	if s.Model != "" {
		t.next("model %s", s.Model)
	}
	if s.Provider != "" {
		t.next("provider %s", s.Provider)
	}
	if s.Reasoning != nil {
		t.next("reasoning %s", *s.Reasoning)
	}
}

// milliseconds turns a count into a duration, as far as one can hold it.
func milliseconds(n int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	return time.Duration(min(max(n, 0), most)) * time.Millisecond
}
