package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/store"
)

// create writes the file of a new session and opens it. The header is written to a file of another name, which then gets its
// own, so that nobody ever sees a session without its header.
func (s *Store) create(session *format.Session) (*handle, error) {
	id := session.ID()
	l, err := s.guard(id)
	if errors.Is(err, store.ErrSessionLocked) {
		if _, ferr := s.find(id); ferr == nil {
			err = exists(id)
		}
	}
	if err != nil {
		return nil, err
	}
	h, err := s.createLocked(session, l)
	if err != nil {
		return nil, errors.Join(err, l.release())
	}
	return h, nil
}

func exists(id string) error { return fmt.Errorf("%w: %.100q", store.ErrSessionExists, id) }

func (s *Store) createLocked(session *format.Session, l *lock) (*handle, error) {
	id := session.ID()
	switch _, err := s.find(id); {
	case err == nil:
		return nil, exists(id)
	case !errors.Is(err, store.ErrNoSession):
		return nil, err
	}
	dir := filepath.Join(s.root, projectKey(session.Header().CWD))
	if err := s.makeFolder(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, fileName(session.Header()))
	if err := l.take(s, id, path); err != nil {
		return nil, err
	}
	var header bytes.Buffer
	if _, err := session.WriteTo(&header); err != nil {
		return nil, err
	}
	if err := s.place(path, header.Bytes(), s.sync != Never); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = fmt.Errorf("%w: %s is there", exists(id), path)
		}
		return nil, err
	}
	h, err := s.handle(path, session, l)
	if err != nil {
		return nil, err
	}
	h.attach()
	return h, nil
}

// tempName is the name of a file until all of its content is there.
func tempName(base string) string { return "." + base + ".new" }

// place writes a new file, which appears with all of its content, and brings it to disk if it is to last. The error wraps
// [fs.ErrExist] when there is one of that name. Whoever calls it has the guard of the session that the file is for.
func (s *Store) place(path string, content []byte, lasting bool) error {
	temp := filepath.Join(filepath.Dir(path), tempName(filepath.Base(path)))
	if err := gone(s.fs.Remove(temp)); err != nil { // of a process that died here
		return err
	}
	if err := s.writeNew(temp, content, lasting); err != nil {
		return err
	}
	err := s.fs.Link(temp, path)
	switch {
	case err == nil:
		_ = s.fs.Remove(temp) // it is another name of the file; Delete takes it as well
	case errors.Is(err, fs.ErrExist):
		_ = s.fs.Remove(temp)
		return err
	default: // a file system without links; the guard keeps others from coming in between
		if _, serr := s.fs.Lstat(path); serr == nil {
			_ = s.fs.Remove(temp)
			return fs.ErrExist
		}
		if err = s.fs.Rename(temp, path); err != nil {
			_ = s.fs.Remove(temp)
		}
	}
	if err != nil || !lasting {
		return err
	}
	return s.syncFolder(filepath.Dir(path))
}

// writeNew writes a new file, and brings its content to disk if it is to last.
func (s *Store) writeNew(path string, content []byte, lasting bool) error {
	f, err := s.fs.OpenFile(path, createNew, s.fileMode)
	if err != nil {
		return err
	}
	n, err := f.Write(content)
	if err == nil && n < len(content) {
		err = errors.New("short write")
	}
	if err == nil && lasting {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = s.fs.Remove(path)
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// handle opens a file for appending to a session that has been read from it, or written to it.
func (s *Store) handle(path string, session *format.Session, l *lock) (*handle, error) {
	f, err := s.fs.OpenFile(path, appending, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &handle{
		policy: s.sync, fs: s.fs, path: path, session: session, lock: l, file: f, info: info, size: info.Size(), synced: info.Size(),
	}, nil
}
