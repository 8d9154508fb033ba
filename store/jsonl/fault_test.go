package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/internal/lockfile"
	"github.com/sessionspan/sessionspan/store"
)

// damage is how a call fails.
type damage int

const (
	before damage = iota // nothing is done
	half                 // of a write, half is done; of all else, nothing
	after                // all is done, and an error comes all the same
)

// failing is a file system of which the call number at fails; all others work.
type failing struct {
	disk
	at     int
	how    damage
	calls  int
	failed string // the call that did
	// sync is asked before each sync of a file; nil for nothing.
	sync func()
	// rewritten counts the bytes that were written over themselves.
	rewritten int
	folders   map[string]int // how often each was synced
	full      bool           // every write of a byte fails
	// beforeWrite is called before a write that fails.
	beforeWrite func()
}

var errDisk = &fs.PathError{Op: "test", Path: "disk", Err: syscall.ENOSPC}

// call makes a call, or has it fail.
func (f *failing) call(name string, do func() error) error {
	f.calls++
	if f.calls != f.at {
		return do()
	}
	f.failed = name
	if f.how == after {
		_ = do()
	}
	return errDisk
}

func (f *failing) OpenFile(name string, flag int, mode fs.FileMode) (opened file, err error) {
	err = f.call("open "+filepath.Base(name), func() error {
		opened, err = f.disk.OpenFile(name, flag, mode)
		return err
	})
	if err != nil {
		if opened != nil {
			opened.Close()
		}
		return nil, err
	}
	return &failingFile{opened, f}, nil
}

func (f *failing) Stat(name string) (info fs.FileInfo, err error) {
	err = f.call("stat", func() error { info, err = f.disk.Stat(name); return err })
	return info, err
}

func (f *failing) ReadDir(name string) (list []fs.DirEntry, err error) {
	err = f.call("read folder", func() error { list, err = f.disk.ReadDir(name); return err })
	return list, err
}

func (f *failing) Mkdir(name string, mode fs.FileMode) error {
	return f.call("mkdir", func() error { return f.disk.Mkdir(name, mode) })
}

func (f *failing) Link(from, to string) error {
	return f.call("link", func() error { return f.disk.Link(from, to) })
}

func (f *failing) Rename(from, to string) error {
	return f.call("rename", func() error { return f.disk.Rename(from, to) })
}

func (f *failing) Remove(name string) error {
	return f.call("remove", func() error { return f.disk.Remove(name) })
}

func (f *failing) SyncFolder(name string) error {
	if f.folders == nil {
		f.folders = map[string]int{}
	}
	f.folders[name]++
	return f.call("sync folder", func() error { return f.disk.SyncFolder(name) })
}

type failingFile struct {
	file
	fs *failing
}

func (f *failingFile) Write(p []byte) (n int, err error) {
	if f.fs.full {
		return 0, errDisk
	}
	err = f.fs.call("write", func() error { n, err = f.file.Write(p); return err })
	if err == errDisk && f.fs.how == half {
		if f.fs.beforeWrite != nil {
			f.fs.beforeWrite()
		}
		n, _ = f.file.Write(p[:len(p)/2])
	}
	return n, err
}

func (f *failingFile) WriteAt(p []byte, at int64) (int, error) {
	f.fs.rewritten += len(p)
	return f.file.WriteAt(p, at)
}

func (f *failingFile) ReadAt(p []byte, at int64) (n int, err error) {
	err = f.fs.call("read", func() error { n, err = f.file.ReadAt(p, at); return err })
	return n, err
}

func (f *failingFile) Sync() error {
	if f.fs.sync != nil {
		f.fs.sync()
	}
	return f.fs.call("sync", f.file.Sync)
}

func (f *failingFile) Truncate(size int64) error {
	return f.fs.call("truncate", func() error { return f.file.Truncate(size) })
}

func (f *failingFile) Close() error {
	err := f.fs.call("close", func() error { return nil })
	return errors.Join(err, f.file.Close())
}

