package archive_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/spantest"
)

// eachPi runs a test on random sessions of pi.
func eachPi(t *testing.T, test func(t *testing.T, r *rand.Rand, path string, truth sessiontest.PiTruth)) {
	for seed := range *seeds {
		r := rand.New(rand.NewPCG(seed, 7))
		data, truth := sessiontest.RandomPi(r, 1+r.IntN(200))
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { test(t, r, path, truth) })
		if t.Failed() {
			return
		}
	}
}

// The rules of a trace hold for random trees, every assistant's message is one chat span, and every token and cent is there
// once (promises P6, P12).
func TestPiTraceRules(t *testing.T) {
	groups := []projection.Group{projection.GroupSession, projection.GroupRun}
	eachPi(t, func(t *testing.T, r *rand.Rand, path string, truth sessiontest.PiTruth) {
		o := archive.Options{Finish: true, Projection: projection.Options{Group: groups[r.IntN(2)]}}
		rec, reports := replay(t, o, path)
		for _, err := range spantest.Check(rec) {
			t.Error(err)
		}
		if n := rec.Open(); n != 0 {
			t.Errorf("%d spans are open after the end", n)
		}
		var got sessiontest.PiTruth
		got.Entries, got.LastEntry = reports[0].Entries, leafOf(t, path)
		calls := map[string]bool{}
		for _, s := range rec.Ended {
			switch s.Type {
			case projection.TypeChat:
				got.In += spantest.Attribute(s, names.InputTokens).AsInt64()
				got.Out += spantest.Attribute(s, names.OutputTokens).AsInt64()
				got.Cost += spantest.Attribute(s, names.Cost).AsFloat64()
				if spantest.Attribute(s, names.ChatPurpose).AsString() == "" {
					got.Chats++
				}
			case projection.TypeTool:
				calls[s.SpanID.String()] = true
			}
		}
		got.Calls = truth.Calls
		if len(calls) < truth.Calls { // a call that two branches have the result of has two spans
			t.Errorf("%d tool spans for %d calls", len(calls), truth.Calls)
		}
		if math.Abs(got.Cost-truth.Cost) < 1e-9 {
			got.Cost = truth.Cost
		}
		if diff := cmp.Diff(truth, got); diff != "" {
			t.Errorf("(-truth +got):\n%s", diff)
		}
		again, _ := replay(t, o, path)
		if diff := cmp.Diff(spantest.Dump(rec.Started), spantest.Dump(again.Started)); diff != "" {
			t.Errorf("a second replay differs:\n%s", diff)
		}
	})
}

// leafOf is the leaf that the overview of a file tells.
func leafOf(t *testing.T, path string) string {
	t.Helper()
	ix := archive.NewIndex(t.Context(), []string{path}, nil, source.Options{})
	return ix.Overviews(t.Context(), ix.Files, archive.Options{})[0].Leaf
}
