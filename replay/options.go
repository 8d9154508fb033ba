package replay

import (
	"fmt"
	"time"

	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
)

// SessionOption changes how [Session] replays.
type SessionOption interface{ forSession(*config) }

// FilesOption changes how [Files] replays.
type FilesOption interface{ forFiles(*config) }

// Option is for both.
type Option interface {
	SessionOption
	FilesOption
}

type (
	option        func(*config)
	sessionOption func(*config)
	filesOption   func(*config)
)

func (o option) forSession(c *config)        { o(c) }
func (o option) forFiles(c *config)          { o(c) }
func (o sessionOption) forSession(c *config) { o(c) }
func (o filesOption) forFiles(c *config)     { o(c) }

type config struct {
	projection projection.Options
	finish     bool
	now        time.Time
	problem    func(*Problem)

	// of Session
	leaf  string
	known *Spans

	// of Files
	jobs         int
	resource     []attribute.KeyValue
	since, until time.Time
	shift        bool
	progress     func(Progress)
	report       func(FileReport)
}

func newConfig() *config {
	return &config{now: time.Now(), problem: func(*Problem) {}, progress: func(Progress) {}, report: func(FileReport) {}}
}

func (c *config) validate() error {
	if err := c.projection.Validate(); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	if c.jobs < 0 {
		return fmt.Errorf("replay: %d jobs", c.jobs)
	}
	if !c.since.IsZero() && !c.until.IsZero() && !c.since.Before(c.until) {
		return fmt.Errorf("replay: the period ends at %s, before it begins at %s", c.until.Format(time.RFC3339), c.since.Format(time.RFC3339))
	}
	return nil
}

// WithFinish says that nothing more will come: what is open ends at the last entry. Without it what is open stays so, unless
// nothing happened in the session for 24 hours.
func WithFinish() Option { return option(func(c *config) { c.finish = true }) }

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

// WithProblems has told what was wrong with a session or a file, or notable about it, as it is found. [Files] makes one call at a
// time, and waits for it.
func WithProblems(report func(*Problem)) Option {
	return option(func(c *config) {
		if report != nil {
			c.problem = report
		}
	})
}

// WithLeaf replays only what lies on the path to the entry with that id; without it every branch is replayed. The session's
// mark is always there.
func WithLeaf(entry string) SessionOption { return sessionOption(func(c *config) { c.leaf = entry }) }

// WithKnown gives the spans of an earlier replay, of this session or of one that it spawned or was spawned by: those that have
// ended are not sent again, and new ones hang from them and link to them.
func WithKnown(s *Spans) SessionOption { return sessionOption(func(c *config) { c.known = s }) }

// WithJobs says how many traces are read at once; without it, or with 0, one for each processor (GOMAXPROCS).
func WithJobs(n int) FilesOption { return filesOption(func(c *config) { c.jobs = n }) }

// WithResource adds attributes to the resource of every span, in place of what the session says, or an option before this one,
// where the keys are the same. Without it a resource has service.name, the name of the agent's harness, and service.version.
func WithResource(attributes ...attribute.KeyValue) FilesOption {
	return filesOption(func(c *config) { c.resource = append(c.resource, attributes...) })
}

// WithPeriod replays only what ended at since or later and started before until; the zero time is no bound. Sessions with
// nothing in it are left out. The spans of a session are held in memory until it has been read.
func WithPeriod(since, until time.Time) FilesOption {
	return filesOption(func(c *config) { c.since, c.until = since, until })
}

// WithShiftToNow moves each session, with those below it, so that it ends now, for backends that search recent traces only. The
// ids are others each time, and what was measured stays right. A trace is held in memory until it has been read.
func WithShiftToNow() FilesOption { return filesOption(func(c *config) { c.shift = true }) }

// WithIDSalt makes another set of ids, which depends on the text.
func WithIDSalt(text string) FilesOption {
	return filesOption(func(c *config) { c.projection.Salt = text })
}

// WithProgress is told how far a replay has come, often, by any goroutine, one call at a time. It must return soon.
func WithProgress(report func(Progress)) FilesOption {
	return filesOption(func(c *config) {
		if report != nil {
			c.progress = report
		}
	})
}

// WithReports is told what came of each file that was read, in the order of the traces, one call at a time. It must return soon.
func WithReports(report func(FileReport)) FilesOption {
	return filesOption(func(c *config) {
		if report != nil {
			c.report = report
		}
	})
}
