package tracker_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/spantest"
	"github.com/sessionspan/sessionspan/internal/tracker"
)

// A claudeFile is one of several that a session of Claude Code is in, by its path within them.
type claudeFile struct {
	path   string
	data   []byte
	copied int // lines at its beginning that were written at once
}

// claudeCopied says of the files of testdata how many lines are copied of those that bear no mark of it.
var claudeCopied = map[string]int{
	"00000013-1111-4111-8111-111111111111.jsonl": 5,
	"00000014-1111-4111-8111-111111111111.jsonl": 5,
}

// claudeUnit reads the files of a folder.
func claudeUnit(t *testing.T, root string) []claudeFile {
	t.Helper()
	var files []claudeFile
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".md") {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if name == "." {
			name = d.Name()
		}
		files = append(files, claudeFile{filepath.Join("p", name), read(t, path), claudeCopied[d.Name()]})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var stamps = regexp.MustCompile(`"timestamp":"([0-9T:.-]+Z)"`)

// claudeInPieces writes the files of a session line by line, each when its time has come, under a tracker, and holds what comes against a
// replay of the whole. The times are moved to those of the test's clock.
func claudeInPieces(t *testing.T, r *rand.Rand, files []claudeFile) {
	t.Helper()
	type piece struct {
		at   time.Time
		file int
		data []byte
	}
	var first time.Time
	for _, f := range files {
		for _, m := range stamps.FindAllSubmatch(f.data, -1) {
			if at, err := time.Parse(time.RFC3339Nano, string(m[1])); err == nil && (first.IsZero() || at.Before(first)) {
				first = at
			}
		}
	}
	shift := time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC).Sub(first)
	var pieces []piece
	for i, f := range files {
		if strings.HasSuffix(f.path, ".json") {
			pieces = append(pieces, piece{time.Time{}, i, f.data})
			continue
		}
		var at time.Time
		begin, late := len(pieces), f.copied > 0
		for line := range bytes.Lines(f.data) {
			stamped := false
			line = stamps.ReplaceAllFunc(line, func(m []byte) []byte {
				one, err := time.Parse(`"timestamp":"2006-01-02T15:04:05.999999999Z"`, string(m))
				if err != nil {
					return m
				}
				one, stamped = one.Add(shift), true
				if one.After(at) { // a clock that steps back does not change the order of lines
					at = one
				}
				return one.AppendFormat(nil, `"timestamp":"2006-01-02T15:04:05.000Z"`)
			})
			pieces = append(pieces, piece{at, i, line})
			if late && stamped && len(pieces) > begin+f.copied { // what was copied was written when the first line of its own was
				late = false
				for j := range pieces[begin:] {
					pieces[begin+j].at = at
				}
			}
		}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return a.at.Compare(b.at) })
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		to := newCollector(t)
		tr := track(t, dir, tracker.Options{Problem: func(string, error, bool) {}}, to)
		defer tr.Close()
		for _, p := range pieces {
			time.Sleep(time.Until(p.at))
			path := filepath.Join(dir, files[p.file].path)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			out, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := out.Write(p.data); err != nil {
				t.Fatal(err)
			}
			if err := out.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, time.Now(), time.Now()); err != nil {
				t.Fatal(err)
			}
			if r.IntN(3) > 0 {
				look(t, tr)
			}
		}
		passes(t, tr, 2*time.Minute)
		time.Sleep(25 * time.Hour)
		passes(t, tr, 2*time.Minute)
		found, err := archive.Find(t.Context(), []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		index := archive.NewIndex(t.Context(), found.Files, nil, source.Options{})
		want := map[string]string{}
		for _, group := range index.Traces() {
			for _, f := range group {
				rec := &spantest.Recorder{}
				index.Project(t.Context(), f, archive.Options{Now: time.Now()}, rec)
				for _, s := range rec.Ended {
					want[s.TraceID.String()+s.SpanID.String()] = spantest.Dump([]*projection.Span{s})
				}
			}
		}
		to.equals(t, want)
	})
}

// Sessions of Claude Code that grow, and their agents with them, give what they give as a whole (promise P5).
func TestClaudeCodeInPieces(t *testing.T) {
	for _, root := range []string{"../../testdata/claude-code", "../../../shared/fixtures/claude-code"} {
		entries, err := os.ReadDir(root)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.Name() == "golden" || strings.HasSuffix(e.Name(), ".md") {
				continue
			}
			t.Run(e.Name(), func(t *testing.T) {
				files := claudeUnit(t, filepath.Join(root, e.Name()))
				for seed := range uint64(4) {
					claudeInPieces(t, rand.New(rand.NewPCG(seed, 1)), files)
				}
			})
		}
	}
}

// Random sessions of Claude Code give, as they grow, what they give as a whole, agents and copies of all kinds with them.
func TestRandomClaudeCodeInPieces(t *testing.T) {
	for seed := range 2 * *seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 12))
			unit, _ := sessiontest.RandomClaude(r, 1+r.IntN(6), sessiontest.ClaudeCopies(seed%4))
			var files []claudeFile
			for _, f := range unit {
				files = append(files, claudeFile{filepath.FromSlash(f.Path), f.Data, f.Copied})
			}
			claudeInPieces(t, r, files)
		})
		if t.Failed() {
			return
		}
	}
}
