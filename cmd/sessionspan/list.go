package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/terminal"
	"github.com/spf13/cobra"
)

// list holds what the command line of list says.
type list struct {
	streams
	paths []string
	agent string

	reading
	period
	current, top bool
	harness, cwd string
	name, parent string
	errors       bool
	states
	limit      int
	json, wide bool

	dir string // cwd, absolute
	now time.Time
}

const listHelp = `Lists stored sessions, newest first.

PATH is a file, a folder (with all below it), a pattern, or - for standard input. Files may be compressed with gzip or
zstd. With no path, all sessions in the known agents' folders are listed.

A session starts when its header says that it was created. It lasts from there to the last entry. Runs are counted in the
parts in which they were worked on; calls are tool calls, however often one was handed to its tool; tokens are those that
went in and came out of all model calls, ≥ before them when some call does not say. Errors are model calls, tools and runs
that failed, runs that were aborted or cut off among them; where no session listed has any, there is no such column.

The state says where the work at the leaf stands, the leaf being the entry at which the session would go on:

  waiting      for a person: a call is held, or the last run ended to ask for something
  open         a run or a call has not ended, and something was written in the last 24 hours
  cut off      a run or a call has not ended, and nothing was written for 24 hours (for programs: cut_off)
  error, aborted, interrupted, stopped, done
               how the last run ended
  ended        the last run ended for a reason that the format does not know
  empty        no run was started on the path to the leaf

A ! after the state marks a session whose file is damaged; it is listed as far as it can be read.

The agents that a session of Claude Code spawned are parts of it: their chats, calls, errors and tokens are counted with its own, but
not their runs, and they have rows of their own only with --parent.

A terminal gets the columns that fit into it; elsewhere, or with --wide, all of them are written. --json writes every
field whole, one JSON object a line, and after those one for each file that could not be read, which has its path and the
error. With --limit, only as many files are read as it takes.`

const listExit = `a file was damaged or could not be read, a path among others leads nowhere, or it was interrupted.`

const listExamples = `  # all sessions on this machine
  sessionspan list

  # the ten newest ones in this folder that can be gone on with
  sessionspan list --cwd . --current --top --limit 10

  # what waits for an answer
  sessionspan list --state waiting ~/.agent/sessions

  # what went wrong in the last three days
  sessionspan list --since 3d --errors
  sessionspan list --since 3d --state error,aborted,cut_off

  # those of one agent
  sessionspan list --agent claude-code

  # the sessions that a session spawned
  sessionspan list --parent 019cdc2c-b006-7000-8000-000000000001 ~/.agent/sessions

  # input tokens of each harness
  sessionspan list --json | jq -s 'group_by(.harness)[] | {h: .[0].harness, n: map(.input_tokens) | add}'`

