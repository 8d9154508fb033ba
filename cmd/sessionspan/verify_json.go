package main

import (
	"encoding/json"
	"io"
)

// verifyJSON is the report for programs.
type verifyJSON struct {
	enc   *json.Encoder
	quiet bool
	bad   bool
}

func newVerifyJSON(out io.Writer, quiet bool) *verifyJSON {
	return &verifyJSON{enc: newEncoder(out), quiet: quiet}
}

// verifiedFile is a file as a program reads it.
type verifiedFile struct {
	Path          string  `json:"path"`
	ID            *string `json:"id"`
	Format        *string `json:"format"`
	FormatVersion *string `json:"format_version"`
	Entries       int     `json:"entries"`
	Checked       struct {
		Hashes int `json:"hashes"`
		NoHash int `json:"no_hash"`
		Runs   int `json:"runs"`
		Calls  int `json:"calls"`
		IDs    int `json:"ids"`
	} `json:"checked"`
	Nothing  bool              `json:"nothing_to_check"`
	OK       bool              `json:"ok"`
	Findings []verifiedFinding `json:"findings"`
	More     int               `json:"more_findings"`
	Notes    int               `json:"more_notes"`
	Error    *string           `json:"error"`
}

type verifiedFinding struct {
	Path   string  `json:"path"`
	Line   int     `json:"line"`
	Offset int64   `json:"offset"`
	At     *int    `json:"at"`
	Rule   string  `json:"rule"`
	Entry  *string `json:"entry"`
	What   string  `json:"what"`
	Note   bool    `json:"note"`
}

func (j *verifyJSON) file(c *checked) {
	one := verifiedFile{Path: c.path, Findings: []verifiedFinding{}, OK: c.err == nil, Nothing: true, Error: errorOrNull(c.err)}
	if c.file != nil {
		h := c.file.Header
		one.ID, one.Format, one.FormatVersion = orNull(h.ID), orNull(h.Format), orNull(h.FormatVersion)
	}
	if r := c.report; r != nil {
		one.OK = one.OK && r.Broken() == 0
		one.More, one.Notes = r.MoreFindings, r.MoreNotes
		one.Nothing, one.Entries = r.Empty(), r.Entries
		one.Checked.Hashes, one.Checked.NoHash = r.Hashes, r.NoHash
		one.Checked.Runs, one.Checked.Calls, one.Checked.IDs = r.Runs, r.Calls, r.IDs
		for _, f := range r.Findings {
			one.Findings = append(one.Findings, verifiedFinding{
				Path: c.path, Line: f.Line, Offset: f.Offset, At: placeOrNull(f.At), Rule: f.Rule, Entry: orNull(f.Entry), What: f.What,
				Note: f.Note,
			})
		}
	}
	j.bad = j.bad || !one.OK
	if j.quiet && one.OK {
		return
	}
	_ = j.enc.Encode(&one) // the writer keeps its error until it is flushed
}

// placeOrNull is a place in a line; 0 says that it is not known, or the start.
func placeOrNull(at int) *int {
	if at == 0 {
		return nil
	}
	return &at
}

func (j *verifyJSON) lost(err error) problem {
	j.bad = true
	return problemOfFile(err)
}

func (j *verifyJSON) end() {}

func (j *verifyJSON) found() bool { return j.bad }
