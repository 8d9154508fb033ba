package format

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const fixtures = "../../shared/fixtures/agentsession"

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtures, filepath.FromSlash(name)))
	if os.IsNotExist(err) {
		t.Skip("the fixtures of other projects are not beside the repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// facts are what a correct reader finds in a file. Ids that are hashes are cut to their first 8 digits.
type facts struct {
	Entries int
	Leaf    string
	Leaves  string
	Calls   string // at the leaf, with the number of hand-offs
	Runs    string // at the leaf: reason written, reason computed, pending written, pending computed
	Name    string
	Labels  string
}

var fixtureFacts = map[string]facts{
	"0.1/basic.jsonl":      {Entries: 9, Leaf: "o0000001", Leaves: "o0000001", Calls: "call_1 completed 0"},
	"0.1/branch.jsonl":     {Entries: 15, Leaf: "n0000001", Leaves: "r0000002 n0000001", Name: "Branching demo", Labels: "r0000001=fork"},
	"0.1/compaction.jsonl": {Entries: 14, Leaf: "i0000007", Leaves: "i0000007"},
	"0.1/extensions.jsonl": {Entries: 10, Leaf: "r0000002", Leaves: "r0000002"},
	"0.2/runs.jsonl": {
		Entries: 22, Leaf: "o0000001", Leaves: "o0000001", Calls: "call_1 completed 1; call_2 completed 1; call_3 completed 0",
		Runs: "run-1 input_required input_required [call_1] [call_1]; run-2 done done [] []",
	},
	"0.3/instructions.jsonl": {Entries: 8, Leaf: "r0000002", Leaves: "r0000002"},
	"0.3/pinned.jsonl":       {Entries: 13, Leaf: "r0000003", Leaves: "r0000003"},
	"0.4/converge.jsonl": {
		Entries: 18, Leaf: "i0000009", Leaves: "i0000008 i0000009", Calls: "call_a completed 1; call_b completed 1",
		Runs: "run-1 done done [] []",
	},
	"0.5/interleaved.jsonl": {Entries: 11, Leaf: "34b29c01", Leaves: "34b29c01", Calls: "call_1 completed 0"},
	"0.5/resume.jsonl": {
		Entries: 16, Leaf: "06ce3e51", Leaves: "06ce3e51", Calls: "call_1 completed 0",
		Runs: "run-1 input_required input_required [call_1] [call_1]; run-2 stopped stopped [] []; run-3 done done [] []",
	},
	"0.10/runs.jsonl": {
		Entries: 22, Leaf: "6f45dcf8", Leaves: "6f45dcf8", Calls: "call_1 completed 1; call_2 completed 1; call_3 completed 0",
		Runs: "run-1 input_required input_required [call_1] [call_1]; run-2 done done [] []",
	},
	"0.10/branch.jsonl":     {Entries: 15, Leaf: "1dea6d6b", Leaves: "0b9d4d6f 1dea6d6b", Name: "Branching demo", Labels: "d5fb4724=fork"},
	"0.10/pinned.jsonl":     {Entries: 13, Leaf: "cdf62b2f", Leaves: "cdf62b2f"},
	"0.10/normalised.jsonl": {Entries: 5, Leaf: "1eb64857", Leaves: "1eb64857", Name: "spellings"},
	"0.11/basic.jsonl":      {Entries: 9, Leaf: "7b2c1e31", Leaves: "7b2c1e31", Calls: "call_1 completed 0"},
	"0.11/fork.jsonl":       {Entries: 8, Leaf: "ceeaa8e1", Leaves: "ceeaa8e1", Calls: "call_1 completed 0"},
	"0.11/omit.jsonl":       {Entries: 20, Leaf: "aaffa5e6", Leaves: "aaffa5e6"},
	// The error of run-1 was written by the process that came after the crash: it stands over what the segment tells.
	"0.11/replay.jsonl": {
		Entries: 27, Leaf: "49d1a580", Leaves: "49d1a580", Calls: "call_deploy completed 2; call_notify completed 1",
		Runs: "run-1 error aborted [call_deploy call_notify] [call_deploy call_notify]; run-2 done done [] []; run-3 done done [] []",
	},
	"0.11/empty-resume.jsonl": {
		Entries: 18, Leaf: "2167ac96", Leaves: "2167ac96", Calls: "call_charge completed 1",
		Runs: "run-1 input_required input_required [call_charge] [call_charge]; run-2 error aborted [] []; run-3 error aborted [] []; run-4 done done [] []",
	},
	"0.11/judged.jsonl":      {Entries: 6, Leaf: "a6e982db", Leaves: "a6e982db"},
	"0.11/bad-records.jsonl": {Entries: 5, Leaf: "9e0b4f68", Leaves: "9e0b4f68", Calls: "call_1 completed 0"},
}

func short(id string) string {
	if digest, ok := strings.CutPrefix(id, "sha256:"); ok {
		return digest[:8]
	}
	return id
}

func TestFixtures(t *testing.T) {
	for name, want := range fixtureFacts {
		t.Run(name, func(t *testing.T) {
			data := fixture(t, name)
			s, err := ReadSession(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			got := facts{Entries: s.Len(), Leaf: short(s.Leaf()), Name: s.Name()}
			var leaves, calls, runs, labels []string
			for _, id := range s.Leaves() {
				leaves = append(leaves, short(id))
			}
			onPath, err := s.Calls(s.Leaf())
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range onPath {
				calls = append(calls, fmt.Sprint(c.ID(), " ", c.State, " ", len(c.Dispatches)))
			}
			onPathRuns, err := s.Runs(s.Leaf())
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range onPathRuns {
				runs = append(runs, fmt.Sprint(r.ID(), " ", r.End.Reason, " ", r.ComputeReason(), " ", r.End.Pending, " ", r.Pending()))
			}
			for id, label := range s.Labels() {
				labels = append(labels, short(id)+"="+label)
			}
			got.Leaves, got.Calls, got.Runs, got.Labels = strings.Join(leaves, " "), strings.Join(calls, "; "), strings.Join(runs, "; "), strings.Join(labels, " ")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if text := write(t, s); text != string(data) {
				t.Error("not written as it was read")
			}
			if s.Torn() != nil || s.Repeats() != nil || s.SupersededBy() != "" {
				t.Errorf("torn %v, repeats %v, superseded by %q", s.Torn(), s.Repeats(), s.SupersededBy())
			}

			r, err := NewReader(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(s.Header(), r.Header()); diff != "" {
				t.Error(diff)
			}
			entries, damage := readAll(t, r)
			if diff := cmp.Diff(s.Entries(), entries); diff != "" || damage != nil {
				t.Error(damage, diff)
			}
		})
	}
}

func readFixture(t testing.TB, name string) *Session {
	t.Helper()
	return mustRead(t, string(fixture(t, name)))
}

func TestFixtureBasic(t *testing.T) {
	s := readFixture(t, "0.1/basic.jsonl")
	var counts, latencies []int64
	for _, e := range s.Entries() {
		switch e := e.(type) {
		case *ResponseEntry:
			u := e.Usage
			counts = append(counts, *u.InputTokens, *u.OutputTokens, *u.CachedTokens, *u.ReasoningTokens)
			latencies = append(latencies, *e.LatencyMS)
		case *OutcomeEntry:
			if e.Kind != OutcomeFeedback || *e.Score != 1 || e.Target != "r0000002" {
				t.Errorf("outcome %+v", e)
			}
		}
	}
	if diff := cmp.Diff([]int64{40, 12, 0, 5, 60, 8, 40, 0}, counts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{500, 300}, latencies); diff != "" {
		t.Error(diff)
	}
	if c, ok := s.Entry("c0000001"); !ok || c.(*ConfigEntry).Reasoning == nil || len(c.(*ConfigEntry).ToolsAdded) != 1 || c.(*ConfigEntry).Extra == nil {
		t.Errorf("config %+v", c)
	}
}

func TestFixtureExtensions(t *testing.T) {
	s := readFixture(t, "0.1/extensions.jsonl")
	if w := s.Header().Unknown.Get("acme:workspace"); string(w) != `"ws-1"` {
		t.Errorf("header member %s", w)
	}
	note, _ := s.Entry("n0000001")
	if u, ok := note.(*UnknownEntry); !ok || u.Type != "agentturn:note" || string(u.Unknown.Get("text")) != `"<b>&</b> stays literal"` {
		t.Errorf("extension %+v", note)
	}
	item, _ := s.Entry("i0000002")
	if i := item.(*ItemEntry); i.Item.Type != "agentturn:note" || *i.Visible {
		t.Errorf("extension item %+v", i)
	}
	failed, _ := s.Entry("r0000002")
	if r := failed.(*ResponseEntry); r.RequestHash != "" || r.Error == nil || r.Error.Code != "upstream" {
		t.Errorf("response %+v", r)
	}
	env, _ := s.Entry("e0000001")
	if e := env.(*EnvEntry); e.VCS.Revision != "abc123" || !*e.VCS.Dirty || e.Files.Read["go.mod"] != "sha256:aaaa" || e.Tools["go"] != "1.25.0" {
		t.Errorf("env %+v", e)
	}
}

func TestFixtureRunsEarlier(t *testing.T) {
	s := readFixture(t, "0.2/runs.jsonl")
	calls, err := s.Calls("u0000002")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range calls {
		got = append(got, callText(c))
	}
	want := []string{
		"call_1 held r0000001-1 hold",
		"call_2 completed r0000001-2 proceed dispatch@p0000001 output@i0000002",
		"call_3 completed r0000001-3 reject output@i0000003",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if args := calls[1].Decisions[0].Args; string(args) != `{"cmd":"ls -la"}` {
		t.Errorf("rewritten arguments %s", args)
	}
	if ran, own := calls[1].Args(), calls[0].Args(); ran != `{"cmd":"ls -la"}` || own != `{"cmd":"rm -rf build"}` {
		t.Errorf("ran with %s, %s", ran, own)
	}
	runs, err := s.Runs(s.Leaf())
	if err != nil {
		t.Fatal(err)
	}
	if r := runs[0].Start; r.Source != SourceInput || r.Ref != "cron:nightly-clean" {
		t.Errorf("run-1 %+v", r)
	}
	if r := runs[1].Start; r.Source != SourceResume || r.Ref != "approval:chris" {
		t.Errorf("run-2 %+v", r)
	}
}

func TestFixtureReplay(t *testing.T) {
	s := readFixture(t, "0.11/replay.jsonl")
	calls, err := s.Calls(s.Leaf())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range calls[0].Dispatches {
		if d.IdempotencyKey != "idem-deploy-1" {
			t.Errorf("dispatch %+v", d)
		}
	}
	if !calls[1].Decided(VerdictAnswer) || calls[0].Decided(VerdictAnswer) {
		t.Error("the answer is on the wrong call")
	}
	var queued *QueuedEntry
	for _, e := range s.Entries() {
		switch e := e.(type) {
		case *QueuedEntry:
			queued = e
		case *ItemEntry:
			if e.QueuedFrom != "" && (e.QueuedFrom != queued.ID || e.Source == nil) {
				t.Errorf("item %+v", e)
			}
		}
	}
	if queued == nil || queued.Mode != "followup" || queued.Trigger.Ref != "nightly" || string(queued.Trigger.Unknown.Get("attempt")) != "2" {
		t.Errorf("queued %+v", queued)
	}
}

func TestFixtureConverge(t *testing.T) {
	s := readFixture(t, "0.4/converge.jsonl")
	refs := 0
	for _, e := range s.Entries() {
		refs += len(e.Base().Parents)
	}
	if refs != 4 {
		t.Errorf("%d references, want 4", refs)
	}
	path, err := s.Path("i0000009")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(strings.Join(ids(path), " "), "i0000008") {
		t.Error("parents were walked")
	}
}

func TestFixtureFork(t *testing.T) {
	s := readFixture(t, "0.11/fork.jsonl")
	path, err := s.Path(s.Header().Base)
	if err != nil || len(path) != 6 {
		t.Errorf("%d entries up to the base, %v", len(path), err)
	}
}