// Every call that the store makes fails once, in every way. After that, whatever was acknowledged is there, in its order, the file
// reads well, and nothing is there that nobody appended.
func TestEveryCallFails(t *testing.T) {
	for _, policy := range []Sync{Always, OnResponse, Group, Never} {
		for _, how := range []damage{before, half, after} {
			t.Run(fmt.Sprintf("%s, damage %d", policy, how), func(t *testing.T) {
				seen := map[string]bool{}
				for at := 1; ; at++ {
					disk := &failing{at: at, how: how}
					failAndLook(t, disk, policy)
					if disk.failed == "" {
						break // there were fewer calls
					}
					seen[strings.Fields(disk.failed)[0]] = true
					if t.Failed() {
						t.Fatalf("it was call %d: %s", at, disk.failed)
					}
				}
				for _, call := range []string{"open", "stat", "write", "close", "link", "rename", "remove", "truncate", "read", "mkdir"} {
					if !seen[call] {
						t.Errorf("no %s has failed", call)
					}
				}
			})
		}
	}
}

// failAndLook works with a store whose disk fails, then looks at what is there.
func failAndLook(t *testing.T, disk *failing, policy Sync) {
	t.Helper()
	dir := t.TempDir()
	ctx := context.Background()
	var acked []string
	known := map[string]bool{} // what was tried
	say := func(s *Store, n int) {
		e := format.NewItem(openresponses.UserText(fmt.Sprint("text ", n)))
		e.ID = fmt.Sprint("e", n)
		known[e.ID] = true
		if id, err := s.Append(ctx, "s", e); err == nil {
			acked = append(acked, id)
		}
	}
	s, err := Open(dir, WithSync(policy), withFiles(disk))
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Create(ctx, format.Header{ID: "s", CWD: "/p"})
	created := err == nil
	for n := range 4 {
		say(s, n)
	}
	_ = s.Release("s")
	tear(t, dir)
	for n := 4; n < 8; n++ {
		say(s, n)
	}
	_, _ = s.Open(ctx, "s") // after an error this is how one goes on
	say(s, 8)
	_ = s.Close() // what fails here was acknowledged before

	again, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}()
	session, err := again.Open(ctx, "s")
	switch {
	case err != nil && !created && len(acked) == 0 && errors.Is(err, store.ErrNoSession):
		return
	case err != nil:
		t.Errorf("created: %t, acknowledged: %v; opening it again: %v", created, acked, err)
		return
	}
	var there []string
	for _, e := range session.Entries() {
		there = append(there, e.Base().ID)
		if !known[e.Base().ID] {
			t.Errorf("nobody appended %s", e.Base().ID)
		}
	}
	at := 0
	for _, id := range there {
		if at < len(acked) && id == acked[at] {
			at++
		}
	}
	if at < len(acked) {
		t.Errorf("acknowledged were %v, there are %v", acked, there)
	}
	if _, err := again.Append(ctx, "s", format.NewInfo("And on.")); err != nil {
		t.Errorf("it cannot be appended to: %v", err)
	}
}

