package main

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/waterfall"
)

// listColumns are those of the table. What names a session stays whole: other commands take it.
var listColumns = []column{
	{title: "ID"},
	{title: "STARTED", rank: 2},
	{title: "STATE"},
	{title: "DURATION", right: true, rank: 3},
	{title: "RUNS", right: true, rank: 6},
	{title: "CALLS", right: true, rank: 5},
	{title: "TOKENS", right: true, rank: 4},
	{title: "HARNESS", rank: 7},
	{title: "NAME", least: 12, rank: 1},
	{title: "FORMAT", rank: 9},
	{title: "LEAF", rank: 8},
	{title: "TRACE ID", rank: 10},
	{title: "PATH", rank: 11},
}

var stateStyles = map[archive.State]ansi.Style{
	archive.Waiting: ansi.NewStyle(ansi.AttrYellowForegroundColor),
	archive.Working: ansi.NewStyle(ansi.AttrCyanForegroundColor),
	archive.CutOff:  ansi.NewStyle(ansi.AttrRedForegroundColor),
	archive.Failed:  ansi.NewStyle(ansi.AttrRedForegroundColor),
	archive.Aborted: ansi.NewStyle(ansi.AttrRedForegroundColor),
}

func listTable(rows []archive.Overview, l look) *table {
	t := &table{columns: listColumns}
	for i := range rows {
		t.rows = append(t.rows, listRow(&rows[i], l))
	}
	return t
}

func listRow(v *archive.Overview, l look) []cell {
	s := v.File.Session
	started, lasted := "-", "-"
	if !v.Start.IsZero() {
		started = v.Start.UTC().Format("2006-01-02 15:04Z")
		lasted = waterfall.Duration(v.End.Sub(v.Start))
	}
	state := strings.ReplaceAll(string(v.State), "_", " ")
	if v.Damaged > 0 || v.Err != nil {
		state += " !"
	}
	texts := []string{
		s.ID, started, state, lasted, waterfall.Count(int64(v.Runs)), waterfall.Count(int64(v.Calls)), l.tokens(v.Tokens),
		s.Harness, v.Name, s.Format + " " + s.FormatVersion, v.Leaf, v.TraceID, v.File.Path,
	}
	row := make([]cell, len(texts))
	for i, text := range texts {
		row[i].text = l.safe(text)
	}
	row[2].style = stateStyles[v.State]
	return row
}

// tokens writes what went in and came out.
func (l look) tokens(t archive.Tokens) string {
	if t.Input == nil && t.Output == nil {
		return "-"
	}
	side := func(n *int64) string {
		if n == nil {
			return "?"
		}
		return waterfall.Count(*n)
	}
	to, atLeast := "→", "≥"
	if l.ascii {
		to, atLeast = ">", ">="
	}
	text := side(t.Input) + to + side(t.Output)
	if t.LowerBound {
		text = atLeast + text
	}
	return text
}

// listed is a session as a program reads it. What is not known is null.
type listed struct {
	ID             string  `json:"id"`
	TraceID        string  `json:"trace_id"`
	Root           string  `json:"root"`
	Parent         *string `json:"parent"`
	ForkOf         *string `json:"fork_of"`
	ContinuedIn    *string `json:"continued_in"`
	Name           *string `json:"name"`
	Harness        *string `json:"harness"`
	HarnessVersion *string `json:"harness_version"`
	Format         string  `json:"format"`
	FormatVersion  string  `json:"format_version"`
	CWD            *string `json:"cwd"`
	Start          *string `json:"start"`
	End            *string `json:"end"`
	DurationMS     *int64  `json:"duration_ms"`
	Entries        int     `json:"entries"`
	Runs           int     `json:"runs"`
	Chats          int     `json:"chats"`
	Calls          int     `json:"calls"`
	InputTokens    *int64  `json:"input_tokens"`
	OutputTokens   *int64  `json:"output_tokens"`
	// AtLeast: the tokens are a lower bound.
	AtLeast bool          `json:"tokens_lower_bound"`
	State   archive.State `json:"state"`
	Leaf    *string       `json:"leaf"`
	Path    string        `json:"path"`
	Damaged int           `json:"damaged"`
	Error   *string       `json:"error"`
}

func newListed(v *archive.Overview) listed {
	s := v.File.Session
	row := listed{
		ID: s.ID, TraceID: v.TraceID, Root: v.File.Root, ForkOf: orNull(s.ForkOf), ContinuedIn: orNull(v.ContinuedIn),
		Name: orNull(v.Name), Harness: orNull(s.Harness), HarnessVersion: orNull(s.Version),
		Format: s.Format, FormatVersion: s.FormatVersion, CWD: orNull(s.CWD),
		Entries: v.Entries, Runs: v.Runs, Chats: v.Chats, Calls: v.Calls,
		InputTokens: v.Tokens.Input, OutputTokens: v.Tokens.Output, AtLeast: v.Tokens.LowerBound,
		State: v.State, Leaf: orNull(v.Leaf), Path: v.File.Path, Damaged: v.Damaged,
	}
	if s.Spawn != nil {
		row.Parent = orNull(s.Spawn.Session)
	}
	if !v.Start.IsZero() {
		start, end := v.Start.UTC().Format(time.RFC3339Nano), v.End.UTC().Format(time.RFC3339Nano)
		ms := v.End.Sub(v.Start).Milliseconds()
		row.Start, row.End, row.DurationMS = &start, &end, &ms
	}
	if v.Err != nil {
		row.Error = orNull(v.Err.Error())
	}
	return row
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// writeListJSON writes one object a line.
func writeListJSON(w io.Writer, rows []archive.Overview) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(escaped{out})
	enc.SetEscapeHTML(false)
	for i := range rows {
		if err := enc.Encode(newListed(&rows[i])); err != nil {
			return err
		}
	}
	return out.Flush()
}
