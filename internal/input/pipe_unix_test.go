//go:build unix

package input_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sessionspan/sessionspan/internal/input"
)

func fifo(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	return path
}

func TestNamedPipeIsReadWhole(t *testing.T) {
	path := fifo(t)
	done := make(chan error, 1)
	go func() { done <- os.WriteFile(path, []byte("some text"), 0) }()
	in, err := input.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	text, err := io.ReadAll(in)
	if err != nil || string(text) != "some text" || !in.Once {
		t.Errorf("read %q, %v; once: %v", text, err, in.Once)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A named pipe whose other end nobody opens does not hold up who no longer wants it.
func TestNamedPipeWithoutAWriter(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := input.Open(ctx, fifo(t), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
