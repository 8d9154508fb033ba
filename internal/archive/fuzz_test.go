package archive_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/spantest"
)

// FuzzReplay holds any bytes that begin like a session file against the rules that every trace keeps.
func FuzzReplay(f *testing.F) {
	for _, pattern := range []string{testdata + "/*.jsonl", testdata + "/*/*.jsonl", piSessions + "/*.jsonl", claudeSessions + "/*.jsonl", claudeSessions + "/*/*.jsonl"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte(`{"type":"session","id":""}` + "\n" + `{"type":"message","id":"a","message":{"role":"user","content":"x"}}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, group := range []projection.Group{projection.GroupSession, projection.GroupRun} {
			rec := &spantest.Recorder{}
			p := projection.New(projection.Options{Group: group}, rec)
			rd, err := source.NewReader(bytes.NewReader(data), source.Options{})
			if err != nil {
				return
			}
			for err == nil {
				err = rd.Read(p.Feed, func(*format.DamageError) {})
			}
			rd.Close()
			if err != io.EOF {
				return
			}
			p.Finish()
			rec.Lone = true // a fuzzed header may name a parent
			for _, err := range spantest.Check(rec) {
				t.Error(err)
			}
			if n := rec.Open(); n != 0 {
				t.Errorf("%d spans are open after the end", n)
			}
		}
	})
}
