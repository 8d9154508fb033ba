package replay

import (
	"fmt"
	"time"

	"github.com/sessionspan/sessionspan/internal/projection"
)

// Option changes how sessions are replayed.
type Option interface{ apply(*config) }

type option func(*config)

func (o option) apply(c *config) { o(c) }

type config struct {
	projection projection.Options
	leaf       string
	finish     bool
	now        time.Time
	known      *Spans
	problem    func(error)
}

func configure(opts []Option) (config, error) {
	c := config{now: time.Now(), problem: func(error) {}}
	for _, o := range opts {
		o.apply(&c)
	}
	if err := c.projection.Validate(); err != nil {
		return c, fmt.Errorf("replay: %w", err)
	}
	return c, nil
}

// options are those of the projection.
func (c config) options() projection.Options {
	o := c.projection
	o.Report = func(p projection.Problem) { c.problem(p) }
	return o
}

// WithLeaf replays only what lies on the path to the entry with that id; without it every branch is replayed. The session's
// mark is always there.
func WithLeaf(entry string) Option { return option(func(c *config) { c.leaf = entry }) }

// WithFinish says that nothing more will come: what is open ends at the last entry. Without it what is open stays so, unless
// nothing happened in the session for 24 hours.
func WithFinish() Option { return option(func(c *config) { c.finish = true }) }

// WithKnown gives the spans of an earlier replay, of this session or of one that it spawned or was spawned by: those that have
// ended are not sent again, and new ones hang from them and link to them.
func WithKnown(s *Spans) Option { return option(func(c *config) { c.known = s }) }

// WithGroup says what one trace holds: "session", the default, or "run".
func WithGroup(group string) Option {
	return option(func(c *config) { c.projection.Group = projection.Group(group) })
}

// WithNaming says how run spans are called: "genai", the default, or "agentsession".
func WithNaming(naming string) Option {
	return option(func(c *config) { c.projection.Naming = projection.Naming(naming) })
}

// WithSemconv says which text of the GenAI conventions names the attributes: "1.41", the default, or "latest".
func WithSemconv(version string) Option {
	return option(func(c *config) { c.projection.Semconv = projection.Semconv(version) })
}

// WithProblems has told what was wrong with the session, or notable about it, as it is found.
func WithProblems(report func(error)) Option {
	return option(func(c *config) { c.problem = report })
}
