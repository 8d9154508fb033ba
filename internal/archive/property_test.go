package archive_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/spantest"
	"go.opentelemetry.io/otel/trace"
)

// seeds is how many random sessions each property is tried on; a campaign has more.
var seeds = flag.Uint64("seeds", 60, "number of random sessions for each property")

// eachCase runs a test on random sessions of every kind; a failure names the seed.
func eachCase(t *testing.T, test func(t *testing.T, r *rand.Rand, c *sessiontest.Case)) {
	for seed := range *seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		c := sessiontest.Random(r, sessiontest.All(r))
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { test(t, r, c) })
		if t.Failed() {
			return
		}
	}
}

// write writes the files of a case into a folder.
func write(t *testing.T, c *sessiontest.Case) string {
	t.Helper()
	dir := t.TempDir()
	for i, f := range c.Files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.jsonl", i)), f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The rules of a trace hold, and a second replay gives the same ids (promise P6).
func TestTraceRulesHoldForRandomSessions(t *testing.T) {
	groups := []projection.Group{projection.GroupSession, projection.GroupRun}
	eachCase(t, func(t *testing.T, r *rand.Rand, c *sessiontest.Case) {
		dir := write(t, c)
		o := archive.Options{Finish: true, Projection: projection.Options{Group: groups[r.IntN(2)]}}
		rec, reports := replay(t, o, dir)
		for _, err := range spantest.Check(rec) {
			t.Error(err)
		}
		if n := rec.Open(); n != 0 {
			t.Errorf("%d spans are open after the end", n)
		}
		for _, rep := range reports {
			if rep.Damaged != 0 {
				t.Errorf("%s: %d entries are taken for damaged", rep.File.Path, rep.Damaged)
			}
		}
		again, _ := replay(t, o, dir)
		if diff := cmp.Diff(spantest.Dump(rec.Ended), spantest.Dump(again.Ended)); diff != "" {
			t.Errorf("a second replay differs (-first +second):\n%s", diff)
		}
	})
}

// Every model call is one chat, and its tokens are those of the file (promise P12); every hand-off is one tool span.
func TestNothingIsLostOrCountedTwiceInRandomSessions(t *testing.T) {
	eachCase(t, func(t *testing.T, _ *rand.Rand, c *sessiontest.Case) {
		rec, reports := replay(t, archive.Options{Finish: true}, write(t, c))
		type counts struct {
			Entries, Responses, OtherCalls                              int
			Input, Output, Cached, Reasoning, OtherInput, OtherOutput   int64
			HandOffs, Settled, CallsWithSpan, Compactions, BranchPoints int
			Queued, Taken                                               int
		}
		want, got := map[string]*counts{}, map[string]*counts{}
		for _, f := range c.Files {
			tr := f.Truth
			w := &counts{
				Entries: tr.Entries, Responses: tr.Responses, OtherCalls: tr.OtherCalls,
				Input: tr.InputTokens, Output: tr.OutputTokens, Cached: tr.CachedTokens, Reasoning: tr.ReasoningTokens,
				OtherInput: tr.OtherInputTokens, OtherOutput: tr.OtherOutputTokens,
				CallsWithSpan: len(tr.Calls),
				Queued:        tr.Queued, Taken: tr.Taken,
				Compactions: tr.ByType["compaction"], BranchPoints: tr.ByType["branch_summary"],
			}
			for _, call := range tr.Calls {
				w.HandOffs += call.HandOffs
				if call.Completed || call.Rejected || call.Answered {
					w.Settled++
				}
			}
			want[f.SessionID] = w
			got[f.SessionID] = &counts{}
		}
		for _, rep := range reports {
			got[rep.Session.ID].Entries = rep.Entries
		}
		withSpan, settled := map[string]bool{}, map[string]bool{}
		for _, s := range rec.Ended {
			g := got[s.Session.ID]
			for _, e := range s.Events {
				if e.Name == "agentsession.queued" {
					g.Queued++
				}
			}
			switch s.Type {
			case projection.TypeEvent:
				switch {
				case s.Name == "agentsession.queued":
					g.Queued++
				case text(s.Attributes, "agentsession.input.wait_ms") != "":
					g.Taken++
				}
			case projection.TypeChat:
				in := spantest.Attribute(s, "gen_ai.usage.input_tokens").AsInt64()
				out := spantest.Attribute(s, "gen_ai.usage.output_tokens").AsInt64()
				if text(s.Attributes, "agentsession.chat.purpose") != "" {
					g.OtherCalls++
					g.OtherInput, g.OtherOutput = g.OtherInput+in, g.OtherOutput+out
					continue
				}
				g.Responses++
				g.Input, g.Output = g.Input+in, g.Output+out
				g.Cached += spantest.Attribute(s, "gen_ai.usage.cache_read.input_tokens").AsInt64()
				g.Reasoning += spantest.Attribute(s, "gen_ai.usage.reasoning.output_tokens").AsInt64()
			case projection.TypeTool:
				key := s.Session.ID + "/" + text(s.Attributes, "gen_ai.tool.call.id")
				if !withSpan[key] {
					withSpan[key] = true
					g.CallsWithSpan++
				}
				if text(s.Attributes, "agentsession.call.dispatch") != "" {
					g.HandOffs++
				}
				switch text(s.Attributes, "agentsession.call.state") {
				case "completed", "rejected", "answered":
					if !settled[key] {
						settled[key] = true
						g.Settled++
					}
				}
			case projection.TypeCompaction:
				g.Compactions++
			case projection.TypeBranch:
				g.BranchPoints++
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("what the generator wrote and what the spans say (-want +got):\n%s", diff)
		}
	})
}

// What has ended at some point of a growing file has ended in the same way in the whole (promise P5).
func TestGrowingFilesGiveTheSpansOfTheWhole(t *testing.T) {
	eachCase(t, func(t *testing.T, r *rand.Rand, c *sessiontest.Case) {
		data := c.Files[0].Data
		whole := project(t, data)
		byID := map[trace.SpanID]string{}
		for _, s := range whole.Ended {
			byID[s.SpanID] = spantest.Dump([]*projection.Span{s})
		}
		lines := bytes.SplitAfter(data, []byte("\n"))
		for range 4 {
			part := project(t, bytes.Join(lines[:1+r.IntN(len(lines))], nil))
			if len(part.Ended) > len(whole.Ended) {
				t.Fatalf("%d spans ended in a part, %d in the whole", len(part.Ended), len(whole.Ended))
			}
			for i, s := range part.Ended {
				if whole.Ended[i].SpanID != s.SpanID {
					t.Fatalf("span %d of a part is %s, of the whole %s", i, s.Name, whole.Ended[i].Name)
				}
				if diff := cmp.Diff(byID[s.SpanID], spantest.Dump([]*projection.Span{s})); diff != "" {
					t.Fatalf("a span differs (-whole +part):\n%s", diff)
				}
			}
		}
	})
}

// project projects one file as it is, without an end.
func project(t *testing.T, data []byte) *spantest.Recorder {
	t.Helper()
	rec := &spantest.Recorder{}
	p := projection.New(projection.Options{}, rec)
	rd, err := source.NewReader(bytes.NewReader(data), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		err := rd.Read(p.Feed, func(d *format.DamageError) { t.Error(d) })
		if err == io.EOF {
			return rec
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The last span of each call on the path to the leaf has the state that the path gives it. After a silence it may be what
// was so then, on the leaf of that time.
func TestCallStatesOfRandomSessions(t *testing.T) {
	eachCase(t, func(t *testing.T, r *rand.Rand, _ *sessiontest.Case) {
		o := sessiontest.All(r)
		o.Silences = false
		c := sessiontest.Random(r, o)
		for _, f := range c.Files {
			rec := &spantest.Recorder{}
			p := projection.New(projection.Options{}, rec)
			rd, err := source.NewReader(bytes.NewReader(f.Data), source.Options{})
			for err == nil {
				err = rd.Read(p.Feed, func(d *format.DamageError) { t.Error(d) })
			}
			p.Finish()
			onLeaf := p.OnLeaf()
			got, elsewhere := map[string]string{}, map[string]bool{}
			for _, s := range rec.Started {
				switch {
				case s.Type != projection.TypeTool:
				case !onLeaf(s):
					elsewhere[text(s.Attributes, "gen_ai.tool.call.id")] = true
				default:
					got[text(s.Attributes, "gen_ai.tool.call.id")] = text(s.Attributes, "agentsession.call.state")
				}
			}
			handedOver := map[string]bool{}
			for _, c := range f.Truth.Calls {
				handedOver[c.ID] = c.HandOffs > 0
			}
			for id, want := range f.Truth.States {
				state := got[id]
				if want != "rejected" && want != "answered" && (state == "rejected" || state == "answered") {
					continue // the format has no word for it where there is an output, or none in this minor
				}
				if state == "" && elsewhere[id] || want == "in_flight" && state == "completed" {
					continue // what became of it happened on another branch
				}
				if want == "never_started" && state == "unknown" && handedOver[id] {
					continue // it did on another branch, of which this minor knows nothing
				}
				if state != want {
					t.Errorf("call %s is %q, want %q", id, got[id], want)
				}
			}
		}
	})
}
