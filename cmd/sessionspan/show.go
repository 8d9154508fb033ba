package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/charmbracelet/colorprofile"
	"github.com/sessionspan/sessionspan/internal/outline"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/stored"
	"github.com/sessionspan/sessionspan/internal/waterfall"
	"github.com/spf13/cobra"
)

const showHelp = `Shows what a session file says: its entries in the order of the file, with the tree that they form, and then the context at the
leaf, which is what the next model call would receive. The leaf is the entry at which work would go on.

FILE may be compressed with gzip or zstd; - is standard input.

Every entry has one row: its place in the tree, its id, the time since the session was created, its kind (the role of a message,
call, output, or the type of the entry), and what it says. The last child of an entry goes on in the column of its parent, and
those before it branch off to the right. What is on the path to the leaf, folded away by a compaction, or on another branch
has a symbol of its own, which the last line explains. Ids that are hashes are cut, as far as they stay different.

The content of the session is shown: prompts, answers, arguments, outputs. Lines are cut to the width of the terminal; --json
and --raw have all of it.

--json writes one object a line, each with a member "object":

  session   what the file says of itself, how many entries and branches it has, and its leaf
  entry     id, parent, type, kind, time, line, offset, leaf, on_path, in_context, labels, hidden, omitted (why requests
            leave it out), damage, text (the first characters of what it says), entry (the line itself)
  damage    a line that is no entry: line, offset, what
  context   at (an entry), settings (as in the checkpoint of a compaction), items (each with the id of the entry that gave it),
            entries (ids), omitted (entry and reason), error; settings and what follows are null where the format does not tell

The exit code is 0 when everything was read, 1 when the file was damaged or could not be read, 2 for wrong usage.`

const showExamples = `  # a session
  sessionspan show session.jsonl

  # what the model knew at an entry; the beginning of its id is enough
  sessionspan show --context --leaf 3f9a session.jsonl

  # all that the user wrote on the current path
  sessionspan show --json session.jsonl | jq -r 'select(.kind=="user" and .on_path).text'

  # the lines on the path to an entry, as they stand in the file
  sessionspan show --raw --leaf 3f9a session.jsonl`

// show holds what the command line of show says.
type show struct {
	streams
	leaf, format  string
	maxLine       int
	tree, context bool
	json, raw     bool
	width         int
}

func newShow(s streams) *cobra.Command {
	o := &show{streams: s}
	cmd := &cobra.Command{
		Use:     "show FILE",
		Short:   "Show the entries of a session, its tree, and the context at an entry",
		Long:    showHelp,
		Example: showExamples,
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.leaf, "leaf", "", "the path and the context of the entry with this `ID`, of which the beginning is enough")
	f.BoolVar(&o.tree, "tree", false, "only the entries and their tree")
	f.BoolVar(&o.context, "context", false, "only the context; with --raw the lines that it is made from")
	f.BoolVar(&o.json, "json", false, "write one JSON object a line")
	f.BoolVar(&o.raw, "raw", false, "write the lines of the entries as they stand in the file, with --leaf those on its path")
	choice(cmd, &o.format, "format", "how the file is written", source.Names()...)
	f.IntVar(&o.maxLine, "max-line", 256<<20, "skip lines of more than this many `BYTES`")
	f.IntVar(&o.width, "width", 0, "draw this many `COLUMNS` wide (default: the terminal's width)")
	return cmd
}

func (o *show) check() error {
	switch {
	case o.tree && o.context:
		return usage("--tree and --context each show one part alone: give one of them, or none for both")
	case o.json && o.raw:
		return usage("--json and --raw are two ways of writing: give one of them")
	case o.maxLine <= 0:
		return usage("--max-line %d: want a number above 0", o.maxLine)
	case o.width < 0:
		return usage("--width %d: want a number of columns, or 0 for the terminal's", o.width)
	}
	return nil
}

func (o *show) run(ctx context.Context, path string) error {
	if err := o.check(); err != nil {
		return err
	}
	out, err := outline.Load(ctx, path, o.in, stored.Options{Source: source.Options{Format: o.format, MaxLine: o.maxLine}})
	switch {
	case ctx.Err() != nil:
		return &exitError{exitFinding, errors.New("interrupted")}
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, stored.ErrFolder):
		return &exitError{exitUsage, fmt.Errorf("%s: %w", path, err)}
	case err != nil:
		return &exitError{exitFinding, fmt.Errorf("%s: %w", path, err)}
	}
	if o.leaf != "" {
		if err := out.Look(o.leaf); err != nil {
			return &exitError{exitFinding, fmt.Errorf("--leaf: %w", err)}
		}
	}
	if err := o.write(ctx, path, out); err != nil {
		return outputError(ctx, err)
	}
	if out.Err != nil {
		return &exitError{exitFinding, fmt.Errorf("%s: not read to its end: %w", path, out.Err)}
	}
	if len(out.Damage) > 0 {
		if o.raw || o.json || o.context {
			fmt.Fprintln(o.err, waterfall.Sanitize(fmt.Sprintf("%s: %s; sessionspan verify says where", path,
				count(len(out.Damage), "finding"))))
		}
		return &exitError{code: exitFinding}
	}
	return nil
}

// outputError is what is left to say when writing has failed: nothing, when the reader has seen enough.
func outputError(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, syscall.EPIPE):
		return nil
	case ctx.Err() != nil:
		return &exitError{exitFinding, errors.New("interrupted; what is above is complete as far as it goes")}
	}
	return &exitError{exitFinding, err}
}

func (o *show) write(ctx context.Context, path string, out *outline.Outline) error {
	switch {
	case o.json:
		return o.writeJSON(ctx, path, out)
	case o.raw:
		return o.writeRaw(ctx, out)
	}
	look := waterfall.OptionsFor(o.out, os.Environ())
	opts := outline.Options{Width: look.Width, Color: look.Color, ASCII: look.ASCII}
	if o.width > 0 {
		opts.Width = o.width
	}
	switch {
	case o.tree:
		opts.Parts = outline.Tree
	case o.context:
		opts.Parts = outline.Context
	}
	return out.Draw(ctx, colorprofile.NewWriter(o.out, os.Environ()), opts)
}

// writeRaw writes lines as they stand in the file. On a terminal, what it would act on becomes visible.
func (o *show) writeRaw(ctx context.Context, out *outline.Outline) error {
	w := bufio.NewWriterSize(o.out, 64<<10)
	terminal := isTerminal(o.out)
	for i := range out.Entries {
		e := &out.Entries[i]
		if i%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if o.leaf != "" && e.Place == outline.Aside || o.context && !inContext(e) {
			continue
		}
		if terminal {
			_, _ = io.WriteString(w, waterfall.Sanitize(strings.TrimRight(string(e.Raw), "\r\n"))+"\n")
		} else {
			_, _ = w.Write(e.Raw)
		}
	}
	return w.Flush()
}

// inContext reports whether an entry is among those that the context is made from.
func inContext(e *outline.Entry) bool { return e.Place == outline.OnPath || e.Place == outline.Here }
