package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sessionspan/sessionspan/internal/repair"
	"github.com/sessionspan/sessionspan/internal/terminal"
	"github.com/sessionspan/sessionspan/internal/verify"
)

// repairReport tells what is found and done, file after file.
type repairReport interface {
	file(path string)
	found(f repair.Finding)
	done(rep repair.Report, err error)
	end()
}

// repairText is the report for people.
type repairText struct {
	out, err io.Writer
	path     string
	listed   int   // findings of the file that are shown
	more     int64 // and those that are not
	idle     int   // files that --write would write
}

// maxReported bounds how many findings of one file are listed; all are counted.
const maxReported = verify.MaxFindings

func (t *repairText) file(path string) { t.path, t.listed, t.more = path, 0, 0 }

func (t *repairText) say(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, forPeople(t.path)+": "+forPeople(fmt.Sprintf(format, args...)))
}

// repairWords say to people what is to be done: when findings are shown, nothing is yet.
var repairWords = map[repair.Action]string{
	repair.SetAside:    "to be set aside",
	repair.Recover:     "to be recovered",
	repair.AddLineFeed: "to be added",
	repair.Keep:        "stays as it is",
}

func (t *repairText) found(f repair.Finding) {
	if t.listed == maxReported {
		t.more++
		return
	}
	t.listed++
	place := fmt.Sprintf("line %d (offset %d", f.Line, f.Offset-f.At)
	if f.At > 0 {
		place += fmt.Sprintf(", %s into the line", terminal.Plural(f.At, "byte"))
	}
	if f.Kind == repair.NoLineFeed {
		t.say(t.out, "%s): note: no line feed at the end, which is no damage: to be added", place)
		return
	}
	var parts []string
	if entry := strings.TrimSpace(f.Type + " " + f.ID); entry != "" {
		parts = append(parts, entry)
	}
	if f.Bytes > 0 {
		parts = append(parts, terminal.Plural(f.Bytes, "byte"))
	}
	if f.Detail != "" {
		parts = append(parts, f.Detail)
	}
	action := repairWords[f.Action]
	if f.Action == repair.Recover && f.Added > 0 {
		action += " on a line of its own"
	}
	t.say(t.out, "%s): %s: %s", place, f.Kind, strings.Join(append(parts, action), ", "))
}

func (t *repairText) done(rep repair.Report, err error) {
	if t.more > 0 {
		t.say(t.out, "and %s more", terminal.Plural(t.more, "finding"))
	}
	if err == nil && rep.Damaged() && !rep.Written {
		t.busy(rep)
	}
	switch {
	case err != nil && !rep.Written:
		t.say(t.err, "not repaired: %v", err)
		if t.listed > 0 {
			t.say(t.out, "nothing was done about this")
		}
		return
	case err != nil:
		t.say(t.err, "%v", err)
	}
	would := ""
	if rep.Changes() && !rep.Written {
		would = "would be "
		t.idle++
	}
	parts := []string{terminal.Plural(rep.Kept, "entry") + " kept"}
	if !rep.Damaged() && !rep.Written {
		parts = append([]string{"nothing to repair"}, parts...)
	}
	if rep.Recovered > 0 {
		parts = append(parts, fmt.Sprintf("%d %srecovered", rep.Recovered, would))
	}
	if rep.Added > 0 {
		parts = append(parts, fmt.Sprintf("%s %sadded", terminal.Plural(rep.Added, "line feed"), would))
	}
	if rep.SetAside > 0 {
		parts = append(parts, fmt.Sprintf("%s %sset aside in %s", terminal.Plural(rep.SetAside, "byte"), would, rep.SideFile))
	}
	if rep.Beyond > 0 {
		parts = append(parts, terminal.Plural(rep.Beyond, "finding")+" beyond repair")
	}
	t.say(t.out, "%s", strings.Join(parts, ", "))
}

// busy says what would keep the file from being written to.
func (t *repairText) busy(rep repair.Report) {
	if rep.Lock != "" {
		t.say(t.err, "note: %s: --write needs --force", rep.Lock)
	}
	if rep.Busy != nil {
		t.say(t.err, "note: --write would not repair it now: %v", rep.Busy)
	}
}

func (t *repairText) end() {
	if t.idle > 0 {
		fmt.Fprintln(t.out, "Nothing was written. To write: --write")
	}
}

// repairJSON is the report for programs: one object a line for each file. Findings are written as they come.
type repairJSON struct {
	out    io.Writer
	path   string
	listed int
	more   int64
}

// repairedFinding is a finding as a program reads it.
type repairedFinding struct {
	Path   string        `json:"path"`
	Line   int           `json:"line"`
	Offset int64         `json:"offset"`
	At     int64         `json:"at"`
	Bytes  int64         `json:"bytes"`
	Kind   repair.Kind   `json:"kind"`
	Type   *string       `json:"type"`
	Entry  *string       `json:"entry"`
	What   string        `json:"what"`
	Action repair.Action `json:"action"`
	Added  int           `json:"line_feeds_added"`
}

// repairedFile is what comes behind the findings of a file.
type repairedFile struct {
	More      int64   `json:"more_findings"`
	Bytes     int64   `json:"bytes"`
	Lines     int     `json:"lines"`
	Kept      int     `json:"entries_kept"`
	Recovered int     `json:"entries_recovered"`
	SetAside  int64   `json:"bytes_set_aside"`
	Added     int     `json:"line_feeds_added"`
	Beyond    int     `json:"beyond_repair"`
	SideFile  *string `json:"side_file"`
	Written   bool    `json:"written"`
	Lock      *string `json:"lock"`
	Busy      *string `json:"busy"`
	Error     *string `json:"error"`
}

func (j *repairJSON) file(path string) {
	j.path, j.listed, j.more = path, 0, 0
	fmt.Fprintf(j.out, `{"path":%s,"findings":[`, marshal(path))
}

func (j *repairJSON) found(f repair.Finding) {
	if j.listed == maxReported {
		j.more++
		return
	}
	if j.listed++; j.listed > 1 {
		io.WriteString(j.out, ",")
	}
	what := f.Kind.String()
	if f.Detail != "" {
		what += ": " + f.Detail
	}
	j.out.Write(marshal(repairedFinding{
		j.path, f.Line, f.Offset - f.At, f.At, f.Bytes, f.Kind, orNull(f.Type), orNull(f.ID), what, f.Action, f.Added,
	}))
}

func (j *repairJSON) done(rep repair.Report, err error) {
	rest := marshal(repairedFile{
		j.more, rep.Bytes, rep.Lines, rep.Kept, rep.Recovered, rep.SetAside, rep.Added, rep.Beyond, orNull(rep.SideFile), rep.Written,
		orNull(rep.Lock), errorOrNull(rep.Busy), errorOrNull(err),
	})
	fmt.Fprintf(j.out, "],%s\n", rest[1:])
}

func (j *repairJSON) end() {}

// marshal returns the JSON of what always has one.
func marshal(v any) []byte {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}
