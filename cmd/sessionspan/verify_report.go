package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/sessionspan/sessionspan/internal/terminal"
	"github.com/sessionspan/sessionspan/internal/verify"
)

// verifyReport tells what came of files, one after the other.
type verifyReport interface {
	file(c *checked)
	// lost counts a file, or a path, that could not be read.
	lost(err error) problem
	end()
	found() bool
}

// verifyText is the report for people.
type verifyText struct {
	out, log io.Writer // the result, and what is said beside it
	quiet    bool

	losses
	files            int // and paths
	right, empty     int // files that are all right, and those with nothing to check
	broken, brokenIn int // findings, and files with them
}

func newVerifyText(out, log io.Writer, quiet bool) *verifyText {
	return &verifyText{out: out, log: log, quiet: quiet}
}

func (t *verifyText) found() bool { return t.broken > 0 || t.any() }

func (t *verifyText) lost(err error) problem {
	t.files++
	return t.losses.file(err)
}

func (t *verifyText) file(c *checked) {
	r := c.report
	broken := 0
	if r != nil {
		t.findings(c.path, r)
		t.sum(c)
		if broken = r.Broken(); broken > 0 {
			t.broken += broken
			t.brokenIn++
		}
	}
	if c.err != nil {
		p := t.lost(c.err)
		fmt.Fprintln(t.log, &p)
		return
	}
	t.files++
	switch {
	case broken > 0:
	case r.Empty():
		t.empty++
	default:
		t.right++
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
		what = forPeople(what)
		if f.At > 0 {
			what += fmt.Sprintf(", %s into the line", terminal.Plural(f.At, "byte"))
		}
		if f.Entry != "" {
			what += " (entry " + forPeople(f.Entry) + ")"
		}
		fmt.Fprintf(t.out, "%s:%d: %s: %s\n", forPeople(path), f.Line, word, what)
	}
	more[0] += r.MoreFindings
	if !t.quiet {
		more[1] += r.MoreNotes
	}
	var rest []string
	for kind, noun := range []string{"finding", "note"} {
		if more[kind] > 0 {
			rest = append(rest, terminal.Plural(more[kind], noun))
		}
	}
	if len(rest) > 0 {
		all := "all"
		if r.MoreFindings+r.MoreNotes > 0 {
			all = fmt.Sprintf("the first %d", len(r.Findings))
		}
		fmt.Fprintf(t.out, "%s: and %s more; --json has %s\n", forPeople(path), strings.Join(rest, ", "), all)
	}
}

// sum says of a file what was checked, and what came of it.
func (t *verifyText) sum(c *checked) {
	r := c.report
	outcome := ": all right"
	switch broken := r.Broken(); {
	case broken > 0:
		outcome = ": " + terminal.Plural(broken, "finding")
	case c.err != nil:
		outcome += " as far as it could be read"
	case t.quiet:
		return
	case r.Empty():
		outcome = ""
	}
	fmt.Fprintf(t.out, "%s: %s%s\n", forPeople(c.path), checkedWords(r), outcome)
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
	}{{r.Placed, "entry"}, {r.Hashes, "request hash"}, {r.Runs, "run"}, {r.Calls, "call"}, {r.IDs, "id"}} {
		if p.n > 0 {
			parts = append(parts, terminal.Plural(p.n, p.noun))
		}
	}
	words := strings.Join(parts, ", ")
	if r.NoHash > 0 {
		words += fmt.Sprintf(" (%s without a hash)", terminal.Plural(r.NoHash, "response"))
	}
	return words
}

func (t *verifyText) end() {
	if t.files < 2 {
		return
	}
	parts := []string{terminal.Plural(t.right, "file") + " all right"}
	if t.empty > 0 {
		parts = append(parts, fmt.Sprintf("%d with nothing to check", t.empty))
	}
	if t.broken > 0 {
		parts = append(parts, terminal.Plural(t.broken, "finding")+" in "+terminal.Plural(t.brokenIn, "file"))
	}
	parts = append(parts, t.words()...)
	fmt.Fprintln(t.out, strings.Join(parts, ", "))
}
