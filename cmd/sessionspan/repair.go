package main

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/repair"
	"github.com/spf13/cobra"
)

const repairHelp = `Finds what crashes, power cuts and writers that got in each other's way leave in a session file: torn lines, entries
fused to one line, runs of zero bytes, garbage, a missing last line feed. Says what it would do; with --write it does it.

Broken bytes are put into FILE.broken-TIME beside the file, as JSON lines from which the file can be made again as it was. Then
the good part replaces the file in one step. A complete line is never moved or changed: what is wrong with what it says is
reported, and it stays. A file that is no session, or whose first line is no usable header, is not written to.

The report shows places, sizes, types and ids of entries, and nothing of the content.`

const repairExit = `there are findings that were not written or that no repair can change, a file could not be repaired, or it
was interrupted.`

const repairExamples = `  # what would be done
  sessionspan repair session.jsonl

  # do it
  sessionspan repair --write session.jsonl

  # the report for a program
  sessionspan repair --json session.jsonl | jq '.findings[]'`

// repairing holds what the command line of repair says.
type repairing struct {
	streams
	options repair.Options
	json    bool
}

func newRepair(s streams) *cobra.Command {
	r := &repairing{streams: s}
	cmd := &cobra.Command{
		Use:     "repair FILE…",
		Short:   "Take broken lines out of session files, and keep them beside",
		Long:    repairHelp + exitHelp(repairExit),
		Example: repairExamples,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&r.options.Write, "write", false, "repair the files; without it nothing is written")
	f.BoolVar(&r.options.Force, "force", false, "also write a file with a FILE.lock beside it: the agent that held it has ended")
	maxLineFlag(cmd, &r.options.MaxLine, "leave alone")
	jsonFlag(cmd, &r.json, " for each file")
	return cmd
}

func (r *repairing) run(ctx context.Context, paths []string) error {
	for _, path := range paths {
		if path == input.Stdin {
			return usage("-: standard input cannot be repaired: name a file")
		}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return &exitError{exitUsage, err}
		}
	}
	r.options.Now = time.Now()
	out := bufio.NewWriter(r.out)
	var report repairReport = &repairText{out: out, err: r.err, write: r.options.Write}
	if r.json {
		report = &repairJSON{out: escaped{out}}
	}
	finding := false
	for _, path := range paths {
		report.file(path)
		done, err := repair.File(ctx, path, r.options, report.found)
		report.done(done, err)
		if err := out.Flush(); err != nil {
			return outputError(ctx, err)
		}
		if ctx.Err() != nil {
			break
		}
		if err != nil || done.Beyond > 0 || done.Changes() && !done.Written {
			finding = true
		}
	}
	report.end()
	if err := out.Flush(); err != nil {
		return outputError(ctx, err)
	}
	switch {
	case ctx.Err() != nil:
		return &exitError{exitFinding, errors.New("interrupted; the file at hand is as it was")}
	case finding:
		return &exitError{code: exitFinding}
	}
	return nil
}
