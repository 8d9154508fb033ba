package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/checkpoint"
	"github.com/sessionspan/sessionspan/internal/follow"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/terminal"
	"github.com/sessionspan/sessionspan/internal/tracker"
	"github.com/spf13/cobra"
)

// watch holds what the command line of watch says.
type watch struct {
	streams
	paths []string
	agent string
	// agents are patterns for the files of agents, beside sessions that are named.
	agents map[string]bool

	reading
	backend
	to            string
	exclude       []string
	since         string
	from          time.Time
	fromStart     bool
	once          bool
	group, naming string
	semconv       string
	serviceName   string
	state         string
	interval      time.Duration
	width         int

	done tracker.Stats // what came of it
}

const watchHelp = `Follows session files as agents write them, and shows what happens in the terminal, or sends it to a backend that takes OTLP.

PATH is a file, a folder (with all below it) or a pattern; what is not there yet may come. With no path, the known agents' folders
are followed. Files may be moved, compressed, copied and rewritten meanwhile: what comes again has the same ids.

Only what ends from now on is shown or sent, with the start that it had; --from-start and --since ask for more. How far each file was
accepted by the backend is kept in a file, so that the next watch of the same backend goes on from there: $XDG_STATE_HOME/sessionspan,
else ~/.local/state/sessionspan. What the backend does not take for now is tried again, for as long as it takes.

Nothing is sent without --to otlp or --endpoint.`

const watchExit = `something was refused for good, could not be sent when it was interrupted, or the files cannot be followed. An interrupt is
how it ends, and no failure.`

const watchExamples = `  # what the agents on this machine do, live
  sessionspan watch

  # only what one of them does
  sessionspan watch --agent claude-code

  # all of it into Jaeger on this machine, with what there is already
  sessionspan watch --from-start --endpoint http://127.0.0.1:4317

  # send what is new, and end: for a timer
  sessionspan watch --once --from-start --endpoint http://127.0.0.1:4317 ~/.agent/sessions`

