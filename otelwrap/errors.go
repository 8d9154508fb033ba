package otelwrap

import (
	"errors"
	"fmt"
)

// What an error handler is told ([WithErrorHandler]). An error wraps one of them, or is a [*PanicError].
var (
	// ErrNoIDGenerator: the tracer provider makes the ids of our spans itself.
	ErrNoIDGenerator = errors.New("the tracer provider has no otelwrap.IDGenerator: the ids of session spans are random, " +
		"so that neither a resumed session nor a replay joins them; give it sdktrace.WithIDGenerator(otelwrap.IDGenerator())")
	// ErrOption: an option has a value that is not defined; the default is used in its place.
	ErrOption = errors.New("option")
	// ErrDamaged: an entry did not fit into its session.
	ErrDamaged = errors.New("the entry does not fit into the session")
	// ErrUntraced: a session could not be opened to be traced, though its store appended to it.
	ErrUntraced = errors.New("the session goes untraced")
	// ErrUnknownSession is what [Recorder.Record] returns for a session that it was not told of, or has forgotten.
	ErrUnknownSession = errors.New("the recorder knows no such session; Begin it with its entries so far")
)

// PanicError says that tracing a session has panicked, in this package or in a span processor, sampler or instrument of the
// host. That session is not traced any further by this process.
type PanicError struct {
	Session string
	Value   any
	Stack   []byte
}

func (e *PanicError) Error() string {
	return fmt.Sprintf("tracing session %.100s: panic: %v; it goes on untraced", e.Session, e.Value)
}

// Unwrap returns the value of the panic when that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
