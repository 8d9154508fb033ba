package format

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Run is one run's segment of a path (A.10).
type Run struct {
	// Start opens the run. End closes it; nil when the run was cut off, by a crash, a branch or the next run.
	Start, End *RunEntry
	// Segment holds the entries of the run in order, Start and End included.
	Segment []Entry

	calls  []*Call
	reason string
}

// ID returns the id of the run.
func (r *Run) ID() string { return r.Start.RunID }

// Calls returns the run's calls, as they stood when its segment ended: those made on the segment, and from minor 9 on also
// earlier ones that the segment decides, dispatches or completes.
func (r *Run) Calls() []*Call { return r.calls }

// Pending returns the ids of the run's calls that had no output when its segment ended, each once.
func (r *Run) Pending() []string {
	pending := []string{}
	seen := map[string]bool{}
	for _, c := range r.calls {
		if id := c.ID(); c.Pending() && !seen[id] {
			seen[id] = true
			pending = append(pending, id)
		}
	}
	return pending
}

// ComputeReason returns why the run ended, as its segment and the path before it tell (A.10; C.3 from minor 3 on): done,
// stopped, input_required, aborted, or error when its last response has one. It says so of a run without an end as well. A
// writer may have known better: a written error or interrupted stands over any segment.
func (r *Run) ComputeReason() string { return r.reason }

// Runs divides a path, root first, into its runs. A start opens a run and closes, without an end, the one still open; an end
// with the run's id closes it. What stands before, between and after runs belongs to none. The header says which minor's
// rules apply.
func Runs(path []Entry, h *Header) []*Run {
	var runs []*Run
	p := newPartition(h)
	closed := func(r *openRun, end int) {
		if r == nil {
			return
		}
		run := &Run{Start: r.start, End: r.end, Segment: path[r.at:end:end], reason: p.reason(r)}
		for _, c := range slices.SortedFunc(maps.Keys(r.calls), func(a, b *openCall) int { return cmp.Compare(a.place, b.place) }) {
			run.calls = append(run.calls, p.book.call(c))
		}
		runs = append(runs, run)
	}
	for i, e := range path {
		if isStart(e) {
			closed(p.run, i) // as it is, before a start makes another one
		}
		if p.add(e, i).end {
			closed(p.run, i+1)
			p.run = nil
		}
	}
	closed(p.run, len(path))
	return runs
}

// Runs returns the runs on the path to an entry.
func (s *Session) Runs(leaf string) ([]*Run, error) {
	path, err := s.Path(leaf)
	if err != nil {
		return nil, err
	}
	return Runs(path, s.header), nil
}

// OpenRun returns the run that is open at the end of the path to an entry, or nil.
func (s *Session) OpenRun(leaf string) (*Run, error) {
	runs, err := s.Runs(leaf)
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	last := runs[len(runs)-1]
	if last.End != nil {
		return nil, nil
	}
	return last, nil
}

// EndRun returns the entry that ends the run open at the leaf, with the calls that are pending. A reason of "" is the one that
// the segment tells ([Run.ComputeReason]); the ref, what caused the end, may be "". It is not appended. The error is
// [ErrNoRun].
func (s *Session) EndRun(reason, ref string) (*RunEntry, error) {
	run, err := s.OpenRun(s.Leaf())
	switch {
	case err != nil:
		return nil, err
	case run == nil:
		return nil, ErrNoRun
	case reason == "":
		reason = run.ComputeReason()
	}
	return NewRunEnd(run.ID(), reason, ref, run.Pending()), nil
}

// Verify compares the end of the run with what its segment and the path tell (A.10): the reason, over which a written error or
// interrupted stands, and the calls that are pending, as a set. A run without an end has nothing to verify. The error wraps
// [ErrReasonMismatch].
func (r *Run) Verify() error {
	if r.End == nil {
		return nil
	}
	pending := map[string]bool{}
	for _, id := range r.Pending() {
		pending[id] = true
	}
	return verifyEnd(r.End, r.reason, len(pending), func(id string) bool { return pending[id] })
}

// verifyEnd compares the end of a run with the reason and the number of pending calls that were computed.
func verifyEnd(end *RunEntry, reason string, pending int, isPending func(id string) bool) error {
	if stands := end.Reason == ReasonError || end.Reason == ReasonInterrupted; !stands && end.Reason != reason {
		return fmt.Errorf("%w: run %.100q says %.100q, and its segment is that of %.100q", ErrReasonMismatch, end.RunID, end.Reason, reason)
	}
	said := map[string]bool{}
	for _, id := range end.Pending {
		if said[id] = true; !isPending(id) {
			return fmt.Errorf("%w: run %.100q says that call %.100q is pending, and it is not", ErrReasonMismatch, end.RunID, id)
		}
	}
	if len(said) != pending {
		return fmt.Errorf("%w: run %.100q says that %d calls are pending, and %d are", ErrReasonMismatch, end.RunID, len(said), pending)
	}
	return nil
}
