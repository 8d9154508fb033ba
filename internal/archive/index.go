package archive

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
)

// File is one session file and what its header says.
type File struct {
	Path    string
	Session *activity.Session
	// Root is the id of the session at the top of its trace, as far as the headers in the index tell.
	Root  string
	place source.Place
	// open gives the bytes of the file from the start.
	open func(context.Context) (io.ReadCloser, error)
}

// Index holds the headers of files, so that a session's ancestors are found whatever order files are read in. Once it is
// made it does not change.
type Index struct {
	Files []*File
	// Bad are the files that have no usable header, each a [*input.FileError].
	Bad []error
	// Unreached are the paths of which no header was read because the context was done, the one at hand first.
	Unreached []string

	kin    *source.Kin
	parent map[string]string // who spawned whom; "" for nobody
	parts  map[*File][]*File // the files of agents, by that of the session for which they worked
	whole  map[*File]*File   // the other way round
	top    map[string]string // the session at the top of a chain of parents; "" for a chain that runs in a circle
}

// NewIndex reads the header of each file. When the context is done it stops, and is an index of the files so far. What can
// be read only once, such as a pipe, is opened here and read on by [Index.Project].
func NewIndex(ctx context.Context, paths []string, stdin io.Reader, o source.Options) *Index {
	ix := &Index{kin: source.NewKin(), parent: map[string]string{}, top: map[string]string{}}
	for i, path := range paths {
		o.Place = placeOf(path, ix.kin)
		f, err := newFile(ctx, path, stdin, o)
		if ctx.Err() != nil {
			ix.Unreached = paths[i:]
			break
		}
		if err != nil {
			ix.Bad = append(ix.Bad, input.NewFileError(path, err))
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
	for id := range ix.parent {
		ix.climb(id)
	}
	for _, f := range ix.Files {
		f.Root, _ = projection.RootOf(f.Session.ID, f.Session.Spawn, ix)
	}
	ix.gather()
	return ix
}

// gather puts the files of agents to those of their sessions.
func (ix *Index) gather() {
	of := map[string]*File{}
	for _, f := range ix.Files {
		if of[f.Session.ID] == nil && !f.Session.Part {
			of[f.Session.ID] = f
		}
	}
	ix.parts, ix.whole = map[*File][]*File{}, map[*File]*File{}
	for _, f := range ix.Files {
		if whole := of[f.Root]; f.Session.Part && whole != nil {
			ix.parts[whole] = append(ix.parts[whole], f)
			ix.whole[f] = whole
		}
	}
}

// Whole is the file of the session for which the agent of a file worked; nil where the index does not have it, or the file is that of a
// session.
func (ix *Index) Whole(f *File) *File { return ix.whole[f] }

// placeOf is where a file stands, for what other files say of it.
func placeOf(path string, kin *source.Kin) source.Place {
	if path == input.Stdin {
		return source.Place{}
	}
	return source.Place{Path: path, Kin: kin}
}

func newFile(ctx context.Context, path string, stdin io.Reader, o source.Options) (*File, error) {
	in, err := input.Open(ctx, path, stdin)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, place: o.Place, open: func(ctx context.Context) (io.ReadCloser, error) { return input.Open(ctx, path, nil) }}
	if !in.Once {
		defer in.Close()
		f.Session, err = input.Header(in, o)
		return f, err
	}
	o.Place = source.Place{} // it lies beside nothing
	s, whole, err := input.Begin(in, o)
	if err != nil {
		in.Close()
		return nil, err
	}
	f.Session, f.place, f.open = s, o.Place, func(ctx context.Context) (io.ReadCloser, error) {
		in.Under(ctx)
		return struct {
			io.Reader
			io.Closer
		}{whole, in}, nil
	}
	return f, nil
}

// climb finds the top of a session's chain of parents, and notes it for every session on the way, so that all of them
// together take as many steps as there are sessions.
func (ix *Index) climb(id string) {
	var way []string
	at, top := id, ""
	for {
		known, met := ix.top[at]
		if met { // met on this way, it is a circle, which is what "" says
			top = known
			break
		}
		way = append(way, at)
		ix.top[at] = ""
		up := ix.parent[at]
		if up == "" { // or its header is not known
			top = at
			break
		}
		at = up
	}
	for _, id := range way {
		ix.top[id] = top
	}
}

// Ancestor implements [projection.Resolver]. In place of the session that spawned another one it tells the one at the top
// of the chain, which leads to the same root in one step. Who is among their own ancestors, or spawned below somebody who
// is, gets their own id.
func (ix *Index) Ancestor(id string) (parent string, known bool) {
	parent, known = ix.parent[id]
	if parent == "" {
		return "", known
	}
	if top := ix.top[id]; top != "" {
		return top, true
	}
	return id, true
}

// Below returns what tells whether a session is the one named or was spawned below it. It is for one goroutine.
func (ix *Index) Below(id string) func(*File) bool {
	below := map[string]bool{id: true}
	return func(f *File) bool {
		var way []string
		is := false
		for at := f.Session.ID; at != ""; at = ix.parent[at] {
			known, met := below[at]
			if met {
				is = known
				break
			}
			way = append(way, at)
			below[at] = false // until it is known, which ends a circle
		}
		for _, at := range way {
			below[at] = is
		}
		return is
	}
}

// Sessions counts the sessions; one that stands in several files is one.
func (ix *Index) Sessions() int { return len(ix.parent) }

// Copied is a session that stands in more than one file.
type Copied struct {
	ID    string
	Paths []string
}

// String says it in words.
func (c Copied) String() string {
	return fmt.Sprintf("session %s is in several files, of whose spans each is given once: %s", c.ID, strings.Join(c.Paths, ", "))
}

// Copies lists the sessions that stand in more than one file, in the order of their first files.
func (ix *Index) Copies() []Copied {
	var all []Copied
	for _, files := range grouped(ix.Files, func(f *File) string { return f.Session.ID }) {
		if len(files) < 2 {
			continue
		}
		c := Copied{ID: files[0].Session.ID}
		for _, f := range files {
			c.Paths = append(c.Paths, f.Path)
		}
		all = append(all, c)
	}
	return all
}

// Traces groups the files by the session at the top, each group with that session's files first, the files of one session
// side by side, and else all in the order in which they were given.
func (ix *Index) Traces() [][]*File {
	traces := grouped(ix.Files, func(f *File) string { return f.Root })
	for i, files := range traces {
		sessions := grouped(files, func(f *File) string { return f.Session.ID })
		top := slices.IndexFunc(sessions, func(s []*File) bool { return s[0].Session.ID == s[0].Root })
		if top > 0 {
			sessions = slices.Insert(slices.Delete(slices.Clone(sessions), top, top+1), 0, sessions[top])
		}
		traces[i] = slices.Concat(sessions...)
	}
	return traces
}

// grouped puts files together that have a name in common, in the order in which they come.
func grouped(files []*File, name func(*File) string) [][]*File {
	at := map[string]int{}
	var groups [][]*File
	for _, f := range files {
		i, have := at[name(f)]
		if !have {
			i = len(groups)
			at[name(f)] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], f)
	}
	return groups
}
