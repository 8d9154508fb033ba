package tracker

import (
	"context"
	"fmt"
	"time"

	"github.com/sessionspan/sessionspan/internal/follow"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
)

// Options say what is tracked, and how. Zero values stand for the defaults.
type Options struct {
	Follow     follow.Options
	Source     source.Options
	Projection projection.Options // without Ancestors and Report

	// FromNow: of files that are there at the start and were never read, only what ends after that is sent. Without it what an earlier tracker
	// left out so is sent now.
	FromNow bool
	// Since: only spans that end then or later are sent.
	Since time.Time

	// Checkpoints keep how far each file has been accepted; nil keeps nothing.
	Checkpoints Checkpoints
	// BatchBytes (2 MiB) and BatchWait (1 s) bound a batch: so many bytes, as its spans take in memory, and so long since its first one.
	BatchBytes int
	BatchWait  time.Duration
	// StateBytes (256 MiB) is how much memory the state of sessions may take; that of those which were read last is kept.
	StateBytes int64
	// Retries is how many batches may be waiting to be tried again (8). While there are so many nothing more is read.
	Retries int
	// FirstWait (1 s) and MostWait (1 min) are how long is waited before a batch is tried again: longer each time.
	FirstWait, MostWait time.Duration

	// Problem is told what was wrong with a file, or notable about it; nil for nobody.
	Problem func(path string, err error, note bool)
	// Sink is told of spans as they start and end, in files as they grow, before they are sent; nil for nobody. It is how a terminal shows what
	// is going on.
	Sink projection.Sink
	// Forget is told of sessions of which nothing more is known: what the sink has open of them stays so. Nil is for nobody.
	Forget func(session string)
}

// Consumer takes batches of spans.
type Consumer interface {
	// Consume returns nil once it has accepted the spans, and will not lose them. A [*Refusal] says that some of them
	// it never will; after any other error the same spans are given to it again.
	Consume(ctx context.Context, spans []*projection.Span) error
}

// Checkpoints is a place for small records, which outlives the process.
type Checkpoints interface {
	// Get returns the record of a key, nil when there is none.
	Get(key string) ([]byte, error)
	// Put stores records; a nil one is removed. All of them are stored, or none.
	Put(records map[string][]byte) error
	// Each gives every record.
	Each(give func(key string, record []byte) error) error
}

// Refusal is an error of a [Consumer] that says that it has accepted all of the spans but so many, and never will accept those.
type Refusal struct {
	Spans int
	Err   error
}

func (r *Refusal) Error() string { return fmt.Sprintf("%d spans refused: %v", r.Spans, r.Err) }

// Unwrap returns Err.
func (r *Refusal) Unwrap() error { return r.Err }

func setDefault[T int | int64 | time.Duration](v *T, value T) {
	if *v <= 0 {
		*v = value
	}
}

func (o Options) withDefaults() Options {
	setDefault(&o.BatchBytes, 2<<20)
	setDefault(&o.BatchWait, time.Second)
	setDefault(&o.StateBytes, 256<<20)
	setDefault(&o.Retries, 8)
	setDefault(&o.FirstWait, time.Second)
	setDefault(&o.MostWait, time.Minute)
	if o.Problem == nil {
		o.Problem = func(string, error, bool) {}
	}
	if o.Forget == nil {
		o.Forget = func(string) {}
	}
	return o
}