func newList(s streams) *cobra.Command {
	l := &list{streams: s}
	cmd := &cobra.Command{
		Use:     "list [PATH…]",
		Short:   "List stored sessions, newest first",
		Long:    listHelp + exitHelp(listExit),
		Example: listExamples,
		RunE: func(cmd *cobra.Command, args []string) error {
			l.paths = args
			return l.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&l.current, "current", false, "leave out sessions that were continued in another one; their subsessions stay")
	f.BoolVar(&l.top, "top", false, "leave out subsessions: those that a call of another session spawned")
	f.StringVar(&l.parent, "parent", "", "only the sessions that the session with this `ID` spawned")
	l.states.flags(cmd)
	f.BoolVar(&l.errors, "errors", false, "only sessions in which something failed")
	f.StringVar(&l.name, "name", "", "only sessions with this `TEXT` in their name, in upper or lower case")
	f.StringVar(&l.harness, "harness", "", "only sessions written by the agent with this `NAME`, in upper or lower case")
	f.StringVar(&l.cwd, "cwd", "", "only sessions whose working directory is `DIR`")
	l.period.flags(cmd, "only sessions that started at `TIME` or later",
		"only sessions that started before `TIME`")
	number(cmd, &l.limit, "limit", "n", 0, 0, "at most this `NUMBER` of sessions (0: all)", "a number of sessions, or 0 for all")
	agentFlag(cmd, &l.agent)
	l.reading.flags(cmd)
	jsonFlag(cmd, &l.json, "")
	f.BoolVar(&l.wide, "wide", false, "write all columns on a terminal too, however wide it is")
	check(cmd, func() error {
		if l.parent != "" && l.top {
			return usage("--parent asks for subsessions and --top leaves them out: give one of them")
		}
		return nil
	})
	return cmd
}

func (l *list) run(ctx context.Context) error {
	l.now = time.Now()
	if l.cwd != "" {
		var err error
		if l.dir, err = filepath.Abs(l.cwd); err != nil {
			return &exitError{exitFinding, err}
		}
	}
	found, err := l.find(ctx)
	switch {
	case ctx.Err() != nil:
		return &exitError{exitFinding, errors.New("interrupted while looking for files; none was read")}
	case err != nil:
		return &exitError{exitUsage, err}
	}
	ix := archive.NewIndex(ctx, found.Files, l.in, l.reading.options())
	about := &findings{w: l.err}
	about.files(found, ix.Bad, len(l.paths) == 0)
	about.copies(ix.Copies())
	for _, meant := range l.meant {
		about.say(note("", meant))
	}

	rows, at, unreached := l.read(ctx, ix, about)
	if err := l.write(rows, about.lost); err != nil {
		return outputError(ctx, err)
	}
	none := 0
	if len(rows) == 0 && ctx.Err() == nil {
		none = ix.Sessions()
	}
	about.end(none)
	switch {
	case ctx.Err() != nil:
		return l.interrupted(ix, at, unreached)
	case about.any():
		return &exitError{code: exitFinding}
	}
	return nil
}

// interrupted says what was being read when the signal came, and how much was not.
func (l *list) interrupted(ix *archive.Index, at string, unreached int) error {
	switch {
	case len(ix.Unreached) > 0:
		return interruptedWhile("reading the header of", ix.Unreached[0], unreached+len(ix.Unreached)-1)
	case at != "":
		return interruptedWhile("reading", at, unreached)
	}
	return interrupted(unreached)
}

func (l *list) find(ctx context.Context) (archive.Found, error) {
	if len(l.paths) > 0 {
		return archive.Find(ctx, l.paths)
	}
	return archive.Known(ctx, l.agent)
}

// wantsHeader reports whether a session is wanted as far as its header tells.
func (l *list) wantsHeader(f *archive.File) bool {
	s := f.Session
	switch {
	case l.top && s.Spawn != nil,
		l.parent != "" && (s.Spawn == nil || s.Spawn.Session != l.parent),
		l.harness != "" && !strings.EqualFold(s.Harness, l.harness),
		l.cwd != "" && s.CWD != l.cwd && filepath.Clean(s.CWD) != l.dir,
		!f.Created().IsZero() && !l.inTime(f.Created()):
		return false
	}
	return true
}

// wants reports whether a session is wanted, once it has been read.
func (l *list) wants(v *archive.Overview) bool {
	switch {
	case l.current && v.ContinuedIn != "",
		!l.states.wants(v.State),
		l.errors && v.Errors == 0,
		l.name != "" && !strings.Contains(strings.ToLower(v.Name), strings.ToLower(l.name)),
		!l.inTime(v.Start):
		return false
	}
	return true
}

func (l *list) inTime(t time.Time) bool {
	return (l.from.IsZero() || !t.Before(l.from)) && (l.to.IsZero() || !t.IsZero() && t.Before(l.to))
}

// batch is how many files are read before it is asked whether those are enough.
const batch = 64

// read reads the sessions that may be wanted, newest first, as far as it takes, and returns those that are. After an
// interrupt, at is a file that was being read, or "", and unreached is how many were not.
func (l *list) read(ctx context.Context, ix *archive.Index, about *findings,
) (rows []archive.Overview, at string, unreached int) {
	sessions := slices.DeleteFunc(slices.Clone(ix.Files), func(f *archive.File) bool {
		return l.parent == "" && ix.Whole(f) != nil || !l.wantsHeader(f)
	})
	slices.SortStableFunc(sessions, func(a, b *archive.File) int {
		return cmp.Or(b.Created().Compare(a.Created()), strings.Compare(a.Path, b.Path))
	})
	step := max(len(sessions), 1)
	// A session whose header does not say when it started may turn out to be one of the newest.
	if l.limit > 0 && !slices.ContainsFunc(sessions, func(f *archive.File) bool { return f.Created().IsZero() }) {
		step = batch
	}
	bar := newProgress(l.err, "reading", pathsOf(sessions))
	defer bar.end()
	o := archive.Options{Source: l.reading.options(), Now: l.now, Read: bar.add, Parts: l.parent == ""}
	for chunk := range slices.Chunk(sessions, step) {
		for _, v := range ix.Overviews(ctx, chunk, o) {
			if v.Err != nil && errors.Is(v.Err, ctx.Err()) {
				if !v.Begun {
					unreached++
					continue
				}
				at = v.File.Path
				v.Err = fileError(at, errInterrupted, v.Entries)
			}
			if about.session(&v) && l.wants(&v) {
				rows = append(rows, v)
			}
		}
		if l.limit > 0 && len(rows) >= l.limit && step == batch {
			break
		}
	}
	slices.SortStableFunc(rows, func(a, b archive.Overview) int {
		return cmp.Or(b.Start.Compare(a.Start), strings.Compare(a.File.Path, b.File.Path))
	})
	if l.limit > 0 && len(rows) > l.limit {
		rows = rows[:l.limit]
	}
	return rows, at, unreached
}

func pathsOf(files []*archive.File) []string {
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	return paths
}

func (l *list) write(rows []archive.Overview, lost []problem) error {
	if l.json {
		return writeListJSON(l.out, rows, lost)
	}
	if len(rows) == 0 {
		return nil
	}
	as := terminal.LookOf(l.out, os.Environ())
	if l.wide || !terminal.Is(l.out) {
		as.Width = 0
	}
	return listTable(rows, as).write(l.out, as)
}
