package sessiontest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// ClaudeFile is a file of Claude Code, by its path below the folder of projects, with slashes.
type ClaudeFile struct {
	Path string
	Data []byte
	// Copied is how many lines at its beginning were written at once, when another session was gone on with.
	Copied int
}

// ClaudeTruth is what is true of the files of a unit: sessions with what they spawned and what was forked from them.
type ClaudeTruth struct {
	Turns  int // prompts of a person, copies counted once
	Chats  int // messages of models, by their ids
	Calls  int
	Ended  int   // of those, the ones with a result
	Failed int   // of those, the ones that failed or were not wanted
	In     int64 // tokens, cached ones included
	Out    int64
	Agents int // that have a file, or lines in one
}

// ClaudeCopies says how a session goes on in a file of its own.
type ClaudeCopies int

// The ways of copying.
const (
	NoCopy     ClaudeCopies = iota
	MarkedCopy              // each line says where it comes from
	OldCopy                 // lines keep the id of the session that they come from
	SilentCopy              // nothing says it
)

// ClaudeOptions say what may happen in a unit. The zero value is a plain one: a session whose tools work, without agents.
type ClaudeOptions struct {
	// Turns is about how many turns the first session gets; 0 is 4.
	Turns int
	// Copies is how sessions are gone on with in files of their own. There are one or two.
	Copies ClaudeCopies
	// Agents have files of their own: in the folder of the session, or, as once, beside its file.
	Agents bool
	// Inline: agents have their lines in the file of the session, as the first versions did it. With Agents, one of the ways is
	// drawn for the unit.
	Inline bool
	// Background: agents outlive the call that spawned them, and notify. Only those in the folder of the session do.
	Background bool
	// Workflows: agents that no call of their own spawned, in the folder of the session.
	Workflows bool
	// Lost: agents of which there is no file.
	Lost bool
	// Rewinds: a prompt is written anew.
	Rewinds bool
	// Writers: two terminals go on from the same entry at once.
	Writers bool
	// Commands: slash commands, those that are prompts and others, and shell commands.
	Commands bool
	// Compactions: by themselves in a turn, and between turns.
	Compactions bool
	// Errors: tools that fail, requests that are made again, and API errors in place of an answer.
	Errors bool
	// Interruptions: calls that a person refuses, turns that are broken off, calls that never have a result.
	Interruptions bool
	// Asides: lines that are no entry, hooks, progress, attachments and kinds of which nothing is known.
	Asides bool
	// Uncounted: messages without usage, and usage with members that are null or left out.
	Uncounted bool
	// Damage: torn and blank lines, NULs, values that are no objects, and a file that ends within a line.
	Damage bool
	// ClockSteps: now and then the clock is set back by some milliseconds.
	ClockSteps bool
	// Silences: now and then nothing happens for more than a day between two turns.
	Silences bool

	// Unsettled: what readers do not agree on yet, live and later. An agent notifies when the first message of a turn is the last that
	// was written, and no line says that it ended; nothing but its task says who spawned the agent of an agent; of two terminals one
	// ends with a message of which no line says that it ended, and the other goes on; after a silence the first line is none of the
	// tree.
	Unsettled bool
}

// AllClaude returns options with everything in but what is unsettled.
func AllClaude(turns int, copies ClaudeCopies) ClaudeOptions {
	return ClaudeOptions{
		Turns: turns, Copies: copies, Agents: true, Inline: true, Background: true, Workflows: true, Lost: true, Rewinds: true, Writers: true,
		Commands: true, Compactions: true, Errors: true, Interruptions: true, Asides: true, Uncounted: true, Damage: true, ClockSteps: true,
		Silences: true,
	}
}

// RandomClaude makes the files of a random unit in which everything may happen: see [ClaudeUnit] and [AllClaude].
func RandomClaude(r *rand.Rand, turns int, copies ClaudeCopies) ([]ClaudeFile, ClaudeTruth) {
	return ClaudeUnit(r, AllClaude(turns, copies))
}

