package archive

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

var (
	// ErrNoID: no session has the id asked for.
	ErrNoID = errors.New("no such session")
	// ErrManyIDs: what was given as the beginning of an id is that of several.
	ErrManyIDs = errors.New("several ids begin so")
)

// maxCandidates bounds how many are named of what an id may mean.
const maxCandidates = 10

// ByID finds a session by its id, or by the beginning of it, as long as that of no other one begins so. The files are those
// that the session is in. The error wraps [ErrNoID] or [ErrManyIDs], and names what may be meant.
func (ix *Index) ByID(id string) ([]*File, error) {
	sessions := grouped(ix.Files, func(f *File) string { return f.Session.ID })
	for _, files := range sessions {
		if files[0].Session.ID == id {
			return files, nil
		}
	}
	sessions = slices.DeleteFunc(sessions, func(files []*File) bool {
		return id == "" || !strings.HasPrefix(files[0].Session.ID, id)
	})
	switch len(sessions) {
	case 0:
		return nil, fmt.Errorf("%w: the id of none is or begins with %q", ErrNoID, id)
	case 1:
		return sessions[0], nil
	}
	names := make([]string, len(sessions))
	for i, files := range sessions {
		names[i] = files[0].Session.ID + " (" + files[0].Path + ")"
	}
	return nil, several(id, names)
}

// several is the error of a prefix that several ids have.
func several(prefix string, names []string) error {
	more := ""
	if len(names) > maxCandidates {
		names, more = names[:maxCandidates], ", and more"
	}
	return fmt.Errorf("%q: %w: %s%s; give more of it", prefix, ErrManyIDs, strings.Join(names, ", "), more)
}
