package archive_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/internal/spantest"
)

// writeClaude writes the files of a unit below a folder.
func writeClaude(t testing.TB, dir string, files []sessiontest.ClaudeFile) {
	t.Helper()
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The rules of a trace hold for random units, whose turns, messages, calls and tokens are each there once, however often the files have
// them, and so are the agents (promises P4, P6, P12).
func TestClaudeTraceRules(t *testing.T) {
	groups := []projection.Group{projection.GroupSession, projection.GroupRun}
	for seed := range *seeds {
		r := rand.New(rand.NewPCG(seed, 11))
		copies := sessiontest.ClaudeCopies(r.IntN(4))
		files, truth := sessiontest.RandomClaude(r, 1+r.IntN(8), copies)
		dir := t.TempDir()
		writeClaude(t, dir, files)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			o := archive.Options{Finish: true, Projection: projection.Options{Group: groups[r.IntN(4)/3]}}
			rec, _ := replay(t, o, dir)
			for _, err := range spantest.Check(rec) {
				t.Error(err)
			}
			if n := rec.Open(); n != 0 {
				t.Errorf("%d spans are open after the end", n)
			}
			if diff := cmp.Diff(truth, claudeTruthOf(rec)); diff != "" {
				t.Errorf("copies %d (-truth +got):\n%s", copies, diff)
			}
			again, _ := replay(t, o, dir)
			if diff := cmp.Diff(spantest.Dump(rec.Started), spantest.Dump(again.Started)); diff != "" {
				t.Errorf("a second replay differs:\n%s", diff)
			}
		})
		if t.Failed() {
			return
		}
	}
}

func claudeTruthOf(rec *spantest.Recorder) sessiontest.ClaudeTruth {
	f := claudeFiguresOf(rec)
	truth := sessiontest.ClaudeTruth{
		Turns: f.Turns, Chats: f.Chats, Calls: f.Calls, Ended: f.Results, Failed: f.Failed, Agents: f.Agents,
	}
	for _, s := range rec.Ended {
		if s.Type == projection.TypeChat {
			truth.In += spantest.Attribute(s, names.InputTokens).AsInt64()
			truth.Out += spantest.Attribute(s, names.OutputTokens).AsInt64()
		}
	}
	return truth
}
