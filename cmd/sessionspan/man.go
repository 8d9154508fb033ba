package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

const manHelp = `Writes the manual as man pages, one for each command, into a folder, which is made if it is not there.

The date of the pages is SOURCE_DATE_EPOCH, in seconds since 1970, where that is set, so that a build gives the same
bytes again; else it is the month at hand.`

const manExamples = `  sessionspan man --dir ~/.local/share/man/man1
  man sessionspan-replay`

func newMan() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:     "man --dir DIR",
		Short:   "Write the man pages of all commands",
		Long:    manHelp,
		Example: manExamples,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return usage("man: --dir says into which folder the pages go")
			}
			return writeMan(cmd.Root(), dir, os.Getenv("SOURCE_DATE_EPOCH"))
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "the `DIR` that the pages go into")
	return cmd
}

// writeMan writes the pages of a command and of those below it. epoch is the date in seconds since 1970; "" is now.
func writeMan(root *cobra.Command, dir, epoch string) error {
	date := time.Now()
	if epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return usage("SOURCE_DATE_EPOCH %q: want a number of seconds since 1970", epoch)
		}
		date = time.Unix(seconds, 0)
	}
	date = date.UTC()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return &exitError{exitFinding, err}
	}
	root.DisableAutoGenTag = true
	forPages(root)
	header := &doc.GenManHeader{Section: "1", Source: "sessionspan", Manual: "sessionspan manual", Date: &date}
	opts := doc.GenManTreeOptions{Path: dir, Header: header, CommandSeparator: "-"}
	if err := doc.GenManTreeFromOpts(root, opts); err != nil {
		return &exitError{exitFinding, fmt.Errorf("writing the man pages: %w", err)}
	}
	return nil
}

// forPages makes the texts of a command, and of those below it, ones that make good pages. Lists that stand indented in a
// description get the four blanks that keep them as they are, and a flag shows what it takes in place of empty quotes.
func forPages(cmd *cobra.Command) {
	cmd.Long = listLine.ReplaceAllString(cmd.Long, "    $1")
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() != "string" {
			return
		}
		if f.DefValue == "" {
			f.DefValue, _ = pflag.UnquoteUsage(f)
		}
		f.Value = unquoted{f.Value}
	})
	for _, sub := range cmd.Commands() {
		forPages(sub)
	}
}

var listLine = regexp.MustCompile(`(?m)^  ( *\S)`)

// unquoted is a text whose value is not quoted in a page.
type unquoted struct{ pflag.Value }

func (unquoted) Type() string { return "word" }
