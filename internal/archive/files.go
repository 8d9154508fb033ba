package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/source"
)

// extensions are those of the files that are looked for in folders, in upper or lower case. A file that is named is read
// whatever its name.
var extensions = []string{".jsonl", ".jsonl.gz", ".jsonl.zst"}

// ErrNoFiles: a path is there, but has no session file in it.
var ErrNoFiles = errors.New("no session files")

// Found is what paths come to.
type Found struct {
	// Files are the files to read, in order and each once.
	Files []string
	// Bad is what could not be looked into, each a [*input.FileError], paths that lead nowhere among them.
	Bad []error
	// Notes say what of a folder is not read, or read twice, and why.
	Notes []Note
}

// Note is something that somebody may want to know of a file or a folder.
type Note struct{ Path, Text string }

// Find expands paths into the files to read: files as they are, folders with everything below them, patterns (*, ?, [class],
// {a,b}, ** for any depth), and [input.Stdin].
//
// A path that leads nowhere is among what is bad, and the rest is found all the same. It is the error when no path leads
// anywhere. Once the context is done, the error is its own.
func Find(ctx context.Context, paths []string) (Found, error) {
	s := &search{ctx: ctx}
	var nowhere []error
	for _, path := range paths {
		if err := s.path(path); err != nil {
			nowhere = append(nowhere, input.NewFileError(path, err))
		}
	}
	if err := ctx.Err(); err != nil {
		return Found{}, err
	}
	if len(nowhere) == len(paths) && len(paths) > 0 {
		return Found{}, joined(nowhere)
	}
	seen := map[string]bool{}
	s.found.Files = slices.DeleteFunc(s.found.Files, func(f string) bool {
		twice := seen[f]
		seen[f] = true
		return twice
	})
	s.found.Bad = append(nowhere, s.found.Bad...)
	return s.found, nil
}

// joined is errors.Join on one line.
func joined(list []error) error {
	if len(list) == 1 {
		return list[0]
	}
	err := list[0]
	for _, next := range list[1:] {
		err = fmt.Errorf("%w; %w", err, next)
	}
	return err
}

// search is a [Find] at work.
type search struct {
	ctx    context.Context
	found  Found
	agents source.Agents
}

// path finds what one path names. The error says that it names nothing.
func (s *search) path(path string) error {
	if path == input.Stdin {
		s.found.Files = append(s.found.Files, path)
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		if s.below(path) == 0 {
			return fmt.Errorf("%w below it (looked for %s)", ErrNoFiles, strings.Join(extensions, ", "))
		}
	case err == nil:
		if clean := filepath.Clean(path); clean != input.Stdin { // a file may have that name: ./-
			path = clean
		}
		s.found.Files = append(append(s.found.Files, path), s.agents.Of(path)...)
	case !hasPattern(path):
		return err
	default:
		return s.matching(path)
	}
	return nil
}

func (s *search) bad(path string, err error) {
	s.found.Bad = append(s.found.Bad, input.NewFileError(path, err))
}

func (s *search) note(path, format string, args ...any) {
	s.found.Notes = append(s.found.Notes, Note{path, fmt.Sprintf(format, args...)})
}

// below finds the session files in a folder and its folders, in order, and returns how many there are, what could not be
// looked into counted. Links to files count, links to folders are not followed, but for dir itself.
func (s *search) below(dir string) int {
	var files []string
	var others endings
	before := len(s.found.Bad)
	root := dir
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		root += string(filepath.Separator) // the folder that a link names, not the link
	}
	// The function returns no error but the one that ends the walk early, and so neither does the walk.
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case s.ctx.Err() != nil:
			return filepath.SkipAll
		case err != nil:
			s.bad(path, err)
			return nil
		case d.IsDir() && d.Name() == guardFolder && path != root:
			return filepath.SkipDir
		case d.IsDir() || belongs(d.Name()) || source.Beside(path):
			return nil
		case !hasExtension(path):
			others.add(path)
			return nil
		}
		switch info, err := os.Stat(path); {
		case err != nil:
			s.bad(path, err)
		case info.Mode().IsRegular():
			files = append(files, path)
		}
		return nil
	})
	files = s.withoutTwins(files)
	s.found.Files = append(s.found.Files, files...)
	if len(others) > 0 {
		s.note(dir, "%s not read: the names do not end in %s", others, strings.Join(extensions, ", "))
	}
	return len(files) + len(s.found.Bad) - before
}

// below is the same for who has no use for notes.
func below(ctx context.Context, dir string) (files []string, bad []error) {
	s := &search{ctx: ctx}
	s.below(dir)
	return s.found.Files, s.found.Bad
}

// guardFolder is where a store of files has what it locks; nothing in it is ever to be read.
const guardFolder = ".guard"

// belongs reports whether a file has its name from a session file beside it: a lock, bytes that were set aside, or a file that
// never came to be one.
func belongs(name string) bool {
	for _, ending := range []string{".lock", ".new", ".torn-", ".broken-"} {
		if before, after, found := strings.Cut(name, ending); found && hasExtension(before) && (after == "" || strings.HasSuffix(ending, "-")) {
			return true
		}
	}
	return false
}

func hasExtension(path string) bool {
	path = strings.ToLower(path)
	return slices.ContainsFunc(extensions, func(e string) bool { return strings.HasSuffix(path, e) })
}

// endings counts files by how their names end.
type endings map[string]int

func (e *endings) add(path string) {
	if *e == nil {
		*e = endings{}
	}
	ext := filepath.Ext(path)
	if ext == "" || len(ext) > maxEnding || len(*e) >= maxEndings && (*e)[ext] == 0 {
		ext = "other"
	}
	(*e)[ext]++
}

const (
	maxEnding  = 16   // bytes
	maxEndings = 1000 // that are counted each by itself
	maxNamed   = 5    // of those
)

// String says how many files there are, and how most of them end.
func (e endings) String() string {
	list := make([]string, 0, len(e))
	all := 0
	for ext, n := range e {
		list = append(list, ext)
		all += n
	}
	slices.SortFunc(list, func(a, b string) int {
		if e[a] != e[b] {
			return e[b] - e[a]
		}
		return strings.Compare(a, b)
	})
	said, rest := []string{}, all
	for _, ext := range list {
		if ext != "other" && len(said) < maxNamed {
			said = append(said, fmt.Sprintf("%d %s", e[ext], ext))
			rest -= e[ext]
		}
	}
	if rest > 0 {
		said = append(said, fmt.Sprintf("%d other", rest))
	}
	noun, verb := "files", "are"
	if all == 1 {
		noun, verb = "file", "is"
	}
	return fmt.Sprintf("%d %s (%s) %s", all, noun, strings.Join(said, ", "), verb)
}
