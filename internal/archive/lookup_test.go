package archive_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
)

// sessionsOf writes a file for each id, with a chain of entries of the ids given, and makes an index of them.
func sessionsOf(t *testing.T, ids []string, entries ...string) *archive.Index {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i, id := range ids {
		text := fmt.Sprintf(`{"type":"session","format":"agentsession/0.2","id":%q,"created_at":"2026-01-02T03:04:05Z"}`+"\n", id)
		parent := "null"
		for _, e := range entries {
			text += fmt.Sprintf(`{"type":"info","id":%q,"parent":%s,"ts":"2026-01-02T03:04:05Z","name":"x"}`+"\n", e, parent)
			parent = fmt.Sprintf("%q", e)
		}
		path := filepath.Join(dir, fmt.Sprint(i, ".jsonl"))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return archive.NewIndex(t.Context(), paths, nil, source.Options{})
}

func TestByID(t *testing.T) {
	ids := []string{"abc", "abcd", "abd", "x", "x"}
	for i := range 20 {
		ids = append(ids, fmt.Sprint("many-", i))
	}
	ix := sessionsOf(t, ids)
	for id, want := range map[string]int{"abc": 1, "abcd": 1, "abd": 1, "x": 2, "many-19": 1, "many-1": 1} {
		files, err := ix.ByID(id)
		if err != nil || len(files) != want || files[0].Session.ID != id {
			t.Errorf("%q: %d files, %v; want %d", id, len(files), err, want)
		}
	}
	for id, want := range map[string]error{"": archive.ErrNoID, "y": archive.ErrNoID, "abcde": archive.ErrNoID, "ab": archive.ErrManyIDs} {
		if files, err := ix.ByID(id); !errors.Is(err, want) || len(files) > 0 {
			t.Errorf("%q: %d files, %v; want %v", id, len(files), err, want)
		}
	}
	_, err := ix.ByID("many")
	if said := err.Error(); strings.Count(said, "many-") != 10 || !strings.HasSuffix(said, ", and more; give more of it") {
		t.Errorf("of 20 candidates it says %s", said)
	}
}

type nobody struct{}

func (nobody) Start(*projection.Span) {}
func (nobody) End(*projection.Span)   {}

func TestLeafByTheBeginningOfItsID(t *testing.T) {
	entries := []string{"a", "ab", "abc", "sha256:dead", "sha256:beef", "b1", "b2"}
	for range 5 { // repeated lines are no other entries
		entries = append(entries, "b1")
	}
	ix := sessionsOf(t, []string{"s"}, entries...)
	for id, want := range map[string]error{
		"a": nil, "ab": nil, "abc": nil, "dea": nil, "sha256:b": nil, "b1": nil,
		"b": archive.ErrManyIDs, "sha": archive.ErrManyIDs,
	} {
		rep := ix.Project(t.Context(), ix.Files[0], archive.Options{Select: archive.Selection{Leaf: id}}, nobody{})
		if rep.NoLeaf != (want != nil) || !errors.Is(rep.LeafErr, want) {
			t.Errorf("%q: no leaf %t, %v; want %v", id, rep.NoLeaf, rep.LeafErr, want)
		}
	}
	for _, id := range []string{"abcd", "x", "eef"} {
		rep := ix.Project(t.Context(), ix.Files[0], archive.Options{Select: archive.Selection{Leaf: id}}, nobody{})
		if !rep.NoLeaf || rep.LeafErr != nil {
			t.Errorf("%q: no leaf %t, %v", id, rep.NoLeaf, rep.LeafErr)
		}
	}
}
