package terminal

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// Time writes a time, to the second.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// Duration writes a duration with about three digits: 340ms, 2.1s, 3m12s, 2h05m, 3d04h.
func Duration(d time.Duration) string {
	switch {
	case d <= 0:
		return "0ms"
	case d < time.Millisecond:
		return "<1ms"
	}
	if r := round(d, time.Millisecond); r < time.Second {
		return strconv.FormatInt(int64(r/time.Millisecond), 10) + "ms"
	}
	if r := round(d, time.Second/10); r < time.Minute {
		return strconv.FormatFloat(r.Seconds(), 'f', 1, 64) + "s"
	}
	if r := round(d, time.Second); r < time.Hour {
		return pair(r, time.Minute, "m", time.Second, "s")
	}
	if r := round(d, time.Minute); r < day {
		return pair(r, time.Hour, "h", time.Minute, "m")
	}
	r := round(d, time.Hour)
	if r < 100*day {
		return pair(r, day, "d", time.Hour, "h")
	}
	return strconv.FormatInt(int64(r/day), 10) + "d"
}

// round is Duration.Round, which gives the largest duration up where it overflows.
func round(d, unit time.Duration) time.Duration { return d.Round(unit) }

func pair(d, big time.Duration, bigUnit string, small time.Duration, smallUnit string) string {
	s := strconv.FormatInt(int64(d/big), 10) + bigUnit
	n := int64(d % big / small)
	if n < 10 {
		s += "0"
	}
	return s + strconv.FormatInt(n, 10) + smallUnit
}

// Place writes a place on a time axis: like [Duration], without what is zero (1m, 90s as 1m30s, 2.5s).
func Place(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	for _, u := range []struct {
		big, small time.Duration
		b, s       string
	}{{day, time.Hour, "d", "h"}, {time.Hour, time.Minute, "h", "m"}, {time.Minute, time.Second, "m", "s"}} {
		if d < u.big {
			continue
		}
		if d = round(d, u.small); d%u.big == 0 {
			return strconv.FormatInt(int64(d/u.big), 10) + u.b
		}
		return pair(d, u.big, u.b, u.small, u.s)
	}
	if d >= time.Second {
		return strconv.FormatFloat(d.Seconds(), 'g', 3, 64) + "s"
	}
	return strconv.FormatInt(int64(round(d, time.Millisecond)/time.Millisecond), 10) + "ms"
}

// Count writes a count with at most three digits: 456, 1.2k, 12.3k, 456k, 1.2M.
func Count(n int64) string {
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	f := float64(n)
	for _, unit := range []string{"k", "M", "G", "T"} {
		if f /= 1000; f < 99.95 {
			return strconv.FormatFloat(f, 'f', 1, 64) + unit
		}
		if f < 999.5 {
			return strconv.FormatFloat(f, 'f', 0, 64) + unit
		}
	}
	return strconv.FormatFloat(f, 'g', 3, 64) + "T"
}

// Dollars writes a cost: $12.34, $0.042.
func Dollars(v float64) string {
	digits := 2
	if v != 0 && math.Abs(v) < 0.1 {
		digits = 4
	}
	return "$" + strconv.FormatFloat(v, 'f', digits, 64)
}

// CountOr is [Count] of what may be unknown, which is a question mark.
func CountOr(n *int64) string {
	if n == nil {
		return "?"
	}
	return Count(*n)
}

// Tokens writes what went into model calls and what came out of them; "" when neither is known.
func (l Look) Tokens(in, out *int64, lowerBound bool) string {
	if in == nil && out == nil {
		return ""
	}
	text := CountOr(in) + l.To() + CountOr(out)
	if lowerBound {
		text = l.AtLeast() + text
	}
	return text
}

// Size writes a number of bytes with about three digits: 999 B, 12.3 kB, 1.2 GB.
func Size(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	v, i := float64(n), -1
	for v >= unit && i < 3 {
		v /= unit
		i++
	}
	return fmt.Sprintf("%.1f %cB", v, "kMGT"[i])
}

// Plural writes a number with its noun: 1 call, 2 entries, 3 hashes, 4 calls without hand-off.
func Plural[N int | int64](n N, noun string) string {
	head, rest, _ := strings.Cut(noun, " without ")
	switch {
	case n == 1:
	case strings.HasSuffix(head, "y"):
		head = strings.TrimSuffix(head, "y") + "ies"
	case strings.HasSuffix(head, "h"):
		head += "es"
	default:
		head += "s"
	}
	if rest != "" {
		head += " without " + rest
	}
	return fmt.Sprintf("%d %s", n, head)
}
