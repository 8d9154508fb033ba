package tracker_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessionspan/sessionspan/internal/tracker"
)

func packed(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// put has a file hold some bytes, be it there or not.
func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// replace has another file be in the place of one.
func replace(t *testing.T, path string, data []byte) {
	t.Helper()
	put(t, path+".new", data)
	rename(t, path+".new", path)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// What was there when somebody began to follow is left out whatever becomes of the file, whether somebody watches meanwhile or not; what is
// written after that, and what another session holds, is not.
func TestWhatIsLeftOutStaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		happen func(t *testing.T, s *session)
		runs   int
	}{
		"nothing":    {func(*testing.T, *session) {}, 0},
		"renamed":    {func(t *testing.T, s *session) { s.rename(t) }, 0},
		"compressed": {func(t *testing.T, s *session) { s.compress(t) }, 0},
		"grown":      {func(_ *testing.T, s *session) { s.run("more") }, 1},
		"renamed and grown": {func(t *testing.T, s *session) {
			s.rename(t)
			s.run("more")
		}, 1},
		"grown and compressed": {func(t *testing.T, s *session) {
			s.run("more")
			s.compress(t)
		}, 1},
		"moved to another disk, which is as a copy": {func(t *testing.T, s *session) {
			put(t, s.path+".jsonl", read(t, s.path))
			remove(t, s.path)
		}, 3},
		"rewritten in place":       {func(t *testing.T, s *session) { put(t, s.path, sessionOf(t, "other", 5)) }, 5},
		"another one in its place": {func(t *testing.T, s *session) { replace(t, s.path, sessionOf(t, "other", 5)) }, 5},
	} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", restart ", restart), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					dir, kept, to := t.TempDir(), memory{}, newCollector(t)
					s := newSession(t, dir, "old")
					for i := range 3 {
						s.run(fmt.Sprint(i))
					}
					o := tracker.Options{FromNow: true, Checkpoints: kept, Problem: func(string, error, bool) {}}
					tr := track(t, dir, o, to)
					passes(t, tr, 10*time.Second)
					if restart {
						if err := tr.Close(); err != nil {
							t.Fatal(err)
						}
					}
					c.happen(t, s)
					if restart {
						tr = track(t, dir, o, to)
					}
					defer tr.Close()
					passes(t, tr, time.Minute)
					if got := to.names()["run"]; got != c.runs {
						t.Errorf("%d runs came, want %d", got, c.runs)
					}
				})
			})
		}
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func (s *session) rename(t *testing.T) {
	t.Helper()
	to := filepath.Join(filepath.Dir(s.path), "renamed.jsonl")
	rename(t, s.path, to)
	s.path = to
}

func (s *session) compress(t *testing.T) {
	t.Helper()
	put(t, s.path+".gz", packed(t, read(t, s.path)))
	remove(t, s.path)
}

// sessionOf returns a session with some runs.
func sessionOf(t *testing.T, id string, runs int) []byte {
	t.Helper()
	s := newSession(t, t.TempDir(), id)
	for i := range runs {
		s.run(fmt.Sprint(i))
	}
	return read(t, s.path)
}

// Who asks for all from the start gets what was left out before.
func TestFromStartAfterFromNow(t *testing.T) {
	for name, grown := range map[string]bool{"untouched": false, "read on": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, kept, to := t.TempDir(), memory{}, newCollector(t)
				s := newSession(t, dir, "s")
				s.run("1")
				tr := track(t, dir, tracker.Options{Checkpoints: kept, FromNow: true}, to)
				passes(t, tr, 5*time.Second)
				want := 1
				if grown {
					s.run("2")
					want = 2
					passes(t, tr, 5*time.Second)
				}
				if err := tr.Close(); err != nil {
					t.Fatal(err)
				}
				for range 2 { // and once
					tr = track(t, dir, tracker.Options{Checkpoints: kept}, to)
					passes(t, tr, time.Minute)
					if err := tr.Close(); err != nil {
						t.Fatal(err)
					}
				}
				if got := to.names()["run"]; got != want {
					t.Errorf("%d runs came, want %d", got, want)
				}
			})
		})
	}
}

// What is known of a file is kept for a while in which it is not there, and then let go of.
func TestRecordsOfFilesThatAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, kept, to := t.TempDir(), memory{}, newCollector(t)
		path := filepath.Join(dir, "s.jsonl")
		data := sessionOf(t, "s", 2)
		put(t, path, data)
		watch := func() (sent int) {
			t.Helper()
			before := to.times
			tr := track(t, dir, tracker.Options{Checkpoints: kept}, to)
			passes(t, tr, 10*time.Second)
			if err := tr.Close(); err != nil {
				t.Fatal(err)
			}
			return to.times - before
		}
		away := filepath.Join(t.TempDir(), "s.jsonl")
		if watch() == 0 {
			t.Fatal("nothing came")
		}
		for range 3 { // it is back each time before it is forgotten
			rename(t, path, away)
			watch()
			time.Sleep(60 * 24 * time.Hour)
			rename(t, away, path)
			if n := watch(); n > 0 {
				t.Fatalf("%d spans came again", n)
			}
		}
		rename(t, path, away)
		watch()
		time.Sleep(100 * 24 * time.Hour)
		watch()
		if len(kept) != 1 { // that it has begun
			t.Errorf("%d records are left", len(kept))
		}
	})
}
