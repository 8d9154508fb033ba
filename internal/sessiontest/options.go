package sessiontest

import "math/rand/v2"

// Options say what may happen in a generated session. The zero value is a plain one: runs that are done or stopped,
// tools that work, no branches, and a header that promises nothing.
type Options struct {
	// Entries is about how many entries the root session gets; 0 is 40. It ends with a turn, and so has some more, unless
	// Interrupted is set.
	Entries int
	// CallsPerResponse is the most calls that one response asks for; 0 is 3.
	CallsPerResponse int
	// Rounds is the most model calls of a run, unless they fail; 0 is 7. Many runs have fewer.
	Rounds int
	// Minor is the minor version of the format: 2, 4 or 11; 0 is 2.
	Minor int
	// TextSize is the usual length of a tool output in bytes, which varies from nothing to ten times as much; 0 is 200.
	TextSize int

	// Records has the header promise run, dispatch and decision. Without it they are written, and now and then a
	// dispatch is missing.
	Records bool
	// NoRuns leaves out run, dispatch and decision entries altogether, and with them the promise.
	NoRuns bool
	// Decisions: rewritten arguments, rejected calls, calls that are held and then answered in the same run, in a later
	// one, or never.
	Decisions bool
	// Retries: failed responses that are asked for again, calls that are handed to their tool more than once.
	Retries bool
	// Interrupted: errors, incomplete responses, tools that hang, runs that are interrupted, aborted, stopped by an error
	// or cut off; and half of the files end anywhere.
	Interrupted bool

	// Branches: work goes on from an earlier entry, from a tip that was left before, or at a new root; with and without
	// a branch summary.
	Branches bool
	// Alternating: two writers append to the same file, entry by entry.
	Alternating bool
	// LeafMarks: labels that move the leaf, and others that take the mark away.
	LeafMarks bool
	// Compactions: summaries by the harness and by the server, with and without usage.
	Compactions bool
	// Subsessions is how deep calls may spawn sessions of their own.
	Subsessions int

	// Silences: now and then nothing happens for more than 24 hours.
	Silences bool
	// ClockSteps: now and then the clock is set back.
	ClockSteps bool
	// Asides: info, env, outcome, label, link and custom entries, some of them with usage.
	Asides bool
	// Extensions: entries, items and members that the format does not define.
	Extensions bool
	// Hashes: responses have a request hash. Its cost is quadratic in the length of a path.
	Hashes bool
	// Again: who reads an entry and writes it anew writes the same, so that ids which are hashes stay what they are. Without
	// it, members are null now and then that might as well be left out.
	Again bool
	// Spellings: other orders of members, white space, escapes, spellings of times (to the second, so that they step back).
	Spellings bool
}

// All returns a random mix of everything.
func All(r *rand.Rand) Options {
	yes := func() bool { return r.IntN(2) == 0 }
	o := Options{
		Entries:          1 + r.IntN(160),
		CallsPerResponse: 1 + r.IntN(5),
		Rounds:           1 + r.IntN(12),
		TextSize:         r.IntN(400),
		Minor:            []int{2, 4, 11}[r.IntN(3)],
		Records:          yes(),
		NoRuns:           r.IntN(6) == 0,
		Decisions:        yes(),
		Retries:          yes(),
		Interrupted:      yes(),
		Branches:         yes(),
		Alternating:      r.IntN(3) == 0,
		LeafMarks:        r.IntN(3) == 0,
		Compactions:      yes(),
		Silences:         r.IntN(3) == 0,
		ClockSteps:       r.IntN(3) == 0,
		Asides:           yes(),
		Extensions:       r.IntN(3) == 0,
		Hashes:           yes(),
		Spellings:        r.IntN(3) == 0,
	}
	if r.IntN(3) == 0 {
		o.Subsessions = 1 + r.IntN(3)
	}
	return o
}

// withDefaults fills in what zero stands for.
func (o Options) withDefaults() Options {
	if o.Entries <= 0 {
		o.Entries = 40
	}
	if o.CallsPerResponse <= 0 {
		o.CallsPerResponse = 3
	}
	if o.Rounds <= 0 {
		o.Rounds = 7
	}
	if o.TextSize <= 0 {
		o.TextSize = 200
	}
	if o.Minor == 0 {
		o.Minor = 2
	}
	o.Records = o.Records && !o.NoRuns
	o.Spellings = o.Spellings && o.Minor < hashedIDs // from there on there is one
	return o
}

// below returns the options of a subsession.
func (o Options) below() Options {
	o.Entries = 4 + o.Entries/4
	o.Subsessions--
	return o
}
