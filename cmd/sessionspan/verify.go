package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/stored"
	"github.com/sessionspan/sessionspan/internal/verify"
	"github.com/sessionspan/sessionspan/internal/waterfall"
	"github.com/spf13/cobra"
)

const verifyHelp = `Checks whether session files are true records of what they say: it rebuilds the request behind every response and compares its
hash, compares the ends of runs with what the runs came to, and looks for damage, broken trees, records that the header promises
and that are missing, ids that are not the hash of their entry, and entries that name what is not there.

PATH is a file, a folder (with all below it), a pattern, or - for standard input. Files may be compressed with gzip or zstd.

Every finding has a line of its own, FILE:LINE: RULE: what is wrong (entry ID). Of a compressed file it is the line once
decompressed. The rules are

  damage, torn_tail           a line that is no entry, the last line of a file not whole
  parent, duplicate_id, base  the tree: a parent that is no earlier entry, an id used twice, a fork that does not repeat its origin
  request_hash, first_kept    the request behind a response, and what a compaction keeps of it
  run_reason, run_source      a run's end and start
  record, rejected            a promised record, a call that was handed to its tool though it had been rejected
  call_order                  what is recorded of a call, in what order
  content_id, canonical       ids that are hashes, and spellings
  reference, parents, item    what entries name, and what items hold

A note is what nobody is misled by, or what this version does not know and has not checked; it is no finding. Then there is a
line for each file that says what was checked, or that there was nothing to check.

--json writes one object a line for each file: path, session, format, entries, checked (hashes, runs, calls, ids, and how many
responses have no_hash), nothing_to_check, ok, findings (file, line, offset, rule, entry, what, note), error.

The exit code is 0 when nothing was found, 1 for a finding or a file that could not be read, 2 for wrong usage.`

const verifyExamples = `  # one session
  sessionspan verify session.jsonl

  # an archive, with what was found in it alone
  sessionspan verify --quiet ~/.agent/sessions

  # the responses whose request is not the one recorded
  sessionspan verify --json ~/.agent/sessions | jq -c '.findings[] | select(.rule=="request_hash")'`

// verifying holds what the command line of verify says.
type verifying struct {
	streams
	format      string
	maxLine     int
	json, quiet bool
}

func newVerify(s streams) *cobra.Command {
	v := &verifying{streams: s}
	cmd := &cobra.Command{
		Use:     "verify PATH…",
		Short:   "Check that session files are whole and say what is true",
		Long:    verifyHelp,
		Example: verifyExamples,
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), args) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&v.json, "json", false, "write one JSON object a line, for each file, with all findings")
	f.BoolVarP(&v.quiet, "quiet", "q", false, "say nothing of files that are all right, and no notes")
	choice(cmd, &v.format, "format", "how the files are written", source.Names()...)
	f.IntVar(&v.maxLine, "max-line", 256<<20, "skip lines of more than this many `BYTES`")
	return cmd
}

func (v *verifying) run(ctx context.Context, paths []string) error {
	if v.maxLine <= 0 {
		return usage("--max-line %d: want a number above 0", v.maxLine)
	}
	found, err := archive.Find(ctx, paths)
	switch {
	case ctx.Err() != nil:
		return &exitError{exitFinding, errors.New("interrupted while looking for files; none was read")}
	case err != nil:
		return &exitError{exitUsage, err}
	}
	for _, n := range found.Notes {
		v.tell("note: %s: %s", n.Path, n.Text)
	}
	for _, err := range found.Bad {
		v.tell("not read: %v", err)
	}
	out := bufio.NewWriter(v.out)
	var rep verifyReport = &verifyText{out: out, tell: v.tell, quiet: v.quiet}
	if v.json {
		rep = &verifyJSON{out: out, quiet: v.quiet}
	}
	unreached, err := v.all(ctx, found.Files, func(c *checked) error {
		rep.file(c)
		return out.Flush()
	})
	if err == nil {
		rep.end()
		err = out.Flush()
	}
	if err != nil {
		return outputError(ctx, err)
	}
	switch {
	case ctx.Err() != nil:
		return &exitError{exitFinding, fmt.Errorf("interrupted; %s not reached", count(unreached, "file"))}
	case len(found.Bad) > 0 || rep.found():
		return &exitError{code: exitFinding}
	}
	return nil
}

// tell says something beside the result.
func (v *verifying) tell(format string, args ...any) {
	fmt.Fprintln(v.err, waterfall.Sanitize(fmt.Sprintf(format, args...)))
}

// checked is a file that was verified, or the reason why it was not.
type checked struct {
	path   string
	file   *stored.File
	report *verify.Report
	err    error
}

// all verifies files side by side, as many at a time as there are processors, and hands them on in their order, as soon as
// all before them are done. It returns how many were not reached before the context was done.
func (v *verifying) all(ctx context.Context, paths []string, done func(*checked) error) (unreached int, err error) {
	bar := v.bar(paths)
	defer bar.end()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make([]chan *checked, len(paths))
	for i := range results {
		results[i] = make(chan *checked, 1)
	}
	var at int
	var lock sync.Mutex
	next := func() int {
		lock.Lock()
		defer lock.Unlock()
		at++
		return at - 1
	}
	for range min(runtime.GOMAXPROCS(0), len(paths)) {
		go func() {
			for i := next(); i < len(paths); i = next() {
				results[i] <- v.one(ctx, paths[i], bar.add)
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

// bar shows how far it has come, where what is written does not.
func (v *verifying) bar(paths []string) *progress {
	if isTerminal(v.out) && len(paths) > 1 {
		return &progress{}
	}
	var bytes int64
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
	}
	return newProgress(v.err, "verifying", bytes)
}

func (v *verifying) one(ctx context.Context, path string, read func(int64)) *checked {
	c := &checked{path: path}
	if c.err = ctx.Err(); c.err != nil {
		return c
	}
	o := stored.Options{Source: source.Options{Format: v.format, MaxLine: v.maxLine}, Read: read}
	if c.file, c.err = stored.Load(ctx, path, v.in, o); c.err == nil {
		c.report, c.err = verify.File(ctx, c.file)
	}
	if c.err == nil {
		c.err = c.file.Err
		c.file.Session, c.file.Text = nil, nil // a report that waits for others holds no session
	}
	return c
}
