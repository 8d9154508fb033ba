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
)

// What is asked for and not there.
var (
	// ErrNoEntry: no entry has the id asked for.
	ErrNoEntry = errors.New("no such entry")
	// ErrNoLeaf: nothing has been appended, or the leaf was cleared.
	ErrNoLeaf = errors.New("the session has no leaf")
	// ErrNoRun: no run is open.
	ErrNoRun = errors.New("no run is open")
	// ErrNoResponse: there is no response to record.
	ErrNoResponse = errors.New("no response")
)

// What keeps a context, or a request, from being rebuilt.
var (
	// ErrSettings: the settings at an entry cannot be known, so neither can a request: instruction parts that are named by hash or
	// place are not there, or a list has become longer than any request is.
	ErrSettings = errors.New("settings cannot be rebuilt")
	// ErrFirstKept: a compaction keeps from an entry on that is not on the path before it.
	ErrFirstKept = errors.New("first_kept is not on the path before the compaction")
)

// What keeps an entry from being appended, or a session from being written by the rules of another minor.
var (
	// ErrNewerFormat: the file is of a minor version whose rules for writing this package does not know.
	ErrNewerFormat = errors.New("the file is of a newer format than this version can write")
	// ErrMigrate: a session cannot be written by the rules of a later minor.
	ErrMigrate = errors.New("the session cannot be migrated")
)

// What verifying finds. An append is refused with one of them where it can be seen from what was recorded before: the order of
// records of a call, references, spellings.
var (
	// ErrHashMismatch: the request that the path gives has another hash than the response recorded.
	ErrHashMismatch = errors.New("the request hash does not match")
	// ErrNoHash: the response has no request hash, so there is nothing to verify.
	ErrNoHash = errors.New("the response has no request hash")
	// ErrReasonMismatch: what the end of a run says is not what its segment and the path tell.
	ErrReasonMismatch = errors.New("the end of the run disagrees with its segment")
	// ErrSource: the source of a run is not what its segment tells (C, 0.9).
	ErrSource = errors.New("the source of the run disagrees with its segment")
	// ErrCallRejected: a dispatch follows a decision that rejected the call.
	ErrCallRejected = errors.New("the call was rejected")
	// ErrCallOrder: what a record says of a call cannot follow what was recorded before (C, 0.8 and 0.9).
	ErrCallOrder = errors.New("this cannot follow what is recorded of the call")
	// ErrRecordMissing: the header promises a record that is not there.
	ErrRecordMissing = errors.New("a promised record is missing")
	// ErrContentID: the id of an entry is not the hash of what its line says (C.4).
	ErrContentID = errors.New("the id is not the hash of the entry")
	// ErrNotCanonical: a line says something that has no spelling which every program reads alike (C.4).
	ErrNotCanonical = errors.New("not canonical JSON")
	// ErrMember: what an entry, or the header, must have is not there or not of its list (A.2, A.6).
	ErrMember = errors.New("a required member is missing or wrong")
	// ErrReference: an entry names another one that is not there.
	ErrReference = errors.New("no such entry to refer to")
	// ErrParents: the references to merged work are not as they should be (C, 0.4).
	ErrParents = errors.New("parents out of order")
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
	place := fmt.Sprintf("line %d (offset %d)", e.Line, e.Offset)
	switch {
	case e.At == 1:
		place = fmt.Sprintf("line %d (offset %d, 1 byte into the line)", e.Line, e.Offset)
	case e.At > 1:
		place = fmt.Sprintf("line %d (offset %d, %d bytes into the line)", e.Line, e.Offset, e.At)
	}
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
