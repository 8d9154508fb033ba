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
func Find(paths []string) ([]string, error) {
	var files []string
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
			list, err := below(path)
			if err != nil {
				return nil, err
			}
			if len(list) == 0 {
				return nil, fmt.Errorf("%s: %w below it (looked for %s)", path, ErrNoFiles, strings.Join(extensions, ", "))
			}
			add(list...)
		case err == nil:
			add(filepath.Clean(path))
		case !hasPattern(path):
			return nil, err
		default:
			list, err := matching(path)
			if err != nil {
				return nil, err
			}
			add(list...)
		}
	}
	return files, nil
}

func hasPattern(path string) bool { return strings.ContainsAny(path, "*?[{") }

// matching lists the files that a pattern names, those in the folders it names included.
func matching(pattern string) ([]string, error) {
	matches, err := doublestar.FilepathGlob(pattern, doublestar.WithNoFollow())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	slices.Sort(matches)
	var files []string
	for _, m := range matches {
		info, err := os.Stat(m)
		switch {
		case err != nil:
			return nil, err
		case info.IsDir():
			list, err := below(m)
			if err != nil {
				return nil, err
			}
			files = append(files, list...)
		case info.Mode().IsRegular():
			files = append(files, m)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w match it", pattern, ErrNoFiles)
	}
	return files, nil
}

// below lists the session files in a folder and its folders, in order. Links to folders are not followed; a compressed
// file whose plain twin is there is left out.
func below(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type().IsRegular() && hasExtension(path) {
			files = append(files, path)
		}
		return nil
	})
	return withoutTwins(files), err
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
