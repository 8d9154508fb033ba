package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sessionspan/sessionspan/format"
)

// tornSuffix stands before the offset in the name of a file of bytes that were cut off.
const tornSuffix = ".torn-"

// open opens a session for writing.
func (s *Store) open(id string) (*handle, error) {
	path, err := s.find(id)
	if err != nil {
		return nil, err
	}
	l, err := s.guard(id)
	if err != nil {
		return nil, err
	}
	h, err := s.openLocked(id, path, l)
	if err != nil {
		return nil, errors.Join(err, l.release())
	}
	return h, nil
}

func (s *Store) openLocked(id, path string, l *lock) (*handle, error) {
	if err := l.take(s, id, path); err != nil {
		return nil, err
	}
	if err := s.rewrite(path); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	h, err := s.handle(path, nil, l)
	if errors.Is(err, fs.ErrNotExist) {
		err = noSession(id) // deleted just now
	}
	if err != nil {
		return nil, err
	}
	if err := s.load(h, id); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), h.file.Close())
	}
	h.attach()
	return h, nil
}

// load reads the session of a file and mends its end, if a crash has left it torn.
func (s *Store) load(h *handle, id string) (err error) {
	if err := h.readAll(); err != nil {
		return err
	}
	if own := h.session.ID(); own != id {
		return fmt.Errorf("%w: it has session %.100q now", ErrNotOwner, own)
	}
	if h.size == 0 {
		return nil
	}
	last := make([]byte, 1)
	if _, err := h.file.ReadAt(last, h.size-1); err != nil {
		return err
	}
	torn, ended := h.session.Torn(), last[0] == '\n'
	switch {
	case torn == nil && ended:
		return nil
	case torn == nil: // whole but for its line feed
		err = s.endLine(h)
	case errors.Is(torn, format.ErrSyntax) && !jsontext.Value(torn.Data).IsValid() && !h.hasLineFeed(torn.Offset):
		err = s.setAside(h, id, torn.Offset)
	default:
		h.err = fmt.Errorf("%s: %w; it is not written to: sessionspan verify says what is wrong with it, sessionspan repair what can be done",
			h.path, torn)
		h.refused = true
		return nil
	}
	if err != nil {
		return err
	}
	return h.readAll()
}

// readAll reads the session of the file.
func (h *handle) readAll() error {
	info, err := h.file.Stat()
	if err != nil {
		return err
	}
	h.info, h.size, h.synced = info, info.Size(), info.Size()
	h.session, err = format.ReadSession(io.NewSectionReader(h.file, 0, h.size))
	return err
}

// hasLineFeed reports whether there is one from an offset on: what begins there is a complete line then.
func (h *handle) hasLineFeed(offset int64) bool {
	tail, err := io.ReadAll(io.NewSectionReader(h.file, offset, h.size-offset))
	return err != nil || bytes.IndexByte(tail, '\n') >= 0
}

// rewrite writes what an earlier sync has not brought to disk once more, over itself, and syncs it.
func (s *Store) rewrite(path string) error {
	from, ok := doubtful.Load(path)
	if !ok {
		return nil
	}
	f, err := s.fs.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return gone(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if tail := info.Size() - from.(int64); tail > 0 {
		data := make([]byte, tail)
		if _, err := f.ReadAt(data, from.(int64)); err != nil {
			return err
		}
		if _, err := f.WriteAt(data, from.(int64)); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("%w: it still cannot be brought to disk: %w", ErrBroken, err)
	}
	doubtful.Delete(path)
	return nil
}

// endLine gives the last line its line feed.
func (s *Store) endLine(h *handle) error {
	if n, err := h.file.Write([]byte{'\n'}); err != nil || n != 1 {
		return fmt.Errorf("its last line cannot be ended: %w", err)
	}
	if s.sync == Never {
		return nil
	}
	return h.file.Sync()
}

// setAside copies what a torn append has left from an offset on into a file beside, and then cuts it off; both are brought to disk.
func (s *Store) setAside(h *handle, id string, offset int64) error {
	tail := make([]byte, h.size-offset)
	if _, err := h.file.ReadAt(tail, offset); err != nil {
		return err
	}
	aside, err := s.asideFile(h.path, offset, tail)
	if err != nil {
		return fmt.Errorf("its torn last line cannot be set aside: %w", err)
	}
	if err := s.fs.SyncFolder(filepath.Dir(h.path)); err != nil {
		return fmt.Errorf("its torn last line cannot be set aside: %w", err)
	}
	if err := h.file.Truncate(offset); err != nil {
		return fmt.Errorf("its torn last line cannot be cut off: %w", err)
	}
	if err := h.file.Sync(); err != nil {
		return fmt.Errorf("its torn last line was cut off, which may not last: %w", err)
	}
	if s.tornTail != nil {
		s.tornTail(TornTail{Session: id, Path: h.path, Aside: aside, Offset: offset, Size: int64(len(tail))})
	}
	return nil
}

// maxAside is how many files of bytes from one offset there may be.
const maxAside = 100

// asideFile writes bytes to a file beside another one; an earlier one is never written to.
func (s *Store) asideFile(path string, offset int64, content []byte) (name string, err error) {
	first := fmt.Sprint(path, tornSuffix, offset)
	for n := 1; n <= maxAside; n++ {
		name = first
		if n > 1 {
			name = fmt.Sprint(first, "-", n)
		}
		f, err := s.fs.OpenFile(name, createNew, s.fileMode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		count, err := f.Write(content)
		if err == nil && count < len(content) {
			err = errors.New("short write")
		}
		if err == nil {
			err = f.Sync()
		}
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			_ = s.fs.Remove(name)
			return "", err
		}
		return name, nil
	}
	return "", fmt.Errorf("there are %d files %s already", maxAside, first)
}
