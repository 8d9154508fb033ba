package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/waterfall"
	"github.com/spf13/cobra"
)

// replay holds what the command line of replay says.
type replay struct {
	streams
	paths []string

	to, output     string
	format         string
	maxLine        int
	leaf, branches string
	session        string
	since, until   string
	group, naming  string
	semconv        string
	serviceName    string
	salt           string
	finish         bool
	shift          bool
	json           bool
	width          int
	now            time.Time
}

const replayHelp = `Reads stored sessions and draws their traces, or writes them as OTLP.

PATH is a file, a folder (with all below it), a pattern, or - for standard input. Files may be compressed with gzip or
zstd. With no path, the session that was written last in the known agents' folders is taken.

The summary goes to standard error. The exit code is 0 when everything was read, 1 when a file was damaged, 2 for wrong
usage.`

const replayExamples = `  # the newest session on this machine
  sessionspan replay

  # one session, in the terminal
  sessionspan replay session.jsonl

  # a folder of sessions as OTLP/JSON, one object a line
  sessionspan replay --to otlp-json --output traces.jsonl ~/.agent/sessions

  # only the branch that was continued, of what happened in one hour
  sessionspan replay --branches current --since 2026-09-20T12:00:00Z --until 2026-09-20T13:00:00Z session.jsonl`

func newReplay(s streams) *cobra.Command {
	r := &replay{streams: s}
	cmd := &cobra.Command{
		Use:     "replay [PATH…]",
		Short:   "Draw stored sessions as traces, or write them as OTLP",
		Long:    replayHelp,
		Example: replayExamples,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.paths = args
			return r.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	choice(cmd, &r.to, "to", "where the traces go", "text", "otlp-json")
	f.StringVarP(&r.output, "output", "o", "", "write the traces to `FILE` instead of standard output")
	choice(cmd, &r.format, "format", "how the files are written", source.Names()...)
	f.StringVar(&r.session, "session", "", "only the session with this `ID`, and those spawned below it")
	f.StringVar(&r.leaf, "leaf", "", "only what lies on the path to the entry with this `ID`")
	choice(cmd, &r.branches, "branches", "which branches", "all", "current")
	f.StringVar(&r.since, "since", "", "only what ended at `TIME` (RFC 3339) or later")
	f.StringVar(&r.until, "until", "", "only what started before `TIME` (RFC 3339)")
	choice(cmd, &r.group, "group", "what makes one trace", string(projection.GroupSession), string(projection.GroupRun))
	choice(cmd, &r.naming, "naming", "how run spans are called",
		string(projection.NamingGenAI), string(projection.NamingAgentsession))
	choice(cmd, &r.semconv, "semconv", "which GenAI conventions name the attributes",
		string(projection.Semconv141), string(projection.SemconvLatest))
	f.StringVar(&r.serviceName, "service-name", "", "service.name of the traces (default: the harness's name)")
	f.StringVar(&r.salt, "id-salt", "", "make another set of ids, with this `TEXT`")
	f.BoolVar(&r.finish, "finish", false, "nothing more will come: end what is still open")
	f.BoolVar(&r.shift, "shift-to-now", false, "move each session, with those below it, so that it ends now, under other ids")
	f.IntVar(&r.maxLine, "max-line", 256<<20, "skip lines of more than this many `BYTES`")
	f.BoolVar(&r.json, "json", false, "write the summary as JSON, with all problems in it, to standard error")
	f.IntVar(&r.width, "width", 0, "draw this many `COLUMNS` wide (default: the terminal's width)")
	return cmd
}

// choice adds a flag that takes one of a few words, the first of which is the default.
func choice(cmd *cobra.Command, dst *string, name, what string, words ...string) {
	cmd.Flags().StringVar(dst, name, words[0], what+": "+strings.Join(words, ", "))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)))
	check := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if check != nil {
			if err := check(cmd, args); err != nil {
				return err
			}
		}
		if !slices.Contains(words, *dst) {
			return usage("--%s %q: want one of %s", name, *dst, strings.Join(words, ", "))
		}
		return nil
	}
}

