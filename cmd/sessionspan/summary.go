package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

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
	// leaves counts the sessions that have the entry that a selection names.
	leaves int

	Sessions []sessionSummary `json:"sessions"`
	Files    int              `json:"files"`
	Entries  int              `json:"entries"`
	Spans    spanCounts       `json:"spans"`
	Open     openCounts       `json:"open"`
	Bytes    int64            `json:"bytes"`
	Damaged  int              `json:"damaged"`
	// Unreadable counts the files without a usable header, or that could not be read to the end.
	Unreadable int       `json:"unreadable"`
	Problems   []problem `json:"problems"`
	Seconds    float64   `json:"seconds"`
}

// problem is something that was wrong with a file, or notable.
type problem struct {
	// Kind is damaged, not_read or note.
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
	what := strings.ReplaceAll(p.Kind, "_", " ") + ": "
	if p.Path != "" {
		what += p.Path + ": "
	}
	fmt.Fprintln(s.log, waterfall.Sanitize(what+p.What))
}

// found takes a problem of a file.
func (s *summary) found(path string, err error, note bool) {
	kind := "damaged"
	if note {
		kind = "note"
	}
	s.say(problem{kind, path, err.Error()})
}

// unreadable takes the error of a file that could not be read; it has the path in it.
func (s *summary) unreadable(err error) {
	s.Unreadable++
	s.say(problem{"not_read", "", err.Error()})
}

func (s *summary) copies(id string, paths []string) {
	s.say(problem{"note", "", fmt.Sprintf("session %s is in several files, whose common part is the same spans: %s",
		id, strings.Join(paths, ", "))})
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
	if r.Err != nil {
		s.unreadable(r.Err)
	}
	if !r.NoLeaf {
		s.leaves++
	}
	if r.Session == nil {
		return
	}
	one := sessionSummary{
		ID: r.Session.ID, TraceID: r.Session.TraceID.String(), Root: r.Session.Root, Path: r.File.Path,
		Entries: r.Entries, Spans: r.Spans, Damaged: r.Damaged,
	}
	one.Open.add(r.Open)
	s.Sessions = append(s.Sessions, one)
}

func (s *summary) damaged() bool { return s.Damaged > 0 || s.Unreadable > 0 }

func (s *summary) writeJSON(w io.Writer) {
	s.Seconds = time.Since(s.start).Seconds()
	out, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		fmt.Fprintln(w, err)
		return
	}
	fmt.Fprintf(w, "%s\n", out)
}

// maxListed bounds how many sessions are listed with their trace ids.
const maxListed = 50

func (s *summary) write(w io.Writer) {
	for i, one := range s.Sessions {
		if i == maxListed {
			fmt.Fprintf(w, "… and %d sessions more; --json lists all\n", len(s.Sessions)-maxListed)
			break
		}
		fmt.Fprintf(w, "session %s  trace %s  %s in %s\n", waterfall.Sanitize(one.ID), one.TraceID,
			count(total(one.Spans), "span"), waterfall.Sanitize(one.Path))
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
