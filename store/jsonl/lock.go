package jsonl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sessionspan/sessionspan/internal/lockfile"
	"github.com/sessionspan/sessionspan/store"
)

// guardFolder has a file for each session that was ever locked, named after its id. It stays empty, and it is never removed, so
// that there is one file for everybody to lock.
const guardFolder = ".guard"

// staleSuffix is what a lock file that is taken over has behind its name for a moment.
const staleSuffix = ".stale"

// lock is a session held against other processes: by the kernel, which lets go when the process ends, and by the lock file that
// other libraries know.
type lock struct {
	fs    files
	guard *lockfile.Guard
	path  string // of the lock file; "" while there is none
	own   lockfile.Holder
}

// ours are the lock files that this process holds, by their holders: one of its number that is not among them was left behind.
var ours sync.Map

// isStale reports whether the holder of a lock file is gone. We have the guard, which tells of other processes only where nothing
// better does: there may be another one, behind a link or in the place of one that was removed.
func isStale(h lockfile.Holder) bool {
	switch {
	case h.Gone():
		return true
	case !h.IsHere() || !h.Guarded:
		return false
	case h.PID == os.Getpid():
		_, held := ours.Load(h)
		return !held
	}
	return !lockfile.CanTell()
}

// guard locks an id against everybody else who goes by the guard. The error wraps [store.ErrSessionLocked].
func (s *Store) guard(id string) (*lock, error) {
	dir := filepath.Join(s.root, guardFolder)
	if err := s.makeFolder(dir); err != nil {
		return nil, err
	}
	g, err := lockfile.Hold(filepath.Join(dir, lockfile.GuardName(id)), s.fileMode)
	switch {
	case errors.Is(err, lockfile.ErrHeld):
		return nil, fmt.Errorf("%w: %.100q, by another process or another store: %w", store.ErrSessionLocked, id, err)
	case err != nil:
		return nil, fmt.Errorf("session %.100s: %w", id, err)
	}
	return &lock{fs: s.fs, guard: g}, nil
}

// take takes the lock file of a session over from nobody, or from a holder that is gone.
func (l *lock) take(s *Store, id, file string) error {
	path := file + lockfile.Suffix
	for range 3 {
		err := l.create(s, path)
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return err
		}
		h, err := lockfile.Read(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // it was given up just now
		case err != nil:
			return fmt.Errorf("%w: %.100q: %s is there, and %w; if no agent runs, Break the lock", store.ErrSessionLocked, id, path, err)
		case !isStale(h):
			return fmt.Errorf("%w: %.100q, held by %s: %s", store.ErrSessionLocked, id, h, path)
		}
		// With the guard in hand, nobody of ours takes it over at the same time. Others may: so it is moved away and looked at
		// again, and what is there then is theirs.
		aside := path + staleSuffix
		if err := l.fs.Rename(path, aside); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		if moved, err := lockfile.Read(aside); err == nil && moved != h {
			_ = l.fs.Link(aside, path)
			_ = l.fs.Remove(aside)
			continue
		}
		if err := l.fs.Remove(aside); err != nil {
			return err
		}
		if s.takeover != nil {
			s.takeover(newTakeover(id, file, h))
		}
	}
	return fmt.Errorf("%w: %.100q: %s comes and goes", store.ErrSessionLocked, id, path)
}

// create creates the lock file.
func (l *lock) create(s *Store, path string) error {
	own := lockfile.Own(time.Now())
	own.Guarded, own.Nonce = true, nonces.Add(1)
	text, err := own.Encode()
	if err != nil {
		return err
	}
	if err := s.place(path, text, false); err != nil {
		return err
	}
	l.path, l.own = path, own
	ours.Store(own, true)
	return nil
}

// nonces tell the locks of this process apart.
var nonces atomic.Int64

// release gives both up.
func (l *lock) release() error {
	var err error
	if l.path != "" {
		ours.Delete(l.own)
		if h, readErr := lockfile.Read(l.path); readErr == nil && h == l.own { // else somebody has broken it, and has one of their own
			err = gone(l.fs.Remove(l.path))
		}
		l.path = ""
	}
	return errors.Join(err, l.guard.Release())
}
