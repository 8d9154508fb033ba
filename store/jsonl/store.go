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

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/lockfile"
	"github.com/sessionspan/sessionspan/internal/slots"
	"github.com/sessionspan/sessionspan/store"
)

// What a store of files answers besides the errors of package store.
var (
	// ErrNotOwner: the file is not what this store left: somebody else wrote to it, cut, moved, removed or replaced it. Nothing
	// was written. Open reads it anew.
	ErrNotOwner = errors.New("the file is not as it was left")
	// ErrBroken: an earlier write or sync failed, so that it is not known what is on disk. Nothing more is taken; Open reads the
	// file anew.
	ErrBroken = errors.New("an earlier write failed")
	// ErrClosed: the store was closed, or the session released.
	ErrClosed = errors.New("closed")
)

const (
	readOnly  = os.O_RDONLY
	createNew = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	appending = os.O_RDWR | os.O_APPEND
)

// Store keeps sessions as files below a folder. It is for many goroutines, and for one process at a time to each session.
type Store struct {
	root                 string
	fs                   files
	sync                 Sync
	readOnly             bool
	fileMode, folderMode fs.FileMode
	takeover             func(Takeover)
	tornTail             func(TornTail)

	slots slots.Map[handle] // those that are open for writing
}

var (
	_ store.Store        = (*Store)(nil)
	_ store.HeaderReader = (*Store)(nil)
)

// Open returns the store of the sessions below a folder, which is created when something is written. The error is that the path
// is none.
func Open(root string, opts ...Option) (*Store, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	s := &Store{root: abs, fs: disk{}, sync: OnResponse, fileMode: 0o600, folderMode: 0o700}
	for _, o := range opts {
		o.apply(s)
	}
	return s, nil
}

// enter takes the place of a session, which Leave gives back.
func (s *Store) enter(ctx context.Context, id string) (*slots.Slot[handle], error) {
	at, ok, err := s.slots.Enter(ctx, id)
	if err == nil && !ok {
		err = fmt.Errorf("store %s: %w", s.root, ErrClosed)
	}
	return at, err
}

