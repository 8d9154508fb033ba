//go:build unix

package repair

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Opening a pipe waits for somebody at its other end.
func TestPipeIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := File(t.Context(), path, Options{Write: true}, nil); !errors.Is(err, ErrNotRegular) {
		t.Errorf("error %v", err)
	}
	path = put(t, torn)
	if err := syscall.Mkfifo(path+".lock", 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := write(t, path, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("a pipe for a lock: %v", err)
	}
}

func TestOwnerStays(t *testing.T) {
	path := put(t, torn)
	if err := os.Chown(path, 12345, 23456); err != nil {
		t.Skip("only the administrator can give files away")
	}
	rep, err := write(t, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, rep.SideFile} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if s := info.Sys().(*syscall.Stat_t); s.Uid != 12345 || s.Gid != 23456 || info.Mode() != 0o640 {
			t.Errorf("%s belongs to %d:%d, mode %v", name, s.Uid, s.Gid, info.Mode())
		}
	}
}
