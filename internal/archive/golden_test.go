package archive_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/spantest"
)

var update = flag.Bool("update", false, "write the golden files anew")

const testdata = "../../testdata/agentsession"

// longAfter is long after anything in testdata.
var longAfter = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// replay replays files as one archive.
func replay(t *testing.T, o archive.Options, paths ...string) (*spantest.Recorder, []archive.Report) {
	t.Helper()
	found, err := archive.Find(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	ix := archive.NewIndex(t.Context(), found.Files, nil, source.Options{})
	for _, err := range ix.Bad {
		t.Error(err)
	}
	if o.Now.IsZero() {
		o.Now = longAfter
	}
	rec := &spantest.Recorder{}
	var reports []archive.Report
	for _, group := range ix.Traces() {
		for _, f := range group {
			rep := ix.Project(t.Context(), f, o, rec)
			if rep.Err != nil {
				t.Error(rep.Err)
			}
			reports = append(reports, rep)
		}
	}
	return rec, reports
}

// sessions lists the sessions of testdata by name: a file, or a folder whose files are one trace.
func sessions(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(testdata)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && e.Name() != "damaged" && e.Name() != "golden" || strings.HasSuffix(e.Name(), ".jsonl") {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestGoldenTraces(t *testing.T) {
	variants := []struct {
		suffix string
		only   string // the sessions for which the variant has a golden; "" for all
		opts   projection.Options
	}{
		{suffix: ""},
		{suffix: ".group-run", only: "quickstart.jsonl subsession branches-back-and-forth.jsonl converged forked", opts: projection.Options{Group: projection.GroupRun}},
		{suffix: ".naming-agentsession", only: "decisions.jsonl", opts: projection.Options{Naming: projection.NamingAgentsession}},
		{suffix: ".semconv-latest", only: "quickstart.jsonl", opts: projection.Options{Semconv: projection.SemconvLatest}},
	}
	for _, name := range sessions(t) {
		for _, v := range variants {
			if v.only != "" && !strings.Contains(" "+v.only+" ", " "+name+" ") {
				continue
			}
			t.Run(name+v.suffix, func(t *testing.T) {
				rec, _ := replay(t, archive.Options{Projection: v.opts}, filepath.Join(testdata, name))
				for _, err := range spantest.Check(rec) {
					t.Error(err)
				}
				if open := rec.Open(); open != 0 {
					t.Errorf("%d spans are open long after the last entry", open)
				}
				golden(t, strings.TrimSuffix(name, ".jsonl")+v.suffix, spantest.Dump(rec.Started))
			})
		}
	}
}

// golden compares text with a golden file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	goldenAt(t, testdata, name, got)
}

func goldenAt(t *testing.T, sessions, name, got string) {
	t.Helper()
	path := filepath.Join(sessions, "golden", name+".trace")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./internal/archive -update writes it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the trace differs from %s (-want +got):\n%s", path, diff)
	}
}
