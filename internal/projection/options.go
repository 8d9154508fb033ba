package projection

import (
	"fmt"

	"github.com/sessionspan/sessionspan/internal/activity"
)

// Group says what a trace holds.
type Group string

// Naming says how run spans are called.
type Naming string

// Semconv says which text of the GenAI conventions the names follow.
type Semconv string

// The values of the options. The first of each kind is the default.
const (
	// GroupSession: one trace for a session and its subsessions. GroupRun: one for each run.
	GroupSession Group = "session"
	GroupRun     Group = "run"
	// NamingGenAI: invoke_agent {agent}. NamingAgentsession: agentsession.run, as the format's own projection has it.
	NamingGenAI        Naming = "genai"
	NamingAgentsession Naming = "agentsession"
	// Semconv141: the last release with GenAI names. SemconvLatest: the text that followed it.
	Semconv141    Semconv = "1.41"
	SemconvLatest Semconv = "latest"
)

// Options choose between projections. The zero value is the default of each.
type Options struct {
	Group   Group
	Naming  Naming
	Semconv Semconv
	// Salt gives another set of ids.
	Salt string
	// Ancestors finds the headers of other sessions; nil finds none.
	Ancestors Resolver
	// Report is called for what the projection had to put up with; nil drops it.
	Report func(Problem)
}

// Resolver finds what the headers of other sessions say.
type Resolver interface {
	// Ancestor returns the session that spawned session id ("" when none did), and whether the header of id is known.
	Ancestor(id string) (parent string, known bool)
}

// Problem is something about an entry that the projection had to put up with.
type Problem struct {
	Line   int
	Offset int64
	Err    error
	Detail string
	// Note: the file is as it may be, but somebody should know.
	Note bool
}

func (p Problem) Error() string {
	return fmt.Sprintf("line %d (offset %d): %v: %s", p.Line, p.Offset, p.Err, p.Detail)
}

func (p Problem) Unwrap() error { return p.Err }

func (o Options) withDefaults() Options {
	if o.Group == "" {
		o.Group = GroupSession
	}
	if o.Naming == "" {
		o.Naming = NamingGenAI
	}
	if o.Semconv == "" {
		o.Semconv = Semconv141
	}
	return o
}

// Validate reports a value that is none of those defined.
func (o Options) Validate() error {
	o = o.withDefaults()
	switch {
	case o.Group != GroupSession && o.Group != GroupRun:
		return fmt.Errorf("group %q: want %s or %s", o.Group, GroupSession, GroupRun)
	case o.Naming != NamingGenAI && o.Naming != NamingAgentsession:
		return fmt.Errorf("naming %q: want %s or %s", o.Naming, NamingGenAI, NamingAgentsession)
	case o.Semconv != Semconv141 && o.Semconv != SemconvLatest:
		return fmt.Errorf("semconv %q: want %s or %s", o.Semconv, Semconv141, SemconvLatest)
	}
	return nil
}

// Silence is how long nothing may happen in a session before what is open in it is taken to have ended. It is part of
// the recipe, not an option.
const Silence = activity.Silence

// SchemaURL names the published schema that the names of a profile follow; "" when none is published.
func SchemaURL(s Semconv) string {
	if s == SemconvLatest {
		return ""
	}
	return "https://opentelemetry.io/schemas/1.41.0"
}
