//go:build !unix

package tracker_test

import (
	"testing"
	"time"
)

func cpuTime(b *testing.B) time.Duration {
	b.Skip("nothing tells what this process has used")
	return 0
}
