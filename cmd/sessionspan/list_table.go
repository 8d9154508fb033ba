package main

import (
	"slices"
	"strings"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// listColumns are those of the table. What names a session stays whole as long as anything else can be left out: other
// commands take it, and the beginning of it.
var listColumns = []column{
	{title: "ID", last: 8},
	{title: "STARTED", rank: 2},
	{title: "STATE"},
	{title: "DURATION", right: true, rank: 4},
	{title: "RUNS", right: true, rank: 7},
	{title: "CALLS", right: true, rank: 6},
	{title: listErrors, right: true, rank: 3},
	{title: "TOKENS", right: true, rank: 5},
	{title: "HARNESS", rank: 8},
	{title: "NAME", least: 12, rank: 1},
	{title: "FORMAT", rank: 10},
	{title: "LEAF", rank: 9},
	{title: "TRACE ID", rank: 11},
	{title: "PATH", rank: 12},
}

// listErrors is the column that is there only if some session has errors.
const listErrors = "ERRORS"

var stateInks = map[archive.State]terminal.Ink{
	archive.Waiting: terminal.Wait,
	archive.Working: terminal.Work,
	archive.CutOff:  terminal.Fail,
	archive.Failed:  terminal.Fail,
	archive.Aborted: terminal.Fail,
}

func listTable(rows []archive.Overview, l terminal.Look) *table {
	t := &table{columns: listColumns}
	for i := range rows {
		t.rows = append(t.rows, listRow(&rows[i], l))
	}
	if !slices.ContainsFunc(rows, func(v archive.Overview) bool { return v.Errors > 0 }) {
		t.remove(listErrors)
	}
	return t
}

func listRow(v *archive.Overview, l terminal.Look) []terminal.Piece {
	s := v.File.Session
	started, lasted := "-", "-"
	if !v.Start.IsZero() {
		started = v.Start.UTC().Format("2006-01-02 15:04Z")
		lasted = terminal.Duration(v.End.Sub(v.Start))
	}
	state := strings.ReplaceAll(string(v.State), "_", " ")
	if v.Damaged > 0 || v.Err != nil {
		state += " !"
	}
	texts := []string{
		s.ID, started, state, lasted, terminal.Count(int64(v.Runs)), terminal.Count(int64(v.Calls)), terminal.Count(int64(v.Errors)),
		l.Tokens(v.Tokens.Input, v.Tokens.Output, v.Tokens.LowerBound),
		s.Harness, v.Name, s.Format + " " + s.FormatVersion, v.Leaf, v.TraceID, v.File.Path,
	}
	row := make([]terminal.Piece, len(texts))
	for i, text := range texts {
		row[i].Text = cellText(l, text)
	}
	row[2].Ink = stateInks[v.State]
	return row
}
