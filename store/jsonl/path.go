package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/store"
)

const (
	extension = ".jsonl"
	// stampLayout is how the time of a session begins the name of its file, with the last point for milliseconds.
	stampLayout = "2006-01-02T15-04-05.000Z"
	// maxID bounds the ids that files are named after: with stamp and endings, names stay within the 255 bytes of most systems.
	maxID = 180
)

// usable reports whether an id can be a part of a file's name, and of a pattern for one.
func usable(id string) bool {
	return id != "" && len(id) <= maxID && !strings.ContainsAny(id, "/\\*?[\x00") && id != "." && id != ".."
}

// projectKey is the folder of the sessions of a working directory (A.15).
func projectKey(cwd string) string {
	key := strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(strings.TrimLeft(cwd, `/\`))
	switch {
	case key == "", strings.Trim(key, ".") == "", strings.ContainsRune(key, 0), strings.EqualFold(key, guardFolder):
		return "default"
	case len(key) > 255:
		return strings.ToValidUTF8(key[:255], "")
	}
	return key
}

// fileName is the name of a session's file.
func fileName(h *format.Header) string {
	return h.CreatedAt.UTC().Truncate(time.Millisecond).Format(stampLayout) + "_" + h.ID + extension
}

// find returns the file of a session: one of those named after the id has it in its header. The error wraps [store.ErrNoSession].
func (s *Store) find(id string) (string, error) {
	if !usable(id) {
		return "", noSession(id)
	}
	suffix := "_" + id + extension
	var others error
	err := s.eachFolder(func(dir string) error {
		names, err := s.fs.ReadDir(dir)
		if err != nil {
			if gone(err) != nil {
				others = err // it may be in there
			}
			return nil
		}
		for _, n := range names {
			stamp, ok := strings.CutSuffix(n.Name(), suffix)
			if !ok || strings.ContainsAny(stamp, "_") || strings.HasPrefix(stamp, ".") { // of another id that ends so, or a file for a moment
				continue
			}
			path := filepath.Join(dir, n.Name())
			switch h, err := s.header(path); {
			case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotFile):
			case err != nil:
				others = err // it may be the one, and cannot be read
			case h.ID == id:
				return found(path)
			}
		}
		return nil
	})
	if path, ok := errors.AsType[found](err); ok {
		return string(path), nil
	}
	if err == nil {
		err = others
	}
	if err == nil {
		err = noSession(id)
	}
	return "", err
}

var errNotFile = errors.New("it is no regular file")

// found ends a search.
type found string

func (f found) Error() string { return string(f) }

func noSession(id string) error { return fmt.Errorf("%w: %.100q", store.ErrNoSession, id) }

// gone is the error of something that need not be there: nil when it is not.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// eachFolder calls do for every project folder, in order.
func (s *Store) eachFolder(do func(dir string) error) error {
	names, err := s.fs.ReadDir(s.root)
	if err != nil {
		return gone(err)
	}
	for _, n := range names {
		isDir := n.IsDir()
		if n.Type()&fs.ModeSymlink != 0 {
			info, err := s.fs.Stat(filepath.Join(s.root, n.Name()))
			isDir = err == nil && info.IsDir()
		}
		if !isDir || n.Name() == guardFolder {
			continue
		}
		if err := do(filepath.Join(s.root, n.Name())); err != nil {
			return err
		}
	}
	return nil
}

// header reads the header of a file.
func (s *Store) header(path string) (*format.Header, error) {
	if info, err := s.fs.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() { // a pipe would keep its reader waiting
		return nil, fmt.Errorf("%s: %w", path, errNotFile)
	}
	f, err := s.fs.OpenFile(path, readOnly, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := format.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r.Header(), nil
}

// makeFolder creates a folder with all above it, and brings that to disk.
func (s *Store) makeFolder(dir string) error {
	var missing []string
	for at := dir; ; at = filepath.Dir(at) {
		info, err := s.fs.Stat(at)
		if err == nil {
			if !info.IsDir() {
				return &fs.PathError{Op: "mkdir", Path: at, Err: errors.New("is not a folder")}
			}
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(at) == at {
			return err
		}
		missing = append(missing, at)
	}
	for _, at := range slices.Backward(missing) {
		if err := s.fs.Mkdir(at, s.folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := s.syncFolder(filepath.Dir(at)); err != nil {
			return err
		}
	}
	return nil
}

// syncFolder brings a folder to disk, unless that is left to the system.
func (s *Store) syncFolder(dir string) error {
	if s.sync == Never {
		return nil
	}
	return s.fs.SyncFolder(dir)
}

// mediaFolder is where the media of a session are, if not in its lines: beside the file, in a folder named after the id (A.1).
func mediaFolder(path, id string) string { return filepath.Join(filepath.Dir(path), id) }

// Header implements [store.HeaderReader]. It locks nothing.
func (s *Store) Header(ctx context.Context, id string) (*format.Header, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := s.find(id)
	if err != nil {
		return nil, err
	}
	return s.header(path)
}