func (r *replay) run(ctx context.Context) error {
	r.now = time.Now()
	opts, err := r.options()
	if err != nil {
		return err
	}
	resource, err := newResource(r.serviceName, os.Environ())
	if err != nil {
		return err
	}
	sum := newSummary(r.now, r.err)
	if r.json {
		sum.log = nil
	}
	files, bad, err := r.files()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	for _, err := range bad {
		sum.unreadable(err)
	}
	if err := r.spare(files); err != nil {
		return err
	}
	opts.Problem = sum.found
	ix := archive.NewIndex(files, r.in, opts.Source)
	for _, err := range ix.Bad {
		sum.unreadable(err)
	}
	for id, paths := range ix.Copies() {
		sum.copies(id, paths)
	}
	groups := r.chosen(ix)
	if r.session != "" && len(groups) == 0 {
		return usage("--session %s: no file given has that session", r.session)
	}
	out, closeOut, err := r.open()
	if err != nil {
		return &exitError{exitFinding, err}
	}
	dest := r.destination(out, resource)
	err = r.project(ctx, ix, groups, opts, dest, sum)
	if r.leaf != "" && err == nil && sum.leaves == 0 {
		err = fmt.Errorf("--leaf: no entry of the files given has the id %q", r.leaf)
	}
	if cerr := dest.close(); err == nil {
		err = cerr
	}
	if cerr := closeOut(); err == nil {
		err = cerr
	}
	if r.json {
		sum.writeJSON(r.err)
	} else {
		sum.write(r.err)
	}
	switch {
	case ctx.Err() != nil:
		return &exitError{exitFinding, fmt.Errorf("interrupted; what is above is complete as far as it goes")}
	case err != nil:
		return &exitError{exitFinding, err}
	case sum.damaged():
		return &exitError{code: exitFinding}
	}
	return nil
}

// options turns the flags into those of a replay.
func (r *replay) options() (archive.Options, error) {
	o := archive.Options{
		Source: source.Options{Format: r.format, MaxLine: r.maxLine},
		Projection: projection.Options{
			Group: projection.Group(r.group), Naming: projection.Naming(r.naming), Semconv: projection.Semconv(r.semconv),
			Salt: r.salt,
		},
		Select: archive.Selection{Leaf: r.leaf, Current: r.branches == "current"},
		Finish: r.finish,
		Now:    r.now,
	}
	if r.maxLine <= 0 {
		return o, usage("--max-line %d: want a number above 0", r.maxLine)
	}
	if r.leaf != "" && o.Select.Current {
		return o, usage("--leaf and --branches current both choose a path: give one of them")
	}
	var err error
	if o.Select.Since, err = parseTime("since", r.since); err != nil {
		return o, err
	}
	if o.Select.Until, err = parseTime("until", r.until); err != nil {
		return o, err
	}
	if r.shift {
		// Other times need other ids: a backend keeps the first copy of a span that it sees.
		o.Projection.Salt += "\x00shifted to " + r.now.UTC().Format(time.RFC3339Nano)
	}
	return o, nil
}

func parseTime(name, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, value)
	if err != nil {
		return t, usage("--%s %q: want a time like 2026-09-20T12:00:00Z", name, value)
	}
	return t, nil
}

func (r *replay) files() (files []string, bad []error, err error) {
	if len(r.paths) > 0 {
		return archive.Find(r.paths)
	}
	newest, err := archive.Newest()
	if err != nil {
		return nil, nil, err
	}
	if !r.json {
		fmt.Fprintln(r.err, "newest session:", waterfall.Sanitize(newest))
	}
	return []string{newest}, nil, nil
}

// chosen groups the files by trace and leaves out those that are not wanted.
func (r *replay) chosen(ix *archive.Index) [][]*archive.File {
	var groups [][]*archive.File
	for _, g := range ix.Traces() {
		if r.session != "" {
			g = slices.DeleteFunc(g, func(f *archive.File) bool { return !ix.Below(f, r.session) })
		}
		if len(g) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

// project replays the chosen files, one trace after the other.
func (r *replay) project(ctx context.Context, ix *archive.Index, groups [][]*archive.File, o archive.Options,
	dest destination, sum *summary,
) error {
	for _, group := range groups {
		sink := dest.trace()
		var shifted *archive.Shifted
		if r.shift {
			shifted = &archive.Shifted{}
			sink = shifted
		}
		for _, f := range group {
			rep := ix.Project(ctx, f, o, sink)
			sum.add(rep)
			if ctx.Err() != nil {
				break
			}
		}
		if shifted != nil {
			shifted.Release(dest.trace(), r.now)
		}
		if err := dest.flush(); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// spare refuses an output that is one of the files to read, a session or not: opening it would empty it.
func (r *replay) spare(files []string) error {
	out, err := os.Stat(r.output)
	if r.output == "" || err != nil {
		return nil // nothing there to lose
	}
	for _, path := range files {
		if in, err := os.Stat(path); err == nil && os.SameFile(in, out) {
			return usage("--output %s is one of the files to read", r.output)
		}
	}
	return nil
}

// open opens the output.
func (r *replay) open() (io.Writer, func() error, error) {
	if r.output == "" || r.output == "-" {
		return r.out, func() error { return nil }, nil
	}
	f, err := os.OpenFile(r.output, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, nil, err
	}
	return f, f.Close, nil
}
