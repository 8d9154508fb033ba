package follow

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Patterns say which files are followed: files, folders with the session files below them, and globs (*, ?, [class], {a,b}, ** for any
// depth) of either. A leading ~ is the home of the user.
type Patterns struct {
	include []pattern
	exclude []string
}

// pattern is a folder and what is looked for in it; rest is "" for what a path names itself.
type pattern struct {
	text       string // as it was given
	base, rest string
	depth      int // how far below the base something can match; -1 for any
}

// NewPatterns reads patterns. Relative ones are made absolute.
func NewPatterns(include, exclude []string) (*Patterns, error) {
	p := &Patterns{}
	for _, text := range include {
		full, err := absolute(text)
		if err != nil {
			return nil, fmt.Errorf("include %q: %w", text, err)
		}
		one := pattern{text: text, base: full}
		if strings.ContainsAny(text, "*?[{") && !exists(full) {
			base, rest := doublestar.SplitPattern(filepath.ToSlash(full))
			one = pattern{text: text, base: filepath.FromSlash(base), rest: rest, depth: strings.Count(rest, "/") + 1}
			if strings.Contains(rest, "**") || strings.Contains(rest, "{") { // an alternative may have any number of parts
				one.depth = -1
			}
		}
		if !doublestar.ValidatePattern(one.rest) {
			return nil, fmt.Errorf("include %q: %w", text, doublestar.ErrBadPattern)
		}
		p.include = append(p.include, one)
	}
	for _, text := range exclude {
		full, err := absolute(text)
		switch {
		case err != nil:
			return nil, fmt.Errorf("exclude %q: %w", text, err)
		case !doublestar.ValidatePattern(filepath.ToSlash(full)):
			return nil, fmt.Errorf("exclude %q: %w", text, doublestar.ErrBadPattern)
		}
		p.exclude = append(p.exclude, filepath.ToSlash(full))
	}
	return p, nil
}

// exists reports whether there is a file whose very name looks like a pattern.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// absolute returns a path from the root, with ~ for what it stands for.
func absolute(text string) (string, error) {
	if text == "~" || strings.HasPrefix(text, "~/") || strings.HasPrefix(text, `~\`) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		text = home + text[1:]
	}
	return filepath.Abs(text)
}

// excluded reports whether a file, or a folder with all below it, is left out.
func (p *Patterns) excluded(name string) bool {
	name = filepath.ToSlash(name)
	for _, x := range p.exclude {
		if doublestar.MatchUnvalidated(x, name) {
			return true
		}
	}
	return false
}

// matches reports whether something below the base, named from there with slashes, is meant.
func (p pattern) matches(name string) bool { return doublestar.MatchUnvalidated(p.rest, name) }

// extensions are those of the files that are looked for in folders.
var extensions = []string{".jsonl", ".jsonl.gz", ".jsonl.zst"}

// isSession reports whether a file in a folder has the name of a session file.
func isSession(name string) bool {
	name = strings.ToLower(path.Base(filepath.ToSlash(name)))
	for _, ending := range extensions {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return false
}
