//go:build unix

package benchtest

import (
	"syscall"
	"testing"
	"time"
)

// CPUTime is what this process has used so far, of all processors.
func CPUTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
