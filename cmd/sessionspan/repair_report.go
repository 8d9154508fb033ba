package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sessionspan/sessionspan/internal/repair"
	"github.com/sessionspan/sessionspan/internal/terminal"
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
	write    bool
	path     string
	idle     int // files that --write would repair
}

func (t *repairText) file(path string) { t.path = path }

func (t *repairText) say(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, forPeople(t.path)+": "+forPeople(fmt.Sprintf(format, args...)))
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
		parts = append(parts, terminal.Plural(f.Bytes, "byte"))
	}
	if f.Detail != "" {
		parts = append(parts, f.Detail)
	}
	action := repairWords[f.Action]
	if f.Action == repair.Recover && f.Added > 0 {
		action += " on a line of its own"
	}
	t.say(t.out, "line %d (offset %d): %s: %s", f.Line, f.Offset, f.Kind, strings.Join(append(parts, action), ", "))
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
	parts := []string{terminal.Plural(rep.Kept, "entry") + " kept"}
	if !rep.Changes() {
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

func (t *repairText) end() {
	if t.idle > 0 {
		fmt.Fprintln(t.out, "Nothing was written. To repair: --write")
	}
}

// repairJSON is the report for programs: one object a line for each file. Findings are written as they come, since a file
// may have any number.
type repairJSON struct {
	out    io.Writer
	path   string
	listed int
}

// repairedFinding is a finding as a program reads it.
type repairedFinding struct {
	Path   string        `json:"path"`
	Line   int           `json:"line"`
	Offset int64         `json:"offset"`
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
	Error     *string `json:"error"`
}

func (j *repairJSON) file(path string) {
	j.path, j.listed = path, 0
	fmt.Fprintf(j.out, `{"path":%s,"findings":[`, marshal(path))
}

func (j *repairJSON) found(f repair.Finding) {
	if j.listed++; j.listed > 1 {
		io.WriteString(j.out, ",")
	}
	what := f.Kind.String()
	if f.Detail != "" {
		what += ": " + f.Detail
	}
	j.out.Write(marshal(repairedFinding{
		j.path, f.Line, f.Offset, f.Bytes, f.Kind, orNull(f.Type), orNull(f.ID), what, f.Action, f.Added,
	}))
}

func (j *repairJSON) done(rep repair.Report, err error) {
	rest := marshal(repairedFile{
		rep.Bytes, rep.Lines, rep.Kept, rep.Recovered, rep.SetAside, rep.Added, rep.Beyond, orNull(rep.SideFile), rep.Written,
		orNull(rep.Lock), errorOrNull(err),
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
