package jsonl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/store"
	"github.com/sessionspan/sessionspan/store/jsonl"
)

// What is no session, or cannot be read, comes as errors after the sessions, and keeps nobody waiting.
func TestListOfAHostileFolder(t *testing.T) {
	dir, path := put(t, header+first)
	folder := filepath.Dir(path)
	write(t, filepath.Join(folder, "2026_other.jsonl"), strings.Replace(header, `"s"`, `"other"`, 1)+second[:30])
	write(t, filepath.Join(folder, "empty.jsonl"), "")
	write(t, filepath.Join(folder, "text.jsonl"), "no session\n")
	write(t, filepath.Join(folder, "notes.txt"), "no session\n")
	write(t, filepath.Join(folder, ".hidden.jsonl.new"), header)
	write(t, filepath.Join(dir, "at the top.jsonl"), header)
	must(t, os.Mkdir(filepath.Join(folder, "folder.jsonl"), 0o700))
	must(t, os.Symlink("nowhere", filepath.Join(folder, "link.jsonl")))
	pipe(t, filepath.Join(folder, "pipe_s.jsonl"))
	s := open(t, dir, jsonl.WithReadOnly())
	for _, f := range []store.ListFilter{{}, {WithNames: true}} {
		var ids, names []string
		errs := 0
		for one, err := range s.List(t.Context(), f) {
			if err != nil {
				errs++
				continue
			}
			if errs > 0 {
				t.Errorf("%s comes after an error", one.Header.ID)
			}
			ids, names = append(ids, one.Header.ID), append(names, one.Name)
		}
		if got := strings.Join(ids, " "); got != "other s" || errs < 2 {
			t.Errorf("%q and %d errors", got, errs)
		}
		if f.WithNames && strings.Join(names, " ") != " One" {
			t.Errorf("names %q", names)
		}
	}
	if session, err := s.Open(t.Context(), "s"); err != nil || session.Len() != 1 {
		t.Errorf("error %v", err)
	}
}
