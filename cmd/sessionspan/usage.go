package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// strict makes wrong usage of what the library brings an error, as it is for the commands here, and says what is wrong with
// a flag in the words of who typed it.
func strict(root *cobra.Command) {
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				if at, rest, err := root.Find(args); err != nil || len(rest) > 0 {
					return usage("help: there is no command %q%s", strings.Join(args, " "), suggested(at, rest))
				}
				return nil
			}
		case "completion":
			cmd.Args = noCommand
			for _, sub := range cmd.Commands() {
				sub.Args = noArgs
			}
			cmd.SuggestionsMinimumDistance = root.SuggestionsMinimumDistance
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() } // without it, its Args are not asked
		}
	}
}

// noCommand is for a command that has others below it, and takes the name of none that it has.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("there is no command %q%s", cmd.CommandPath()+" "+args[0], suggested(cmd, args))
	}
	return nil
}

// suggested asks whether another command is meant than the first of what was typed.
func suggested(cmd *cobra.Command, typed []string) string {
	if cmd == nil || len(typed) == 0 {
		return ""
	}
	names := cmd.SuggestionsFor(typed[0])
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names, " or ") + "?"
}

// oneArg takes exactly one argument, which is what it is called.
func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usage("%s: no %s is given", cmd.Name(), what)
		case len(args) > 1:
			return usage("%s takes one %s, not %d: %s", cmd.Name(), what, len(args), strings.Join(args, ", "))
		}
		return nil
	}
}

// someArgs takes one argument or more.
func someArgs(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage("%s: no %s is given", cmd.Name(), what)
		}
		return nil
	}
}

// noArgs takes no argument.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s takes no argument, and got %q", cmd.Name(), strings.Join(args, " "))
	}
	return nil
}

// flagError says what a flag wants.
func flagError(err error) error {
	e, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	want := map[string]string{"int": "a whole number", "bool": "true or false"}[e.GetFlag().Value.Type()]
	if want == "" {
		return err
	}
	return fmt.Errorf("--%s %q: want %s", e.GetFlag().Name, e.GetValue(), want)
}
