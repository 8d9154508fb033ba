package source_test

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/source"
)

// decode reads a file of that minor with the members given on one entry, and returns what follows the header.
func decode(t *testing.T, minor int, members string) (events []activity.Event) {
	t.Helper()
	in := fmt.Sprintf(`{"type":"session","format":"agentsession/0.%d","id":"s","created_at":"2026-01-02T03:04:05Z","payload":"openresponses/1"}`+"\n"+
		`{"id":"a","parent":null,"ts":"2026-01-02T03:04:06Z",%s}`+"\n", minor, members)
	rd, err := source.NewReader(strings.NewReader(in), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	for {
		err := rd.Read(func(ev *activity.Event) { events = append(events, *ev) }, func(*format.DamageError) {})
		if err == io.EOF {
			return events[1:]
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestLaterMinors(t *testing.T) {
	const message = `"item":{"type":"message","role":"user","content":[]}`
	none := ""
	settings := func(change func(*activity.Settings)) []activity.Fact {
		s := &activity.Settings{}
		change(s)
		return []activity.Fact{s}
	}
	listing := func(l activity.Listing) []activity.Fact {
		return settings(func(s *activity.Settings) { s.Omitted = &l })
	}
	omit := func(o activity.Omit) []activity.Fact {
		return settings(func(s *activity.Settings) { s.Omit = &o })
	}
	tests := []struct {
		name, members string
		minor         int // 11 if 0
		want          []activity.Fact
	}{
		{
			name:    "a queued input",
			members: `"type":"queued","mode":"steer","trigger":{"kind":"human","ref":"m","source":"gateway","secret":"x"},` + message,
			want:    []activity.Fact{&activity.Queued{Mode: "steer", Trigger: activity.Trigger{Kind: "human", Ref: "m", Source: "gateway"}}},
		},
		{
			name:    "its own reference goes before that of the trigger",
			members: `"type":"queued","mode":"followup","ref":"r","trigger":{"ref":"m"},` + message,
			want:    []activity.Fact{&activity.Queued{Mode: "followup", Trigger: activity.Trigger{Ref: "r"}}},
		},
		{
			name:    "taken from the queue",
			members: `"type":"item","queued_from":"q","source":{"kind":"human","ref":7,"source":null,"more":{"kind":"no"}},` + message,
			want:    []activity.Fact{&activity.Input{Role: "user"}, &activity.Arrival{Queued: "q", Trigger: activity.Trigger{Kind: "human"}}},
		},
		{
			name:    "an item of another kind",
			members: `"type":"item","queued_from":"q","item":{"type":"acme:note"}`,
			want:    []activity.Fact{nil, &activity.Arrival{Queued: "q"}},
		},
		{
			name:    "reasoning",
			members: `"type":"item","response":"r","item":{"type":"reasoning","summary":[]}`,
			want:    []activity.Fact{&activity.Output{ResponseID: "r", Reasoning: true}},
		},
		{
			name:    "a run with a trigger",
			members: `"type":"run","run_id":"r","phase":"start","source":"input","trigger":{"kind":"schedule","ref":"nightly","source":"cron","due":"x"}`,
			want: []activity.Fact{&activity.RunStart{
				RunID: "r", Source: "input", Trigger: activity.Trigger{Kind: "schedule", Ref: "nightly", Source: "cron"},
			}},
		},
		{
			name:    "parts",
			members: `"type":"config","instructions_parts":[{"keep":2},{"id":"a","text":"x"},{"id":"b","hash":"sha256:0"},{"id":"c"},{"keep":1}]`,
			want:    settings(func(s *activity.Settings) { s.Parts = &activity.Listing{Given: 3, Kept: 3} }),
		},
		{
			name: "parts of a minor in which omitted ones are those of the entry", minor: 7,
			members: `"type":"config","instructions_parts":[]`,
			want: settings(func(s *activity.Settings) {
				s.Parts, s.Omitted = &activity.Listing{}, &activity.Listing{}
			}),
		},
		{
			name: "a model of such a minor", minor: 7,
			members: `"type":"config","model":"m"`,
			want:    settings(func(s *activity.Settings) { s.Model = "m" }),
		},
		{
			name:    "one text",
			members: `"type":"config","instructions":""`,
			want:    settings(func(s *activity.Settings) { s.Parts = &activity.Listing{} }),
		},
		{
			name:    "omitted parts",
			members: `"type":"config","instructions_omitted":[{"keep":3,"of":"b"},{"id":"a","reason":"budget"},{"keep":2}]`,
			want:    listing(activity.Listing{Given: 4, Kept: 2}),
		},
		{
			name:    "more than a count can hold",
			members: `"type":"config","instructions_omitted":[{"keep":9223372036854775807},{"keep":9},{"keep":9223372036854775807,"of":"b"},1]`,
			want:    listing(activity.Listing{Given: math.MaxInt64, Kept: math.MaxInt64}),
		},
		{
			name:    "what cannot be counted",
			members: `"type":"config","instructions_omitted":[{"keep":-1},{"keep":"x"},{"keep":1.5}]`,
			want:    listing(activity.Listing{Unclear: true}),
		},
		{
			name:    "omit",
			members: `"type":"config","omit":{"reasoning":"other_models","items":["a",1,"b"]}`,
			want:    omit(activity.Omit{OtherModels: true, Items: []string{"a", "b"}}),
		},
		{name: "omit nothing", members: `"type":"config","omit":{}`, want: omit(activity.Omit{Clear: true})},
		{name: "omit what is not known", members: `"type":"config","omit":{"reasoning":"all","items":{}}`, want: omit(activity.Omit{Clear: true})},
		{
			name: "a checkpoint",
			members: `"type":"compaction","first_kept":"a","summary":{"type":"message"},"pinned":[{"type":"message"},{"type":"message"}],` +
				`"config":{"model":"m","reasoning":{},"instructions_parts":[{"id":"a"}],"instructions_omitted":[],"omit":{"items":["b"]},"extra":{"seed":3}}`,
			want: []activity.Fact{&activity.Compaction{FirstKept: "a", Pinned: 2, Settings: &activity.Settings{
				Replace: true, Model: "m", Reasoning: &none, Seed: new(int64(3)),
				Parts: &activity.Listing{Given: 1}, Omitted: &activity.Listing{}, Omit: &activity.Omit{Items: []string{"b"}},
			}}},
		},
		{
			name:    "an outcome",
			members: `"type":"outcome","kind":"eval","target":"a"`,
			want: []activity.Fact{&activity.Note{What: "outcome", Target: "a", Attributes: []activity.Attribute{
				{Name: "outcome.kind", Value: "eval"}, {Name: "outcome.target", Value: "a"},
			}}},
		},
		{
			name:    "a judge",
			members: `"type":"link","rel":"judged_by","session":"j","target":"a"`,
			want:    []activity.Fact{&activity.Link{Rel: "judged_by", Session: "j", Target: "a"}},
		},
		{name: "an entry of a minor to come", members: `"type":"withdraw","target":"q","by":"human"`, want: []activity.Fact{nil}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.minor == 0 {
				tt.minor = 11
			}
			var got []activity.Fact
			for i, ev := range decode(t, tt.minor, tt.members) {
				if ev.Key != "a" || ev.Part != i {
					t.Errorf("event %d is part %d of %q", i, ev.Part, ev.Key)
				}
				got = append(got, ev.Fact)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMergedWork(t *testing.T) {
	events := decode(t, 4, `"type":"item","parents":[{"entry":"b"},{"session":"s2","entry":"c"}],"queued_from":"q","item":{"type":"message"}`)
	if diff := cmp.Diff([]activity.Ref{{Key: "b"}, {Session: "s2", Key: "c"}}, events[0].Merged); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if events[1].Merged != nil {
		t.Error("a further part of the entry merges as well")
	}
}
