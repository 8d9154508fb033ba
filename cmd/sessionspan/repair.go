package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/repair"
	"github.com/sessionspan/sessionspan/internal/waterfall"
	"github.com/spf13/cobra"
)

const repairHelp = `Finds what crashes, power cuts and writers that got in each other's way leave in a session file: torn lines, entries
fused to one line, runs of zero bytes, garbage, a missing last line feed. Says what it would do; with --write it does it.

Broken bytes are put into FILE.broken-TIME beside the file, as JSON lines from which the file can be made again as it was. Then
the good part replaces the file in one step. A complete line is never moved or changed: what is wrong with what it says is
reported, and it stays. A file that is no session, or whose first line is no usable header, is not written to.

The report shows places, sizes, types and ids of entries, and nothing of the content. The exit code is 0 when nothing needs
repair or all was repaired, 1 when there are findings that were not written or that no repair can change, or a file could not
be repaired, 2 for wrong usage.`

const repairExamples = `  # what would be done
  sessionspan repair session.jsonl

  # do it
  sessionspan repair --write session.jsonl

  # the report for a program
  sessionspan repair --json session.jsonl | jq '.files[].findings[]'`

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
		Long:    repairHelp,
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
	f.IntVar(&r.options.MaxLine, "max-line", format.DefaultMaxLine, "leave lines of more than this many `BYTES` as they are")
	f.BoolVar(&r.json, "json", false, "write the report as JSON")
	return cmd
}

func (r *repairing) run(ctx context.Context, paths []string) error {
	if r.options.MaxLine <= 0 {
		return usage("--max-line %d: want a number above 0", r.options.MaxLine)
	}
	for _, path := range paths {
		if path == "-" {
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
		report = &repairJSON{out: out}
	}
	report.begin()
	finding := false
	for _, path := range paths {
		report.file(path)
		done, err := repair.File(ctx, path, r.options, report.found)
		report.done(done, err)
		if err := out.Flush(); err != nil {
			return &exitError{exitFinding, err}
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
		return &exitError{exitFinding, err}
	}
	switch {
	case ctx.Err() != nil:
		return &exitError{exitFinding, errors.New("interrupted; the file at hand is as it was")}
	case finding:
		return &exitError{code: exitFinding}
	}
	return nil
}

// repairReport tells what is found and done, file after file.
type repairReport interface {
	begin()
	file(path string)
	found(f repair.Finding)
	done(rep repair.Report, err error)
	end()
}

// repairText is the report for people.
type repairText struct {
	out, err io.Writer
	write    bool
	path     string
	idle     int // files that --write would repair
}

func (t *repairText) begin() {}

func (t *repairText) file(path string) { t.path = path }

func (t *repairText) say(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, waterfall.Sanitize(t.path+": "+fmt.Sprintf(format, args...)))
}

// repairWords say what each action is to people.
var repairWords = map[repair.Action]string{
	repair.SetAside:    "set aside",
	repair.Recover:     "recover",
	repair.AddLineFeed: "add it",
	repair.Keep:        "stays as it is",
}

func (t *repairText) found(f repair.Finding) {
	var parts []string
	if entry := strings.TrimSpace(f.Type + " " + f.ID); entry != "" {
		parts = append(parts, entry)
	}
	if f.Bytes > 0 {
		parts = append(parts, countBytes(f.Bytes))
	}
	if f.Detail != "" {
		parts = append(parts, f.Detail)
	}
	action := repairWords[f.Action]
	if f.Action == repair.Recover && f.Added > 0 {
		action += " on a line of its own"
	}
	t.say(t.out, "line %d (offset %d): %s: %s", f.Line, f.Offset, f.What, strings.Join(append(parts, action), ", "))
}

func (t *repairText) done(rep repair.Report, err error) {
	if !t.write && rep.Lock != "" {
		t.say(t.err, "note: %s: --write needs --force", rep.Lock)
	}
	switch {
	case err != nil && !rep.Written:
		t.say(t.err, "not repaired: %s", strings.TrimPrefix(err.Error(), t.path+": "))
		return
	case err != nil:
		t.say(t.err, "%v", err)
	}
	would := ""
	if rep.Changes() && !rep.Written {
		would = "would be "
		t.idle++
	}
	parts := []string{count(rep.Kept, "entry") + " kept"}
	if !rep.Changes() {
		parts = append([]string{"nothing to repair"}, parts...)
	}
	if rep.Recovered > 0 {
		parts = append(parts, fmt.Sprintf("%d %srecovered", rep.Recovered, would))
	}
	if rep.Added > 0 {
		parts = append(parts, fmt.Sprintf("%s %sadded", count(rep.Added, "line feed"), would))
	}
	if rep.SetAside > 0 {
		parts = append(parts, fmt.Sprintf("%s %sset aside in %s", countBytes(rep.SetAside), would, rep.SideFile))
	}
	if rep.Beyond > 0 {
		parts = append(parts, count(rep.Beyond, "finding")+" beyond repair")
	}
	t.say(t.out, "%s", strings.Join(parts, ", "))
}

func (t *repairText) end() {
	if t.idle > 0 {
		fmt.Fprintln(t.out, "Nothing was written. To repair: --write")
	}
}

func countBytes(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// repairJSON is the report for programs: one object. Findings are written as they come, since a file may have any number.
type repairJSON struct {
	out           io.Writer
	files, listed int
}

func (j *repairJSON) begin() { io.WriteString(j.out, `{"files":[`) }

func (j *repairJSON) file(path string) {
	j.listed = 0
	if j.files++; j.files > 1 {
		io.WriteString(j.out, ",")
	}
	fmt.Fprintf(j.out, "\n{\"path\":%s,\"findings\":[", j.marshal(path))
}

func (j *repairJSON) found(f repair.Finding) {
	if j.listed++; j.listed > 1 {
		io.WriteString(j.out, ",")
	}
	fmt.Fprintf(j.out, "\n%s", j.marshal(f))
}

func (j *repairJSON) done(rep repair.Report, err error) {
	var rest struct {
		repair.Report
		Error string `json:"error,omitempty"`
	}
	rest.Report = rep
	if err != nil {
		rest.Error = err.Error()
	}
	fmt.Fprintf(j.out, "],%s", j.marshal(rest)[1:])
}

func (j *repairJSON) end() { io.WriteString(j.out, "\n]}\n") }

// marshal returns the JSON of what always has one.
func (j *repairJSON) marshal(v any) []byte {
	text, _ := json.Marshal(v)
	return text
}