// Create implements [store.Store]. The file has its name from the header: see the package comment.
func (s *Store) Create(ctx context.Context, h format.Header) (*format.Session, error) {
	if s.readOnly {
		return nil, fmt.Errorf("create a session: %w", store.ErrReadOnly)
	}
	session, err := format.NewSession(h)
	if err != nil {
		return nil, err
	}
	id := session.ID()
	if !usable(id) {
		return nil, fmt.Errorf("session id %.200q: it cannot be a part of the name of a file", id)
	}
	at, err := s.enter(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.slots.Leave(id, at)
	if at.Open != nil {
		return nil, exists(id)
	}
	if at.Open, err = s.create(session); err != nil {
		return nil, err
	}
	return session, nil
}

// Open implements [store.Store]. A session that is opened stays locked against other processes until [Store.Release].
func (s *Store) Open(ctx context.Context, id string) (*format.Session, error) {
	if s.readOnly {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return s.read(id)
	}
	at, err := s.enter(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.slots.Leave(id, at)
	if at.Open != nil && at.Open.failed() != nil && !at.Open.refusing() {
		_ = at.Open.close(ErrClosed) // what is wrong with it has been said
		at.Open = nil
	}
	if err := s.openAt(at, id); err != nil {
		return nil, err
	}
	return at.Open.session, nil
}

// openAt opens a session for writing unless it is.
func (s *Store) openAt(at *slots.Slot[handle], id string) (err error) {
	if at.Open == nil {
		at.Open, err = s.open(id)
	}
	return err
}

// Append implements [store.Store]. When it has returned an id, the entry is there after the process has died, and after the power
// was cut where the policy says so ([Sync]). When it fails, the session in memory says no more than the file.
func (s *Store) Append(ctx context.Context, id string, e format.Entry) (string, error) {
	h, err := s.writable(ctx, id)
	if err != nil {
		return "", err
	}
	entry, err := h.session.Append(e)
	if err != nil || s.sync != Group {
		return entry, err
	}
	if err := h.durable(); err != nil {
		return "", err
	}
	return entry, nil
}

// writable returns a session that is open for writing.
func (s *Store) writable(ctx context.Context, id string) (*handle, error) {
	if s.readOnly {
		return nil, fmt.Errorf("append to session %.100s: %w", id, store.ErrReadOnly)
	}
	at, err := s.enter(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.slots.Leave(id, at)
	err = s.openAt(at, id)
	return at.Open, err
}

// Delete implements [store.Store]. With the file go the folder of the session's media, if its header says that it has one, and what
// was set aside of it.
func (s *Store) Delete(ctx context.Context, id string) error {
	if s.readOnly {
		return fmt.Errorf("delete session %.100s: %w", id, store.ErrReadOnly)
	}
	at, err := s.enter(ctx, id)
	if err != nil {
		return err
	}
	defer s.slots.Leave(id, at)
	if at.Open == nil {
		path, err := s.find(id)
		if err != nil {
			return err
		}
		l, err := s.guard(id)
		if err != nil {
			return err
		}
		err = l.take(s, id, path)
		if _, readErr := lockfile.Read(path + lockfile.Suffix); errors.Is(err, syscall.ENOSPC) && errors.Is(readErr, fs.ErrNotExist) {
			err = nil // a full disk has no room for a lock, and this is how it gets some; nobody else has one
		}
		if err != nil {
			return errors.Join(err, l.release())
		}
		return errors.Join(s.remove(id, path), l.release())
	}
	h := at.Open
	at.Open = nil
	path := h.path
	if _, err := s.fs.Stat(path); errors.Is(err, fs.ErrNotExist) { // it may have been moved
		if path, err = s.find(id); err != nil {
			return errors.Join(err, h.close(ErrClosed))
		}
	}
	h.stop(fmt.Errorf("%s: it is being deleted: %w", h.path, ErrClosed))
	if err := s.remove(id, path); err != nil {
		return errors.Join(err, h.close(ErrClosed))
	}
	return h.close(noSession(id))
}

// remove removes the files of a session.
func (s *Store) remove(id, path string) error {
	h, err := s.header(path)
	if errors.Is(err, fs.ErrNotExist) {
		return noSession(id)
	}
	if err := s.fs.Remove(path); err != nil {
		return err
	}
	dir, base := filepath.Split(path)
	names, listErr := s.fs.ReadDir(dir)
	errs := []error{listErr}
	for _, n := range names {
		for _, aside := range []string{base + tornSuffix, base + ".broken-", tempName(base), base + lockfile.Suffix + staleSuffix} {
			if strings.HasPrefix(n.Name(), aside) {
				errs = append(errs, gone(s.fs.Remove(filepath.Join(dir, n.Name()))))
			}
		}
	}
	if err == nil && h.Media == format.MediaSidecar {
		media := mediaFolder(path, id)
		if info, err := s.fs.Lstat(media); err == nil && info.IsDir() {
			errs = append(errs, s.fs.RemoveAll(media))
		}
	}
	return errors.Join(append(errs, s.syncFolder(dir))...)
}

// Release closes a session and gives up its lock; a session that is not open is none of its business. Appends to what Open gave for
// it fail from now on; the store opens it again when it is asked to.
func (s *Store) Release(id string) error {
	return s.slots.Remove(id, func(h *handle) error { return h.close(ErrClosed) })
}

// Close releases every session. The store takes nothing more.
func (s *Store) Close() error {
	var errs []error
	for _, h := range s.slots.Close() {
		errs = append(errs, h.close(ErrClosed))
	}
	return errors.Join(errs...)
}

// Break takes away the lock file of a session that nobody can give up: of another host that is gone, or one that cannot be read.
// The caller knows that no agent writes to the session. Where a process of this machine holds the session by a store of this
// package, it is refused with [store.ErrSessionLocked]: that process runs.
func (s *Store) Break(ctx context.Context, id string) error {
	if s.readOnly {
		return fmt.Errorf("break the lock of session %.100s: %w", id, store.ErrReadOnly)
	}
	at, err := s.enter(ctx, id)
	if err != nil {
		return err
	}
	defer s.slots.Leave(id, at)
	if at.Open != nil {
		return fmt.Errorf("%w: %.100q, by this store", store.ErrSessionLocked, id)
	}
	path, err := s.find(id)
	if err != nil {
		return err
	}
	l, err := s.guard(id)
	if err != nil {
		return err
	}
	return errors.Join(gone(s.fs.Remove(path+lockfile.Suffix)), l.release())
}

// read reads a session without locking or writing anything.
func (s *Store) read(id string) (*format.Session, error) {
	path, err := s.find(id)
	if err != nil {
		return nil, err
	}
	f, err := s.fs.OpenFile(path, readOnly, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	session, err := format.ReadSession(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	session.Attach(func([]byte, format.Entry) error {
		return fmt.Errorf("append to session %.100s: %w", id, store.ErrReadOnly)
	})
	return session, nil
}
