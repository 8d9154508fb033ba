package lockfile

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want Holder
		err  error
	}{
		"a holder":             {`{"pid":7,"host":"h","since":"2026-01-02T03:04:05Z"}`, Holder{PID: 7, Host: "h", Since: "2026-01-02T03:04:05Z"}, nil},
		"one with more to say": {`{"pid":7,"host":"h","more":[1]}`, Holder{PID: 7, Host: "h"}, nil},
		"one with a guard":     {`{"pid":7,"host":"h","guarded":true}`, Holder{PID: 7, Host: "h", Guarded: true}, nil},
		"empty":                {"", Holder{}, ErrUnreadable},
		"no object":            {"7", Holder{}, ErrUnreadable},
		"no process":           {`{"pid":0,"host":"h"}`, Holder{}, ErrUnreadable},
		"cut":                  {`{"pid":7,"ho`, Holder{}, ErrUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.jsonl"+Suffix)
			if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := Read(path)
			if got != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("%+v, error %v; want %+v, %v", got, err, tc.want, tc.err)
			}
		})
	}
	dir := t.TempDir()
	if _, err := Read(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
	if _, err := Read(dir); !errors.Is(err, ErrUnreadable) {
		t.Errorf("a folder: error %v", err)
	}
}

func TestGone(t *testing.T) {
	own := Own(time.Now())
	if own.Gone() {
		t.Errorf("%s is said to be gone, which is this process", own)
	}
	ended := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	dead := own
	dead.PID = ended.Process.Pid
	if !dead.Gone() {
		t.Errorf("%s has ended", dead)
	}
	elsewhere := dead
	elsewhere.Host = "another." + own.Host
	if elsewhere.Gone() {
		t.Errorf("%s is of another host", elsewhere)
	}
	// The number of a process that held a lock before this one began.
	reused := own
	reused.Since = "2001-02-03T04:05:06Z"
	if got := reused.Gone(); got != (runtime.GOOS == "linux") {
		t.Errorf("%s is gone: %t", reused, got)
	}
	reused.Since = "long ago"
	if reused.Gone() {
		t.Errorf("%s may be this process", reused)
	}
}
