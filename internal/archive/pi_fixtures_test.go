package archive_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/spantest"
	"go.opentelemetry.io/otel/attribute"
)

const piFixtures = "../../../shared/fixtures/pi"

// piFigures are what the trace of a file has to come to.
type piFigures struct {
	Chats       int // assistant messages
	Calls       int
	Results     int   // tool spans that came to their end
	In, Out     int64 // of the assistant messages, cached input apart
	AllIn       int64 // of everything with usage
	AllOut      int64
	Compactions int
}

// The figures are those that the fixtures' own README states. Of the fork, what is copied is not its own.
var piFiles = map[string]piFigures{
	"header-only":          {},
	"v1-before-compaction": {Chats: 484, Calls: 454, Results: 448, In: 3689, Out: 187895, AllIn: 3689, AllOut: 187895, Compactions: 2},
	"v1-large":             {Chats: 272, Calls: 247, Results: 230, In: 652, Out: 53788, AllIn: 652, AllOut: 53788},
	"v1-small":             {Chats: 4, Calls: 1, Results: 1, In: 12, Out: 80, AllIn: 12, AllOut: 80, Compactions: 1},
	"v2-hook-message":      {Chats: 2, In: 24, Out: 160, AllIn: 24, AllOut: 160, Compactions: 1},
	"v3-before-compaction": {Chats: 484, Calls: 454, Results: 448, In: 3689, Out: 187895, AllIn: 3689, AllOut: 187895, Compactions: 2},
	"v3-branched":          {Chats: 8, Calls: 3, Results: 3, In: 96, Out: 640, AllIn: 996, AllOut: 760},
	"v3-compactions":       {Chats: 10, Calls: 3, Results: 3, In: 120, Out: 800, AllIn: 5320, AllOut: 1200, Compactions: 3},
	"v3-context-edit":      {Chats: 6, Calls: 1, Results: 1, In: 100, Out: 8592, AllIn: 100, AllOut: 8592},
	"v3-errors-aborts":     {Chats: 12, Calls: 8, Results: 6, In: 138, Out: 8912, AllIn: 138, AllOut: 8912},
	"v3-fork-child":        {Chats: 1, In: 12, Out: 80, AllIn: 12, AllOut: 80},
	"v3-fork-parent":       {Chats: 3, Calls: 1, Results: 1, In: 36, Out: 240, AllIn: 36, AllOut: 240},
	"v3-leaf-active-tools": {Chats: 3, In: 36, Out: 240, AllIn: 36, AllOut: 240, Compactions: 1},
	"v3-malformed":         {Chats: 2, In: 12, Out: 80, AllIn: 12, AllOut: 80},
	"v3-newest-fields":     {Chats: 4, Calls: 3, Results: 3, In: 55, Out: 415, AllIn: 755, AllOut: 476},
	"v3-real-small":        {Chats: 8, Calls: 5, Results: 5, In: 5168, Out: 620, AllIn: 5168, AllOut: 620},
	"v3-two-writers":       {Chats: 10, In: 120, Out: 800, AllIn: 120, AllOut: 800},
}

func piFixture(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(piFixtures, name+".jsonl")
	if _, err := os.Stat(path); os.IsNotExist(err) {
		t.Skip("the fixtures of other projects are not beside the repository")
	}
	return path
}

func piFiguresOf(rec *spantest.Recorder) piFigures {
	var f piFigures
	for _, s := range rec.Ended {
		number := func(key attribute.Key) int64 { return spantest.Attribute(s, key).AsInt64() }
		switch s.Type {
		case projection.TypeChat:
			in := number(names.InputTokens) - number(names.CacheReadTokens) - number(names.CacheCreateTokens)
			f.AllIn += in
			f.AllOut += number(names.OutputTokens)
			if spantest.Attribute(s, names.ChatPurpose).AsString() == "" {
				f.Chats++
				f.In += in
				f.Out += number(names.OutputTokens)
			}
		case projection.TypeTool:
			f.Calls++
			if spantest.Attribute(s, names.CallState).AsString() == names.StateCompleted {
				f.Results++
			}
		case projection.TypeCompaction:
			f.Compactions++
		}
	}
	return f
}

func TestPiFixtures(t *testing.T) {
	for name, want := range piFiles {
		t.Run(name, func(t *testing.T) {
			rec, reports := replay(t, archive.Options{}, piFixture(t, name))
			for _, err := range spantest.Check(rec) {
				t.Error(err)
			}
			if diff := cmp.Diff(want, piFiguresOf(rec)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if r := reports[0]; r.Damaged+r.Notes > 0 && name != "v3-malformed" {
				t.Errorf("%d damaged, %d notes", r.Damaged, r.Notes)
			}
		})
	}
}

// Both files of a fork together have each model call once.
func TestPiForkIsCountedOnce(t *testing.T) {
	rec, _ := replay(t, archive.Options{}, piFixture(t, "v3-fork-parent"), piFixture(t, "v3-fork-child"))
	if got, want := piFiguresOf(rec), (piFigures{Chats: 4, Calls: 1, Results: 1, In: 48, Out: 320, AllIn: 48, AllOut: 320}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// The cost of a trace is that of its file, summed over the text of it.
func TestPiCost(t *testing.T) {
	for _, name := range []string{"v1-before-compaction", "v1-large", "v3-newest-fields"} {
		path := piFixture(t, name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for line := range bytes.Lines(data) {
			want += costIn(t, line)
		}
		rec, _ := replay(t, archive.Options{}, path)
		got := 0.0
		for _, s := range rec.Ended {
			if s.Type == projection.TypeChat {
				got += spantest.Attribute(s, names.Cost).AsFloat64()
			}
		}
		if math.Abs(got-want) > 1e-9 || want == 0 {
			t.Errorf("%s: cost %v, the file says %v", name, got, want)
		}
	}
}
