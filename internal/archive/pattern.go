package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

func hasPattern(path string) bool { return strings.ContainsAny(path, "*?[{") }

// matching finds the files that a pattern names, those in the folders it names included. The error says that there are none.
func (s *search) matching(pattern string) error {
	base, rest := doublestar.SplitPattern(filepath.ToSlash(filepath.Clean(pattern)))
	before := len(s.found.Bad)
	matches, err := doublestar.Glob(&watched{s, base, os.DirFS(base)}, rest, doublestar.WithNoFollow())
	if err != nil {
		return err
	}
	for i, m := range matches {
		matches[i] = filepath.Join(base, filepath.FromSlash(m))
	}
	slices.Sort(matches)
	n := 0
	for _, m := range slices.Compact(matches) {
		info, err := os.Stat(m)
		switch {
		case err != nil:
			s.bad(m, err)
		case info.IsDir():
			n += s.below(m)
		case info.Mode().IsRegular():
			s.found.Files = append(s.found.Files, m)
			n++
		}
	}
	s.found.Bad = onceEach(s.found.Bad)
	if n == 0 && len(s.found.Bad) == before {
		return fmt.Errorf("%w match it", ErrNoFiles)
	}
	return nil
}

// onceEach leaves out what is said already, as of a folder that a pattern looks into and then names.
func onceEach(bad []error) []error {
	said := map[string]bool{}
	return slices.DeleteFunc(bad, func(err error) bool {
		twice := said[err.Error()]
		said[err.Error()] = true
		return twice
	})
}

// watched is a file system that notes which folders cannot be read. A glob passes over them, and would either say nothing
// or give up.
type watched struct {
	search *search
	base   string
	files  fs.FS
}

func (w *watched) Open(name string) (fs.File, error) { return w.files.Open(name) }

func (w *watched) Stat(name string) (fs.FileInfo, error) { return fs.Stat(w.files, name) }

func (w *watched) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := w.search.ctx.Err(); err != nil {
		return nil, err
	}
	list, err := fs.ReadDir(w.files, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !notFolder(w.files, name) {
		w.search.bad(filepath.Join(w.base, filepath.FromSlash(name)), err)
	}
	return list, err
}

// notFolder reports whether there is something by that name which is no folder, and so nothing to look into.
func notFolder(files fs.FS, name string) bool {
	info, err := fs.Stat(files, name)
	return err == nil && !info.IsDir()
}
