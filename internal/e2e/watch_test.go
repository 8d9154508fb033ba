package e2e

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/e2e/command"
	"github.com/sessionspan/sessionspan/internal/e2e/jaeger"
	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
)

// A watch is killed while the files grow; the next one goes on. In the end everything is stored that a replay of the files would send, and
// as it would.
func TestWatchThatIsKilledGoesOn(t *testing.T) {
	server := jaeger.Start(t, jaeger.Badger(t.TempDir()))
	binary, err := command.Path()
	if err != nil {
		t.Fatal(err)
	}
	dir, state := t.TempDir(), filepath.Join(t.TempDir(), "progress.db")
	begin := func() *process {
		return startProcess(t, binary, "watch", "--from-start", "--interval", "50ms", "--state", state,
			"--endpoint", "http://"+server.OTLPHTTP(), dir)
	}
	rest := copyHalves(t, "../../testdata/agentsession", dir)
	first := begin()
	waitForTraces(t, server, expected(t, dir), 1)
	first.kill()
	for path, data := range rest {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	begin()
	want := expected(t, dir)
	waitForTraces(t, server, want, 0)
	checkStored(t, server, badgerKeeps(want))
}

// copyHalves copies about the first half of each session file into a folder, to the middle of a line, so that nobody takes it for the end, and
// returns the whole of each by its path there.
func copyHalves(t *testing.T, from, to string) map[string][]byte {
	t.Helper()
	whole := map[string][]byte{}
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err == nil && d.IsDir() && d.Name() == "damaged":
			return fs.SkipDir // there is a session in two files
		case err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl":
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil || !bytes.HasSuffix(data, []byte("\n")) {
			return err // what is torn in the end waits for ever
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		copied := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(copied), 0o700); err != nil {
			return err
		}
		whole[copied] = data
		half := len(data)/2 + 1 + bytes.IndexByte(data[len(data)/2:], '\n')
		return os.WriteFile(copied, data[:min(half+10, len(data)-1)], 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return whole
}

// expected is what a replay of a folder sends now, of what lines have come to their end.
func expected(t *testing.T, dir string) traces {
	t.Helper()
	found, err := archive.Find(t.Context(), []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	index := archive.NewIndex(t.Context(), found.Files, nil, source.Options{})
	out := &batches{batch: otlp.NewBatch(otlp.Config{ScopeVersion: "development", SchemaURL: projection.SchemaURL(projection.Semconv141)})}
	if err := index.Replay(t.Context(), index.Traces(), archive.Options{}, archive.Into(out), nil); err != nil {
		t.Fatal(err)
	}
	out.cut()
	return sorted(out.done...)
}

// waitForTraces waits until the server has as many spans of each trace as there are to be, or so many of each if that is less; 0 is all.
func waitForTraces(t *testing.T, server *jaeger.Server, want traces, some int) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(processTime); ; <-tick.C {
		missing := ""
		for id, spans := range want {
			least := len(spans)
			if some > 0 {
				least = min(least, some)
			}
			if got := len(traceOf(t, server, id)); got < least {
				missing = id
				break
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("trace %s has %d spans, want %d:%s", missing, len(traceOf(t, server, missing)), len(want[missing]), outline(traceOf(t, server, missing)))
		}
	}
}
