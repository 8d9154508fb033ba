//go:build unix

package follow_test

import "syscall"

func pipe(path string) error { return syscall.Mkfifo(path, 0o600) }
