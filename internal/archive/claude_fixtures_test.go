package archive_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/spantest"
)

const claudeFixtures = "../../../shared/fixtures/claude-code"

// claudeFigures are what the trace of a unit has to come to.
type claudeFigures struct {
	Turns, Chats           int
	Calls, Results, Failed int   // tool spans; those that came to their end, and of those the ones that failed or were not wanted
	Tokens                 int64 // all four parts
	Agents                 int
}

// The figures are those that the fixtures' own README states.
var claudeUnits = map[string]claudeFigures{
	"real-v1.0.98-stream-split.jsonl":      {Turns: 1, Chats: 7, Calls: 12, Results: 12, Failed: 1, Tokens: 116963},
	"real-v1.0.108-inline-sidechain.jsonl": {Turns: 1, Chats: 20, Calls: 21, Results: 21, Failed: 3, Tokens: 375764, Agents: 2},
	"multi-block-turns.jsonl":              {Turns: 2, Chats: 5, Calls: 5, Results: 5, Failed: 2, Tokens: 92570},
	"subagents":                            {Turns: 1, Chats: 10, Calls: 6, Results: 6, Tokens: 88218, Agents: 4},
	"compaction.jsonl":                     {Turns: 2, Chats: 5, Calls: 3, Results: 3, Tokens: 365960},
	"resume-fork":                          {Turns: 2, Chats: 5, Calls: 3, Results: 3, Tokens: 52844},
	"resume-fork/original.jsonl":           {Turns: 1, Chats: 3, Calls: 2, Results: 2, Tokens: 30235},
	"damaged.jsonl":                        {Turns: 2, Chats: 3, Calls: 1, Results: 1, Tokens: 17195},
}

func claudeFixture(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(claudeFixtures, name)
	if _, err := os.Stat(path); os.IsNotExist(err) {
		t.Skip("the fixtures of other projects are not beside the repository")
	}
	return path
}

func claudeFiguresOf(rec *spantest.Recorder) claudeFigures {
	var f claudeFigures
	for _, s := range rec.Ended {
		switch s.Type {
		case projection.TypeSession:
			if spantest.Attribute(s, names.ParentSession).AsString() != "" && s.Session.ID != s.Session.Root {
				f.Agents++
			}
		case projection.TypeRun:
			if s.Session.ID == s.Session.Root && spantest.Attribute(s, names.RunSource).AsString() == "input" &&
				spantest.Attribute(s, names.RunTriggerKind).AsString() == "" && spantest.Attribute(s, names.RunSegment).AsInt64() < 2 {
				f.Turns++
			}
		case projection.TypeChat:
			f.Chats++
			f.Tokens += spantest.Attribute(s, names.InputTokens).AsInt64() + spantest.Attribute(s, names.OutputTokens).AsInt64()
		case projection.TypeTool:
			f.Calls++
			switch spantest.Attribute(s, names.CallState).AsString() {
			case names.StateCompleted:
				f.Results++
				if spantest.Attribute(s, names.ErrorType).AsString() != "" {
					f.Failed++
				}
			case names.StateRejected:
				f.Results++
				f.Failed++
			}
		}
	}
	return f
}

func TestClaudeFixtures(t *testing.T) {
	for name, want := range claudeUnits {
		t.Run(name, func(t *testing.T) {
			rec, reports := replay(t, archive.Options{}, claudeFixture(t, name))
			for _, err := range spantest.Check(rec) {
				t.Error(err)
			}
			if diff := cmp.Diff(want, claudeFiguresOf(rec)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if open := rec.Open(); open != 0 {
				t.Errorf("%d spans are open long after the last entry", open)
			}
			for _, r := range reports {
				want := 0
				if name == "damaged.jsonl" {
					want = 5
				}
				if r.Damaged+r.Notes != want {
					t.Errorf("%s: %d damaged, %d notes", r.File.Path, r.Damaged, r.Notes)
				}
			}
		})
	}
}
