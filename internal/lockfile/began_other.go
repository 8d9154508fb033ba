//go:build !linux

package lockfile

import "time"

// began does not know when a process began.
func began(int) (t time.Time, known bool) { return time.Time{}, false }
