package follow

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
)

// guardFolder is where a store of files has what it locks; nothing in it is ever to be read.
const guardFolder = ".guard"

// finding is what a look at the folders found.
type finding struct {
	files   []string // sorted, each once
	folders []string // that were looked into
	empty   []string // the patterns that mean no file, as they were given
	errs    map[string]error
}

// find looks for the files that patterns mean. What is not there yet may come; what cannot be read is among the errors, by path.
// Links to files are followed, links to folders are not, but for those that a pattern begins with.
func find(ctx context.Context, files FS, p *Patterns) finding {
	w := &walk{ctx: ctx, fs: files, patterns: p, finding: finding{errs: map[string]error{}}}
	for _, one := range p.include {
		before := len(w.files)
		if w.include(one); len(w.files) == before {
			w.empty = append(w.empty, one.text)
		}
	}
	slices.Sort(w.files)
	w.files = slices.Compact(w.files)
	slices.Sort(w.folders)
	w.folders = slices.Compact(w.folders)
	return w.finding
}

// walk is a [find] at work.
type walk struct {
	ctx      context.Context
	fs       FS
	patterns *Patterns
	finding
}

// include looks for what one pattern means.
func (w *walk) include(p pattern) {
	if w.patterns.excluded(p.base) {
		return
	}
	info, err := w.fs.Stat(p.base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.folders = append(w.folders, filepath.Dir(p.base)) // where it would appear
	case err != nil:
		w.errs[p.base] = err
	case p.rest == "" && info.Kind == Regular:
		w.files = append(w.files, p.base)
		w.folders = append(w.folders, filepath.Dir(p.base))
	case info.Kind == Folder:
		w.folder(p, p.base, "", 0, p.rest == "")
	}
}

// folder looks into a folder, which is named from the base with slashes. All: every session file in it is meant.
func (w *walk) folder(p pattern, dir, name string, depth int, all bool) {
	if w.ctx.Err() != nil {
		return
	}
	list, err := w.fs.ReadDir(dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.errs[dir] = err
		}
		return
	}
	w.folders = append(w.folders, dir)
	for _, d := range list {
		full, rel := filepath.Join(dir, d.Name()), d.Name()
		if name != "" {
			rel = name + "/" + rel
		}
		if d.Name() == guardFolder || w.patterns.excluded(full) {
			continue
		}
		matched := !all && p.matches(rel)
		switch kind := w.kind(full, d); {
		case kind == Folder && (all || matched || p.depth < 0 || depth+1 < p.depth):
			w.folder(p, full, rel, depth+1, all || matched)
		case kind == Regular && (matched || all && isSession(full)):
			w.files = append(w.files, full)
		}
	}
}

// kind says what an entry of a folder is. A link to a folder is nothing.
func (w *walk) kind(full string, d fs.DirEntry) Kind {
	switch {
	case d.IsDir():
		return Folder
	case d.Type().IsRegular():
		return Regular
	case d.Type()&fs.ModeSymlink == 0:
		return Other
	}
	info, err := w.fs.Stat(full)
	switch {
	case err != nil && isSession(full):
		w.errs[full] = err // it leads nowhere, or to itself
	case err == nil && info.Kind == Regular:
		return Regular
	}
	return Other
}
