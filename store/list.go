package store

import (
	"cmp"
	"time"

	"github.com/sessionspan/sessionspan/format"
)

// ListFilter says which sessions are wanted. What is zero asks for nothing.
type ListFilter struct {
	// CWD is the working directory in the header, as it stands there.
	CWD string
	// ParentSession is the session that was forked, continued, or spawned this one.
	ParentSession string
	// After and Before bound the time in the header; a session of that very time is not wanted.
	After, Before time.Time
	// Limit is how many sessions are wanted at most.
	Limit int
	// WithNames asks for [Summary.Name], for which a store of files has to read whole sessions.
	WithNames bool
	// Current leaves out sessions that were continued in another one, for which the same holds.
	Current bool
}

// Matches reports whether the header of a session passes the filter.
func (f ListFilter) Matches(h format.Header) bool {
	switch {
	case f.CWD != "" && h.CWD != f.CWD:
		return false
	case f.ParentSession != "" && h.ParentSession != f.ParentSession:
		return false
	case !f.After.IsZero() && !h.CreatedAt.After(f.After):
		return false
	}
	return f.Before.IsZero() || h.CreatedAt.Before(f.Before)
}

// Keep reports whether a session passes the filter, as far as its summary tells: the header, and whether it was continued.
func (f ListFilter) Keep(s Summary) bool {
	return f.Matches(s.Header) && !(f.Current && s.SupersededBy != "")
}

// Summary describes a stored session. What its header points to may be the session's own, and must not be changed.
type Summary struct {
	Header format.Header
	// Name is the display name, and SupersededBy the session in which this one was continued; both "" without one. A store of
	// files knows them only when the filter asks for names or for current sessions.
	Name, SupersededBy string
	// Path is the file of the session, "" where it has none of its own.
	Path string
	// Size is what is stored, in bytes, and Modified the time of the last change, as far as the store knows.
	Size     int64
	Modified time.Time
}

// CompareNewest orders summaries as [Store] lists them, for slices.SortFunc.
func CompareNewest(a, b Summary) int {
	return cmp.Or(b.Header.CreatedAt.Compare(a.Header.CreatedAt), cmp.Compare(a.Header.ID, b.Header.ID))
}
