//go:build unix

package jsonl_test

import (
	"syscall"
	"testing"
)

// pipe makes a named pipe that nobody will ever write to.
func pipe(t *testing.T, path string) {
	t.Helper()
	must(t, syscall.Mkfifo(path, 0o600))
}
