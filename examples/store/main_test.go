package main

import (
	"path/filepath"
	"testing"
)

// The example runs, and leaves a file and a database behind.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	if err := run(t.Context(), []string{dir}); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"files/home-me-project/*.jsonl", "sessions.db"} {
		if found, err := filepath.Glob(filepath.Join(dir, pattern)); err != nil || len(found) != 1 {
			t.Errorf("%s: %v, error %v", pattern, found, err)
		}
	}
}
