package archive_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/spantest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// fixture returns the path of a third-party session file, which lies beside the project where it is there at all.
func fixture(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join("../../../shared/fixtures/agentsession", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the third-party fixtures are not on this machine: %v", err)
	}
	return path
}

// row is a span as the table of the format's own projection (specification B.4) has it: times in seconds after 12:00.
type row struct {
	Span, Parent string
	Start, End   float64
	State        string   // state of a call, reason of a run
	Events       []string // name, verdict or kind, and second
	Links        []string
	Entry        string
	Attributes   map[string]string
}

// reference is the table of B.4 for 0.2/runs.jsonl.
var reference = []row{
	{
		Span: "agentsession.session", Start: 0, End: 22,
		Events: []string{"env@2", "outcome@22"},
	},
	{
		Span: "agentsession.run run-1", Parent: "agentsession.session", Start: 3, End: 15, State: "input_required", Entry: "u0000001",
		Attributes: map[string]string{
			"agentsession.run.source": "input", "agentsession.run.trigger": "cron:nightly-clean",
			"agentsession.run.pending": `["call_1"]`,
		},
	},
	{
		Span: "chat gpt-5 resp_1", Parent: "agentsession.run run-1", Start: 5, End: 8, Entry: "r0000001",
		Attributes: map[string]string{
			"gen_ai.usage.input_tokens": "50", "gen_ai.usage.output_tokens": "20",
			"agentsession.request_hash": "sha256:c29b02972c1deadb0d3172449376af5a075e28647e57a2a49afc40e59ea246d8",
		},
	},
	{
		Span: "execute_tool bash call_2", Parent: "agentsession.run run-1", Start: 11, End: 12, State: "completed", Entry: "p0000001",
		Events: []string{"decision proceed@10"}, Links: []string{"produced_by chat gpt-5 resp_1"},
		Attributes: map[string]string{"agentsession.call.args_rewritten": "true"},
	},
	{
		Span: "execute_tool bash call_3", Parent: "agentsession.run run-1", Start: 13, End: 14, State: "rejected", Entry: "i0000003",
		Events: []string{"decision reject@13"}, Links: []string{"produced_by chat gpt-5 resp_1"},
	},
	{
		Span: "agentsession.run run-2", Parent: "agentsession.session", Start: 16, End: 21, State: "done", Entry: "u0000003",
		Attributes: map[string]string{"agentsession.run.source": "resume", "agentsession.run.trigger": "approval:chris"},
	},
	{
		Span: "execute_tool bash call_1", Parent: "agentsession.run run-2", Start: 17, End: 18, State: "completed", Entry: "p0000002",
		Events: []string{"decision hold@9"}, Links: []string{"produced_by chat gpt-5 resp_1"},
	},
	{
		Span: "chat gpt-5 resp_2", Parent: "agentsession.run run-2", Start: 19, End: 20, Entry: "r0000002",
		Links: []string{"previous_turn chat gpt-5 resp_1"},
	},
}

// differences are all that this project has otherwise than B.4, each with the reason.
var differences = []struct {
	why   string
	apply func(rows []row) []row
}{
	{
		"the session span is a mark of a microsecond, so that a trace always has its root; facts outside runs have spans of their own, " +
			"which lead to what they are about",
		func(rows []row) []row {
			rows[0].End, rows[0].Events = 0, nil
			return append(rows,
				row{Span: "agentsession.env", Parent: "agentsession.session", Start: 2, End: 2, Entry: "e0000001"},
				row{
					Span: "agentsession.outcome", Parent: "agentsession.session", Start: 22, End: 22, Entry: "o0000001",
					Links: []string{"about chat gpt-5 resp_2"},
				},
			)
		},
	},
	{
		"a chat cannot have started with its own first output, when the measured latency contradicts it: the entry before bounds it",
		func(rows []row) []row {
			edit(rows, "chat gpt-5 resp_1", func(r *row) { r.Start = 4 })
			edit(rows, "chat gpt-5 resp_2", func(r *row) { r.Start = 18 })
			return rows
		},
	},
	{
		"a decision made before its span stands at the beginning of the span and says its own time, since viewers drop or move events outside",
		func(rows []row) []row {
			edit(rows, "execute_tool bash call_2", func(r *row) { r.Events = []string{"decision proceed@11 made@10"} })
			edit(rows, "execute_tool bash call_1", func(r *row) { r.Events = []string{"decision hold@17 made@9"} })
			return rows
		},
	},
	{
		"waiting for a person has a span",
		func(rows []row) []row {
			return append(rows, row{
				Span: "agentsession.approval call_1", Parent: "agentsession.session", Start: 9, End: 17, Entry: "d0000001",
				Links: []string{"produced_by chat gpt-5 resp_1"},
			})
		},
	},
}

