package archive_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/spantest"
	"go.opentelemetry.io/otel/attribute"
)

// overviews reads the files below a path; those without a usable header are left out.
func overviews(t *testing.T, now time.Time, paths ...string) []archive.Overview {
	t.Helper()
	found, err := archive.Find(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	ix := archive.NewIndex(t.Context(), found.Files, nil, source.Options{})
	return ix.Overviews(t.Context(), ix.Files, archive.Options{Now: now})
}

// figures are what an overview counts, and a replay shows.
type figures struct {
	TraceID            string
	Runs, Chats, Calls int
	Input, Output      int64
	LowerBound         bool
	Entries, Damaged   int
}

func figuresOf(v archive.Overview) figures {
	f := figures{
		TraceID: v.TraceID, Runs: v.Runs, Chats: v.Chats, Calls: v.Calls, LowerBound: v.Tokens.LowerBound,
		Entries: v.Entries, Damaged: v.Damaged,
	}
	if n := v.Tokens.Input; n != nil {
		f.Input = *n
	}
	if n := v.Tokens.Output; n != nil {
		f.Output = *n
	}
	return f
}

// replayed counts the spans that a replay of the same file makes.
func replayed(t *testing.T, v archive.Overview, now time.Time) figures {
	t.Helper()
	ix := archive.NewIndex(t.Context(), []string{v.File.Path}, nil, source.Options{})
	rec := &spantest.Recorder{}
	rep := ix.Project(t.Context(), ix.Files[0], archive.Options{Now: now}, rec)
	f := figures{TraceID: v.TraceID, Entries: rep.Entries, Damaged: rep.Damaged}
	counted := false
	for _, s := range rec.Started {
		at := func(key attribute.Key) attribute.Value {
			for _, kv := range s.Attributes {
				if kv.Key == key {
					return kv.Value
				}
			}
			return attribute.Value{}
		}
		switch s.Type {
		case projection.TypeSession:
			if s.Session.Root == s.Session.ID { // its ancestors are in other files
				f.TraceID = s.TraceID.String()
			}
		case projection.TypeRun:
			f.Runs++
		case projection.TypeTool:
			if !slices.ContainsFunc(s.Links, func(l projection.Link) bool {
				return slices.Contains(l.Attributes, names.Link.String(names.LinkDispatchedAgain)) ||
					slices.Contains(l.Attributes, names.Link.String(names.LinkFollowsHandOff))
			}) {
				f.Calls++
			}
		case projection.TypeChat:
			f.Chats++
			in, out := at(names.InputTokens), at(names.OutputTokens)
			f.Input, f.Output = f.Input+in.AsInt64(), f.Output+out.AsInt64()
			counted = counted || in.Type() != attribute.EMPTY || out.Type() != attribute.EMPTY
			f.LowerBound = f.LowerBound || at(names.LowerBound).AsBool() ||
				in.Type() == attribute.EMPTY || out.Type() == attribute.EMPTY
		}
	}
	f.LowerBound = f.LowerBound && counted
	return f
}

func TestOverviewCountsWhatAReplayShows(t *testing.T) {
	all := overviews(t, longAfter, testdata)
	if len(all) < 40 {
		t.Fatalf("%d sessions", len(all))
	}
	for _, v := range all {
		if diff := cmp.Diff(replayed(t, v, longAfter), figuresOf(v)); diff != "" {
			t.Errorf("%s (-replay +overview):\n%s", v.File.Path, diff)
		}
	}
}

func TestOverviewIsTrueOfRandomSessions(t *testing.T) {
	waiting, held := 0, 0
	eachCase(t, func(t *testing.T, _ *rand.Rand, c *sessiontest.Case) {
		all := overviews(t, longAfter, write(t, c))
		if len(all) != len(c.Files) {
			t.Fatalf("%d sessions, want %d", len(all), len(c.Files))
		}
		for i, v := range all {
			f := c.Files[i]
			if diff := cmp.Diff(replayed(t, v, longAfter), figuresOf(v)); diff != "" {
				t.Errorf("(-replay +overview):\n%s", diff)
			}
			if v.TraceID != projection.TraceID("", c.Files[0].SessionID).String() {
				t.Errorf("trace id %s is not that of the root", v.TraceID)
			}
			if v.Leaf != f.Truth.Leaf {
				t.Errorf("leaf %q, want %q", v.Leaf, f.Truth.Leaf)
			}
			if v.Name != f.Truth.Name {
				t.Errorf("name %q, want %q", v.Name, f.Truth.Name)
			}
			if in := f.Truth.InputTokens + f.Truth.OtherInputTokens; figuresOf(v).Input != in {
				t.Errorf("%d tokens in, want %d", figuresOf(v).Input, in)
			}
			if f.Truth.Runs == 0 {
				continue
			}
			want, isHeld := stateOf(t, f.Data, f.Truth.Leaf)
			if v.State != want {
				t.Errorf("state %s, want %s", v.State, want)
			}
			if v.State == archive.Waiting {
				waiting++
			}
			if isHeld {
				held++
			}
		}
	})
	if waiting == 0 || held == 0 {
		t.Errorf("of all sessions %d waited, %d of them for a held call: nothing was tested", waiting, held)
	}
}

// stateOf reads the state off the entries of the path to the leaf, long after the last one.
func stateOf(t *testing.T, file []byte, leaf string) (st archive.State, held bool) {
	t.Helper()
	type entry struct {
		Type, ID, Parent, Phase, Reason, Verdict string
		CallID                                   string `json:"call_id"`
		Item                                     struct {
			Type   string
			CallID string `json:"call_id"`
		}
	}
	entries := map[string]entry{}
	for line := range bytes.Lines(file) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		entries[e.ID] = e
	}
	var path []entry
	for at := leaf; at != ""; at = entries[at].Parent {
		path = append(path, entries[at])
	}
	slices.Reverse(path)
	st = archive.Empty
	holds := map[string]bool{}
	for _, e := range path {
		switch {
		case e.Type == "run" && e.Phase == "start":
			st = archive.CutOff
		case e.Type == "run":
			st = archive.State(strings.ReplaceAll(e.Reason, "input_required", "waiting"))
		case e.Type == "decision":
			holds[e.CallID] = e.Verdict == "hold"
		case e.Type == "dispatch":
			holds[e.CallID] = false
		case e.Item.Type == "function_call_output":
			holds[e.Item.CallID] = false
		}
	}
	for _, is := range holds {
		if is {
			return archive.Waiting, true
		}
	}
	return st, false
}

