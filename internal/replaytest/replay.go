// Package replaytest gives tests what a replay of files gives: what live tracing and following are held against.
package replaytest

import (
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/spantest"
)

// Spans returns the spans of all files of a folder, as they are at some time: what is silent for long enough then has ended. A file that cannot be
// read fails the test.
func Spans(t testing.TB, o projection.Options, dir string, now time.Time) []*projection.Span {
	t.Helper()
	found, err := archive.Find(t.Context(), []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	index := archive.NewIndex(t.Context(), found.Files, nil, source.Options{})
	for _, err := range index.Bad {
		t.Fatal(err)
	}
	rec := &spantest.Recorder{}
	for _, group := range index.Traces() {
		for _, f := range group {
			if rep := index.Project(t.Context(), f, archive.Options{Projection: o, Now: now}, rec); rep.Err != nil {
				t.Fatal(rep.Err)
			}
		}
	}
	return rec.Ended
}