// tear leaves half a line at the end of the session's file, and a lock, as another process that died would.
func tear(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "p", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(`{"type":"item","id":"torn","par`); err != nil {
			t.Fatal(err)
		}
		f.Close()
		lock := lockfile.Own(time.Now())
		lock.PID = 1 << 30
		text, err := lock.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+lockfile.Suffix, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A full disk that has taken nothing is no reason to give a session up.
func TestFullDiskThatTookNothing(t *testing.T) {
	disk := &failing{}
	s, err := Open(t.TempDir(), withFiles(disk), WithSync(Never))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	session, err := s.Create(t.Context(), format.Header{ID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	disk.at = disk.calls + 2 // after the look at the file, the write
	_, err = s.Append(t.Context(), "s", format.NewInfo("x"))
	if !errors.Is(err, syscall.ENOSPC) || disk.failed != "write" || errors.Is(err, ErrBroken) || session.Len() != 0 {
		t.Errorf("error %v, from %s; %d entries", err, disk.failed, session.Len())
	}
	if _, err := s.Append(t.Context(), "s", format.NewInfo("x")); err != nil || session.Len() != 1 {
		t.Errorf("error %v, %d entries", err, session.Len())
	}
}

// A sync that fails ends it: what the system says after that may not be true.
func TestNothingIsTakenAfterAFailedSync(t *testing.T) {
	for _, policy := range []Sync{Always, Group} {
		t.Run(policy.String(), func(t *testing.T) {
			disk := &failing{}
			s, err := Open(t.TempDir(), withFiles(disk), WithSync(policy))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Create(t.Context(), format.Header{ID: "s"}); err != nil {
				t.Fatal(err)
			}
			disk.at = disk.calls + 3 // look, write, sync
			for range 3 {
				if _, err := s.Append(t.Context(), "s", format.NewInfo("x")); !errors.Is(err, ErrBroken) {
					t.Errorf("error %v", err)
				}
			}
			if disk.failed != "sync" {
				t.Fatalf("%s has failed", disk.failed)
			}
			session, err := s.Open(t.Context(), "s")
			if err != nil {
				t.Fatal(err)
			}
			// The system may have forgotten what it owes to the disk, of this line and of all before that no sync has gone well for.
			if whole := len(wholeOf(t, session)); session.Len() != 1 || disk.rewritten != whole {
				t.Errorf("%d entries, %d bytes were written once more", session.Len(), disk.rewritten)
			}
			if _, err := s.Append(t.Context(), "s", format.NewInfo("x")); err != nil {
				t.Error(err)
			}
		})
	}
}

// A line that somebody else has appended in the moment of a short write is not cut away.
func TestShortWriteBesideSomebodyElse(t *testing.T) {
	dir := t.TempDir()
	disk := &failing{how: half}
	s, err := Open(dir, withFiles(disk), WithSync(Never))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Create(t.Context(), format.Header{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "default")
	files, err := os.ReadDir(path)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(path, files[0].Name())
	const foreign = `{"type":"info","id":"foreign","parent":null,"ts":"2026-01-02T03:04:05Z","name":"x"}` + "\n"
	disk.beforeWrite = func() {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(foreign)
			f.Close()
		}
		if err != nil {
			t.Error(err)
		}
	}
	disk.at = disk.calls + 2
	if _, err := s.Append(t.Context(), "s", format.NewInfo("mine")); !errors.Is(err, ErrBroken) || !errors.Is(err, ErrNotOwner) {
		t.Errorf("error %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), foreign) {
		t.Errorf("error %v, the file is\n%s", err, text)
	}
}

// A session that could not be deleted is there, whole, or it is gone; and it can be deleted then.
func TestEveryCallOfDeleteFails(t *testing.T) {
	for _, how := range []damage{before, after} {
		for at := 1; ; at++ {
			dir := t.TempDir()
			disk := &failing{how: how}
			s, err := Open(dir, withFiles(disk))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Create(t.Context(), format.Header{ID: "s"}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Append(t.Context(), "s", format.NewInfo("x")); err != nil {
				t.Fatal(err)
			}
			if at%2 == 0 { // of a session that is not open, too
				if err := s.Release("s"); err != nil {
					t.Fatal(err)
				}
			}
			disk.at = disk.calls + (at+1)/2
			deleteErr := s.Delete(t.Context(), "s")
			_ = s.Close()
			if disk.failed == "" {
				if deleteErr != nil {
					t.Fatal(deleteErr)
				}
				break
			}
			again, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			session, err := again.Open(t.Context(), "s")
			switch {
			case err == nil && session.Len() == 1:
				err = again.Delete(t.Context(), "s")
			case errors.Is(err, store.ErrNoSession):
				err = nil
			}
			if err != nil {
				t.Errorf("damage %d, call %d (%s): %v", how, at, disk.failed, err)
			}
			if err := again.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// A new file is only there after a power cut when its folder was brought to disk.
func TestFoldersAreSynced(t *testing.T) {
	for policy, want := range map[Sync]bool{Always: true, OnResponse: true, Group: true, Never: false} {
		disk := &failing{}
		s, err := Open(t.TempDir(), WithSync(policy), withFiles(disk))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Create(t.Context(), format.Header{ID: "s", CWD: "/p"}); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{s.root, filepath.Join(s.root, "p")} {
			if got := disk.folders[dir] > 0; got != want {
				t.Errorf("%s: %s was synced: %t", policy, dir, got)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// On a full disk there is no room for a lock, and deleting a session is how it gets some.
func TestDeleteOnAFullDisk(t *testing.T) {
	disk := &failing{}
	s, err := Open(t.TempDir(), withFiles(disk))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Create(t.Context(), format.Header{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Release("s"); err != nil {
		t.Fatal(err)
	}
	disk.full = true
	if _, err := s.Open(t.Context(), "s"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("open: error %v", err)
	}
	if err := s.Delete(t.Context(), "s"); err != nil {
		t.Errorf("delete: error %v", err)
	}
	if _, err := s.Open(t.Context(), "s"); !errors.Is(err, store.ErrNoSession) {
		t.Errorf("open: error %v", err)
	}
}

func wholeOf(t *testing.T, s *format.Session) string {
	t.Helper()
	var b strings.Builder
	if _, err := s.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
