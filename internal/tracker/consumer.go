package tracker

import (
	"context"
	"fmt"

	"github.com/sessionspan/sessionspan/internal/projection"
)

// Consumer takes batches of spans.
type Consumer interface {
	// Consume returns nil once it has accepted the spans, and will not lose them. A [*Refusal] says that some of them
	// it never will, and a [*Rest] which of them are to be given to it again; after any other error that is all of them.
	Consume(ctx context.Context, spans []*projection.Span) error
}

// Refusal is an error of a [Consumer] that says that it has accepted all of the spans but so many, and never will accept those.
type Refusal struct {
	Spans int
	Err   error
	// Known: all of them are meant, and not only some without which the others would have been accepted. Else, when all are refused that are
	// of several files, those of each file are tried by themselves, since one of them may have had the others refused.
	Known bool
}

func (r *Refusal) Error() string { return fmt.Sprintf("%d spans refused: %v", r.Spans, r.Err) }

// Unwrap returns Err.
func (r *Refusal) Unwrap() error { return r.Err }

// Rest is an error of a [Consumer] that says that it has accepted all spans but these, which are to be given to it again.
type Rest struct {
	Spans []*projection.Span
	Err   error
}

func (r *Rest) Error() string { return fmt.Sprintf("%d spans not accepted: %v", len(r.Spans), r.Err) }

// Unwrap returns Err.
func (r *Rest) Unwrap() error { return r.Err }
