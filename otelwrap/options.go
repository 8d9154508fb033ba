package otelwrap

import (
	"context"
	"fmt"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Option changes how a [Recorder], or a [Store] with one, traces. A value that is not defined is told to the error handler, and
// the default used in its place: tracing is no reason for a harness not to start.
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

type config struct {
	tracers    trace.TracerProvider
	meters     metric.MeterProvider
	projection projection.Options
	agent      *format.Harness
	parent     Parent
	idle       time.Duration
	handle     func(error)
	headers    func(context.Context, string) (*format.Header, error)
	global     bool    // the tracer provider is the global one
	wrong      []error // what options asked for that there is not
}

// DefaultIdle is how long a session is remembered in which nothing happens, unless [WithIdleLimit] says otherwise.
const DefaultIdle = time.Hour

func newConfig(opts []Option) *config {
	c := &config{idle: DefaultIdle, parent: ParentLink}
	for _, o := range opts {
		if o != nil {
			o.apply(c)
		}
	}
	if c.tracers == nil {
		c.tracers, c.global = otel.GetTracerProvider(), true
	}
	if c.handle == nil {
		c.handle = otel.Handle
	}
	return c
}

// set sets an option of the projection, if there is such a value.
func set(change func(*projection.Options)) Option {
	return option(func(c *config) {
		next := c.projection
		change(&next)
		if err := next.Validate(); err != nil {
			c.wrong = append(c.wrong, fmt.Errorf("%w: %w", ErrOption, err))
			return
		}
		c.projection = next
	})
}

// WithTracerProvider says which provider makes the spans; without it, the global one at the time of the call. Give the provider
// an [IDGenerator].
func WithTracerProvider(p trace.TracerProvider) Option {
	return option(func(c *config) { c.tracers = p })
}

// WithMeterProvider has metrics made as well, by that provider: see the package documentation. Without it there are none.
func WithMeterProvider(p metric.MeterProvider) Option {
	return option(func(c *config) { c.meters = p })
}

// WithGroup says what one trace holds: "session", the default, or "run".
func WithGroup(group string) Option {
	return set(func(o *projection.Options) { o.Group = projection.Group(group) })
}

// WithNaming says how run spans are called: "genai", the default, or "agentsession".
func WithNaming(naming string) Option {
	return set(func(o *projection.Options) { o.Naming = projection.Naming(naming) })
}

// WithSemconv says which text of the GenAI conventions names attributes and metrics: "1.41", the default, or "latest".
func WithSemconv(version string) Option {
	return set(func(o *projection.Options) { o.Semconv = projection.Semconv(version) })
}

// WithAgentName names the harness in the headers of sessions that are created through a [Store] and name none, so that the file
// says what the spans say. The version may be "". A header that is given to a [Recorder] is as it is.
func WithAgentName(name, version string) Option {
	return option(func(c *config) {
		c.agent = nil
		if name != "" {
			c.agent = &format.Harness{Name: name, Version: version}
		}
	})
}

// Parent says what the spans of a session have to do with a span that is in the caller's context.
type Parent string

// What a span in the caller's context is to a session.
const (
	// ParentLink: the spans of the session and of each run link to it; the session has the trace that it has everywhere.
	ParentLink Parent = "link"
	// ParentCaller: the session is below the one that it was created under, in its trace, also in later processes. So the trace is not
	// the one that a replay of the session makes. With a trace for each run, those of runs are what they are.
	ParentCaller Parent = "caller"
	// ParentNone: nothing.
	ParentNone Parent = "none"
)

// WithParent says what a span is to a session that the caller's context carries when the session or a run begins: of the HTTP
// request, say, that the harness works for. Without it, [ParentLink].
func WithParent(p Parent) Option {
	return option(func(c *config) {
		switch p {
		case ParentLink, ParentCaller, ParentNone:
			c.parent = p
		default:
			c.wrong = append(c.wrong, fmt.Errorf("%w: parent %q: want %s, %s or %s", ErrOption, p, ParentLink, ParentCaller, ParentNone))
		}
	})
}

// WithIdleLimit says for how long a session is remembered in which nothing happens; without it, [DefaultIdle]. A [Store] reads a
// session that it has forgotten again, when something is appended to it.
func WithIdleLimit(d time.Duration) Option {
	return option(func(c *config) {
		if d <= 0 {
			c.wrong = append(c.wrong, fmt.Errorf("%w: an idle limit of %v", ErrOption, d))
			return
		}
		c.idle = d
	})
}

// WithHeaders says how a [Recorder] finds the header of a session that it was not told of, when one begins that was spawned by it or
// forked from it; without it, those are not known. A [Store] asks the store that it wraps.
func WithHeaders(find func(ctx context.Context, sessionID string) (*format.Header, error)) Option {
	return option(func(c *config) { c.headers = find })
}

// WithErrorHandler is told what went wrong with tracing, by any goroutine that appends; it must return soon. Without it,
// otel.Handle is.
func WithErrorHandler(handle func(error)) Option {
	return option(func(c *config) { c.handle = handle })
}
