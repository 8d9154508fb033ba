package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/outline"
	"github.com/sessionspan/sessionspan/internal/stored"
	"github.com/sessionspan/sessionspan/internal/terminal"
	"github.com/spf13/cobra"
)

const showHelp = `Shows what a session file says: its entries in the order of the file, with the tree that they form, and then the context at the
leaf, which is what the next model call would receive. The leaf is the entry at which work would go on.

FILE may be compressed with gzip or zstd; - is standard input. The id of a session in the known agents' folders, or the
beginning of it, as "sessionspan list" shows it, does as well.

Every entry has one row: its place in the tree, its id, the time since the session was created, its kind (the role of a message,
call, output, or the type of the entry), and what it says. The last child of an entry goes on in the column of its parent, and
those before it branch off to the right. What is on the path to the leaf, folded away by a compaction, or on another branch
has a symbol of its own, which the last line explains. Ids that are hashes are cut, as far as they stay different.

The content of the session is shown: prompts, answers, arguments, outputs. Lines are cut to the width of the terminal; --json
and --raw have all of it.

--raw writes the file as it stands, decompressed. With --leaf, it writes the header and the lines on the path to that entry,
which make a session file of their own, in which that entry is the last. A part with --context is cut off from what was
folded away, and so its first entry has a parent that is not there.

--json writes one object a line, each with a member "object": session (what the file says of itself), then entry (one of the
session, with the line itself) or damage (a line that is none) in the order of the file, then context.`

const showExit = `the file was damaged or could not be read, it has no such entry, or it was interrupted.`

const showExamples = `  # a session
  sessionspan show session.jsonl

  # one that list has shown, by the beginning of its id
  sessionspan show 019cdc2c

  # what the model knew at an entry; the beginning of its id is enough
  sessionspan show --context --leaf 3f9a session.jsonl

  # all that the user wrote on the current path
  sessionspan show --json session.jsonl | jq -r 'select(.kind=="user" and .on_path).text'

  # the session as it was at an entry, as a file
  sessionspan show --raw --leaf 3f9a session.jsonl > before.jsonl`

// show holds what the command line of show says.
type show struct {
	streams
	reading
	leaf          string
	tree, context bool
	json, raw     bool
	width         int

	again again
}

func newShow(s streams) *cobra.Command {
	o := &show{streams: s}
	cmd := &cobra.Command{
		Use:     "show FILE|ID",
		Short:   "Show the entries of a session, its tree, and the context at an entry",
		Long:    showHelp + exitHelp(showExit),
		Example: showExamples,
		Args:    oneArg("FILE or ID"),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&o.leaf, "leaf", "", "the path and the context of the entry with this `ID`, of which the beginning is enough")
	f.BoolVar(&o.tree, "tree", false, "only the entries and their tree")
	f.BoolVar(&o.context, "context", false, "only the context; with --raw the header and the lines that it is made from")
	jsonFlag(cmd, &o.json, "")
	f.BoolVar(&o.raw, "raw", false, "write the file as it stands, with --leaf the header and the lines on its path")
	o.reading.flags(cmd)
	widthFlag(cmd, &o.width)
	check(cmd, func() error {
		switch {
		case o.tree && o.context:
			return usage("--tree and --context each show one part alone: give one of them, or none for both")
		case o.json && o.raw:
			return usage("--json and --raw are two ways of writing: give one of them")
		}
		return nil
	})
	return cmd
}

func (o *show) run(ctx context.Context, arg string) error {
	path, err := pathOf(ctx, arg, o.reading.options())
	if err != nil {
		return err
	}
	out, err := o.load(ctx, path)
	switch {
	case err != nil && ctx.Err() != nil, err == nil && o.raw && errors.Is(out.Err, errInterrupted):
		return interruptedWhile("reading", path, 0)
	case err != nil:
		return err
	}
	cut := errors.Is(out.Err, errInterrupted)
	if cut {
		ctx = context.WithoutCancel(ctx) // what was read is shown still
	}
	if o.leaf != "" {
		if err := out.Look(o.leaf); err != nil {
			return &exitError{exitFinding, fmt.Errorf("--leaf: %w", err)}
		}
	}
	if err := o.write(ctx, path, out); err != nil {
		return outputError(ctx, err)
	}
	err = o.finding(path, out)
	if cut {
		err = interruptedWhile("reading", path, 0)
	}
	return err
}

// load reads the file, when it is interrupted as far as it has come. The error says whether there is one.
func (o *show) load(ctx context.Context, path string) (*outline.Outline, error) {
	if path != input.Stdin {
		info, err := os.Stat(path)
		if err == nil && info.IsDir() {
			err = input.ErrFolder
		}
		if err != nil {
			return nil, nowhere(path, err)
		}
	}
	o.again.path = path
	stream, in, err := o.again.first(ctx, o.in)
	if err != nil {
		return nil, &exitError{exitFinding, input.NewFileError(path, err)}
	}
	defer stream.Close()
	from := o.reading.options()
	if !o.again.once {
		from.Place.Path = path
	}
	out, err := outline.Load(context.WithoutCancel(ctx), input.Stdin, in, stored.Options{Source: from})
	if err != nil {
		return nil, &exitError{exitFinding, input.NewFileError(path, err)}
	}
	if out.Err != nil && errors.Is(out.Err, ctx.Err()) {
		out.Err = errInterrupted
	}
	return out, nil
}

// finding is what is left to say of a file that was not read whole.
func (o *show) finding(path string, out *outline.Outline) error {
	switch {
	case out.Err != nil:
		p := problemOfFile(fileError(path, out.Err, len(out.Entries)))
		fmt.Fprintln(o.err, &p)
	case len(out.Damage) == 0:
		return nil
	case o.raw || o.json || o.context: // which do not show it, or not to people
		fmt.Fprintf(o.err, "%s: %s; sessionspan verify says where\n", forPeople(path), terminal.Plural(len(out.Damage), "finding"))
	}
	return &exitError{code: exitFinding}
}

func (o *show) write(ctx context.Context, path string, out *outline.Outline) error {
	switch {
	case o.json:
		return o.writeJSON(ctx, path, out)
	case o.raw:
		return o.writeRaw(ctx, out)
	}
	opts := outline.Options{Look: terminal.LookOf(o.out, os.Environ())}
	if o.width > 0 {
		opts.Width = o.width
	}
	switch {
	case o.tree:
		opts.Parts = outline.Tree
	case o.context:
		opts.Parts = outline.Context
	}
	w := terminal.NewWriter(o.out, o.out)
	return errors.Join(out.Draw(ctx, w, opts), w.Flush())
}
