package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/stored"
	"github.com/sessionspan/sessionspan/internal/terminal"
	"github.com/sessionspan/sessionspan/internal/verify"
	"github.com/spf13/cobra"
)

const verifyHelp = `Checks whether session files are true records of what they say: it rebuilds the request behind every response and compares its
hash, compares the ends of runs with what the runs came to, and looks for damage, broken trees, records that the header promises
and that are missing, ids that are not the hash of their entry, and entries that name what is not there.

PATH is a file, a folder (with all below it), a pattern, or - for standard input; or the id of a session in the folders of known
agents, of which the beginning is enough. Files may be compressed with gzip or zstd. With --agent and no path, all sessions in the
folders of that agent are verified.

Every finding has a line of its own, FILE:LINE: RULE: what is wrong (entry ID). Of a compressed file it is the line once
decompressed. The rules are

  damage, torn_tail           a line that is no entry, a last line that breaks off
  parent, duplicate_id, base  a parent that is no earlier entry, an id used twice, a fork that does not repeat its origin
  request_hash, first_kept    the request behind a response, and what a compaction keeps of it
  run_reason, run_source      a run's end and start
  record, rejected            a promised record, a call that was handed to its tool though it had been rejected
  call_order                  what is recorded of a call, in what order
  content_id, canonical       ids that are hashes, and spellings
  reference, parents          what entries name
  member, item                what entries must have, and what items hold

A note is what nobody is misled by, such as a last line that is whole but for its line feed, or what this version does not know
and has not checked; it is no finding. Of one file the first 10,000 findings and notes are kept, and the others counted. Then
there is a line for each file that says what was checked, or that there was nothing to check.`

const verifyExit = `there is a finding, a file could not be read, a path among others leads nowhere, or it was interrupted.`

const verifyExamples = `  # one session
  sessionspan verify session.jsonl

  # an archive, with what was found in it alone
  sessionspan verify --quiet ~/.agent/sessions

  # the sessions of one agent
  sessionspan verify --agent pi

  # the responses whose request is not the one recorded
  sessionspan verify --json ~/.agent/sessions | jq -c '.findings[] | select(.rule=="request_hash")'`

// verifying holds what the command line of verify says.
type verifying struct {
	streams
	reading
	agent       string
	json, quiet bool
}

func newVerify(s streams) *cobra.Command {
	v := &verifying{streams: s}
	cmd := &cobra.Command{
		Use:     "verify [PATH…]",
		Short:   "Check that session files are whole and say what is true",
		Long:    verifyHelp + exitHelp(verifyExit),
		Example: verifyExamples,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("agent") {
				return nil // it says where to look
			}
			return someArgs("path")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVarP(&v.quiet, "quiet", "q", false, "say nothing of files that are all right, and no notes")
	agentFlag(cmd, &v.agent)
	v.reading.flags(cmd)
	jsonFlag(cmd, &v.json, " for each file, with its findings")
	return cmd
}

// find finds the files: those of the command line, else those of an agent.
func (v *verifying) find(ctx context.Context, args []string) (archive.Found, error) {
	if len(args) == 0 {
		found, err := archive.Known(ctx, v.agent)
		return found, v.unfound(ctx, err)
	}
	paths, err := pathsOfArgs(ctx, args, v.reading.options())
	if err != nil {
		return archive.Found{}, err
	}
	found, err := archive.Find(ctx, paths)
	if err != nil && ctx.Err() == nil && len(args) == 1 {
		return found, nowhere(args[0], err)
	}
	return found, v.unfound(ctx, err)
}

// unfound is the error of a search for files.
func (v *verifying) unfound(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return &exitError{exitFinding, errors.New("interrupted while looking for files; none was read")}
	case err != nil:
		return &exitError{exitUsage, err}
	}
	return nil
}

func (v *verifying) run(ctx context.Context, args []string) error {
	found, err := v.find(ctx, args)
	if err != nil {
		return err
	}
	bar := newProgress(v.err, "verifying", found.Files)
	defer bar.end()
	log := bar.beside(v.err)
	out := bufio.NewWriter(bar.beside(v.out))
	var rep verifyReport = newVerifyText(out, log, v.quiet)
	if v.json {
		rep = newVerifyJSON(out, v.quiet)
	}
	for _, n := range found.Notes {
		p := note(n.Path, n.Text)
		fmt.Fprintln(log, &p)
	}
	for _, err := range found.Bad {
		p := rep.lost(err)
		fmt.Fprintln(log, &p)
	}
	foreign := 0
	unreached, err := v.all(ctx, found.Files, bar.add, func(c *checked) error {
		if _, unknown := errors.AsType[*source.UnknownFormatError](c.err); unknown && len(args) == 0 {
			foreign++ // something else that the agent keeps there
			return nil
		}
		rep.file(c)
		return out.Flush()
	})
	if err == nil {
		rep.end()
		err = out.Flush()
	}
	if foreign > 0 {
		fmt.Fprintln(log, terminal.Plural(foreign, "file")+" of no known format passed over")
	}
	switch {
	case err != nil:
		return outputError(ctx, err)
	case ctx.Err() != nil:
		return interrupted(unreached)
	case rep.found():
		return &exitError{code: exitFinding}
	}
	return nil
}

// checked is a file that was verified, or the reason why it was not.
type checked struct {
	path   string
	file   *stored.File
	report *verify.Report
	err    error // an [input.FileError], or that of the context
}

// all verifies files side by side, as many at a time as there are processors, and hands them on in their order, as soon as
// all before them are done. It returns how many were not reached before the context was done.
func (v *verifying) all(ctx context.Context, paths []string, read func(int64), done func(*checked) error,
) (unreached int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make([]chan *checked, len(paths))
	for i := range results {
		results[i] = make(chan *checked, 1)
	}
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(paths)) {
		go func() {
			for i := next.Add(1) - 1; i < int64(len(paths)); i = next.Add(1) - 1 {
				results[i] <- v.one(ctx, paths[i], read)
			}
		}()
	}
	for i := range paths {
		c := <-results[i]
		if c.err != nil && errors.Is(c.err, ctx.Err()) {
			return len(paths) - i, nil
		}
		if err := done(c); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

func (v *verifying) one(ctx context.Context, path string, read func(int64)) *checked {
	c := &checked{path: path}
	if c.err = ctx.Err(); c.err != nil {
		return c
	}
	o := stored.Options{Source: v.reading.options(), Read: read}
	if c.file, c.err = stored.Load(ctx, path, v.in, o); c.err != nil {
		if ctx.Err() == nil {
			c.err = input.NewFileError(path, c.err)
		}
		return c
	}
	if c.report, c.err = verify.File(ctx, c.file); c.err == nil && c.file.Err != nil {
		c.err = fileError(path, c.file.Err, c.report.Entries)
	}
	c.file.Session, c.file.Text = nil, nil // a report that waits for others holds no session
	return c
}
