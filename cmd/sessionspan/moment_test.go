package main

import (
	"testing"
	"time"
)

func TestParseMoment(t *testing.T) {
	// The clocks are put on in the night from the 28th to the 29th.
	zone := time.FixedZone("here", 2*3600)
	if berlin, err := time.LoadLocation("Europe/Berlin"); err == nil {
		zone = berlin
	}
	now := time.Date(2026, 3, 30, 15, 4, 5, 0, zone)
	for value, want := range map[string]time.Time{
		"2026-03-11T09:14:02.5Z":    time.Date(2026, 3, 11, 9, 14, 2, 500_000_000, time.UTC),
		"2026-03-11T09:14:02+05:30": time.Date(2026, 3, 11, 3, 44, 2, 0, time.UTC),
		"2026-03-11":                time.Date(2026, 3, 11, 0, 0, 0, 0, zone),
		"2026-03-11T09:14":          time.Date(2026, 3, 11, 9, 14, 0, 0, zone),
		"2026-03-11 09:14:02":       time.Date(2026, 3, 11, 9, 14, 2, 0, zone),
		"today":                     time.Date(2026, 3, 30, 0, 0, 0, 0, zone),
		"yesterday":                 time.Date(2026, 3, 29, 0, 0, 0, 0, zone),
		"3d":                        time.Date(2026, 3, 27, 15, 4, 5, 0, zone),
		"2w":                        time.Date(2026, 3, 16, 15, 4, 5, 0, zone),
		"12h":                       now.Add(-12 * time.Hour),
		"90m":                       now.Add(-90 * time.Minute),
		"0s":                        now,
	} {
		if got, ok := parseMoment(value, now); !ok || !got.Equal(want) {
			t.Errorf("%q is %v, %t; want %v", value, got, ok, want)
		}
	}
	for _, value := range []string{
		"", "tomorrow", "3", "d", "-3d", "3 d", "1.5h", "3y", "9999999d", "2026-02-30", "2026-3-1", "12:00", "2026-03-11T09:14Z", "Today",
	} {
		if got, ok := parseMoment(value, now); ok {
			t.Errorf("%q is %v; want none", value, got)
		}
	}
}
