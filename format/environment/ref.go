package environment

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	// maxLinks is how often one reference may name another, as in git.
	maxLinks = 5
	// maxPacked is how many bytes are read of packed-refs: more than the largest repositories have.
	maxPacked = 1 << 30
	// invalidHead is the branch that HEAD names in a repository with reftables, for readers that do not know these.
	invalidHead = "refs/heads/.invalid"
)

// head returns the object id that HEAD comes to; "" on a branch without a commit.
func (r *repository) head() (string, error) {
	text, err := r.loose("HEAD")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrBroken, err)
	}
	name := "HEAD"
	for range maxLinks {
		next, symbolic := strings.CutPrefix(text, "ref:")
		if !symbolic {
			return objectID(name, text)
		}
		next = strings.Trim(next, " \t\r\n")
		if next == invalidHead && isDirectory(filepath.Join(r.common, "reftable")) {
			return "", ErrReftable
		}
		if !validRef(next) {
			return "", fmt.Errorf("%w: %s names %s, which is not the name of a reference", ErrBroken, name, quoted(next))
		}
		name = next
		text, err = r.loose(name)
		if missing(err) || errors.Is(err, ErrNotRegular) && isDirectory(r.path(name)) {
			return r.packed(name)
		}
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrBroken, err)
		}
	}
	return "", fmt.Errorf("%w: more than %d references name one another, from HEAD to %s", ErrBroken, maxLinks, quoted(name))
}

// loose returns what the file of a reference says. An old form of a reference that names another is a symbolic link.
func (r *repository) loose(name string) (string, error) {
	path := r.path(name)
	if to, err := os.Readlink(path); err == nil && validRef(filepath.ToSlash(to)) {
		return "ref: " + filepath.ToSlash(to), nil
	}
	return readSmall(path)
}

// path returns the file of a reference. HEAD and some others are a worktree's own.
func (r *repository) path(name string) string {
	dir := r.common
	if name == "HEAD" {
		dir = r.dir
	}
	for _, own := range []string{"refs/bisect/", "refs/rewritten/", "refs/worktree/"} {
		if strings.HasPrefix(name, own) {
			dir = r.dir
		}
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

// packed looks for a reference among the packed ones; "" when it is not there.
func (r *repository) packed(name string) (string, error) {
	path := filepath.Join(r.common, "packed-refs")
	f, err := open(path)
	if missing(err) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("%w: %w", ErrBroken, err)
	}
	defer f.Close()
	rest := &io.LimitedReader{R: f, N: maxPacked}
	lines := bufio.NewScanner(rest)
	lines.Buffer(nil, maxSmall)
	for lines.Scan() {
		// A line is an object id and a name; others, which are comments or say what a tag points at, begin with # or ^.
		id, ref, ok := strings.Cut(lines.Text(), " ")
		if ok && ref == name {
			return objectID(name, id)
		}
	}
	if err := lines.Err(); err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrBroken, path, err)
	}
	if rest.N == 0 {
		return "", fmt.Errorf("%w: %s has more than %d bytes", ErrBroken, path, maxPacked)
	}
	return "", nil
}

// objectID reads the object id that a reference holds. What else it may hold is not shown: a link may have led to any file.
func objectID(name, text string) (string, error) {
	id := strings.ToLower(strings.TrimRight(text, " \t\r\n"))
	if _, err := hex.DecodeString(id); err != nil || len(id) != 40 && len(id) != 64 {
		return "", fmt.Errorf("%w: %s holds no object id", ErrBroken, quoted(name))
	}
	return id, nil
}

// validRef reports whether git would take a name for that of a reference (git check-ref-format), so that as a path it stays
// below refs.
func validRef(name string) bool {
	if !strings.HasPrefix(name, "refs/") || strings.HasSuffix(name, ".") || strings.Contains(name, "..") ||
		strings.Contains(name, "@{") || strings.ContainsAny(name, " ~^:?*[\\\x7f") {
		return false
	}
	for _, part := range strings.Split(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return strings.IndexFunc(name, func(c rune) bool { return c < ' ' }) < 0
}

// quoted shows a name from a file.
func quoted(name string) string {
	const longest = 100
	if len(name) > longest {
		return fmt.Sprintf("%q…", name[:longest])
	}
	return fmt.Sprintf("%q", name)
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
