package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/delivery"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel/attribute"
)

// replay holds what the command line of replay says.
type replay struct {
	streams
	paths []string
	agent string

	reading
	period
	backend
	to, output     string
	leaf, branches string
	session        string
	group, naming  string
	semconv        string
	serviceName    string
	salt           string
	finish         bool
	shift          bool
	json           bool
	width, maxRows int
	now            time.Time
}

const replayHelp = `Reads stored sessions and draws their traces, writes them as OTLP, or sends them to a backend that takes OTLP.

PATH is a file, a folder (with all below it), a pattern, or - for standard input. Files may be compressed with gzip or
zstd. With no path, the session that was written last in the known agents' folders is taken, or, with --session, the one
in them that has this id.

A session that is in several files is taken once. Of a trace of many spans the drawing has the most urgent: --max-rows.

Nothing is sent without --to otlp or --endpoint. Headers, TLS, compression and timeout are those of the environment's
OTEL_EXPORTER_OTLP_ variables. What is sent again has the same ids. The summary counts what the backend acknowledged, what it
refused, and what was lost on the way.

The summary goes to standard error; with --json it is one JSON object, whatever happens but wrong flags.`

const replayExit = `a file was damaged or could not be read, a path among others leads nowhere, no file has the session or entry
asked for, the output cannot be written, a span was refused or lost on the way to a backend, or it was interrupted. What
could be read is drawn, written or sent all the same.`

const replayExamples = `  # the newest session on this machine
  sessionspan replay

  # the newest session of one agent
  sessionspan replay --agent claude-code

  # one session, in the terminal
  sessionspan replay session.jsonl

  # one that list has shown, by the beginning of its id
  sessionspan replay --session 019cdc2c

  # a folder of sessions as OTLP/JSON, one object a line
  sessionspan replay --to otlp-json --output traces.jsonl ~/.agent/sessions

  # the same to Jaeger on this machine
  sessionspan replay --endpoint http://127.0.0.1:4317 ~/.agent/sessions

  # only the branch that was continued, of what happened in one hour
  sessionspan replay --branches current --since 2026-09-20T12:00:00Z --until 2026-09-20T13:00:00Z session.jsonl`

