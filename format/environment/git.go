package environment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sessionspan/sessionspan/format"
)

// What can be in the way of reading a commit.
var (
	// ErrNotGit: the directory is in no checkout.
	ErrNotGit = errors.New("not in a git checkout")
	// ErrReftable: the repository keeps its references in the reftable format, which is not read here.
	ErrReftable = errors.New("the git repository keeps its references as reftables, which cannot be read")
	// ErrBroken: it is a checkout, but what it has checked out is not written as git writes it.
	ErrBroken = errors.New("broken git repository")
)

// Git returns the commit that HEAD points at in the checkout that contains dir; an empty dir is the current directory. Its
// System is "git", its Revision the full hexadecimal object id, of 40 digits or, in a SHA-256 repository, 64. On a branch
// without a commit yet the Revision is empty. Whether files were changed since is not found out: Dirty is nil.
//
// Checkouts are repositories with their .git inside, linked worktrees and submodules. A bare repository is none, and the
// directory .git of a checkout counts as a part of it. Variables such as GIT_DIR are not looked at.
//
// The error wraps [ErrNotGit], [ErrReftable] or [ErrBroken], or is that of the file system.
func Git(dir string) (*format.VCS, error) {
	r, err := findRepository(dir)
	if err != nil {
		return nil, err
	}
	revision, err := r.head()
	if err != nil {
		return nil, err
	}
	return &format.VCS{System: "git", Revision: revision}, nil
}

// repository is where a checkout keeps its references.
type repository struct {
	dir    string // HEAD and what else is of one worktree only
	common string // everything else
}

// findRepository looks for the checkout that contains a directory, from there upwards.
func findRepository(dir string) (*repository, error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// What contains a directory is decided by where it is, not by the links on the way to it.
	if at, err = filepath.EvalSymlinks(at); err != nil {
		return nil, err
	}
	if info, err := os.Stat(at); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", at)
	}
	for {
		r, err := repositoryAt(filepath.Join(at, ".git"))
		if r != nil || err != nil {
			return r, err
		}
		parent := filepath.Dir(at)
		if parent == at {
			return nil, fmt.Errorf("%w: no .git in %s or above it", ErrNotGit, dir)
		}
		at = parent
	}
}

// repositoryAt returns the repository that .git is or names; nil where there is none. A directory of that name that is no
// repository does not end the search, a file does: so does git.
func repositoryAt(dotGit string) (*repository, error) {
	info, err := os.Stat(dotGit)
	switch {
	case missing(err):
		return nil, nil
	case err != nil:
		return nil, err
	case info.IsDir():
		r, err := newRepository(dotGit)
		if errors.Is(err, ErrBroken) {
			return nil, nil
		}
		return r, err
	}
	text, err := readSmall(dotGit)
	if errors.Is(err, ErrNotRegular) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	path, ok := strings.CutPrefix(text, "gitdir: ")
	path = strings.TrimRight(path, "\r\n")
	if !ok || path == "" || strings.ContainsRune(path, 0) {
		return nil, fmt.Errorf(`%w: %s does not say "gitdir: PATH"`, ErrBroken, dotGit)
	}
	return newRepository(from(filepath.Dir(dotGit), path))
}

// newRepository checks that a directory is what a checkout needs.
func newRepository(dir string) (*repository, error) {
	r := &repository{dir: dir, common: dir}
	// A linked worktree names the repository that it belongs to.
	text, err := readSmall(filepath.Join(dir, "commondir"))
	switch path := strings.TrimRight(text, "\r\n"); {
	case err == nil && path != "" && !strings.ContainsRune(path, 0):
		r.common = from(dir, path)
	case !missing(err):
		return nil, fmt.Errorf("%w: %s does not name a directory", ErrBroken, filepath.Join(dir, "commondir"))
	}
	for _, part := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(r.common, part)); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%w: %s has no directory %s", ErrBroken, r.common, part)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return nil, fmt.Errorf("%w: %s has no HEAD", ErrBroken, dir)
	}
	return r, nil
}

// from resolves a path that stands in a file of a directory.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// missing reports whether there is no such file, be it that a part of its path is none that files can be in.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
