package jsonl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/store"
)

// List implements [store.Store]. Headers are read, and whole files only for names and successors, of as many sessions as the limit
// asks for.
func (s *Store) List(ctx context.Context, f store.ListFilter) iter.Seq2[store.Summary, error] {
	return func(yield func(store.Summary, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(store.Summary{}, err)
			return
		}
		all, errs := s.summaries(ctx, f)
		slices.SortFunc(all, store.CompareNewest)
		given := 0
		for _, one := range all {
			if f.Limit > 0 && given == f.Limit {
				break
			}
			if err := ctx.Err(); err != nil {
				yield(store.Summary{}, err)
				return
			}
			if f.WithNames || f.Current {
				err := s.describe(&one)
				switch {
				case errors.Is(err, fs.ErrNotExist):
					continue // deleted meanwhile
				case err != nil:
					errs = append(errs, err)
					continue
				case !f.Keep(one):
					continue
				}
			}
			if !yield(one, nil) {
				return
			}
			given++
		}
		for _, err := range errs {
			if !yield(store.Summary{}, err) {
				return
			}
		}
	}
}

// summaries reads the headers of all files and keeps what passes the filter.
func (s *Store) summaries(ctx context.Context, f store.ListFilter) (all []store.Summary, errs []error) {
	err := s.eachFolder(func(dir string) error {
		names, err := s.fs.ReadDir(dir)
		if err != nil {
			errs = append(errs, err)
			return nil
		}
		for _, n := range names {
			if err := ctx.Err(); err != nil {
				return err
			}
			if !strings.HasSuffix(n.Name(), extension) || strings.HasPrefix(n.Name(), ".") || n.IsDir() {
				continue
			}
			path := filepath.Join(dir, n.Name())
			one, err := s.summary(path)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				errs = append(errs, err)
			case f.Matches(one.Header):
				all = append(all, one)
			}
		}
		return nil
	})
	if err != nil {
		errs = append(errs, err)
	}
	return all, errs
}

// summary describes a session as far as its header tells.
func (s *Store) summary(path string) (store.Summary, error) {
	h, err := s.header(path)
	if err != nil {
		return store.Summary{}, err
	}
	info, err := s.fs.Stat(path)
	if err != nil {
		return store.Summary{}, err
	}
	return store.Summary{Header: *h, Path: path, Size: info.Size(), Modified: info.ModTime()}, nil
}

// describe finds the name and the successor of a session: in memory if it is open, else in its file.
func (s *Store) describe(one *store.Summary) error {
	if session := s.inMemory(one.Header.ID, one.Path); session != nil {
		one.Name, one.SupersededBy = session.Name(), session.SupersededBy()
		return nil
	}
	f, err := s.fs.OpenFile(one.Path, readOnly, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := format.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", one.Path, err)
	}
	for e, err := range r.Entries() {
		if err != nil {
			if damage, ok := errors.AsType[*format.DamageError](err); ok && damage != nil {
				continue // what can be read is enough for a name
			}
			return fmt.Errorf("%s: %w", one.Path, err)
		}
		switch e := e.(type) {
		case *format.InfoEntry:
			if e.Name != "" {
				one.Name = e.Name
			}
		case *format.LinkEntry:
			if e.Rel == format.RelContinuedIn {
				one.SupersededBy = e.Session
			}
		}
	}
	return nil
}

// inMemory returns a session that is open, and whose file is as it was left.
func (s *Store) inMemory(id, path string) *format.Session {
	h := s.slots.Peek(id)
	if h == nil || h.path != path || h.failed() != nil {
		return nil
	}
	return h.session
}
