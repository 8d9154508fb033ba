package archive_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/spantest"
)

// copyOf writes a file with the first n lines of a session file; a negative n leaves out that many at the end.
func copyOf(t *testing.T, path string, n int) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(bytes.Lines(data))
	if n <= 0 {
		n += len(lines)
	}
	name := filepath.Join(t.TempDir(), fmt.Sprintf("%d-%s", n, filepath.Base(path)))
	if err := os.WriteFile(name, slices.Concat(lines[:n]...), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func projectTraces(t *testing.T, o archive.Options, paths ...string) (rec *spantest.Recorder, spans map[projection.Type]int, open projection.Open) {
	t.Helper()
	rec, spans = &spantest.Recorder{}, map[projection.Type]int{}
	ix := archive.NewIndex(t.Context(), paths, nil, o.Source)
	for _, group := range ix.Traces() {
		for _, rep := range ix.ProjectTrace(t.Context(), group, o, rec) {
			if rep.Err != nil {
				t.Error(rep.Err)
			}
			for typ, n := range rep.Spans {
				spans[typ] += n
			}
			open.Runs += rep.Open.Runs
			open.Tools += rep.Open.Tools
		}
	}
	return rec, spans, open
}

// Each span of a session is given once, from the file that was read furthest, however many files have it, in whatever order.
func TestCopiesOfASessionAreGivenOnce(t *testing.T) {
	whole := filepath.Join(testdata, "quickstart.jsonl")
	o := archive.Options{Now: longAfter}
	want, wantSpans, wantOpen := projectTraces(t, o, whole)
	for name, paths := range map[string][]string{
		"the same":              {whole, copyOf(t, whole, 0)},
		"cut in the middle":     {copyOf(t, whole, 20), whole},
		"cut in several ways":   {copyOf(t, whole, 10), copyOf(t, whole, 40), whole, copyOf(t, whole, 30), copyOf(t, whole, -1)},
		"the whole comes first": {whole, copyOf(t, whole, 25)},
	} {
		t.Run(name, func(t *testing.T) {
			got, spans, open := projectTraces(t, o, paths...)
			if diff := cmp.Diff(spantest.Dump(want.Ended), spantest.Dump(got.Ended)); diff != "" {
				t.Errorf("spans (-want +got):\n%s", diff)
			}
			for _, err := range spantest.Check(got) {
				t.Error(err)
			}
			if diff := cmp.Diff(wantSpans, spans); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			if open != wantOpen {
				t.Errorf("open: %+v, want %+v", open, wantOpen)
			}
		})
	}
}

// What only one of two copies has is given too.
func TestCopiesThatDifferAreGivenWhole(t *testing.T) {
	a, b := filepath.Join(testdata, "damaged", "same-id-a.jsonl"), filepath.Join(testdata, "damaged", "same-id-b.jsonl")
	o := archive.Options{Now: longAfter}
	ids := map[any]bool{}
	for _, path := range []string{a, b} {
		rec, _, _ := projectTraces(t, o, path)
		for _, s := range rec.Ended {
			ids[s.SpanID] = true
		}
	}
	rec, _, _ := projectTraces(t, o, a, b)
	for _, s := range rec.Ended {
		if !ids[s.SpanID] {
			t.Errorf("%s is given twice, or is neither's", s.Name)
		}
		delete(ids, s.SpanID)
	}
	if len(ids) > 0 {
		t.Errorf("%d spans are missing", len(ids))
	}
}
