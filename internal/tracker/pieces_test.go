package tracker_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/spantest"
	"github.com/sessionspan/sessionspan/internal/tracker"
)

// Damaged files that arrive in pieces, cut anywhere, and read meanwhile, give what they give as a whole; and so do files that are damaged
// at random (promises P4, P5).
func TestDamageInPieces(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "testdata", "agentsession", "damaged", "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		data := read(t, path)
		t.Run(filepath.Base(path), func(t *testing.T) {
			for seed := range uint64(8) {
				inPieces(t, rand.New(rand.NewPCG(seed, 1)), data)
			}
		})
	}
	good := read(t, filepath.Join("..", "..", "testdata", "agentsession", "quickstart.jsonl"))
	for seed := range uint64(100) {
		t.Run(fmt.Sprint("at random ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 2))
			data := bytes.Clone(good)
			for range 1 + r.IntN(5) {
				at := bytes.IndexByte(data, '\n') + 1 // the header is left alone, else it is no session
				at += r.IntN(len(data) - at)
				switch r.IntN(3) {
				case 0:
					data[at] = byte(r.IntN(256))
				case 1:
					data[at] = 0
				case 2:
					data = append(data[:at], data[min(at+1+r.IntN(300), len(data)):]...)
				}
			}
			inPieces(t, r, data)
		})
	}
}

// inPieces writes a file in pieces, under a tracker, and holds what comes against a replay of it.
func inPieces(t *testing.T, r *rand.Rand, data []byte) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		to := newCollector(t)
		tr := track(t, dir, tracker.Options{Problem: func(string, error, bool) {}}, to)
		defer tr.Close()
		path := filepath.Join(dir, "s.jsonl")
		for n := 0; n < len(data); {
			upTo := min(n+1+r.IntN(1+len(data)/6), len(data))
			out, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := out.Write(data[n:upTo]); err != nil {
				t.Fatal(err)
			}
			if err := out.Close(); err != nil {
				t.Fatal(err)
			}
			n = upTo
			look(t, tr)
			time.Sleep(time.Duration(r.IntN(2500)) * time.Millisecond)
		}
		passes(t, tr, 2*time.Minute)
		index := archive.NewIndex(t.Context(), []string{path}, nil, source.Options{})
		want := &spantest.Recorder{}
		for _, group := range index.Traces() {
			for _, f := range group {
				index.Project(t.Context(), f, archive.Options{Now: time.Now()}, want)
			}
		}
		all := map[string]string{}
		for _, s := range want.Ended {
			all[s.TraceID.String()+s.SpanID.String()] = spantest.Dump([]*projection.Span{s})
		}
		if whole := bytes.HasSuffix(data, []byte("\n")); whole {
			to.equals(t, all)
		}
	})
}
