package repair

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestWrittenAShortWhileAgo(t *testing.T) {
	for _, tc := range []struct {
		name string
		ago  time.Duration
		says string // "" for nothing
	}{
		{"just now", 0, "written 0 s ago"},
		{"less than a minute", 59 * time.Second, "written 59 s ago; end the agent first"},
		{"a minute", time.Minute, ""},
		{"in the future", -time.Hour, "2026-09-20T13:00:00Z, which is yet to come"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := put(t, torn)
			age(t, path, tc.ago)
			rep, err := File(t.Context(), path, Options{Now: now}, func(Finding) {})
			if err != nil || errors.Is(rep.Busy, ErrRecent) != (tc.says != "") {
				t.Errorf("a dry run: %v, busy %v", err, rep.Busy)
			}
			rep, err = write(t, path, Options{})
			if tc.says == "" {
				if err != nil || !rep.Written {
					t.Fatalf("%v, report %+v", err, rep)
				}
				return
			}
			if !errors.Is(err, ErrRecent) || !strings.Contains(err.Error(), tc.says) || rep.Written || read(t, path) != torn {
				t.Errorf("%v, report %+v", err, rep)
			}
			if rep, err := write(t, path, Options{Force: true}); err != nil || !rep.Written {
				t.Errorf("by force: %v, report %+v", err, rep)
			}
		})
	}
}

// A file that needs nothing may be in use.
func TestNothingToRepairInUse(t *testing.T) {
	path := put(t, mended)
	age(t, path, 0)
	if rep, err := write(t, path, Options{}); err != nil || rep.Busy != nil {
		t.Errorf("%v, report %+v", err, rep)
	}
}
