package main

import (
	"regexp"
	"strconv"
	"time"
)

// momentWords say what --since and --until take.
const momentWords = "2026-09-20T12:00:00Z, 2026-09-20 (midnight here), yesterday, today, 3d or 12h (ago)"

// localLayouts are those of a time without a zone, which is a time here.
var localLayouts = []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", time.DateTime}

var agoPattern = regexp.MustCompile(`^(\d{1,6})([smhdw])$`)

// parseMoment reads a time as people type it: RFC 3339, a date or a time without a zone, which are those of now's zone, today
// and yesterday, which are their midnights, or a number of seconds, minutes, hours, days or weeks ago. Days and weeks
// are those of the calendar.
func parseMoment(value string, now time.Time) (t time.Time, ok bool) {
	if t, err := time.Parse(time.RFC3339Nano, value); err == nil {
		return t, true
	}
	for _, layout := range localLayouts {
		if t, err := time.ParseInLocation(layout, value, now.Location()); err == nil {
			return t, true
		}
	}
	y, m, d := now.Date()
	switch value {
	case "today":
		return time.Date(y, m, d, 0, 0, 0, 0, now.Location()), true
	case "yesterday":
		return time.Date(y, m, d-1, 0, 0, 0, 0, now.Location()), true
	}
	ago := agoPattern.FindStringSubmatch(value)
	if ago == nil {
		return time.Time{}, false
	}
	n, _ := strconv.Atoi(ago[1]) // a few digits, by the pattern
	switch ago[2] {
	case "d":
		return now.AddDate(0, 0, -n), true
	case "w":
		return now.AddDate(0, 0, -7*n), true
	}
	unit := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[ago[2]]
	return now.Add(-time.Duration(n) * unit), true
}
