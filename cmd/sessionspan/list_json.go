package main

import (
	"io"

	"github.com/sessionspan/sessionspan/internal/archive"
)

// listed is a session as a program reads it. Of a file that could not be read there are the path and the error only.
type listed struct {
	ID             *string `json:"id"`
	TraceID        *string `json:"trace_id"`
	Root           *string `json:"root"`
	Parent         *string `json:"parent"`
	ForkOf         *string `json:"fork_of"`
	ContinuedIn    *string `json:"continued_in"`
	Name           *string `json:"name"`
	Harness        *string `json:"harness"`
	HarnessVersion *string `json:"harness_version"`
	Format         *string `json:"format"`
	FormatVersion  *string `json:"format_version"`
	CWD            *string `json:"cwd"`
	Start          *string `json:"start"`
	End            *string `json:"end"`
	DurationMS     *int64  `json:"duration_ms"`
	Entries        *int    `json:"entries"`
	Runs           *int    `json:"runs"`
	Chats          *int    `json:"chats"`
	Calls          *int    `json:"calls"`
	Errors         *int    `json:"errors"`
	Agents         *int    `json:"agents"`
	InputTokens    *int64  `json:"input_tokens"`
	OutputTokens   *int64  `json:"output_tokens"`
	// AtLeast: the tokens are a lower bound.
	AtLeast *bool          `json:"tokens_lower_bound"`
	State   *archive.State `json:"state"`
	Leaf    *string        `json:"leaf"`
	Path    string         `json:"path"`
	Damaged *int           `json:"damaged"`
	// Cut: there is more of it than was read.
	Cut   *bool   `json:"cut_short"`
	Error *string `json:"error"`
}

func newListed(v *archive.Overview) listed {
	s := v.File.Session
	row := listed{
		ID: &s.ID, TraceID: &v.TraceID, Root: &v.File.Root, ForkOf: orNull(s.ForkOf), ContinuedIn: orNull(v.ContinuedIn),
		Name: orNull(v.Name), Harness: orNull(s.Harness), HarnessVersion: orNull(s.Version),
		Format: &s.Format, FormatVersion: &s.FormatVersion, CWD: orNull(s.CWD),
		Entries: &v.Entries, Runs: &v.Runs, Chats: &v.Chats, Calls: &v.Calls, Errors: &v.Errors, Agents: &v.Agents,
		InputTokens: v.Tokens.Input, OutputTokens: v.Tokens.Output, AtLeast: &v.Tokens.LowerBound,
		State: &v.State, Leaf: orNull(v.Leaf), Path: v.File.Path, Damaged: &v.Damaged, Cut: new(v.Err != nil),
		Error: errorOrNull(v.Err),
	}
	if s.Spawn != nil {
		row.Parent = orNull(s.Spawn.Session)
	}
	if !v.Start.IsZero() {
		ms := v.End.Sub(v.Start).Milliseconds()
		row.Start, row.End, row.DurationMS = timeOrNull(v.Start), timeOrNull(v.End), &ms
	}
	return row
}

// writeListJSON writes one object a line: the sessions, then the files that could not be read.
func writeListJSON(w io.Writer, rows []archive.Overview, lost []problem) error {
	out := newJSONLines(w)
	for i := range rows {
		out.write(newListed(&rows[i]))
	}
	for _, p := range lost {
		out.write(listed{Path: *p.Path, Error: &p.What})
	}
	return out.flush()
}
