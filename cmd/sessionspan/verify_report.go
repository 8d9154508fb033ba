package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sessionspan/sessionspan/internal/verify"
	"github.com/sessionspan/sessionspan/internal/waterfall"
)

// verifyReport tells what came of files, one after the other.
type verifyReport interface {
	file(c *checked)
	end()
	found() bool
}

// verifyText is the report for people.
type verifyText struct {
	out   io.Writer
	tell  func(format string, args ...any) // beside the result
	quiet bool

	// files counts those that were looked at, bad those with findings, unread those that could not be read to their end,
	// whether they have findings or not, and broken the findings.
	files, bad, unread, empty, broken int
}

func (t *verifyText) say(format string, args ...any) {
	fmt.Fprintln(t.out, waterfall.Sanitize(fmt.Sprintf(format, args...)))
}

func (t *verifyText) found() bool { return t.bad+t.unread > 0 }

func (t *verifyText) file(c *checked) {
	t.files++
	r := c.report
	if r != nil {
		t.findings(c.path, r)
		t.sum(c)
	}
	switch {
	case c.err != nil:
		t.tell("not read: %s: %v", c.path, c.err)
		t.unread++
	case r.Broken() > 0:
		t.bad++
	case r.Empty():
		t.empty++
	}
}

// findings shows the first findings and the first notes of a file.
func (t *verifyText) findings(path string, r *verify.Report) {
	var shown, more [2]int // findings, notes
	for _, f := range r.Findings {
		kind, word, what := 0, f.Rule, f.What
		if f.Note {
			kind, word = 1, "note"
		}
		if f.Note && t.quiet {
			continue
		}
		if shown[kind] == maxShown {
			more[kind]++
			continue
		}
		shown[kind]++
		if f.Entry != "" {
			what += " (entry " + cutBytes(f.Entry, 8*maxCell) + ")"
		}
		t.say("%s:%d: %s: %s", path, f.Line, word, what)
	}
	var rest []string
	for kind, noun := range []string{"finding", "note"} {
		if more[kind] > 0 {
			rest = append(rest, count(more[kind], noun))
		}
	}
	if len(rest) > 0 {
		t.say("%s: and %s more; --json has all", path, strings.Join(rest, ", "))
	}
}

// sum says of a file what was checked, and what came of it.
func (t *verifyText) sum(c *checked) {
	r := c.report
	broken := r.Broken()
	t.broken += broken
	outcome := ": all right"
	switch {
	case broken > 0:
		outcome = ": " + count(broken, "finding")
	case c.err != nil:
		outcome += " as far as it could be read"
	case t.quiet:
		return
	case r.Empty():
		outcome = ""
	}
	t.say("%s: %s%s", c.path, checkedWords(r), outcome)
}

// checkedWords says what was checked.
func checkedWords(r *verify.Report) string {
	switch {
	case !r.Known:
		return "nothing to check but damage: its format records nothing that can be verified"
	case r.Empty():
		return "nothing to check: no request hash, no end of a run, no call, no id that is a hash"
	}
	var parts []string
	for _, p := range []struct {
		n    int
		noun string
	}{{r.Hashes, "request hash"}, {r.Runs, "run"}, {r.Calls, "call"}, {r.IDs, "id"}} {
		if p.n > 0 {
			parts = append(parts, strings.Replace(count(p.n, p.noun), "hashs", "hashes", 1))
		}
	}
	words := strings.Join(parts, ", ")
	if r.NoHash > 0 {
		words += fmt.Sprintf(" (%s without a hash)", count(r.NoHash, "response"))
	}
	return words
}

func (t *verifyText) end() {
	if t.files < 2 {
		return
	}
	parts := []string{count(t.files-t.bad-t.unread-t.empty, "file") + " all right"}
	if t.empty > 0 {
		parts = append(parts, fmt.Sprintf("%d with nothing to check", t.empty))
	}
	if t.bad > 0 {
		parts = append(parts, fmt.Sprintf("%d not", t.bad))
	}
	if t.unread > 0 {
		parts = append(parts, fmt.Sprintf("%d not read", t.unread))
	}
	if t.broken > 0 {
		parts = append(parts, count(t.broken, "finding"))
	}
	fmt.Fprintln(t.out, strings.Join(parts, ", "))
}

// verifyJSON is the report for programs.
type verifyJSON struct {
	out   io.Writer
	quiet bool
	bad   bool
}

// verifiedFile is a file as a program reads it. What is not known is null.
type verifiedFile struct {
	Path    string  `json:"path"`
	Session *string `json:"session"`
	Format  *string `json:"format"`
	Entries int     `json:"entries"`
	Checked struct {
		Hashes int `json:"hashes"`
		NoHash int `json:"no_hash"`
		Runs   int `json:"runs"`
		Calls  int `json:"calls"`
		IDs    int `json:"ids"`
	} `json:"checked"`
	Nothing  bool              `json:"nothing_to_check"`
	OK       bool              `json:"ok"`
	Findings []verifiedFinding `json:"findings"`
	Error    *string           `json:"error"`
}

type verifiedFinding struct {
	File   string  `json:"file"`
	Line   int     `json:"line"`
	Offset int64   `json:"offset"`
	Rule   string  `json:"rule"`
	Entry  *string `json:"entry"`
	What   string  `json:"what"`
	Note   bool    `json:"note"`
}

func (j *verifyJSON) file(c *checked) {
	one := verifiedFile{Path: c.path, Findings: []verifiedFinding{}, OK: c.err == nil, Nothing: true}
	if c.err != nil {
		one.Error = orNull(c.err.Error())
	}
	if c.file != nil {
		h := c.file.Header
		one.Session, one.Format = orNull(h.ID), orNull(strings.TrimSpace(h.Format+" "+h.FormatVersion))
	}
	if r := c.report; r != nil {
		one.OK = one.OK && r.Broken() == 0
		one.Nothing, one.Entries = r.Empty(), r.Entries
		one.Checked.Hashes, one.Checked.NoHash = r.Hashes, r.NoHash
		one.Checked.Runs, one.Checked.Calls, one.Checked.IDs = r.Runs, r.Calls, r.IDs
		for _, f := range r.Findings {
			one.Findings = append(one.Findings, verifiedFinding{
				File: c.path, Line: f.Line, Offset: f.Offset, Rule: f.Rule, Entry: orNull(f.Entry), What: f.What, Note: f.Note,
			})
		}
	}
	j.bad = j.bad || !one.OK
	if j.quiet && one.OK {
		return
	}
	enc := json.NewEncoder(escaped{j.out})
	enc.SetEscapeHTML(false)
	_ = enc.Encode(&one) // the writer keeps its error until it is flushed
}

func (j *verifyJSON) end() {}

func (j *verifyJSON) found() bool { return j.bad }