func newReplay(s streams) *cobra.Command {
	r := &replay{streams: s}
	cmd := &cobra.Command{
		Use:     "replay [PATH…]",
		Short:   "Draw stored sessions as traces, or write or send them as OTLP",
		Long:    replayHelp + exitHelp(replayExit),
		Example: replayExamples,
		RunE: func(cmd *cobra.Command, args []string) error {
			r.paths = args
			return r.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	choice(cmd, &r.to, "to", "where the traces go", "text", "otlp-json", toOTLP)
	r.backend.flags(cmd, &r.to)
	f.StringVarP(&r.output, "output", "o", "", "write the traces to `FILE` instead of standard output")
	f.StringVar(&r.session, "session", "", "only the session with this `ID`, of which the beginning is enough, and those spawned below it")
	f.StringVar(&r.leaf, "leaf", "", "only what lies on the path to the entry with this `ID`, of which the beginning is enough")
	choice(cmd, &r.branches, "branches", "which branches", "all", "current")
	r.period.flags(cmd, "only what ended at `TIME` or later", "only what started before `TIME`")
	choice(cmd, &r.group, "group", "what makes one trace", string(projection.GroupSession), string(projection.GroupRun))
	choice(cmd, &r.naming, "naming", "how run spans are called",
		string(projection.NamingGenAI), string(projection.NamingAgentsession))
	choice(cmd, &r.semconv, "semconv", "which GenAI conventions name the attributes",
		string(projection.Semconv141), string(projection.SemconvLatest))
	f.StringVar(&r.serviceName, "service-name", "", "service.name of the traces (default: the harness's name)")
	f.StringVar(&r.salt, "id-salt", "", "make another set of ids, with this `TEXT`")
	f.BoolVar(&r.finish, "finish", false, "nothing more will come: end what is still open")
	f.BoolVar(&r.shift, "shift-to-now", false, "move each session, with those below it, so that it ends now, under other ids")
	agentFlag(cmd, &r.agent)
	r.reading.flags(cmd)
	f.BoolVar(&r.json, "json", false, "write the summary as JSON, with all problems in it, to standard error")
	widthFlag(cmd, &r.width)
	number(cmd, &r.maxRows, "max-rows", "", defaultRows, 0,
		"draw at most this many `ROWS` of a trace, and fold the rest into them (0: all)", "a number of rows, or 0 for all")
	check(cmd, func() error {
		if r.leaf != "" && r.branches == "current" {
			return usage("--leaf and --branches current both choose a path: give one of them")
		}
		return nil
	})
	return cmd
}

func (r *replay) run(ctx context.Context) error {
	r.now = time.Now()
	sum := newSummary(r.now, r.err)
	if r.json {
		sum.log = nil
	}
	err := r.work(ctx, sum)
	if err == nil && (sum.any() || sum.Delivery.failed()) {
		err = &exitError{code: exitFinding}
	}
	if !r.json {
		if sum.begun {
			sum.write(r.err)
		}
		return err
	}
	return sum.writeJSON(r.err, err)
}

// work does what the command line says, as far as it can, and notes in the summary what came of it.
func (r *replay) work(ctx context.Context, sum *summary) error {
	resource, err := newResource(r.serviceName, os.Environ())
	if err != nil {
		return err
	}
	if r.to == toOTLP {
		if err := r.connect(); err != nil {
			return err
		}
	}
	files, err := r.files(ctx, sum)
	if err != nil {
		return err
	}
	if err := r.spare(files); err != nil {
		return err
	}
	ix, err := r.index(ctx, files, sum)
	if err != nil {
		return err
	}
	groups, err := r.chosen(ix)
	if err != nil {
		return err
	}
	sum.copies(ix.Copies(), groups)
	return r.write(ctx, ix, groups, resource, sum)
}

// index reads the headers of files.
func (r *replay) index(ctx context.Context, files []string, sum *summary) (*archive.Index, error) {
	ix := archive.NewIndex(ctx, files, r.in, r.reading.options())
	for _, err := range ix.Bad {
		if len(r.paths) > 0 || r.session == "" { // else it was only looked whether the session is in that file
			sum.unreadable(err)
		}
	}
	if n := len(ix.Unreached); n > 0 {
		return nil, sum.interrupt("reading the header of", ix.Unreached[0], n-1+len(ix.Files))
	}
	return ix, nil
}

// write reads the files and writes their traces.
func (r *replay) write(ctx context.Context, ix *archive.Index, groups [][]*archive.File, resource []attribute.KeyValue, sum *summary,
) error {
	out, closeOut, err := r.open()
	if err != nil {
		return &exitError{exitFinding, err}
	}
	bar := newProgress(r.err, "reading", pathsOf(slices.Concat(groups...)))
	defer bar.end()
	if sum.log != nil {
		sum.log = bar.beside(r.err)
	}
	opts := r.options()
	opts.Problem, opts.Read = sum.found, bar.add
	ctx, dest := r.destination(ctx, out, bar, resource, sum)
	sum.begun = true
	err = halted(ix.Replay(ctx, groups, opts, dest, sum.add), sum)
	if r.leaf != "" && err == nil && (sum.leaves == 0 || sum.leafErr != nil) {
		err = sum.leafErr
		if err == nil {
			err = fmt.Errorf("no entry of what was read has an id that is or begins with %q", r.leaf)
		}
		err = &exitError{exitFinding, fmt.Errorf("--leaf: %w", err)}
	}
	for _, end := range []func() error{dest.close, closeOut} {
		if cerr := end(); cerr != nil && err == nil {
			err = &exitError{exitFinding, cerr}
		}
	}
	return err
}

// options turns the flags into those of a replay.
func (r *replay) options() archive.Options {
	return archive.Options{
		Source: r.reading.options(),
		Projection: projection.Options{
			Group: projection.Group(r.group), Naming: projection.Naming(r.naming), Semconv: projection.Semconv(r.semconv),
			Salt: r.salt,
		},
		Select: archive.Selection{Leaf: r.leaf, Current: r.branches == "current", Since: r.from, Until: r.period.to},
		Finish: r.finish,
		Shift:  r.shift,
		Jobs:   r.atOnce(),
		Now:    r.now,
	}
}

// halted says why a replay ended early, if it did.
func halted(err error, sum *summary) error {
	h, early := errors.AsType[*archive.Halt](err)
	switch {
	case !early:
		return nil
	case delivery.IsEnd(h.Err):
		return ended(h.Err, h.Left)
	case h.While == "":
		return &exitError{exitFinding, h.Err}
	}
	return sum.interrupt(h.While, h.Path, h.Left)
}

// files finds the files to read.
func (r *replay) files(ctx context.Context, sum *summary) ([]string, error) {
	if len(r.paths) > 0 {
		found, err := archive.Find(ctx, r.paths)
		switch {
		case ctx.Err() != nil:
			return nil, sum.interrupt("looking for files", "", 0)
		case err != nil:
			return nil, &exitError{exitUsage, err}
		}
		for _, err := range found.Bad {
			sum.unreadable(err)
		}
		for _, n := range found.Notes {
			sum.say(note(n.Path, n.Text))
		}
		return found.Files, nil
	}
	if r.session != "" {
		known, err := archive.Known(ctx, r.agent)
		switch {
		case ctx.Err() != nil:
			return nil, sum.interrupt("looking for the session", "", 0)
		case err != nil:
			return nil, &exitError{exitUsage, err}
		}
		return known.Files, nil
	}
	newest, err := archive.Newest(ctx, r.agent)
	switch {
	case ctx.Err() != nil:
		return nil, sum.interrupt("looking for the newest session", "", 0)
	case err != nil:
		return nil, &exitError{exitUsage, err}
	}
	if !r.json {
		fmt.Fprintln(r.err, "newest session:", forPeople(newest))
	}
	return append([]string{newest}, new(source.Agents).Of(newest)...), nil
}

// chosen groups the files by trace and leaves out those that are not wanted.
func (r *replay) chosen(ix *archive.Index) ([][]*archive.File, error) {
	groups := ix.Traces()
	if r.session == "" {
		return groups, nil
	}
	files, err := ix.ByID(r.session)
	if err != nil {
		return nil, &exitError{exitFinding, fmt.Errorf("--session: %w", err)}
	}
	below := ix.Below(files[0].Session.ID)
	for i := range groups {
		groups[i] = slices.DeleteFunc(groups[i], func(f *archive.File) bool { return !below(f) })
	}
	return slices.DeleteFunc(groups, func(g []*archive.File) bool { return len(g) == 0 }), nil
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
