package projection_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/spantest"
)

// omitted is what the spans of model calls say was left out of their requests, by entry: pieces of reasoning and further
// items.
func omitted(rec *spantest.Recorder) map[string][2]int64 {
	got := map[string][2]int64{}
	for _, s := range rec.Ended {
		if s.Type == projection.TypeChat {
			got[spantest.Attribute(s, "agentsession.entry.id").AsString()] = [2]int64{
				spantest.Attribute(s, "agentsession.chat.omitted.other_models").AsInt64(),
				spantest.Attribute(s, "agentsession.chat.omitted.items").AsInt64(),
			}
		}
	}
	return got
}

// recount counts the same from the path to a response alone, as the format has it (C.6).
func recount(path []*activity.Event) [2]int64 {
	var model string
	models := map[string]string{} // in force when the reasoning was written
	var others bool
	var items []string
	from := 0
	change := func(s *activity.Settings) {
		if s.Replace {
			model, others, items = "", false, nil
		}
		if s.Model != "" {
			model = s.Model
		}
		if o := s.Omit; o != nil {
			if o.Clear {
				others, items = false, nil
			}
			others = others || o.OtherModels
			items = append(items, o.Items...)
		}
	}
	for _, ev := range path {
		switch f := ev.Fact.(type) {
		case *activity.Settings:
			change(f)
		case *activity.Output:
			if f.Reasoning {
				models[ev.Key] = model
			}
		case *activity.Compaction:
			from = slices.IndexFunc(path, func(ev *activity.Event) bool { return ev.Key == f.FirstKept })
			change(f.Settings)
		}
	}
	var n [2]int64
	for _, ev := range path[from:] {
		by, isReasoning := models[ev.Key]
		switch {
		case others && isReasoning && by != "" && model != "" && by != model:
			n[0]++
		case slices.Contains(items, ev.Key):
			n[1]++
		}
	}
	return n
}

func TestOmittedItemsAreThoseOfThePath(t *testing.T) {
	total := [2]int64{}
	for seed := range *seeds {
		r := rand.New(rand.NewPCG(seed, 3))
		byKey := map[string]*activity.Event{}
		var events []*activity.Event
		path := func(key string) (list []*activity.Event) {
			for ; key != ""; key = byKey[key].Parent {
				list = append(list, byKey[key])
			}
			slices.Reverse(list)
			return list
		}
		want := map[string][2]int64{}
		parent := ""
		add := func(f activity.Fact) {
			ev := &activity.Event{
				Key: fmt.Sprint("e", len(events)), Parent: parent, Line: len(events) + 2,
				Time: origin.Add(time.Duration(len(events)) * time.Second), Fact: f,
			}
			byKey[ev.Key], parent = ev, ev.Key
			events = append(events, ev)
		}
		above := func() string { p := path(parent); return p[r.IntN(len(p))].Key }
		settings := func() *activity.Settings {
			s := &activity.Settings{Model: []string{"", "a", "b", "c"}[r.IntN(4)], Replace: r.IntN(10) == 0}
			if r.IntN(2) == 0 {
				s.Omit = &activity.Omit{OtherModels: r.IntN(2) == 0}
				for parent != "" && r.IntN(2) == 0 {
					s.Omit.Items = append(s.Omit.Items, above())
				}
				s.Omit.Clear = !s.Omit.OtherModels && s.Omit.Items == nil
			}
			return s
		}
		for n := range 20 + r.IntN(150) {
			if r.IntN(12) == 0 && parent != "" {
				parent = events[r.IntN(len(events))].Key
			}
			switch r.IntN(6) {
			case 0:
				add(settings())
			case 1:
				add(&activity.Input{Role: "user"})
			case 2:
				if parent != "" {
					c := &activity.Compaction{FirstKept: above(), Settings: settings()}
					c.Settings.Replace = true
					add(c)
				}
			default:
				id := fmt.Sprint("m", n)
				for range r.IntN(4) {
					add(&activity.Output{ResponseID: id, Reasoning: r.IntN(3) > 0})
				}
				add(&activity.Response{ID: id})
				want[parent] = recount(path(parent))
				total[0], total[1] = total[0]+want[parent][0], total[1]+want[parent][1]
			}
		}
		rec := &spantest.Recorder{}
		p := projection.New(projection.Options{}, rec)
		p.Feed(&activity.Event{Fact: &activity.Session{ID: "s"}})
		for _, ev := range events {
			p.Feed(ev)
		}
		if diff := cmp.Diff(want, omitted(rec)); diff != "" {
			t.Fatalf("seed %d: (-want +got):\n%s", seed, diff)
		}
	}
	if total[0] < 1000 || total[1] < 1000 {
		t.Errorf("only %v items were left out in all", total)
	}
}

func TestInstructionsOfAChat(t *testing.T) {
	const parts, left = "agentsession.chat.instructions.parts", "agentsession.chat.instructions.omitted"
	out := session(activity.Session{}).
		add("c1", &activity.Settings{Parts: &activity.Listing{Given: 3}, Omitted: &activity.Listing{Given: 2}}).
		add("m1", &activity.Response{ID: "1", Model: "three and two"}).
		add("c2", &activity.Settings{Parts: &activity.Listing{Given: 2, Kept: 2}}).
		add("m2", &activity.Response{ID: "2", Model: "four and two"}).
		add("c3", &activity.Settings{Parts: &activity.Listing{Kept: 5}, Omitted: &activity.Listing{}}).
		add("m3", &activity.Response{ID: "3", Model: "more are kept than there are"}).
		add("c4", &activity.Settings{Parts: &activity.Listing{Kept: 1}}).
		add("m4", &activity.Response{ID: "4", Model: "kept of what is not known"}).
		add("c5", &activity.Settings{Parts: &activity.Listing{Given: 1}, Omitted: &activity.Listing{Given: 1, Unclear: true}}).
		add("m5", &activity.Response{ID: "5", Model: "one and unclear"}).
		add("c6", &activity.Settings{Replace: true}).
		add("m6", &activity.Response{ID: "6", Model: "none"}).
		add("x", &activity.Response{Purpose: "other", Model: "not of the conversation"}).
		add("k", &activity.Compaction{Pinned: 2, Settings: &activity.Settings{Replace: true, Parts: &activity.Listing{Given: 7}}}).
		below("m2", "m7", &activity.Response{ID: "7", Model: "below the second"}).
		project(t, projection.Options{})
	expect(t, []string{
		"agentsession.session", "chat three and two 3 2", "chat four and two 4 2", "chat more are kept than there are",
		"chat kept of what is not known", "chat one and unclear 1", "chat none", "chat not of the conversation",
		"agentsession.compaction 2", "chat below the second 4 2",
	}, out.names(parts, left, "agentsession.compaction.pinned"))
}
