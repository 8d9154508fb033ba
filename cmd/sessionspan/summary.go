package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/waterfall"
)

// maxShown bounds how many problems of one file are shown; all are counted.
const maxShown = 20

// summary says what a replay came to. Problems are shown as they are found, unless the summary is for a program, which
// gets them as a part of it.
type summary struct {
	start time.Time
	log   io.Writer // nil for a program
	shown map[string]int
	begun bool // there is something to sum up
	// leaves counts the sessions that have the entry that a selection names.
	leaves int

	Sessions []sessionSummary `json:"sessions"`
	Files    int              `json:"files"`
	Entries  int              `json:"entries"`
	Spans    spanCounts       `json:"spans"`
	Open     openCounts       `json:"open"`
	Bytes    int64            `json:"bytes"`
	Damaged  int              `json:"damaged"`
	// Unreadable counts the files that could not be opened or have no usable header, CutShort those that could not be read
	// to their ends.
	Unreadable int `json:"unreadable"`
	CutShort   int `json:"cut_short"`
	// Outside counts the sessions with nothing in the time asked for.
	Outside     int           `json:"outside"`
	Problems    []problem     `json:"problems"`
	Interrupted *interruption `json:"interrupted,omitempty"`
	// Error is why the command ended early, or with nothing.
	Error   string  `json:"error,omitempty"`
	Seconds float64 `json:"seconds"`
}

// interruption says what was being done when the signal came.
type interruption struct {
	While string `json:"while"`
	Path  string `json:"path,omitempty"`
	// NotReached counts the files after that one.
	NotReached int `json:"not_reached"`
}

// problem is something that was wrong with a file, or notable.
type problem struct {
	// Kind is damaged, not_read, cut_short or note.
	Kind string `json:"kind"`
	Path string `json:"path,omitempty"`
	What string `json:"what"`
}

type sessionSummary struct {
	ID      string     `json:"id"`
	TraceID string     `json:"trace_id"`
	Root    string     `json:"root"`
	Path    string     `json:"path"`
	Entries int        `json:"entries"`
	Spans   spanCounts `json:"spans"`
	Open    openCounts `json:"open"`
	Damaged int        `json:"damaged"`
}

// spanCounts counts spans by type.
type spanCounts map[projection.Type]int

type openCounts struct {
	Runs      int `json:"runs"`
	Tools     int `json:"tools"`
	Approvals int `json:"approvals"`
	Pending   int `json:"pending"`
}

func (o *openCounts) add(p projection.Open) {
	o.Runs += p.Runs
	o.Tools += p.Tools
	o.Approvals += p.Approvals
	o.Pending += p.Pending
}

func newSummary(start time.Time, log io.Writer) *summary {
	return &summary{
		start: start, log: log, shown: map[string]int{},
		Sessions: []sessionSummary{}, Spans: spanCounts{}, Problems: []problem{},
	}
}

// say shows or keeps a problem.
func (s *summary) say(p problem) {
	s.shown[p.Path]++
	if n := s.shown[p.Path]; p.Path != "" && n > maxShown {
		if n > maxShown+1 {
			return
		}
		p.What = "more of it is counted, not shown"
	}
	if s.log == nil {
		s.Problems = append(s.Problems, p)
		return
	}
	kind := strings.ReplaceAll(p.Kind, "_", " ")
	if p.Kind == "cut_short" {
		kind = "not read to the end"
	}
	what := forPeople(p.What)
	if p.Path != "" {
		what = forPeople(p.Path) + ": " + what
	}
	fmt.Fprintf(s.log, "%s: %s\n", kind, what)
}

// maxText bounds, in bytes, how much of one text from a file or a path is shown to people.
const maxText = 1000

// forPeople makes a text safe and short enough to be shown.
func forPeople(text string) string {
	if len(text) <= maxText {
		return waterfall.Sanitize(text)
	}
	end := maxText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes)", waterfall.Sanitize(text[:end]), len(text))
}

// found takes a problem of a file.
func (s *summary) found(path string, err error, note bool) {
	kind := "damaged"
	if note {
		kind = "note"
	}
	s.say(problem{kind, path, err.Error()})
}

// unreadable takes the error of a file that could not be read, or not to its end.
func (s *summary) unreadable(err error) {
	p := problem{Kind: "not_read", What: err.Error()}
	if e, ok := errors.AsType[*archive.FileError](err); ok {
		p.Path, p.What = e.Path, e.What()
		if e.Begun {
			p.Kind = "cut_short"
			s.CutShort++
			s.say(p)
			return
		}
	}
	s.Unreadable++
	s.say(p)
}

func (s *summary) copies(c archive.Copied) {
	s.say(problem{"note", "", fmt.Sprintf("session %s is in several files, of whose spans each is given once: %s",
		forPeople(c.ID), strings.Join(c.Paths, ", "))})
}

