package store

import (
	"context"
	"errors"
	"iter"

	"github.com/sessionspan/sessionspan/format"
)

// What stores answer. An error wraps one of them, or one of package format, or is that of the context.
var (
	// ErrNoSession: the store has no session of that id.
	ErrNoSession = errors.New("no such session")
	// ErrSessionExists: the store has a session of that id already.
	ErrSessionExists = errors.New("the session exists")
	// ErrSessionLocked: somebody else is writing to the session.
	ErrSessionLocked = errors.New("the session is locked")
	// ErrReadOnly: the store or the session was opened to be read only.
	ErrReadOnly = errors.New("opened for reading only")
	// ErrSuperseded: the session was continued in another one. It comes from [RefuseSuperseded]; stores themselves take
	// appends to such a session (A.14).
	ErrSuperseded = errors.New("the session was continued in another one")
)

// Appender adds entries to sessions: the part of a store that recording needs.
type Appender interface {
	// Append adds an entry to a session and returns the entry's id.
	Append(ctx context.Context, sessionID string, e format.Entry) (string, error)
}

// HeaderReader is implemented by stores that find the header of a session without opening it, whoever has it open.
type HeaderReader interface {
	// Header returns the header of a session, which must not be changed. The error wraps [ErrNoSession], or says why it could not
	// be read.
	Header(ctx context.Context, id string) (*format.Header, error)
}

// Store keeps sessions (A.15). It is for many goroutines at once.
//
// Sessions that Create and Open return are shared with the store: there is one for each id, [format.Session.Branch] on it steers
// later appends, and what is appended to it by itself goes to the store like everything else, or is not appended.
// Appends of several goroutines to one session get one order, the same in memory and in what is kept; [format.Session.Since]
// tells what was appended in it. Which entry an append continues is the session's leaf at that moment, so that
// goroutines which work on different branches each give the parent of what they append ([format.Envelope]).
//
// An operation whose context is done when its turn comes fails with the context's error, and has done nothing. Once it has begun
// to write the context does not matter: what has been written cannot be taken back.
type Store interface {
	// Create adds a session with that header, of which it fills in what is empty: format, payload, id and time. The error
	// wraps [ErrSessionExists], or is one of [format.NewSession].
	Create(ctx context.Context, h format.Header) (*format.Session, error)
	// Open returns a session. The error wraps [ErrNoSession] or [ErrSessionLocked], or says what is wrong with what is stored.
	Open(ctx context.Context, id string) (*format.Session, error)
	// Append adds an entry to a session, which it opens if need be, and returns the entry's id once it is kept as the store
	// promises. The error is one of Open, or of [format.Session.Append], or says why it could not be kept; nothing was
	// appended then, unless it says that this is not known.
	Append(ctx context.Context, id string, e format.Entry) (string, error)
	// List gives the sessions that pass the filter as they are when it begins, the newest first by the time in their headers,
	// those of the same time by id. What cannot be read comes as errors after them.
	List(ctx context.Context, f ListFilter) iter.Seq2[Summary, error]
	// Delete removes a session. The error wraps [ErrNoSession] or [ErrSessionLocked].
	Delete(ctx context.Context, id string) error
}
