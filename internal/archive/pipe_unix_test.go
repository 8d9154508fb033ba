//go:build unix

package archive_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sessionspan/sessionspan/internal/archive"
)

// A named pipe whose other end nobody opens does not hold up who no longer wants it.
func TestNamedPipeWithoutAWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan *archive.Index)
	go func() { done <- archive.NewIndex(ctx, []string{path}, nil, archive.Options{}.Source) }()
	cancel()
	if ix := <-done; len(ix.Unreached) != 1 {
		t.Errorf("not reached: %v, bad: %v", ix.Unreached, ix.Bad)
	}
	// Whoever still waits for the other end is let go.
	if w, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		w.Close()
	}
}

func TestNamedPipeIsReadWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	data, err := os.ReadFile(header(t, "a.jsonl", "a", "", ""))
	if err != nil {
		t.Fatal(err)
	}
	go os.WriteFile(path, data, 0)
	ix := archive.NewIndex(t.Context(), []string{path}, nil, archive.Options{}.Source)
	if len(ix.Files) != 1 {
		t.Fatal(ix.Bad)
	}
	if rep := ix.Project(t.Context(), ix.Files[0], archive.Options{}, &discard{}); rep.Err != nil || rep.Entries != 1 {
		t.Errorf("%d entries, %v", rep.Entries, rep.Err)
	}
}