func edit(rows []row, span string, change func(*row)) {
	for i := range rows {
		if rows[i].Span == span {
			change(&rows[i])
		}
	}
}

func TestCompatibleWithTheFormatsOwnProjection(t *testing.T) {
	rec, _ := replay(t, archive.Options{Projection: projection.Options{Naming: projection.NamingAgentsession}}, fixture(t, "0.2/runs.jsonl"))
	want := slices.Clone(reference)
	for _, d := range differences {
		want = d.apply(want)
	}
	slices.SortFunc(want, func(a, b row) int { return cmpStrings(a.Span, b.Span) })
	got := rows(rec.Ended, want)
	slices.SortFunc(got, func(a, b row) int { return cmpStrings(a.Span, b.Span) })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs from B.4 in more than the differences listed (-want +got):\n%s", diff)
	}
	for _, err := range spantest.Check(rec) {
		t.Error(err)
	}
}

func cmpStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// rows turns spans into rows, with those of the attributes that the wanted rows have.
func rows(spans []*projection.Span, want []row) []row {
	label := map[string]string{}
	for _, s := range spans {
		label[s.SpanID.String()] = labelOf(s)
	}
	second := func(t time.Time) float64 {
		return float64(t.Sub(time.Date(2026, 9, 20, 12, 0, 0, 0, time.UTC)).Milliseconds()) / 1000
	}
	var list []row
	for _, s := range spans {
		r := row{
			Span: labelOf(s), Parent: label[s.Parent.String()], Start: second(s.Start), End: second(s.End),
			State: text(s.Attributes, "agentsession.call.state") + text(s.Attributes, "agentsession.run.reason"),
			Entry: text(s.Attributes, "agentsession.entry.id"),
		}
		for _, e := range s.Events {
			name := e.Name[len("agentsession."):]
			if v := text(e.Attributes, "agentsession.decision.verdict"); v != "" {
				name += " " + v
			}
			name += fmt.Sprintf("@%g", second(e.Time))
			if made := text(e.Attributes, "agentsession.event.time"); made != "" {
				at, _ := time.Parse(time.RFC3339Nano, made)
				name += fmt.Sprintf(" made@%g", second(at))
			}
			r.Events = append(r.Events, name)
		}
		for _, l := range s.Links {
			r.Links = append(r.Links, text(l.Attributes, "agentsession.link")+" "+label[l.SpanID.String()])
		}
		for _, w := range want {
			if w.Span == r.Span && w.Attributes != nil {
				r.Attributes = map[string]string{}
				for key := range w.Attributes {
					r.Attributes[key] = text(s.Attributes, attribute.Key(key))
				}
			}
		}
		list = append(list, r)
	}
	return list
}

func labelOf(s *projection.Span) string {
	label := s.Name
	for _, key := range []attribute.Key{
		"agentsession.run.id", "gen_ai.response.id", "gen_ai.tool.call.id", "agentsession.approval.call_id",
	} {
		if v := text(s.Attributes, key); v != "" {
			label += " " + v
		}
	}
	return label
}

func text(list []attribute.KeyValue, key attribute.Key) string {
	for _, kv := range list {
		if kv.Key == key {
			return kv.Value.String()
		}
	}
	return ""
}

