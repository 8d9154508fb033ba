package verify

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/pi"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/stored"
)

// Of what is notable and breaks no rule.
const (
	ruleUnfamiliar = "unfamiliar"
	ruleRepeat     = "repeat"
	ruleLineFeed   = "line_feed"
)

// MaxFindings is how many findings, notes included, are kept of one file.
const MaxFindings = stored.MaxDamage

// Finding is something in a file that is not as it should be, or, as a note, that somebody may want to know.
type Finding struct {
	// Line counts from 1, Offset is that of the line's first byte once decompressed. At is the offset within the line where
	// the trouble was seen; 0 where that is not known, too.
	Line   int
	Offset int64
	At     int
	// Rule is what it is about, in one word for programs; Entry the id of the entry, or "".
	Rule, Entry string
	What        string
	Note        bool
}

// Report is what the verification of a file came to.
type Report struct {
	// Findings are in the order of the file, and no more than [MaxFindings].
	Findings []Finding
	// MoreFindings and MoreNotes count what Findings does not hold.
	MoreFindings, MoreNotes int
	// Known: the format is one that there is something to check of beyond damage.
	Known bool
	// Entries counts the entries, Hashes to IDs are those of [format.Check].
	Entries int
	// Placed counts the entries of a session of pi, whose tree and references were checked.
	Placed                           int
	Hashes, NoHash, Runs, Calls, IDs int
}

// Empty reports whether there was nothing to check.
func (r *Report) Empty() bool { return r.Hashes+r.Runs+r.Calls+r.IDs+r.Placed == 0 }

// Broken counts the findings that are not notes.
func (r *Report) Broken() int {
	n := r.MoreFindings
	for _, f := range r.Findings {
		if !f.Note {
			n++
		}
	}
	return n
}

// File verifies a file. The error is that of the context.
func File(ctx context.Context, f *stored.File) (*Report, error) {
	r := &Report{Known: f.Session != nil, MoreFindings: f.MoreDamage}
	for _, d := range f.Damage {
		r.Findings = append(r.Findings, Finding{
			Line: d.Line, Offset: d.Offset, At: d.At, Rule: d.Rule, Entry: d.Entry, What: d.What,
		})
	}
	if s := f.Session; s != nil {
		check, err := s.Check(ctx)
		if err != nil {
			return nil, err
		}
		r.Entries = s.Len()
		r.take(s, check)
	}
	if s := r.pi(f); s != nil {
		r.takePi(s)
	}
	if at := f.Unended; at.Line > 0 {
		r.note(at.Line, at.Offset, ruleLineFeed, "the last line is whole, but has no line feed; sessionspan repair --write adds it")
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
	r.cap()
	return r, nil
}

// cap counts the findings that are too many instead of keeping them.
func (r *Report) cap() {
	if len(r.Findings) <= MaxFindings {
		return
	}
	for _, f := range r.Findings[MaxFindings:] {
		if f.Note {
			r.MoreNotes++
		} else {
			r.MoreFindings++
		}
	}
	r.Findings = slices.Clone(r.Findings[:MaxFindings])
}

func (r *Report) take(s *format.Session, c *format.Check) {
	r.Hashes, r.NoHash, r.Runs, r.Calls, r.IDs = c.Hashes, c.NoHash, c.Runs, c.Calls, c.IDs
	for _, f := range c.Findings {
		r.Findings = append(r.Findings, Finding{
			Line: f.Line, Offset: f.Offset, Rule: string(f.Rule), Entry: f.Entry, What: f.Err.Error(), Note: f.Note,
		})
	}
	for _, line := range s.Repeats() {
		r.note(line.Number, line.Offset, ruleRepeat, "the line repeats an earlier one, and is the same entry")
	}
	for _, u := range c.Unfamiliar {
		r.unfamiliar(u)
	}
	if s.Header().Newer() {
		r.note(1, 0, ruleUnfamiliar, s.Header().Format+" is newer than this version knows: not checked under its own rules")
	}
}

// pi returns the session of a file of pi, or nil.
func (r *Report) pi(f *stored.File) *pi.Session {
	if f.Header.Format != source.Pi.Name {
		return nil
	}
	s, err := pi.Parse(f.Text)
	if err != nil {
		return nil
	}
	return s
}

func (r *Report) takePi(s *pi.Session) {
	c := s.Check()
	r.Known, r.Entries, r.Placed, r.Calls = true, len(s.Entries()), len(s.Entries()), c.Calls
	for _, f := range c.Findings {
		r.Findings = append(r.Findings, Finding{
			Line: f.Line, Offset: f.Offset, Rule: string(f.Rule), Entry: f.Entry, What: f.What, Note: f.Note,
		})
	}
	if c.Unanswered > 0 {
		r.note(1, 0, string(pi.RuleCall), fmt.Sprintf("%d of %d calls have no result", c.Unanswered, c.Calls))
	}
}

func (r *Report) note(line int, offset int64, rule, what string) {
	r.Findings = append(r.Findings, Finding{Line: line, Offset: offset, Rule: rule, What: what, Note: true})
}

// unfamiliar notes what was not checked since this version does not know it.
func (r *Report) unfamiliar(u format.Unfamiliar) {
	what := u.What + " is not known to this version, and was not checked"
	if u.Count > 1 {
		what += fmt.Sprintf(" (on %d lines)", u.Count)
	}
	r.note(u.Line, u.Offset, ruleUnfamiliar, what)
}
