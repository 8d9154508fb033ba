package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/repair"
	"github.com/spf13/cobra"
)

const repairHelp = `Finds what crashes, power cuts and writers that got in each other's way leave in a session file: torn lines, entries
fused to one line, runs of zero bytes, garbage, a missing last line feed. Says what it would do; with --write it does it.

End the agent first: what it goes on writing to the old file is lost. A file is left as it is while FILE.lock is beside it, or
when it was written to within the last minute (--force repairs it), and, on Linux, while a process has it open for writing.

Broken bytes are put into FILE.broken-TIME beside the file, as JSON lines from which the file can be made again as it was. Then
the good part replaces the file in one step. A complete line is never moved or changed: what is wrong with what it says is
reported, and it stays. A last line that lacks nothing but its line feed is no damage: that is noted, and --write adds it. A
file that is no session, or whose first line is no usable header, is not written to.

The report shows places, sizes, types and ids of entries, and nothing of the content.`

const repairExit = `there are findings that were not written or that no repair can change, a file could not be repaired or a path among
others leads nowhere, or it was interrupted.`

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
		Args:    someArgs("file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.run(cmd.Context(), args)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&r.options.Write, "write", false, "repair the files; without it nothing is written")
	f.BoolVar(&r.options.Force, "force", false, "also write a file that is locked or was written just now: its agent has ended")
	maxLineFlag(cmd, &r.options.MaxLine, "leave alone")
	jsonFlag(cmd, &r.json, " for each file")
	return cmd
}

func (r *repairing) run(ctx context.Context, paths []string) error {
	if err := noFile(paths); err != nil {
		return &exitError{exitUsage, err}
	}
	out := bufio.NewWriter(r.out)
	var report repairReport = &repairText{out: out, err: r.err}
	if r.json {
		report = &repairJSON{out: escaped{out}}
	}
	finding, unreached := false, 0
	for i, path := range paths {
		report.file(path)
		r.options.Now = time.Now()
		done, err := repair.File(ctx, path, r.options, report.found)
		if err != nil && errors.Is(err, ctx.Err()) {
			err = errInterrupted
		}
		report.done(done, err)
		if err := out.Flush(); err != nil {
			return outputError(ctx, err)
		}
		if ctx.Err() != nil {
			unreached = len(paths) - i - 1
			break
		}
		if err != nil || done.Beyond > 0 || done.Damaged() && !done.Written {
			finding = true
		}
	}
	report.end()
	if err := out.Flush(); err != nil {
		return outputError(ctx, err)
	}
	switch {
	case ctx.Err() != nil:
		return interrupted(unreached)
	case finding:
		return &exitError{code: exitFinding}
	}
	return nil
}

// noFile is the error of a command line that names no file at all, or one that can be no file.
func noFile(paths []string) error {
	var all error
	bad := 0
	for _, path := range paths {
		if path == input.Stdin {
			return usage("-: standard input cannot be repaired: name a file")
		}
		info, err := os.Stat(path)
		if err == nil && info.IsDir() {
			err = input.ErrFolder
		}
		switch {
		case err == nil:
			continue
		case all == nil:
			all = input.NewFileError(path, err)
		default:
			all = fmt.Errorf("%w; %w", all, input.NewFileError(path, err))
		}
		bad++
	}
	if bad < len(paths) {
		return nil
	}
	return all
}
