package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/internal/terminal"
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
		Args:    noArgs,
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
	if err := writePages(root, dir, header); err != nil {
		return &exitError{exitFinding, fmt.Errorf("writing the man pages: %w", err)}
	}
	return nil
}

// writePages writes the page of a command and of those below it.
func writePages(cmd *cobra.Command, dir string, header *doc.GenManHeader) error {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			if err := writePages(sub, dir, header); err != nil {
				return err
			}
		}
	}
	of := *header // a page puts its title into it
	var page bytes.Buffer
	if err := doc.GenMan(cmd, &of, &page); err != nil {
		return err
	}
	// A switch is typed without a value.
	text := bytes.ReplaceAll(page.Bytes(), []byte("[=false]"), nil)
	return os.WriteFile(filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"), text, 0o644)
}

// forPages makes the texts of a command, and of those below it, ones that make good pages. Lists that stand indented in a
// description get the four blanks that keep them as they are, and a flag shows what it takes in place of empty quotes.
func forPages(cmd *cobra.Command) {
	cmd.Long = listLine.ReplaceAllStringFunc(cmd.Long, func(line string) string {
		return "    " + strings.ReplaceAll(wrapped(line[2:], pageWidth), "\n", "\n    ")
	})
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

var listLine = regexp.MustCompile(`(?m)^   *\S.*$`)

// pageWidth is how wide a line may be that a page shows as it stands, so that with its margins it fits into 80 columns.
const pageWidth = 66

// wrapped breaks a line of a list between words. What goes on stands below the beginning of the last column.
func wrapped(line string, width int) string {
	hang := 0
	if gap := listGap.FindStringIndex(line); gap != nil {
		hang = gap[1]
	}
	var b strings.Builder
	b.WriteString(line[:hang])
	at := hang
	for i, word := range strings.Fields(line[hang:]) {
		switch n := terminal.Width(word); {
		case i == 0:
			at += n
		case at+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", hang))
			at = hang + n
		default:
			b.WriteByte(' ')
			at += 1 + n
		}
		b.WriteString(word)
	}
	return b.String()
}

// listGap is what stands before the last column of a list.
var listGap = regexp.MustCompile(`^( +|\S.*\S  +|\S  +)`)

// unquoted is a text whose value is not quoted in a page.
type unquoted struct{ pflag.Value }

func (unquoted) Type() string { return "word" }
