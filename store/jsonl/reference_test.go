package jsonl_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/store/jsonl"
)

// Files that the reference library and others have written open here, in its layout, take an entry, and keep every byte before it.
func TestFilesOfTheReference(t *testing.T) {
	const fixtures = "../../../shared/fixtures/agentsession"
	if _, err := os.Stat(fixtures); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the fixtures are not beside the repository: " + fixtures)
	}
	files := 0
	err := filepath.WalkDir(fixtures, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		text := read(t, path)
		before, err := format.ReadSession(strings.NewReader(text))
		if err != nil || before.Torn() != nil {
			return nil // those that show damage
		}
		files++
		h := before.Header()
		dir := t.TempDir()
		at := filepath.Join(dir, "project", h.CreatedAt.UTC().Format("2006-01-02T15-04-05.000Z")+"_"+h.ID+".jsonl")
		write(t, at, text)
		s, err := jsonl.Open(dir)
		must(t, err)
		defer s.Close()
		if _, err := s.Open(t.Context(), h.ID); err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		if _, err := s.Append(t.Context(), h.ID, say("Hello.")); err != nil {
			t.Errorf("%s: %v", path, err)
			return nil
		}
		after := read(t, at)
		again, err := format.ReadSession(strings.NewReader(after))
		if err != nil || again.Len() != before.Len()+1 || !strings.HasPrefix(after, strings.TrimSuffix(text, "\n")) {
			t.Errorf("%s: error %v, %d entries after %d", path, err, again.Len(), before.Len())
		}
		return nil
	})
	if err != nil || files < 10 {
		t.Errorf("%d files, error %v", files, err)
	}
}
