package waterfall

import (
	"math"
	"strconv"
	"time"
)

const day = 24 * time.Hour

// human writes a duration with about three digits: 340ms, 2.1s, 3m12s, 2h05m, 3d04h.
func human(d time.Duration) string {
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

// mark writes a place on the time axis: like human, without what is zero (1m, 90s as 1m30s, 2.5s).
func mark(d time.Duration) string {
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

// short writes a count with at most three digits: 456, 1.2k, 12.3k, 456k, 1.2M.
func short(n int64) string {
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

// dollars writes a cost: $12.34, $0.042.
func dollars(v float64) string {
	digits := 2
	if v != 0 && math.Abs(v) < 0.1 {
		digits = 4
	}
	return "$" + strconv.FormatFloat(v, 'f', digits, 64)
}

// plural writes a number with its noun.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}
