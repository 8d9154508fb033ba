package lockfile

import (
	"errors"
	"path/filepath"
	"testing"
)

func TestGuard(t *testing.T) {
	path := filepath.Join(t.TempDir(), "guard")
	one, err := Hold(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Hold(path, 0o600); !errors.Is(err, ErrHeld) {
		t.Errorf("error %v", err)
	}
	if err := one.Release(); err != nil {
		t.Fatal(err)
	}
	two, err := Hold(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := two.Release(); err != nil {
		t.Error(err)
	}
}
