//go:build unix

package environment

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// Opening a pipe waits for somebody at its other end.
func TestPipesAreNotOpened(t *testing.T) {
	for _, name := range []string{".git/HEAD", ".git/refs/heads/main", ".git/packed-refs", ".git/commondir"} {
		texts := map[string]string{".git/HEAD": "ref: refs/heads/main"}
		delete(texts, name)
		dir := files(t, texts)
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Skip(err)
		}
		if got, err := Git(dir); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, ".git"), 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := Git(dir); !errors.Is(err, ErrNotGit) {
		t.Errorf(".git: %v", err)
	}
	if _, err := HashFile(filepath.Join(dir, ".git")); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a hash: %v", err)
	}
}
