package environment

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessionspan/sessionspan/format"
)

const (
	hashOfNothing = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	hashOfABC     = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
)

func TestHashFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	large := bytes.Repeat([]byte("0123456789"), 100_000)
	for _, data := range [][]byte{nil, []byte("abc"), large} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := HashFile(path); err != nil || got != format.HashBytes(data) {
			t.Errorf("%d bytes: %s, %v", len(data), got, err)
		}
	}
}

func TestHashFiles(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{"a": "abc", "sub/b": ""} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(data), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	absolute := filepath.Join(dir, "a")
	got, err := HashFiles(dir, "a", "./sub/../a", "sub/b", absolute, "a")
	want := map[string]string{"a": hashOfABC, "./sub/../a": hashOfABC, "sub/b": hashOfNothing, absolute: hashOfABC}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}

	got, err = HashFiles(dir, "gone", "a", "sub")
	if diff := cmp.Diff(map[string]string{"a": hashOfABC}, got); diff != "" {
		t.Errorf("with errors (-want +got):\n%s", diff)
	}
	if !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, ErrNotRegular) {
		t.Errorf("error %v", err)
	}
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 2 || !strings.Contains(lines[0], "gone") || !strings.Contains(lines[1], "sub") {
		t.Errorf("error %v", err)
	}

	if got, err := HashFiles(dir); err != nil || got == nil || len(got) > 0 {
		t.Errorf("of no paths: %v, %v", got, err)
	}
}