// interrupt notes that the command was interrupted while it did something, with so many files to go.
func (s *summary) interrupt(while, path string, left int) error {
	if path == archive.Stdin {
		path = "standard input"
	}
	s.Interrupted = &interruption{while, path, left}
	what := "interrupted while " + strings.TrimSpace(while+" "+path)
	if left > 0 {
		what += "; " + count(left, "file") + " not reached"
	}
	if s.begun {
		what += "; what is above is complete as far as it goes"
	}
	return &exitError{exitFinding, errors.New(what)}
}

func (s *summary) add(r archive.Report) {
	s.Files++
	s.Bytes += r.Stats.Bytes
	s.Damaged += r.Damaged
	s.Entries += r.Entries
	s.Open.add(r.Open)
	for t, n := range r.Spans {
		s.Spans[t] += n
	}
	if _, ok := errors.AsType[*archive.FileError](r.Err); ok {
		s.unreadable(r.Err)
	}
	if !r.NoLeaf {
		s.leaves++
	}
	if r.Outside {
		s.Outside++
	}
	if r.Session == nil || r.Outside {
		return
	}
	one := sessionSummary{
		ID: r.Session.ID, TraceID: r.Session.TraceID.String(), Root: r.Session.Root, Path: r.File.Path,
		Entries: r.Entries, Spans: r.Spans, Damaged: r.Damaged,
	}
	one.Open.add(r.Open)
	s.Sessions = append(s.Sessions, one)
}

func (s *summary) damaged() bool { return s.Damaged > 0 || s.Unreadable > 0 || s.CutShort > 0 }

// writeJSON writes the summary for a program, with the error that the command ends with, and returns what is left to say
// of that.
func (s *summary) writeJSON(w io.Writer, err error) error {
	s.Seconds = time.Since(s.start).Seconds()
	code := exitOK
	if e, ok := errors.AsType[*exitError](err); ok {
		code = e.code
		if e.err != nil {
			s.Error = e.err.Error()
		}
	}
	if err := writeJSON(w, s); err != nil {
		return &exitError{exitFinding, err}
	}
	if code == exitOK {
		return nil
	}
	return &exitError{code: code}
}

// maxListed bounds how many sessions are listed with their trace ids.
const maxListed = 50

func (s *summary) write(w io.Writer) {
	for i, one := range s.Sessions {
		if i == maxListed {
			fmt.Fprintf(w, "… and %s more; --json lists all\n", count(len(s.Sessions)-maxListed, "session"))
			break
		}
		fmt.Fprintf(w, "session %s  trace %s  %s in %s\n", forPeople(one.ID), one.TraceID,
			count(total(one.Spans), "span"), forPeople(one.Path))
	}
	fmt.Fprintf(w, "%s, %s, %s", count(len(s.Sessions), "session"), count(s.Entries, "entry"), count(total(s.Spans), "span"))
	if list := s.Spans.list(); list != "" {
		fmt.Fprintf(w, " (%s)", list)
	}
	if o := s.Open; o != (openCounts{}) {
		fmt.Fprintf(w, "; still open: %s", o.list())
	}
	fmt.Fprintf(w, "; %s in %s", size(s.Bytes), time.Since(s.start).Round(time.Millisecond))
	if s.Damaged > 0 {
		fmt.Fprintf(w, "; %s damaged", count(s.Damaged, "line"))
	}
	if s.Unreadable > 0 {
		fmt.Fprintf(w, "; %s not read", count(s.Unreadable, "file"))
	}
	if s.CutShort > 0 {
		fmt.Fprintf(w, "; %s not read to the end", count(s.CutShort, "file"))
	}
	if s.Outside > 0 {
		fmt.Fprintf(w, "; %s left out: nothing in that time", count(s.Outside, "session"))
	}
	fmt.Fprintln(w)
}

func total(c spanCounts) (n int) {
	for _, v := range c {
		n += v
	}
	return n
}

func (c spanCounts) list() string {
	var parts []string
	for _, t := range projection.Types {
		if n := c[t]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, t))
		}
	}
	return strings.Join(parts, ", ")
}

func (o openCounts) list() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{o.Runs, "run"}, {o.Tools, "tool call"}, {o.Approvals, "approval"}, {o.Pending, "call without hand-off"}} {
		if p.n > 0 {
			parts = append(parts, count(p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

// count writes a number with its noun.
func count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	case strings.HasPrefix(noun, "call "):
		return fmt.Sprintf("%d calls %s", n, strings.TrimPrefix(noun, "call "))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// size writes a number of bytes for people.
func size(n int64) string {
	const unit = 1000
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	v, i := float64(n), -1
	for v >= unit && i < 3 {
		v /= unit
		i++
	}
	return fmt.Sprintf("%.1f %cB", v, "kMGT"[i])
}