func newWatch(s streams) *cobra.Command {
	w := &watch{streams: s}
	cmd := &cobra.Command{
		Use:     "watch [PATH…]",
		Short:   "Follow sessions as they are written, in the terminal or to a backend",
		Long:    watchHelp + exitHelp(watchExit),
		Example: watchExamples,
		RunE: func(cmd *cobra.Command, args []string) error {
			w.paths = args
			return w.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	choice(cmd, &w.to, "to", "where it goes", "text", toOTLP)
	w.backend.addressFlags(cmd, &w.to)
	f.StringArrayVar(&w.exclude, "exclude", nil, "leave out what matches this `PATTERN`, folders with all below; may be given several times")
	f.BoolVar(&w.fromStart, "from-start", false, "begin with what there is already, also what an earlier watch left out")
	f.StringVar(&w.since, "since", "", "begin with what ended at `TIME` or later: "+momentWords)
	f.BoolVar(&w.once, "once", false, "look once, and end when all that is new has been shown or sent")
	choice(cmd, &w.group, "group", "what makes one trace", string(projection.GroupSession), string(projection.GroupRun))
	choice(cmd, &w.naming, "naming", "how run spans are called", string(projection.NamingGenAI), string(projection.NamingAgentsession))
	choice(cmd, &w.semconv, "semconv", "which GenAI conventions name the attributes",
		string(projection.Semconv141), string(projection.SemconvLatest))
	f.StringVar(&w.serviceName, "service-name", "", "service.name of the traces (default: the harness's name)")
	f.StringVar(&w.state, "state", "", "keep how far each file was accepted in this `FILE`")
	f.DurationVar(&w.interval, "interval", 500*time.Millisecond, "look at the files this often, where the system does not tell of changes")
	agentFlag(cmd, &w.agent)
	w.reading.flags(cmd)
	widthFlag(cmd, &w.width)
	check(cmd, func() (err error) {
		switch {
		case w.interval < 10*time.Millisecond:
			return usage("--interval %v: want 10ms or more", w.interval)
		case w.fromStart && w.since != "":
			return usage("--from-start and --since both say where to begin: give one of them")
		case w.state != "" && w.to != toOTLP:
			return usage("--state is for --to otlp: what is shown is not accepted by anybody")
		}
		w.from, err = parseTime("since", w.since, time.Now())
		return err
	})
	return cmd
}

func (w *watch) run(ctx context.Context) (err error) {
	patterns, err := w.patterns()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	o := tracker.Options{
		Source: w.reading.options(),
		Follow: follow.Options{Patterns: patterns, Interval: w.interval},
		Projection: projection.Options{
			Group: projection.Group(w.group), Naming: projection.Naming(w.naming), Semconv: projection.Semconv(w.semconv),
		},
		FromNow: !w.fromStart && w.from.IsZero(), Since: w.from, BatchWait: w.interval,
	}
	if n, err := follow.NewNotifier(); err == nil { // without it there is a look at everything all the same
		o.Follow.Notifier = n
	}
	if w.to != toOTLP {
		return w.show(ctx, o)
	}
	return w.send(ctx, o)
}

// patterns are those of the command line, else the known agents' folders.
func (w *watch) patterns() (*follow.Patterns, error) {
	paths := w.paths
	if len(paths) == 0 {
		folders, err := archive.Folders(w.agent)
		if err != nil {
			return nil, err
		}
		paths = folders
	}
	w.agents = map[string]bool{}
	for _, path := range paths {
		info, err := os.Stat(path)
		if pattern := source.AgentsPattern(path); err == nil && info.Mode().IsRegular() && pattern != "" {
			w.agents[pattern] = true // a session comes with the agents that it will spawn
		}
	}
	return follow.NewPatterns(slices.AppendSeq(slices.Clone(paths), maps.Keys(w.agents)), w.exclude)
}

// follow tracks the files until it is interrupted, or once.
func (w *watch) follow(ctx context.Context, o tracker.Options, to tracker.Consumer) (err error) {
	t, err := tracker.New(o, to)
	if err != nil {
		return &exitError{exitFinding, err}
	}
	defer func() { w.done, err = t.Stats(), errors.Join(err, t.Close()) }()
	if !w.once {
		if err := errors.Join(t.Run(ctx), t.Flush(context.WithoutCancel(ctx))); err != nil {
			return &exitError{exitFinding, err}
		}
		return unsent(t)
	}
	var failing time.Time // since when what was read is not accepted
	for first := true; ctx.Err() == nil && (first || !t.Idle()); first = false {
		if !first {
			select {
			case <-ctx.Done():
			case <-time.After(w.interval):
			}
		}
		if err = t.Step(ctx); err != nil {
			break
		}
		switch {
		case t.Stats().Retrying == 0:
			failing = time.Time{}
		case failing.IsZero():
			failing = time.Now()
		}
		if !failing.IsZero() && time.Since(failing) >= onceTime {
			break
		}
	}
	if err = errors.Join(err, t.Flush(context.WithoutCancel(ctx))); err != nil {
		return &exitError{exitFinding, err}
	}
	return unsent(t)
}

// onceTime is how long a backend that takes nothing is waited for, with --once.
const onceTime = 15 * time.Second

// unsent says what is left that was not accepted.
func unsent(t *tracker.Tracker) error {
	if n := t.Waiting(); n > 0 {
		return &exitError{exitFinding, fmt.Errorf("%s not accepted; the next watch sends them", terminal.Plural(n, "span"))}
	}
	return nil
}

// problems tells of what is wrong with files. In the known agents' folders there are files of formats that are not read.
func (w *watch) problems(say func(string)) func(string, error, bool) {
	return func(path string, err error, isNote bool) {
		_, unknown := errors.AsType[*source.UnknownFormatError](err)
		none := errors.Is(err, tracker.ErrNoFile)
		if (unknown || none) && len(w.paths) == 0 || none && w.agents[path] {
			return
		}
		p := problemOfLine(path, err, isNote)
		if path == "" {
			p = note("", err.Error())
		}
		say(p.String())
	}
}

// send follows the files into a backend.
func (w *watch) send(ctx context.Context, o tracker.Options) (err error) {
	resource, err := newResource(w.serviceName, os.Environ())
	if err != nil {
		return err
	}
	if err := w.connect(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.client.Close()) }()
	path, err := w.statePath()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	kept, err := checkpoint.Open(path)
	if errors.Is(err, checkpoint.ErrInUse) {
		return &exitError{exitFinding, fmt.Errorf("a watch of this backend is at work: %w; end that one, or name another file with --state", err)}
	}
	if err != nil {
		return &exitError{exitFinding, err}
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	o.Checkpoints = kept
	to := newAccepting(w, resource)
	o.Problem = w.problems(func(text string) { fmt.Fprintln(w.err, text) })
	fmt.Fprintf(w.err, "watching, to %s; progress in %s\n", forPeople(w.client.String()), forPeople(path))
	err = w.follow(ctx, o, to)
	fmt.Fprintln(w.err, to.summary(w.done.Refused))
	if err == nil && w.done.Refused > 0 {
		err = &exitError{code: exitFinding}
	}
	return err
}

// statePath is the file in which is kept how far the files were accepted: one for each backend.
func (w *watch) statePath() (string, error) {
	if w.state != "" {
		return w.state, nil
	}
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // as the specification has it
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%w; --state names a file for it", err)
		}
		dir = filepath.Join(home, ".local", "state")
	}
	h := fnv.New64a()
	fmt.Fprint(h, w.client.String())
	return filepath.Join(dir, "sessionspan", fmt.Sprintf("watch-%016x.db", h.Sum64())), nil
}