// session writes a session file: each entry is its members after the time, which goes up by a second, and hangs from the
// one before it unless it says otherwise.
func session(t *testing.T, header string, entries ...string) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"session","format":"agentsession/0.2","id":"s","created_at":"2026-01-02T03:00:00Z"%s}`+"\n", header)
	parent := "null"
	for i, e := range entries {
		id := fmt.Sprintf(`"e%d"`, i+1)
		if !strings.Contains(e, `"parent"`) {
			e += `,"parent":` + parent
		}
		at := time.Date(2026, 1, 2, 3, 0, i+1, 0, time.UTC)
		if strings.Contains(e, "two days later") {
			at = at.Add(48 * time.Hour)
		}
		fmt.Fprintf(&b, `{"id":%s,"ts":%q,%s}`+"\n", id, at.Format(time.RFC3339), e)
		parent = id
	}
	path := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const (
	records  = `,"records":["run","dispatch","decision"]`
	runStart = `"type":"run","run_id":"r","phase":"start","source":"input"`
	toolCall = `"type":"item","item":{"type":"function_call","call_id":"c","name":"bash","arguments":"{}"},"response":"x"`
	response = `"type":"response","response_id":"x","model":"m"`
	hold     = `"type":"decision","call_id":"c","target":"e2","verdict":"hold"`
	proceed  = `"type":"decision","call_id":"c","target":"e2","verdict":"proceed"`
	handOff  = `"type":"dispatch","call_id":"c","target":"e2"`
	output   = `"type":"item","item":{"type":"function_call_output","call_id":"c","output":"ok"}`
	plain    = `"type":"custom","ns":"x","data":{}`
	question = `"type":"item","item":{"type":"message","role":"user","content":"hi"}`
	later    = `"type":"info","name":"two days later"`
)

func runEnd(reason string) string {
	return fmt.Sprintf(`"type":"run","run_id":"r","phase":"end","reason":%q,"pending":[]`, reason)
}

func from(entry int, e string) string { return fmt.Sprintf(`%s,"parent":"e%d"`, e, entry) }

func leafMark(entry int) string {
	return fmt.Sprintf(`"type":"label","target":"e%d","label":"leaf"`, entry)
}

func TestOverviewSaysHowThingsStandAtTheLeaf(t *testing.T) {
	soon := time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name    string
		header  string
		entries []string
		leaf    string
		soon    archive.State // an hour later
		late    archive.State // years later; the same unless given
	}{
		{name: "a header alone", header: records, soon: archive.Empty},
		{name: "no run", header: records, entries: []string{plain}, leaf: "e1", soon: archive.Empty},
		{
			name: "a run that goes on", header: records, entries: []string{runStart, response}, leaf: "e2",
			soon: archive.Working, late: archive.CutOff,
		},
		{name: "done", entries: []string{runStart, runEnd("done")}, leaf: "e2", soon: archive.Done},
		{name: "stopped", entries: []string{runStart, runEnd("stopped")}, leaf: "e2", soon: archive.Stopped},
		{name: "interrupted", entries: []string{runStart, runEnd("interrupted")}, leaf: "e2", soon: archive.Interrupted},
		{name: "aborted", entries: []string{runStart, runEnd("aborted")}, leaf: "e2", soon: archive.Aborted},
		{name: "an error", entries: []string{runStart, runEnd("error")}, leaf: "e2", soon: archive.Failed},
		{name: "asks for something", entries: []string{runStart, runEnd("input_required")}, leaf: "e2", soon: archive.Waiting},
		{name: "a reason of a later version", entries: []string{runStart, runEnd("tired")}, leaf: "e2", soon: archive.Ended},
		{name: "an end without its start", entries: []string{runEnd("done")}, leaf: "e1", soon: archive.Done},
		{
			name: "an end of another run than the one that is open", leaf: "e2", soon: archive.Working, late: archive.CutOff,
			entries: []string{runStart, `"type":"run","run_id":"other","phase":"end","reason":"done"`},
		},
		{
			name: "cut off, then done", leaf: "e3", soon: archive.Done,
			entries: []string{runStart, strings.Replace(runStart, `"r"`, `"q"`, 1), strings.Replace(runEnd("done"), `"r"`, `"q"`, 1)},
		},
		{
			name: "a held call", header: records, leaf: "e4", soon: archive.Waiting,
			entries: []string{runStart, toolCall, response, hold},
		},
		{
			name: "a held call of a run that was cut off by the next", header: records, leaf: "e5", soon: archive.Waiting,
			entries: []string{runStart, toolCall, response, hold, strings.Replace(runStart, `"r"`, `"q"`, 1)},
		},
		{
			name: "a held call that was let go", header: records, leaf: "e5", soon: archive.Working, late: archive.CutOff,
			entries: []string{runStart, toolCall, response, hold, proceed},
		},
		{
			name: "a held call that has its output", header: records, leaf: "e6", soon: archive.Done,
			entries: []string{runStart, toolCall, response, hold, output, runEnd("done")},
		},
		{
			name: "a call held again after its hand-off", header: records, leaf: "e5", soon: archive.Waiting,
			entries: []string{runStart, toolCall, response, handOff, hold},
		},
		{
			name: "a hold of a call that is not there", header: records, leaf: "e3", soon: archive.Done,
			entries: []string{runStart, hold, runEnd("done")},
		},
		{
			name: "a held call that was let go on another branch", header: records, leaf: "e6", soon: archive.Waiting,
			entries: []string{runStart, toolCall, response, hold, proceed, from(4, plain)},
		},
		{
			name: "a held call that was let go on both branches", header: records, leaf: "e8", soon: archive.Done,
			entries: []string{runStart, toolCall, response, hold, proceed, from(4, handOff), output, runEnd("done")},
		},
		{
			name: "a run that ended on another branch", leaf: "e4", soon: archive.Working, late: archive.CutOff,
			entries: []string{runStart, plain, runEnd("done"), from(2, plain)},
		},
		{
			name: "a branch from before the run", leaf: "e3", soon: archive.Empty,
			entries: []string{plain, runStart, from(1, plain)},
		},
		{
			name: "a leaf mark on an entry of the run", leaf: "e2", soon: archive.Working, late: archive.CutOff,
			entries: []string{runStart, plain, runEnd("done"), leafMark(2)},
		},
		{
			name: "work off the leaf mark", leaf: "e3", soon: archive.Done,
			entries: []string{plain, runStart, runEnd("done"), leafMark(3), from(1, runStart), plain},
		},
		{
			name: "a leaf mark that was taken back", leaf: "e6", soon: archive.Done,
			entries: []string{
				runStart, runEnd("done"), plain, leafMark(1), from(3, plain), from(5, `"type":"label","target":"e1","label":null`),
			},
		},
		{
			name: "a call handed over outside runs", header: records, leaf: "e4", soon: archive.Working, late: archive.CutOff,
			entries: []string{plain, toolCall, response, handOff},
		},
		{
			name: "a call handed over outside runs, on another branch", header: records, leaf: "e5", soon: archive.Empty,
			entries: []string{plain, toolCall, response, handOff, from(3, plain)},
		},
		{name: "an inferred run", entries: []string{question, response}, leaf: "e2", soon: archive.Done},
		{
			name: "an inferred run without an answer", entries: []string{question}, leaf: "e1",
			soon: archive.Working, late: archive.CutOff,
		},
		{
			name: "an inferred run that fell silent", entries: []string{question, later}, leaf: "e2",
			soon: archive.CutOff,
		},
		{
			name: "a run of the file that was gone on with", entries: []string{runStart, later, runEnd("done")}, leaf: "e3",
			soon: archive.Done,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := session(t, tc.header, tc.entries...)
			if tc.late == "" {
				tc.late = tc.soon
			}
			for now, want := range map[time.Time]archive.State{soon: tc.soon, longAfter: tc.late} {
				v := overviews(t, now, path)[0]
				if v.State != want {
					t.Errorf("state %s at %s, want %s", v.State, now, want)
				}
				if v.Leaf != tc.leaf {
					t.Errorf("leaf %q, want %q", v.Leaf, tc.leaf)
				}
				if v.Damaged != 0 || v.Err != nil {
					t.Errorf("taken for damaged: %v %v", v.Problems, v.Err)
				}
			}
		})
	}
}

func TestOverviewOfTimesAndLinks(t *testing.T) {
	link := func(session string) string {
		return fmt.Sprintf(`"type":"link","rel":"continued_in","session":%q`, session)
	}
	v := overviews(t, longAfter, session(t, "", plain, link("first"), from(1, link("second")), later))[0]
	if v.ContinuedIn != "second" {
		t.Errorf("continued in %q", v.ContinuedIn)
	}
	if v.Name != "two days later" {
		t.Errorf("name %q", v.Name)
	}
	if got := v.End.Sub(v.Start); got != 48*time.Hour+4*time.Second {
		t.Errorf("lasted %s", got)
	}
	// A header without a usable time leaves it to the first entry.
	v = overviews(t, longAfter, session(t, `,"created_at":"0001-01-01T00:00:00Z"`, plain))[0]
	if first := time.Date(2026, 1, 2, 3, 0, 1, 0, time.UTC); !v.Start.Equal(first) {
		t.Errorf("started at %s, want %s", v.Start, first)
	}
}

// A held call is counted, though no span speaks of it yet; one that was held after its hand-off is one call.
func TestOverviewCountsCallsWithoutASpan(t *testing.T) {
	now := time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)
	for name, entries := range map[string][]string{
		"held":                    {runStart, toolCall, response, hold},
		"held after its hand-off": {runStart, toolCall, response, handOff, runEnd("interrupted"), hold},
		"handed over twice":       {runStart, toolCall, response, handOff, handOff},
	} {
		if v := overviews(t, now, session(t, records, entries...))[0]; v.Calls != 1 {
			t.Errorf("%s: %d calls", name, v.Calls)
		}
	}
}

func TestOverviewKeepsFewProblems(t *testing.T) {
	var entries []string
	for range 100 {
		entries = append(entries, `"type":"custom","ns":"x","data":{},"parent":"nowhere"`)
	}
	v := overviews(t, longAfter, session(t, "", entries...))[0]
	if v.Damaged != 100 || len(v.Problems) != 20 {
		t.Errorf("%d damaged, %d problems kept", v.Damaged, len(v.Problems))
	}
}

func TestOverviewsStopWithTheContext(t *testing.T) {
	ix := archive.NewIndex(t.Context(), []string{session(t, "", plain), session(t, "", plain)}, nil, source.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, v := range ix.Overviews(ctx, ix.Files, archive.Options{}) {
		if !errors.Is(v.Err, context.Canceled) {
			t.Errorf("error %v", v.Err)
		}
	}
}

// What is told of the progress adds up to the size of the files.
func TestOverviewsTellTheirProgress(t *testing.T) {
	dir := t.TempDir()
	files, err := sessiontest.Archive(dir, rand.New(rand.NewPCG(3, 0)), 3, 300_000)
	if err != nil {
		t.Fatal(err)
	}
	ix := archive.NewIndex(t.Context(), files, nil, source.Options{})
	var size int64
	for _, path := range files {
		size += input.Size(path)
	}
	var told atomic.Int64
	ix.Overviews(t.Context(), ix.Files, archive.Options{Read: func(n int64) { told.Add(n) }})
	if told.Load() != size {
		t.Errorf("told of %d bytes, have %d", told.Load(), size)
	}
}
