package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sessionspan/sessionspan/internal/scope"

	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/terminal"
	"github.com/spf13/cobra"
)

// Exit codes. They are part of the command's contract.
const (
	exitOK      = 0
	exitFinding = 1 // a finding or a loss
	exitUsage   = 2 // wrong usage, or no path leads to a file
)

// exitHelp says in the help of a command what its exit codes are: one is what 1 stands for there.
func exitHelp(one string) string {
	return "\n\nThe exit code is 0 when all went well, 2 for wrong usage and when no path leads to a file (nothing is there, its links\n" +
		"run in a circle, a folder on the way is closed, it is a folder without session files, or one where only a file will do),\n" +
		"else 1: " + one
}

// streams are where a command reads and writes.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// exitError ends a command with an exit code. Its error is nil when everything has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// run runs the command line and returns the exit code.
func run(ctx context.Context, args []string, s streams) int {
	if terminal.Is(s.err) {
		ctx = input.WithWait(ctx, func(path string) { fmt.Fprintln(s.err, "waiting for", forPeople(inputName(path))) })
	}
	root := newRoot(s)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	code := exitUsage // what cobra itself finds is wrong usage
	if e, ok := errors.AsType[*exitError](err); ok {
		code, err = e.code, e.err
	}
	if err != nil {
		fmt.Fprintln(s.err, "sessionspan:", forPeople(err.Error()))
		if code == exitUsage {
			if cmd.Name() == "help" {
				cmd = root
			}
			fmt.Fprintf(s.err, "See: %s --help\n", cmd.CommandPath())
		}
	}
	return code
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "sessionspan",
		Short: "Turn the sessions of AI coding agents into OpenTelemetry traces",
		Long: `sessionspan reads the session files that AI coding agents write and makes OpenTelemetry traces of them.

Results go to standard output, everything else to standard error. Nothing is sent anywhere but by
replay and watch with --to otlp or --endpoint.

The exit code is 0 when all went well, 1 for a finding or a loss, 2 for wrong usage and when no path leads to a file. What
--json writes is described in docs/json.md of the project.`,
		Version:       scope.Version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.AddCommand(newReplay(s), newWatch(s), newList(s), newShow(s), newVerify(s), newRepair(s), newMan())
	completePaths(root)
	strict(root)
	return root
}
