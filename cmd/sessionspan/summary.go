package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// maxShown bounds how many problems of one file are shown; all are counted.
const maxShown = 20

// summary says what a replay came to. Problems are shown as they are found, unless the summary is for a program, which
// gets them as a part of it.
type summary struct {
	mu    sync.Mutex // of what is called from several goroutines
	start time.Time
	log   io.Writer // nil for a program
	shown map[string]int
	begun bool // there is something to sum up
	// leaves counts the sessions that have the entry that a selection names.
	leaves int
	// leafErr is why one of them may mean several.
	leafErr error

	Sessions []sessionSummary `json:"sessions"`
	Files    int              `json:"files"`
	Entries  int              `json:"entries"`
	Spans    spanCounts       `json:"spans"`
	Open     openCounts       `json:"open"`
	Bytes    int64            `json:"bytes"`
	losses
	// Outside counts the sessions with nothing in the time asked for.
	Outside  int       `json:"outside"`
	Problems []problem `json:"problems"`
	// Delivery is what became of the spans, where they were sent.
	Delivery    *deliveryCounts `json:"delivery"`
	Interrupted *interruption   `json:"interrupted"`
	// Error is why the command ended early, or with nothing.
	Error   *string `json:"error"`
	Seconds float64 `json:"seconds"`
}

// interruption says what was being done when the signal came.
type interruption struct {
	While string  `json:"while"`
	Path  *string `json:"path"`
	// NotReached counts the files after that one.
	NotReached int `json:"not_reached"`
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
	if p.Path != nil {
		s.shown[*p.Path]++
		switch n := s.shown[*p.Path]; {
		case n > maxShown+1:
			return
		case n > maxShown:
			p = note(*p.Path, "more of it is counted, not shown")
		}
	}
	if s.log == nil {
		s.Problems = append(s.Problems, p)
		return
	}
	fmt.Fprintln(s.log, &p)
}

// note says something from any goroutine.
func (s *summary) note(p problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.say(p)
}

// found takes a problem of a file, from any goroutine.
func (s *summary) found(path string, err error, note bool) { s.note(problemOfLine(path, err, note)) }

// unreadable takes the error of a file that could not be read, or not to its end.
func (s *summary) unreadable(err error) { s.say(s.file(err)) }

// copies takes the sessions that are in several files, and what is read.
func (s *summary) copies(list []archive.Copied, groups [][]*archive.File) {
	read := map[string]bool{}
	for _, files := range groups {
		for _, f := range files {
			read[f.Session.ID] = true
		}
	}
	for _, c := range list {
		if read[c.ID] {
			s.say(note("", c.String()))
		}
	}
}

// interrupt notes that the command was interrupted while it did something, with so many files to go.
func (s *summary) interrupt(while, path string, left int) error {
	path = inputName(path)
	s.Interrupted = &interruption{while, orNull(path), left}
	what := interruptedWords(while, path, left)
	if s.begun {
		what += "; what is above is complete as far as it goes"
	}
	return &exitError{exitFinding, errors.New(what)}
}

// add takes what came of a file, from any goroutine.
func (s *summary) add(r archive.Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Files++
	s.Bytes += r.Stats.Bytes
	s.lines(r.Damaged)
	s.Entries += r.Entries
	s.Open.add(r.Open)
	for t, n := range r.Spans {
		s.Spans[t] += n
	}
	if _, ok := errors.AsType[*input.FileError](r.Err); ok {
		s.unreadable(r.Err)
	}
	if !r.NoLeaf {
		s.leaves++
	} else if r.LeafErr != nil && s.leafErr == nil {
		s.leafErr = fmt.Errorf("%s: %w", r.File.Path, r.LeafErr)
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

// writeJSON writes the summary for a program, with the error that the command ends with, and returns what is left to say
// of that.
func (s *summary) writeJSON(w io.Writer, err error) error {
	s.Seconds = time.Since(s.start).Seconds()
	code := exitOK
	if e, ok := errors.AsType[*exitError](err); ok {
		code = e.code
		if e.err != nil {
			s.Error = orNull(e.err.Error())
		}
	}
	enc := newEncoder(w)
	enc.SetIndent("", "  ")
	if err := enc.Encode(s); err != nil {
		return &exitError{exitFinding, err}
	}
	if code == exitOK {
		return nil
	}
	return &exitError{code: code}
}

// maxSessions bounds how many sessions are listed with their trace ids.
const maxSessions = 50

func (s *summary) write(w io.Writer) {
	for i, one := range s.Sessions {
		if i == maxSessions {
			fmt.Fprintf(w, "… and %s more; --json lists all\n", terminal.Plural(len(s.Sessions)-maxSessions, "session"))
			break
		}
		fmt.Fprintf(w, "session %s  trace %s  %s in %s\n", forPeople(one.ID), one.TraceID,
			terminal.Plural(total(one.Spans), "span"), forPeople(one.Path))
	}
	fmt.Fprintf(w, "%s, %s, %s", s.sessionWords(), terminal.Plural(s.Entries, "entry"),
		terminal.Plural(total(s.Spans), "span"))
	if list := s.Spans.list(); list != "" {
		fmt.Fprintf(w, " (%s)", list)
	}
	if o := s.Open; o != (openCounts{}) {
		fmt.Fprintf(w, "; still open: %s", o.list())
	}
	fmt.Fprintf(w, "; %s in %s", terminal.Size(s.Bytes), time.Since(s.start).Round(time.Millisecond))
	for _, words := range s.words() {
		fmt.Fprint(w, "; ", words)
	}
	if s.Outside > 0 {
		fmt.Fprintf(w, "; %s left out: nothing in that time", terminal.Plural(s.Outside, "session"))
	}
	fmt.Fprintln(w)
	if s.Delivery != nil {
		for _, line := range s.Delivery.lines() {
			fmt.Fprintln(w, line)
		}
	}
}

// sessionWords counts the sessions, and their files where those are more.
func (s *summary) sessionWords() string {
	ids := map[string]bool{}
	for i := range s.Sessions {
		ids[s.Sessions[i].ID] = true
	}
	words := terminal.Plural(len(ids), "session")
	if files := len(s.Sessions); files > len(ids) {
		words += " in " + terminal.Plural(files, "file")
	}
	return words
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
			parts = append(parts, terminal.Plural(p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}
