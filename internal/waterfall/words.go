package waterfall

import "time"

// Duration writes a duration for people, with about three digits, as the rows of a drawing have it: 340ms, 3m12s, 2h05m.
func Duration(d time.Duration) string { return human(d) }

// Count writes a count for people, with at most three digits: 456, 1.2k, 456k, 1.2M.
func Count(n int64) string { return short(n) }
