package delivery

import (
	"time"

	"github.com/sessionspan/sessionspan/internal/otlp"
	"go.opentelemetry.io/otel/trace"
)

// Options say how a [Sender] sends. Zero values stand for the defaults.
type Options struct {
	// Batch says what the messages hold beside the spans.
	Batch otlp.Config
	// MaxBytes (2 MiB) and MaxSpans (2048) bound a batch. The bytes are those of protobuf before compression, which is what
	// receivers limit: 4 MiB by default in gRPC, 20 MiB in the Collector over HTTP. A span that is larger goes alone.
	MaxBytes, MaxSpans int
	// InFlight is how many batches are on their way at once (4). One more is being filled.
	InFlight int
	// MaxElapsed is how long a batch is tried (5 minutes), and how long a backend that has accepted something may accept
	// nothing before the sender stops.
	MaxElapsed time.Duration
	// Patience is the same for a backend that has not accepted anything yet (15 seconds), unless it says how long to wait.
	Patience time.Duration
	// Grace is how long requests may take that are under way, or still to be made, when the context is done (5 seconds).
	Grace time.Duration
	// Progress is told of every batch that is done with, and of every retry; one call at a time, by any goroutine. It must
	// not call the sender.
	Progress func(Result)
	// LargeTrace is told of a trace that has come to TraceBytes (5,000,000: what Tempo takes) encoded bytes; once for each
	// trace, unless thousands of others come between. It is called by the goroutine that ends the span.
	LargeTrace func(trace.TraceID)
	TraceBytes int64

	firstWait time.Duration // before the first retry, longer or shorter by half; later ones double
}

func (o Options) withDefaults() Options {
	setDefault(&o.MaxBytes, 2<<20)
	setDefault(&o.MaxSpans, 2048)
	setDefault(&o.InFlight, 4)
	setDefault(&o.MaxElapsed, 5*time.Minute)
	setDefault(&o.Patience, 15*time.Second)
	setDefault(&o.Grace, 5*time.Second)
	setDefault(&o.TraceBytes, 5_000_000)
	setDefault(&o.firstWait, firstWait)
	return o
}

func setDefault[T int | int64 | time.Duration](v *T, value T) {
	if *v <= 0 {
		*v = value
	}
}
