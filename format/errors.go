package format

import (
	"bytes"
	"errors"
	"fmt"
)

// What can be wrong with a session file. A [DamageError] wraps one of them.
var (
	// ErrEmpty: the input has no line at all, or only blank ones.
	ErrEmpty = errors.New("empty input")
	// ErrNoHeader: the first line is not a session header.
	ErrNoHeader = errors.New("no session header")
	// ErrUnsupportedFormat: the header names a format, or a major version, that this package does not read.
	ErrUnsupportedFormat = errors.New("unsupported format")
	// ErrSyntax: the line is not one JSON object.
	ErrSyntax = errors.New("not a JSON object")
	// ErrInvalidEntry: the line is a JSON object, but lacks a required member or has one of the wrong kind.
	ErrInvalidEntry = errors.New("invalid entry")
	// ErrLineTooLong: the line is longer than the limit.
	ErrLineTooLong = errors.New("line over the limit")
	// ErrTornTail: the last line does not decode; what a crash in the middle of an append leaves behind.
	ErrTornTail = errors.New("broken last line")
	// ErrDuplicateEntry: the id of the entry was used before.
	ErrDuplicateEntry = errors.New("duplicate entry id")
	// ErrNoParent: the parent of the entry is not an earlier entry.
	ErrNoParent = errors.New("parent is not an earlier entry")
	// ErrBase: the file breaks the rules of its header's base (C.5).
	ErrBase = errors.New("entry breaks the base rule")
	// ErrNoEntry: no entry has the id asked for.
	ErrNoEntry = errors.New("no such entry")
	// ErrNewerFormat: the file is of a minor version whose rules for writing this package does not know.
	ErrNewerFormat = errors.New("the file is of a newer format than this version can write")
)

// DamageError describes a line that could not be read as it should be: where it stands, what is wrong, and the bytes.
// It wraps the sentinel errors of this package.
type DamageError struct {
	// Line counts from 1. Offset is that of the line's first byte; At is the offset within the line, in bytes, where the
	// trouble was seen; 0 for a member that is missing.
	Line   int
	Offset int64
	At     int
	// Err is the sentinel, or wraps two of them: [ErrTornTail] or [ErrNoHeader] together with what is wrong with the line.
	// Detail says more in words.
	Err    error
	Detail string
	// Data is the line without its terminator; of a line over the limit, its beginning. Valid until the next read.
	Data []byte
	// Entry is what could still be read of a line that is one JSON object with type and id: enough to keep its children in
	// the tree. It is nil when nothing could. It is an [UnknownEntry] when the members that make it one of its type were
	// the trouble, a root when "parent" was, and its Time is zero when "ts" was. Valid until the next read.
	Entry Entry
}

// Error names the place, then the trouble.
func (e *DamageError) Error() string {
	place := fmt.Sprintf("line %d (offset %d)", e.Line, e.Offset+int64(e.At))
	if e.Detail == "" {
		return fmt.Sprintf("%s: %v", place, e.Err)
	}
	return fmt.Sprintf("%s: %v: %s", place, e.Err, e.Detail)
}

// Unwrap returns Err.
func (e *DamageError) Unwrap() error { return e.Err }

// Clone returns a copy of the error that stays valid after the next read. What could still be read of the line is not
// part of it.
func (e *DamageError) Clone() *DamageError {
	c := *e
	c.Data = bytes.Clone(e.Data)
	c.Entry = nil
	return &c
}

// Torn returns the error as that of the last line of the input: it wraps [ErrTornTail] as well.
func (e *DamageError) Torn() *DamageError {
	t := *e
	t.Err = tornError{e.Err}
	return &t
}

// tornError is the trouble of a broken last line.
type tornError struct{ cause error }

func (e tornError) Error() string   { return ErrTornTail.Error() + ": " + e.cause.Error() }
func (e tornError) Unwrap() []error { return []error{ErrTornTail, e.cause} }
