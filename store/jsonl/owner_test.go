package jsonl_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/store"
	"github.com/sessionspan/sessionspan/store/jsonl"
)

// Whatever happens to the file underneath, nothing is written over it, and the session in memory says no more than it did.
func TestFileChangedUnderneath(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(t *testing.T, path string)
		open error // of opening it again
	}{
		{"removed", func(t *testing.T, path string) { must(t, os.Remove(path)) }, store.ErrNoSession},
		{"replaced", func(t *testing.T, path string) {
			must(t, os.Rename(path, path+".old"))
			write(t, path, header+first)
		}, nil},
		{"written to by somebody else", func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			must(t, err)
			_, err = f.WriteString(second)
			must(t, errors.Join(err, f.Close()))
		}, nil},
		{"cut", func(t *testing.T, path string) { must(t, os.Truncate(path, int64(len(header)))) }, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir, path := put(t, header+first)
			s := open(t, dir)
			session, err := s.Open(t.Context(), "s")
			must(t, err)
			tc.do(t, path)
			var before string
			if tc.open == nil {
				before = read(t, path)
			}
			for range 2 {
				if _, err := s.Append(t.Context(), "s", say("Hello.")); !errors.Is(err, jsonl.ErrNotOwner) {
					t.Errorf("error %v", err)
				}
			}
			if session.Len() != 1 {
				t.Errorf("%d entries", session.Len())
			}
			if tc.open == nil && read(t, path) != before {
				t.Errorf("the file is\n%s\nand was\n%s", read(t, path), before)
			}
			again, err := s.Open(t.Context(), "s")
			if !errors.Is(err, tc.open) {
				t.Fatalf("error %v", err)
			}
			if err != nil {
				return
			}
			if _, err := s.Append(t.Context(), "s", say("Hello.")); err != nil || again == session {
				t.Errorf("opened again: error %v", err)
			}
			if _, err := session.Append(say("Hello.")); err == nil {
				t.Error("the session of before still takes entries")
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// One process at a time writes to a session; others may read.
func TestTwoStores(t *testing.T) {
	dir, path := put(t, header+first)
	one, two := open(t, dir), open(t, dir)
	_, err := one.Open(t.Context(), "s")
	must(t, err)
	if _, err := os.Stat(path + ".lock"); err != nil {
		t.Error(err)
	}
	for op, err := range map[string]error{
		"open":   errOf(two.Open(t.Context(), "s")),
		"append": errOf(two.Append(t.Context(), "s", say("x"))),
		"delete": two.Delete(t.Context(), "s"),
		"break":  two.Break(t.Context(), "s"),
	} {
		if !errors.Is(err, store.ErrSessionLocked) {
			t.Errorf("%s: error %v", op, err)
		}
	}
	if err := errOf(two.Create(t.Context(), format.Header{ID: "s"})); !errors.Is(err, store.ErrSessionExists) {
		t.Errorf("create: error %v", err)
	}
	if session, err := open(t, dir, jsonl.WithReadOnly()).Open(t.Context(), "s"); err != nil || session.Len() != 1 {
		t.Errorf("read: error %v", err)
	}
	if err := errOf(two.Create(t.Context(), format.Header{ID: "other"})); err != nil {
		t.Errorf("another session: error %v", err)
	}
	must(t, one.Release("s"))
	if _, err := os.Stat(path + ".lock"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock file is still there: %v", err)
	}
	_, err = two.Append(t.Context(), "s", say("Mine now."))
	must(t, err)
	must(t, two.Release("s"))
	if session, err := one.Open(t.Context(), "s"); err != nil || session.Len() != 2 {
		t.Errorf("error %v", err)
	}
}

func errOf[T any](_ T, err error) error { return err }

// The lock files of the reference, and of processes that are gone.
func TestLockFiles(t *testing.T) {
	host, err := os.Hostname()
	must(t, err)
	ended := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	must(t, ended.Run())
	now := time.Now().UTC().Format(time.RFC3339)
	lock := func(pid int, host, since string) string {
		text, err := json.Marshal(map[string]any{"pid": pid, "host": host, "since": since})
		must(t, err)
		return string(text)
	}
	for _, tc := range []struct {
		name, text string
		taken      bool // over
	}{
		{"of a process that runs", lock(os.Getpid(), host, now), false},
		{"of a process that has ended", lock(ended.Process.Pid, host, now), true},
		{"of a process whose number another one has now", lock(os.Getpid(), host, "2001-02-03T04:05:06Z"), true},
		{"of another host", lock(ended.Process.Pid, "elsewhere", now), false},
		{"empty", "", false},
		{"not readable", "{", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.taken && strings.Contains(tc.name, "another one has") {
				if _, err := os.Stat("/proc/self/stat"); err != nil {
					t.Skip("this system does not tell when a process began")
				}
			}
			dir, path := put(t, header+first)
			write(t, path+".lock", tc.text)
			var over []jsonl.Takeover
			s := open(t, dir, jsonl.WithTakeover(func(one jsonl.Takeover) { over = append(over, one) }))
			_, err := s.Open(t.Context(), "s")
			if tc.taken {
				if err != nil || len(over) != 1 || over[0].Session != "s" || over[0].Path != path || over[0].Host != host {
					t.Errorf("error %v, taken over %+v", err, over)
				}
				return
			}
			if !errors.Is(err, store.ErrSessionLocked) || len(over) > 0 || read(t, path+".lock") != tc.text {
				t.Errorf("error %v, taken over %+v", err, over)
			}
			must(t, s.Break(t.Context(), "s"))
			_, err = s.Append(t.Context(), "s", say("Mine."))
			must(t, err)
			if s.Break(t.Context(), "s") == nil {
				t.Error("the lock of this store was broken")
			}
			must(t, s.Release("s"))
			if got := names(t, filepath.Dir(path)); len(got) != 1 {
				t.Errorf("left are %v", got)
			}
		})
	}
}

func TestClosed(t *testing.T) {
	dir, _ := put(t, header+first)
	s := open(t, dir)
	session, err := s.Open(t.Context(), "s")
	must(t, err)
	must(t, s.Close())
	for op, err := range map[string]error{
		"open":                  errOf(s.Open(t.Context(), "s")),
		"append":                errOf(s.Append(t.Context(), "s", say("x"))),
		"create":                errOf(s.Create(t.Context(), format.Header{})),
		"append to the session": errOf(session.Append(say("x"))),
	} {
		if !errors.Is(err, jsonl.ErrClosed) {
			t.Errorf("%s: error %v", op, err)
		}
	}
	must(t, s.Release("s"))
	must(t, s.Close())
}

// Two roots that lead to one folder by a link have guards of their own; the lock file keeps them apart all the same.
func TestTwoRoots(t *testing.T) {
	dir, path := put(t, header+first)
	other := t.TempDir()
	if err := os.Symlink(filepath.Dir(path), filepath.Join(other, "linked")); err != nil {
		t.Skip(err)
	}
	one, two := open(t, dir), open(t, other)
	_, err := one.Open(t.Context(), "s")
	must(t, err)
	if _, err := two.Open(t.Context(), "s"); !errors.Is(err, store.ErrSessionLocked) {
		t.Errorf("error %v", err)
	}
	must(t, one.Release("s"))
	_, err = two.Append(t.Context(), "s", say("Mine."))
	must(t, err)
}

// A lock that somebody has broken, and taken, is theirs to give up.
func TestReleaseLeavesTheLockOfOthers(t *testing.T) {
	dir, path := put(t, header+first)
	s := open(t, dir)
	_, err := s.Open(t.Context(), "s")
	must(t, err)
	const theirs = `{"pid":1,"host":"elsewhere","since":"2026-01-02T03:04:05Z"}`
	write(t, path+".lock", theirs)
	must(t, s.Release("s"))
	if got := read(t, path+".lock"); got != theirs {
		t.Errorf("the lock is %q", got)
	}
}

// Releasing a session while it is written to loses nobody an answer: what was appended was acknowledged, or is not there.
func TestReleaseBesideAppends(t *testing.T) {
	for _, policy := range []jsonl.Sync{jsonl.Group, jsonl.OnResponse} {
		dir, path := put(t, header)
		s := open(t, dir, jsonl.WithSync(policy))
		var wg sync.WaitGroup
		var mu sync.Mutex
		acked := map[string]bool{}
		for w := range 4 {
			wg.Go(func() {
				for n := range 100 {
					e := format.NewInfo("x")
					e.ID = fmt.Sprint(w, "-", n)
					if _, err := s.Append(t.Context(), "s", e); err == nil {
						mu.Lock()
						acked[e.ID] = true
						mu.Unlock()
					} else if !errors.Is(err, jsonl.ErrClosed) {
						t.Error(err)
					}
				}
			})
		}
		for range 50 {
			must(t, s.Release("s"))
		}
		wg.Wait()
		session, err := format.ReadSession(strings.NewReader(read(t, path)))
		must(t, err)
		for _, e := range session.Entries() {
			if id := e.Base().ID; !acked[id] {
				t.Errorf("%s: %s is there, and was not acknowledged", policy, id)
			}
		}
		if session.Len() != len(acked) || len(acked) == 0 {
			t.Errorf("%s: %d entries, %d acknowledged", policy, session.Len(), len(acked))
		}
	}
}
