package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/lockfile"
	"github.com/sessionspan/sessionspan/internal/slots"
	"github.com/sessionspan/sessionspan/store"
	_ "modernc.org/sqlite" // the driver
)

// What a store in a database answers besides the errors of package store.
var (
	// ErrNotOwner: the session in the database is not what this store left. Nothing was written. Open reads it anew.
	ErrNotOwner = errors.New("the session is not as it was left")
	// ErrClosed: the store was closed, or the session released.
	ErrClosed = errors.New("closed")
)

// Option changes how a store keeps sessions.
type Option interface{ apply(*settings) }

type option func(*settings)

func (o option) apply(s *settings) { o(s) }

type settings struct {
	relaxed bool
}

// WithRelaxedSync does not wait for the disk: a power cut may take the last appends, and leaves no part of one.
func WithRelaxedSync() Option { return option(func(s *settings) { s.relaxed = true }) }

// Store keeps sessions in a database. It is for many goroutines, and for one process at a time to each session.
type Store struct {
	path  string
	info  os.FileInfo // which file it is
	write *sql.DB     // one connection
	read  *sql.DB
	slots slots.Map[handle]
}

var (
	_ store.Store        = (*Store)(nil)
	_ store.HeaderReader = (*Store)(nil)
)

const (
	fileMode, folderMode = 0o600, 0o700
	// patience is how long one process waits for another one's transaction, in milliseconds.
	patience = 5000
)

// Open opens the database at that path, and creates it if it is not there. The error wraps [ErrNewer], or is one of SQLite.
func Open(ctx context.Context, path string, opts ...Option) (*Store, error) {
	var set settings
	for _, o := range opts {
		o.apply(&set)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode) // SQLite gives its own files the mode of this one
	if err != nil {
		return nil, err
	}
	f.Close()
	// One database has one guard for each session, whatever links lead to it.
	if path, err = filepath.Abs(path); err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path+".guard", folderMode); err != nil {
		return nil, err
	}
	s := &Store{path: path}
	if s.info, err = os.Stat(path); err != nil {
		return nil, err
	}
	opening, err := holdWhile(ctx, filepath.Join(path+".guard", "open")) // SQLite does not wait while another one turns to WAL
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer opening.Release()
	if s.write, err = connect(path, set); err == nil {
		s.read, err = connect(path, set)
	}
	if err == nil {
		s.write.SetMaxOpenConns(1)
		err = migrate(ctx, s.write)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), s.closeAll())
	}
	return s, nil
}

// holdWhile takes a guard, and waits for it for a while.
func holdWhile(ctx context.Context, path string) (*lockfile.Guard, error) {
	ctx, cancel := context.WithTimeout(ctx, patience*time.Millisecond)
	defer cancel()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		g, err := lockfile.Hold(path, fileMode)
		if !errors.Is(err, lockfile.ErrHeld) {
			return g, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", store.ErrSessionLocked, err)
		}
	}
}

// isThere finds out whether the database is the file that was opened.
func (s *Store) isThere() error {
	info, err := os.Stat(s.path)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotOwner, err)
	case !os.SameFile(info, s.info):
		return fmt.Errorf("%w: another database is in its place: %s", ErrNotOwner, s.path)
	}
	return nil
}

func connect(path string, set settings) (*sql.DB, error) {
	sync := "FULL"
	if set.relaxed {
		sync = "NORMAL"
	}
	q := url.Values{"_pragma": {
		fmt.Sprintf("busy_timeout(%d)", patience), "journal_mode(WAL)", "synchronous(" + sync + ")", "foreign_keys(ON)",
	}}
	return sql.Open("sqlite", (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}).String())
}

