package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
)

// File is one session file and what its header says.
type File struct {
	Path    string
	Session *activity.Session
	// Root is the id of the session at the top of its trace, as far as the headers in the index tell.
	Root string
	// open gives the bytes of the file from the start.
	open func() (io.ReadCloser, error)
}

// Index holds the headers of files, so that a session's ancestors are found whatever order files are read in.
type Index struct {
	Files []*File
	// Bad are the files that have no usable header, each with its path in the error.
	Bad    []error
	parent map[string]string
}

// NewIndex reads the header of each file.
func NewIndex(paths []string, stdin io.Reader, o source.Options) *Index {
	ix := &Index{parent: map[string]string{}}
	for _, path := range paths {
		f, err := ix.file(path, stdin, o)
		if err != nil {
			ix.Bad = append(ix.Bad, pathError(path, err))
			continue
		}
		ix.Files = append(ix.Files, f)
		spawn := ""
		if s := f.Session.Spawn; s != nil {
			spawn = s.Session
		}
		if _, have := ix.parent[f.Session.ID]; !have {
			ix.parent[f.Session.ID] = spawn
		}
	}
	for _, f := range ix.Files {
		f.Root, _ = projection.RootOf(f.Session.ID, f.Session.Spawn, ix)
	}
	return ix
}

// pathError puts the path in front of an error that does not have it.
func pathError(path string, err error) error {
	if _, ok := errors.AsType[*os.PathError](err); ok {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

func (ix *Index) file(path string, stdin io.Reader, o source.Options) (*File, error) {
	if path == Stdin {
		return once(path, io.NopCloser(stdin), o)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe
		in, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		return once(path, in, o)
	}
	s, err := peek(path, o)
	return &File{Path: path, Session: s, open: func() (io.ReadCloser, error) { return os.Open(path) }}, err
}

// once is a file that can be read only once: what its header took is given again.
func once(path string, in io.ReadCloser, o source.Options) (*File, error) {
	var head bytes.Buffer
	s, err := session(io.TeeReader(in, &head), o)
	if err != nil {
		in.Close()
		return nil, err
	}
	all := struct {
		io.Reader
		io.Closer
	}{io.MultiReader(&head, in), in}
	return &File{Path: path, Session: s, open: func() (io.ReadCloser, error) { return all, nil }}, nil
}

// peek reads the header of a file.
func peek(path string, o source.Options) (*activity.Session, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return session(f, o)
}

func session(r io.Reader, o source.Options) (*activity.Session, error) {
	rd, err := source.NewReader(r, o)
	if err != nil {
		return nil, err
	}
	defer rd.Close()
	return rd.Session()
}

// Ancestor tells which session spawned another one; it implements projection.Resolver.
func (ix *Index) Ancestor(id string) (parent string, known bool) {
	parent, known = ix.parent[id]
	return parent, known
}

// Below reports whether a session is the one named or was spawned below it.
func (ix *Index) Below(f *File, id string) bool {
	seen := map[string]bool{}
	for at := f.Session.ID; at != "" && !seen[at]; at = ix.parent[at] {
		if at == id {
			return true
		}
		seen[at] = true
	}
	return false
}

// Copies lists the sessions that stand in more than one file, with their paths.
func (ix *Index) Copies() map[string][]string {
	paths := map[string][]string{}
	for _, f := range ix.Files {
		paths[f.Session.ID] = append(paths[f.Session.ID], f.Path)
	}
	for id, list := range paths {
		if len(list) < 2 {
			delete(paths, id)
		}
	}
	return paths
}

// Traces groups the files by the session at the top, each group with that session's file first, the groups in the order
// of their first file.
func (ix *Index) Traces() [][]*File {
	at := map[string]int{}
	var groups [][]*File
	for _, f := range ix.Files {
		i, have := at[f.Root]
		if !have {
			i = len(groups)
			at[f.Root] = i
			groups = append(groups, nil)
		}
		if f.Session.ID == f.Root {
			groups[i] = append([]*File{f}, groups[i]...)
		} else {
			groups[i] = append(groups[i], f)
		}
	}
	return groups
}