// What later minors mean in the trace, in the files of the format's own repository.
func TestLaterMinorsOfFixtures(t *testing.T) {
	tests := []struct {
		file string
		want []string // spans with their attributes and links, of those that have any of the ones asked for
	}{
		{"0.3/instructions.jsonl", []string{"chat gpt-5 resp_1 instructions.parts=3", "chat gpt-5 resp_2 instructions.parts=3 instructions.omitted=2"}},
		{"0.3/pinned.jsonl", []string{"agentsession.compaction pinned=2"}},
		{"0.4/converge.jsonl", []string{
			"chat gpt-5 resp_2 converged:01995b2a-0000-7000-8000-0000000000c1 converged:01995b2a-0000-7000-8000-0000000000c2",
		}},
		{"0.11/fork.jsonl", []string{
			"agentsession.session base=sha256:794db95f081bf4fb5e0f92af4cbf963e14be14d7ef117a7be8a4ec0cd2478c84",
			"invoke_agent fixture base:01995b2a-0000-7000-8000-000000000001",
		}},
		{"0.11/omit.jsonl", []string{
			"chat gpt-5-mini resp_2 omitted.other_models=1",
			"chat gpt-5 resp_3 omitted.other_models=1",
			"chat gpt-5 resp_4 omitted.other_models=1 omitted.items=1",
		}},
		{"0.11/judged.jsonl", []string{
			"agentsession.link judged_by:c7cbb816-c8a3-5df5-b921-4871310db182 about:chat gpt-5 resp_1",
			"agentsession.link judged_by:0458961f-dfdc-5b18-ba2e-432a5ecf31f5",
		}},
		{"0.11/replay.jsonl", []string{
			"invoke_agent fixture run-1 calls=2",
			"chat gpt-5 resp_1 instructions.parts=2 instructions.omitted=1",
			"invoke_agent fixture run-2 queued=1 calls=2",
			"chat gpt-5 resp_2 instructions.parts=2 instructions.omitted=1",
			"invoke_agent fixture run-3 wait_ms=6000 calls=0",
			"agentsession.input input.wait_ms=6000 queued:execute_tool notify call_notify",
			"chat gpt-5 resp_3 instructions.parts=2",
		}},
		{"0.11/empty-resume.jsonl", []string{
			"invoke_agent fixture run-1 calls=1", "invoke_agent fixture run-2 calls=0", "invoke_agent fixture run-3 calls=0",
			"invoke_agent fixture run-4 calls=1",
		}},
	}
	attributes := []attribute.Key{
		"agentsession.session.base", "agentsession.compaction.pinned", "agentsession.chat.instructions.parts",
		"agentsession.chat.instructions.omitted", "agentsession.chat.omitted.other_models", "agentsession.chat.omitted.items",
		"agentsession.input.wait_ms", "agentsession.run.wait_ms", "agentsession.run.queued", "agentsession.run.calls",
	}
	short := strings.NewReplacer("agentsession.session.", "", "agentsession.compaction.", "", "agentsession.chat.", "",
		"agentsession.run.", "", "agentsession.", "")
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			rec, _ := replay(t, archive.Options{}, fixture(t, tt.file))
			label := map[trace.SpanID]string{}
			for _, s := range rec.Started {
				label[s.SpanID] = labelOf(s)
			}
			var got []string
			for _, s := range rec.Started {
				row := labelOf(s)
				for _, key := range attributes {
					if v := text(s.Attributes, key); v != "" && (key != "agentsession.run.calls" || text(s.Attributes, "agentsession.run.id") != "") {
						row += " " + short.Replace(string(key)) + "=" + v
					}
				}
				for _, l := range s.Links {
					switch kind := text(l.Attributes, "agentsession.link"); kind {
					case "base", "converged", "judged_by":
						row += " " + kind + ":" + text(l.Attributes, "agentsession.link.session")
					case "queued", "about":
						row += " " + kind + ":" + label[l.SpanID]
					}
				}
				if row != labelOf(s) {
					got = append(got, row)
				}
			}
			if tt.file == "0.4/converge.jsonl" { // of which the run says nothing else
				got = slices.DeleteFunc(got, func(row string) bool { return strings.HasPrefix(row, "invoke_agent") })
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The figures are those of the README beside the fixtures.
func TestFixtures(t *testing.T) {
	tests := []struct {
		file                string
		entries             int
		runs, chats         int
		input, output       int64
		calls               map[string]string // state by call, of the last span of each
		reasons             map[string]string // reason by run
		compactions, branch int
	}{
		{file: "0.1/basic.jsonl", entries: 9, runs: 1, chats: 2, input: 100, output: 20, calls: map[string]string{"call_1": "completed"}},
		{file: "0.1/branch.jsonl", entries: 15, runs: 3, chats: 3, input: -1, branch: 1},
		{file: "0.1/compaction.jsonl", entries: 14, chats: 3, runs: 4, input: -1, compactions: 1},
		{file: "0.1/extensions.jsonl", entries: 10, runs: 2, chats: 2, input: 9, output: 1},
		{
			file: "0.2/runs.jsonl", entries: 22, runs: 2, chats: 2, input: 100, output: 40,
			calls:   map[string]string{"call_1": "completed", "call_2": "completed", "call_3": "rejected"},
			reasons: map[string]string{"run-1": "input_required", "run-2": "done"},
		},
		{file: "0.3/instructions.jsonl", entries: 8, runs: 2, chats: 2, input: 100, output: 12},
		{file: "0.3/pinned.jsonl", entries: 13, runs: 3, chats: 3, input: -1, compactions: 1},
		{
			file: "0.4/converge.jsonl", entries: 18, runs: 1, chats: 2, input: 130, output: 28,
			calls:   map[string]string{"call_a": "completed", "call_b": "completed"},
			reasons: map[string]string{"run-1": "done"},
		},
		{
			file: "0.5/resume.jsonl", entries: 16, runs: 3, chats: 2, input: -1,
			calls:   map[string]string{"call_1": "rejected"},
			reasons: map[string]string{"run-1": "input_required", "run-2": "stopped", "run-3": "done"},
		},
		// Of a fork only its own entries: the others are their owner's.
		{file: "0.11/fork.jsonl", entries: 8, runs: 1, chats: 1, input: -1},
		{
			file: "0.11/replay.jsonl", entries: 27, runs: 3, chats: 3, input: -1, compactions: 1,
			calls:   map[string]string{"call_deploy": "completed", "call_notify": "answered"},
			reasons: map[string]string{"run-1": "error", "run-2": "done", "run-3": "done"},
		},
		{
			file: "0.11/empty-resume.jsonl", entries: 18, runs: 4, chats: 2, input: -1,
			calls:   map[string]string{"call_charge": "completed"},
			reasons: map[string]string{"run-1": "input_required", "run-2": "error", "run-3": "error", "run-4": "done"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			rec, reports := replay(t, archive.Options{}, fixture(t, tt.file))
			for _, err := range spantest.Check(rec) {
				t.Error(err)
			}
			rep := reports[0]
			if rep.Entries != tt.entries || rep.Damaged != 0 {
				t.Errorf("got %d entries, %d damaged, want %d and none", rep.Entries, rep.Damaged, tt.entries)
			}
			counts := map[projection.Type]int{
				projection.TypeRun: tt.runs, projection.TypeChat: tt.chats,
				projection.TypeCompaction: tt.compactions, projection.TypeBranch: tt.branch,
			}
			for typ, want := range counts {
				if got := rep.Spans[typ]; got != want {
					t.Errorf("got %d %s spans, want %d", got, typ, want)
				}
			}
			var input, output int64
			calls, reasons := map[string]string{}, map[string]string{}
			for _, s := range rec.Ended {
				switch s.Type {
				case projection.TypeChat:
					input += spantest.Attribute(s, "gen_ai.usage.input_tokens").AsInt64()
					output += spantest.Attribute(s, "gen_ai.usage.output_tokens").AsInt64()
				case projection.TypeTool:
					calls[text(s.Attributes, "gen_ai.tool.call.id")] = text(s.Attributes, "agentsession.call.state")
				case projection.TypeRun:
					if id := text(s.Attributes, "agentsession.run.id"); id != "" {
						reasons[id] = text(s.Attributes, "agentsession.run.reason")
					}
				}
			}
			if tt.input >= 0 && (input != tt.input || output != tt.output) {
				t.Errorf("got %d tokens in and %d out, want %d and %d", input, output, tt.input, tt.output)
			}
			if tt.calls != nil {
				if diff := cmp.Diff(tt.calls, calls); diff != "" {
					t.Errorf("states of calls (-want +got):\n%s", diff)
				}
			}
			if tt.reasons != nil {
				if diff := cmp.Diff(tt.reasons, reasons); diff != "" {
					t.Errorf("reasons of runs (-want +got):\n%s", diff)
				}
			}
		})
	}
}
