package main

import (
	"slices"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/spf13/cobra"
)

// Flags that mean the same in several commands are made here, and checked before a command begins.

// check adds a check of what the command line says.
func check(cmd *cobra.Command, wrong func() error) {
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if before != nil {
			if err := before(cmd, args); err != nil {
				return err
			}
		}
		return wrong()
	}
}

// choice adds a flag that takes one of a few words, the first of which is the default.
func choice(cmd *cobra.Command, dst *string, name, what string, words ...string) {
	cmd.Flags().StringVar(dst, name, words[0], what+": "+strings.Join(words, ", "))
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)))
	check(cmd, func() error {
		if !slices.Contains(words, *dst) {
			return usage("--%s %q: want one of %s", name, *dst, strings.Join(words, ", "))
		}
		return nil
	})
}

// number adds a flag that takes a whole number, of least or more, which is what want says.
func number(cmd *cobra.Command, dst *int, name, short string, value, least int, what, want string) {
	cmd.Flags().IntVarP(dst, name, short, value, what)
	check(cmd, func() error {
		if *dst < least {
			return usage("--%s %d: want %s", name, *dst, want)
		}
		return nil
	})
}

func maxLineFlag(cmd *cobra.Command, dst *int, what string) {
	number(cmd, dst, "max-line", "", format.DefaultMaxLine, 1, what+" lines of more than this many `BYTES`", "a number above 0")
}

func widthFlag(cmd *cobra.Command, dst *int) {
	number(cmd, dst, "width", "", 0, 0, "draw this many `COLUMNS` wide (default: the terminal's width)",
		"a number of columns, or 0 for the terminal's")
}

// agentFlag adds --agent of a command that looks into the known agents' folders where it is given no path.
func agentFlag(cmd *cobra.Command, dst *string) {
	choice(cmd, dst, "agent", "with no path, look into the folders of this agent", archive.Agents()...)
	check(cmd, func() error {
		if *dst != archive.AnyAgent && len(cmd.Flags().Args()) > 0 {
			return usage("--agent %s says where to look, and so does %s: give one of them", *dst, cmd.Flags().Arg(0))
		}
		return nil
	})
}

// jsonFlag adds --json of a command whose results are one JSON object a line.
func jsonFlag(cmd *cobra.Command, dst *bool, of string) {
	cmd.Flags().BoolVar(dst, "json", false, "write JSON, one object a line"+of)
}

// reading is how session files are read.
type reading struct {
	format  string
	maxLine int
}

func (r *reading) flags(cmd *cobra.Command) {
	choice(cmd, &r.format, "format", "how the files are written", source.Names()...)
	maxLineFlag(cmd, &r.maxLine, "skip")
}

func (r *reading) options() source.Options {
	return source.Options{Format: r.format, MaxLine: r.maxLine}
}

// period is a stretch of time. Zero is no bound.
type period struct {
	since, until string
	from, to     time.Time
}

func (p *period) flags(cmd *cobra.Command, since, until string) {
	cmd.Flags().StringVar(&p.since, "since", "", since+": "+momentWords)
	cmd.Flags().StringVar(&p.until, "until", "", until+", likewise")
	check(cmd, func() (err error) {
		now := time.Now()
		if p.from, err = parseTime("since", p.since, now); err == nil {
			p.to, err = parseTime("until", p.until, now)
		}
		if err == nil && !p.to.IsZero() && p.from.After(p.to) {
			err = usage("--since %s is after --until %s: nothing lies in between", p.since, p.until)
		}
		return err
	})
}

func parseTime(name, value string, now time.Time) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	t, ok := parseMoment(value, now)
	if !ok {
		return t, usage("--%s %q: want a time like %s", name, value, momentWords)
	}
	return t, nil
}
