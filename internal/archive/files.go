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

// Stdin is the path that stands for standard input.
const Stdin = "-"

// extensions are those of the files that are looked for in folders. A file that is named is read whatever its name.
var extensions = []string{".jsonl", ".jsonl.gz", ".jsonl.zst"}

// ErrNoFiles: a path is there, but has no session file in it.
var ErrNoFiles = errors.New("no session files")

// Find expands paths into the files to read, in order and each once: files as they are, folders with everything below
// them, patterns (*, ?, [class], {a,b}, ** for any depth), and [Stdin].
//
// What cannot be looked into below a path is in bad, and the rest is found all the same; err is about a path itself.
func Find(paths []string) (files []string, bad []error, err error) {
	seen := map[string]bool{}
	add := func(list ...string) {
		for _, f := range list {
			if !seen[f] {
				seen[f] = true
				files = append(files, f)
			}
		}
	}
	for _, path := range paths {
		if path == Stdin {
			add(path)
			continue
		}
		info, err := os.Stat(path)
		switch {
		case err == nil && info.IsDir():
			list, errs := below(path)
			bad = append(bad, errs...)
			if len(list) == 0 && len(errs) == 0 {
				return nil, nil, fmt.Errorf("%s: %w below it (looked for %s)", path, ErrNoFiles, strings.Join(extensions, ", "))
			}
			add(list...)
		case err == nil:
			add(filepath.Clean(path))
		case !hasPattern(path):
			return nil, nil, err
		default:
			list, errs, err := matching(path)
			if err != nil {
				return nil, nil, err
			}
			bad = append(bad, errs...)
			add(list...)
		}
	}
	return files, bad, nil
}

func hasPattern(path string) bool { return strings.ContainsAny(path, "*?[{") }

// matching lists the files that a pattern names, those in the folders it names included.
func matching(pattern string) (files []string, bad []error, err error) {
	matches, err := doublestar.FilepathGlob(pattern, doublestar.WithNoFollow())
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", pattern, err)
	}
	slices.Sort(matches)
	for _, m := range matches {
		info, err := os.Stat(m)
		switch {
		case err != nil:
			bad = append(bad, err)
		case info.IsDir():
			list, errs := below(m)
			files, bad = append(files, list...), append(bad, errs...)
		case info.Mode().IsRegular():
			files = append(files, m)
		}
	}
	if len(files) == 0 && len(bad) == 0 {
		return nil, nil, fmt.Errorf("%s: %w match it", pattern, ErrNoFiles)
	}
	return files, bad, nil
}

// below lists the session files in a folder and its folders, in order, and what could not be looked into. Links to files
// count, links to folders are not followed; a compressed file whose plain twin is there is left out.
func below(dir string) (files []string, bad []error) {
	// The function below returns no error, and so neither does the walk.
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			bad = append(bad, err)
			return nil
		}
		if !hasExtension(path) || d.IsDir() {
			return nil
		}
		switch info, err := os.Stat(path); {
		case err != nil:
			bad = append(bad, err)
		case info.Mode().IsRegular():
			files = append(files, path)
		}
		return nil
	})
	return withoutTwins(files), bad
}

func hasExtension(path string) bool {
	return slices.ContainsFunc(extensions, func(e string) bool { return strings.HasSuffix(path, e) })
}

func withoutTwins(files []string) []string {
	have := map[string]bool{}
	for _, f := range files {
		have[f] = true
	}
	return slices.DeleteFunc(files, func(f string) bool {
		plain := strings.TrimSuffix(strings.TrimSuffix(f, ".gz"), ".zst")
		return plain != f && have[plain]
	})
}
