package format

import (
	"cmp"
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

// Pending returns the ids of the run's calls that had no output when its segment ended.
func (r *Run) Pending() []string {
	pending := []string{}
	for _, c := range r.calls {
		if c.Pending() {
			pending = append(pending, c.ID())
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
	p := partition{path: path, header: h, book: newBook(h)}
	for i, e := range path {
		p.add(i, e)
	}
	p.close(len(path))
	return p.runs
}

// Runs returns the runs on the path to an entry.
func (s *Session) Runs(leaf string) ([]*Run, error) {
	path, err := s.Path(leaf)
	if err != nil {
		return nil, err
	}
	return Runs(path, s.header), nil
}

// Minors in which the rules for runs change (C).
const (
	minorPathReason = 3 // the reason reads the path, not the segment alone
	minorTakeUp     = 9 // a run's calls include those it takes up
)

// partition divides a path into runs in one pass over it.
type partition struct {
	path   []Entry
	header *Header
	book   *book
	runs   []*Run
	last   *ResponseEntry // on the path

	// Of the open run:
	run          *Run
	start        int                // of the segment on the path
	calls        map[*openCall]bool // the run's own
	lastResponse *ResponseEntry     // on the segment
	answers      bool               // the segment has an output or a decision
}

func (p *partition) add(i int, e Entry) {
	run, _ := e.(*RunEntry)
	if run != nil && run.Phase == PhaseStart {
		p.open(i, run)
	}
	call := p.book.add(e)
	if response, ok := e.(*ResponseEntry); ok {
		p.last, p.lastResponse = response, response
	}
	if p.run == nil {
		return
	}
	if call != nil && (p.book.minor >= minorTakeUp || Entry(call.Entry) == e) {
		p.calls[call] = true
	}
	switch e := e.(type) {
	case *DecisionEntry:
		p.answers = true
	case *ItemEntry:
		p.answers = p.answers || e.Item.Type == ItemFunctionCallOutput
	}
	if run != nil && run.Phase == PhaseEnd && run.RunID == p.run.ID() {
		p.run.End = run
		p.close(i + 1)
	}
}

func (p *partition) open(i int, start *RunEntry) {
	p.close(i)
	if p.book.minor < minorPathReason {
		p.book = newBook(p.header) // the calls of the segment are all there are
	}
	p.run, p.start = &Run{Start: start}, i
	p.calls, p.lastResponse, p.answers = map[*openCall]bool{}, nil, false
	p.runs = append(p.runs, p.run)
}

// close ends the segment of the open run, if there is one, before the entry at end.
func (p *partition) close(end int) {
	if p.run == nil {
		return
	}
	p.run.Segment = p.path[p.start:end:end]
	calls := make([]*openCall, 0, len(p.calls))
	for c := range p.calls {
		calls = append(calls, c)
	}
	slices.SortFunc(calls, func(a, b *openCall) int { return cmp.Compare(a.place, b.place) })
	for _, c := range calls {
		p.run.calls = append(p.run.calls, p.book.call(c))
	}
	p.run.reason = p.reason()
	p.run = nil
}

// reason is the cascade: the first that matches counts.
func (p *partition) reason() string {
	var pending, held, inFlight bool
	for _, c := range p.run.calls {
		pending = pending || c.Pending()
		held = held || c.State == CallHeld
		inFlight = inFlight || c.State == CallInFlight
	}
	last := p.lastResponse
	switch {
	case last != nil && last.Error != nil:
		return ReasonError
	case held && !inFlight:
		return ReasonInputRequired
	case pending || last != nil && last.Incomplete != nil:
		return ReasonAborted
	case last != nil && !p.book.callers[last.ResponseID]:
		return ReasonDone
	case p.stopped():
		return ReasonStopped
	}
	return ReasonAborted
}

// stopped reports whether the model asked for calls, all have their outputs, and the harness chose not to call it again.
// It is asked only after done has been ruled out.
func (p *partition) stopped() bool {
	if p.book.minor < minorPathReason {
		return p.lastResponse != nil
	}
	return p.last != nil && p.book.callers[p.last.ResponseID] && p.book.pending == 0 && p.answers
}
