package format

// partition divides a path into runs in one pass over it. What an entry changed can be taken back, as with a [book].
type partition struct {
	header *Header
	rules  *Rules
	// book has the calls that count for runs: those of the path, or of the open run's segment alone in files of earlier minors.
	book *book
	run  *openRun       // nil between runs
	last *ResponseEntry // on the path
}

// openRun is a run as far as the path has been read.
type openRun struct {
	start *RunEntry
	end   *RunEntry
	at    int // place of the start on the path

	calls          map[*openCall]bool
	pending        map[string]int // ids of calls without an output, with how many calls have it
	held, inFlight int            // of calls
	response       *ResponseEntry // the last on the segment
	answers        bool           // the segment has an output or a decision
	talks          bool           // the segment has an item or a response
	takesUp        takeUp         // what the first entry about a call is about
}

// takeUp says which call the first decision, dispatch or output of a segment is about.
type takeUp int

const (
	takesNothing takeUp = iota
	takesEarlier        // one that was pending when the run began
	takesOwn            // any other
)

func newPartition(h *Header) *partition {
	return &partition{header: h, rules: h.rules(), book: newBook(h)}
}

func isStart(e Entry) bool {
	run, ok := e.(*RunEntry)
	return ok && run.IsStart()
}

// step is what an entry did to a partition.
type step struct {
	end    bool // it is the end of the open run, which is still there to be looked at
	change change
	book   *book // the one before
	run    *openRun
	was    openRun // what was in run
	last   *ResponseEntry
	joined bool // the call of the change became one of the run's
}

// add takes the next entry of the path, which has that place on it. A start opens a run in place of the one that is open.
func (p *partition) add(e Entry, place int) step {
	st := step{book: p.book, run: p.run, last: p.last}
	if p.run != nil {
		st.was = *p.run
	}
	run, _ := e.(*RunEntry)
	if run != nil && run.IsStart() {
		if !p.rules.PathReason {
			p.book = newBook(p.header) // the calls of the segment are all there are
		}
		p.run = &openRun{start: run, at: place, calls: map[*openCall]bool{}, pending: map[string]int{}}
	}
	st.change = p.book.add(e)
	if response, ok := e.(*ResponseEntry); ok {
		p.last = response
	}
	if p.run == nil {
		return st
	}
	st.joined = p.run.add(e, st.change, p.book)
	if run != nil && run.IsEnd() && run.RunID == p.run.start.RunID {
		p.run.end = run
		st.end = true
	}
	return st
}

// undo takes back the step that was made last of those not taken back.
func (p *partition) undo(st step) {
	c, counted := st.change.call, p.run != nil && p.run.calls[st.change.call]
	if counted {
		p.run.count(c.ID(), p.book.state(c), c.Output == nil, -1)
	}
	if st.joined {
		delete(p.run.calls, c)
	}
	p.book.undo(st.change)
	if counted && !st.joined {
		p.run.count(c.ID(), p.book.state(c), c.Output == nil, 1)
	}
	p.book, p.run, p.last = st.book, st.run, st.last
	if p.run != nil {
		*p.run = st.was
	}
}

// add takes an entry of the segment, and tells whether the call of its change became one of the run's.
func (r *openRun) add(e Entry, ch change, b *book) (joined bool) {
	switch e := e.(type) {
	case *ResponseEntry:
		r.response, r.talks = e, true
	case *DecisionEntry:
		r.answers = true
	case *ItemEntry:
		r.talks = true
		r.answers = r.answers || e.Item.Type == ItemFunctionCallOutput
	}
	c := ch.call
	if c == nil {
		return false
	}
	own := r.calls[c]
	if own {
		r.count(c.ID(), b.state(&ch.was), ch.was.Output == nil, -1)
	}
	joined = !own && (ch.made || b.rules.TakesUp)
	if joined {
		r.calls[c] = true
	}
	if own || joined {
		r.count(c.ID(), b.state(c), c.Output == nil, 1)
	}
	if !ch.made && r.takesUp == takesNothing {
		r.takesUp = takesOwn
		if !own && ch.was.Output == nil {
			r.takesUp = takesEarlier
		}
	}
	return joined
}

// count adds a call with a state to the sums, or takes it away again.
func (r *openRun) count(id string, state CallState, pending bool, n int) {
	if pending {
		if r.pending[id] += n; r.pending[id] == 0 {
			delete(r.pending, id)
		}
	}
	switch state {
	case CallHeld:
		r.held += n
	case CallInFlight:
		r.inFlight += n
	}
}

// reason is the cascade (A.10; C.3 from minor 3 on): the first that matches counts.
func (p *partition) reason(r *openRun) string {
	response := r.response
	switch {
	case response != nil && response.Error != nil:
		return ReasonError
	case r.held > 0 && r.inFlight == 0:
		return ReasonInputRequired
	case len(r.pending) > 0 || response != nil && response.Incomplete != nil:
		return ReasonAborted
	case response != nil && p.book.callers[response.ResponseID] == 0:
		return ReasonDone
	case p.stopped(r):
		return ReasonStopped
	}
	return ReasonAborted
}

// stopped reports whether the model asked for calls, all have their outputs, and the harness chose not to call it again.
// It is asked only after done has been ruled out.
func (p *partition) stopped(r *openRun) bool {
	if !p.rules.PathReason {
		return r.response != nil
	}
	return p.last != nil && p.book.callers[p.last.ResponseID] > 0 && p.book.pending == 0 && r.answers
}