func (s *Store) closeAll() error {
	var errs []error
	for _, db := range []*sql.DB{s.write, s.read} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

func (s *Store) enter(ctx context.Context, id string) (*slots.Slot[handle], error) {
	at, ok, err := s.slots.Enter(ctx, id)
	if err == nil && !ok {
		err = fmt.Errorf("store %s: %w", s.path, ErrClosed)
	}
	return at, err
}

// hold takes the guard of a session.
func (s *Store) hold(id string) (*lockfile.Guard, error) {
	g, err := lockfile.Hold(filepath.Join(s.path+".guard", lockfile.GuardName(id)), fileMode)
	if errors.Is(err, lockfile.ErrHeld) {
		return nil, fmt.Errorf("%w: %.100q, by another process or another store: %w", store.ErrSessionLocked, id, err)
	}
	return g, err
}

// Create implements [store.Store].
func (s *Store) Create(ctx context.Context, h format.Header) (*format.Session, error) {
	session, err := format.NewSession(h)
	if err != nil {
		return nil, err
	}
	var header bytes.Buffer
	if _, err := session.WriteTo(&header); err != nil {
		return nil, err
	}
	if err := s.add(ctx, session, header.Bytes()); err != nil {
		return nil, err
	}
	return session, nil
}

// add puts a session with all of its lines into the database and opens it.
func (s *Store) add(ctx context.Context, session *format.Session, text []byte) error {
	id := session.ID()
	at, err := s.enter(ctx, id)
	if err != nil {
		return err
	}
	defer s.slots.Leave(id, at)
	if at.Open != nil {
		return exists(id)
	}
	guard, err := s.hold(id)
	if errors.Is(err, store.ErrSessionLocked) {
		if _, ferr := s.find(ctx, id); ferr == nil {
			err = exists(id)
		}
	}
	if err != nil {
		return err
	}
	h, err := s.insert(ctx, session, text)
	if err != nil {
		return errors.Join(err, guard.Release())
	}
	h.guard = guard
	at.Open = h
	session.Attach(h.append)
	return nil
}

func exists(id string) error    { return fmt.Errorf("%w: %.100q", store.ErrSessionExists, id) }
func noSession(id string) error { return fmt.Errorf("%w: %.100q", store.ErrNoSession, id) }

// Open implements [store.Store]. A session that is opened stays locked against other processes until [Store.Release].
func (s *Store) Open(ctx context.Context, id string) (*format.Session, error) {
	at, err := s.enter(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.slots.Leave(id, at)
	if at.Open != nil && at.Open.failed() != nil {
		_ = at.Open.close(ErrClosed)
		at.Open = nil
	}
	if err := s.openAt(ctx, at, id); err != nil {
		return nil, err
	}
	return at.Open.session, nil
}

// openAt opens a session for writing unless it is.
func (s *Store) openAt(ctx context.Context, at *slots.Slot[handle], id string) error {
	if at.Open != nil {
		return nil
	}
	if _, err := s.find(ctx, id); err != nil { // before a guard is made for what is not there
		return err
	}
	guard, err := s.hold(id)
	if err != nil {
		return err
	}
	h, err := s.load(ctx, id)
	if err != nil {
		return errors.Join(err, guard.Release())
	}
	h.guard = guard
	at.Open = h
	h.session.Attach(h.append)
	return nil
}

// Append implements [store.Store].
func (s *Store) Append(ctx context.Context, id string, e format.Entry) (string, error) {
	h, err := s.writable(ctx, id)
	if err != nil {
		return "", err
	}
	return h.session.Append(e)
}

func (s *Store) writable(ctx context.Context, id string) (*handle, error) {
	at, err := s.enter(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.slots.Leave(id, at)
	err = s.openAt(ctx, at, id)
	return at.Open, err
}

// Delete implements [store.Store].
func (s *Store) Delete(ctx context.Context, id string) error {
	at, err := s.enter(ctx, id)
	if err != nil {
		return err
	}
	defer s.slots.Leave(id, at)
	if at.Open == nil {
		if _, err := s.find(ctx, id); err != nil {
			return err
		}
		guard, err := s.hold(id)
		if err != nil {
			return err
		}
		return errors.Join(s.remove(ctx, id), guard.Release())
	}
	h := at.Open
	at.Open = nil
	if err := s.remove(ctx, id); err != nil {
		return errors.Join(err, h.close(ErrClosed))
	}
	return h.close(noSession(id))
}

// Release closes a session and gives up its lock; a session that is not open is none of its business. Appends to what Open gave
// for it fail from now on; the store opens it again when it is asked to.
func (s *Store) Release(id string) error {
	return s.slots.Remove(id, func(h *handle) error { return h.close(ErrClosed) })
}

// Close releases every session and closes the database. The store takes nothing more.
func (s *Store) Close() error {
	var errs []error
	for _, h := range s.slots.Close() {
		errs = append(errs, h.close(ErrClosed))
	}
	return errors.Join(append(errs, s.closeAll())...)
}

// Import adds the session of a file in the Agent Session Format, as it stands there, and leaves it open. The error is one of
// [format.ReadSession], or wraps [store.ErrSessionExists]; a file with a torn last line is not imported.
func (s *Store) Import(ctx context.Context, file io.Reader) (*format.Session, error) {
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	session, err := format.ReadSession(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if torn := session.Torn(); torn != nil {
		return nil, torn
	}
	if err := s.add(ctx, session, text); err != nil {
		return nil, err
	}
	return session, nil
}

// Export writes a session as a file, byte for byte what was imported and appended. It needs no lock.
func (s *Store) Export(ctx context.Context, id string, to io.Writer) error {
	return s.lines(ctx, id, func(line []byte) error {
		_, err := to.Write(line)
		return err
	})
}
