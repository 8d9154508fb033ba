//go:build unix

package stored_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/sessionspan/sessionspan/internal/stored"
)

func TestNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	data, err := os.ReadFile(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- os.WriteFile(path, data, 0o600) }()
	if f := load(t, path, nil, stored.Options{}); f.Session.Len() != 80 {
		t.Errorf("%d entries", f.Session.Len())
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	// Nobody opens the other end.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := stored.Load(ctx, path, nil, stored.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
