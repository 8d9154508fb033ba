package tracker

import (
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sessionspan/sessionspan/internal/follow"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
)

// ErrNoFile: a pattern means no file at the start. There may be one later.
var ErrNoFile = errors.New("there is no session file yet")

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
	// BatchBytes (2 MiB) and BatchWait (1 s) bound a batch: so many bytes, as its spans take when they are encoded, and so long since its
	// first one.
	BatchBytes int
	BatchWait  time.Duration
	// StateBytes (256 MiB) is how much memory the state of sessions may take; that of those which were read last is kept.
	StateBytes int64
	// Retries is how many batches may be waiting to be tried again (8). While there are so many nothing more is read.
	Retries int
	// Retry says how a batch is tried again that was not accepted.
	Retry Retry
	// LineBytes (256 MiB) is how much memory lines may take while they are read: no more compressed files are read at a time than may have
	// a line of the greatest length each.
	LineBytes int64

	// Generation is what else decides what the spans are; with another one all files are read from their start, as with other options of the
	// projection.
	Generation string

	// Problem is told what was wrong with a file, or notable about it; nil for nobody.
	Problem func(path string, err error, note bool)
	// Sink is told of spans as they start and end, in files as they grow, before they are sent; nil for nobody. It is how a terminal shows what
	// is going on.
	Sink projection.Sink
	// Unsaved is told when it could not be stored how far files have been accepted, and, with nil, that it could again. It is tried again with
	// each step. A nil one has the step fail.
	Unsaved func(error)
	// Stats is told with each step what was done so far; nil for nobody.
	Stats func(Stats)
	// Forget is told of sessions of which nothing more is known: what the sink has open of them stays so. Nil is for nobody.
	Forget func(session string)
}

// Retry says how long is waited before a batch is tried again: First (1 s), then Factor (2) times longer each time, up to Most (1 min), each
// up to Spread (0 to 1) of it more or less. After For it is given up, and counts as refused; 0 is for never. Never has it not be tried again.
type Retry struct {
	First, Most, For time.Duration
	Factor, Spread   float64
	Never            bool
}

// waits returns the waits of one batch.
func (r Retry) waits() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: r.First, MaxInterval: r.Most, Multiplier: r.Factor, RandomizationFactor: r.Spread,
	}
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

func setDefault[T int | int64 | float64 | time.Duration](v *T, value T) {
	if *v <= 0 {
		*v = value
	}
}

func (o Options) withDefaults() Options {
	setDefault(&o.BatchBytes, 2<<20)
	setDefault(&o.BatchWait, time.Second)
	setDefault(&o.StateBytes, 256<<20)
	setDefault(&o.Retries, 8)
	setDefault(&o.LineBytes, 256<<20)
	setDefault(&o.Retry.First, time.Second)
	setDefault(&o.Retry.Most, time.Minute)
	setDefault(&o.Retry.Factor, 2)
	if o.Problem == nil {
		o.Problem = func(string, error, bool) {}
	}
	if o.Stats == nil {
		o.Stats = func(Stats) {}
	}
	if o.Forget == nil {
		o.Forget = func(string) {}
	}
	return o
}