// claudeLayout says where agents have their lines.
type claudeLayout int

const (
	inFolder claudeLayout = iota // in the folder of the session
	inBeside                     // beside the session's file
	inFile                       // in the session's file
	noAgents
)

// versions that wrote the layouts.
var claudeVersions = map[claudeLayout]string{inFolder: "2.1.42", inBeside: "2.0.30", inFile: "1.0.108", noAgents: "2.1.42"}

// claudeUnit is a unit in the making.
type claudeUnit struct {
	r      *rand.Rand
	o      ClaudeOptions
	truth  ClaudeTruth
	files  []*claudeOut
	mains  []*claudeOut // of those, the sessions
	cards  []ClaudeFile
	now    time.Time
	layout claudeLayout
	later  []func()
	words  int
}

// ClaudeUnit makes the files of a random unit: a session with its agents, and the sessions that begin with a copy of it. The first
// file is that of the first session. The same seed and options give the same bytes.
func ClaudeUnit(r *rand.Rand, o ClaudeOptions) ([]ClaudeFile, ClaudeTruth) {
	if o.Turns <= 0 {
		o.Turns = 4
	}
	u := &claudeUnit{r: r, o: o, now: time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC), layout: noAgents}
	var layouts []claudeLayout
	if o.Agents {
		layouts = append(layouts, inFolder, inBeside)
	}
	if o.Inline {
		layouts = append(layouts, inFile)
	}
	if len(layouts) > 0 {
		u.layout = layouts[r.IntN(len(layouts))]
	}
	f := u.file()
	f.head()
	for range o.Turns {
		f.next()
	}
	u.finish()
	if o.Copies != NoCopy {
		u.copies()
	}
	var files []ClaudeFile
	for _, f := range u.files {
		files = append(files, ClaudeFile{f.path, f.bytes(), f.copies})
	}
	return append(files, u.cards...), u.truth
}

// copies goes on with sessions in files of their own.
func (u *claudeUnit) copies() {
	for range 1 + u.r.IntN(4)/3 {
		f := u.mains[u.r.IntN(len(u.mains))]
		if len(f.ends) == 0 {
			f = u.mains[0]
		}
		c := f.copied(f.ends[u.r.IntN(len(f.ends))], u.o.Copies)
		for range 1 + u.r.IntN(2) {
			c.next()
			// Where nothing marks a copy, it is known by going on later than the origin does.
			if u.o.Copies != SilentCopy && u.r.IntN(3) == 0 {
				f.next()
			}
		}
		u.finish()
	}
}

// finish has the agents in the background do their work, and those that they spawn.
func (u *claudeUnit) finish() {
	for len(u.later) > 0 {
		do := u.later[0]
		u.later = slices.Clone(u.later[1:])
		do()
	}
}

// one reports whether something happens that happens once in so many times.
func (u *claudeUnit) one(in int) bool { return u.r.IntN(in) == 0 }

func (u *claudeUnit) uuid() string {
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", u.r.Uint32(), u.r.IntN(1<<16), u.r.IntN(1<<12), u.r.IntN(1<<12), u.r.Int64N(1<<48))
}

// file begins the file of a session.
func (u *claudeUnit) file() *claudeOut {
	id := u.uuid()
	f := &claudeOut{
		u: u, path: "-work-app/" + id + ".jsonl", session: id, lines: &[][]byte{}, version: claudeVersions[u.layout], branch: "main",
		style: claudeStyle(u.r.IntN(3)), linear: u.layout == inFile || u.one(6),
	}
	u.files = append(u.files, f)
	u.mains = append(u.mains, f)
	return f
}

// text is one that nobody wrote before.
func (u *claudeUnit) text(what string) string {
	u.words++
	return fmt.Sprintf("%s %d", what, u.words)
}
