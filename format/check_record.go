package format

import "fmt"

// records checks what an entry records of runs and calls, and returns what takes the entry back.
func (c *checker) records(e Entry, place int) (back []func()) {
	own := c.at > c.s.base
	switch e := e.(type) {
	case *DispatchEntry:
		if own {
			c.record(e, e.CallID, e.Target)
		}
	case *DecisionEntry:
		if own {
			c.record(e, e.CallID, e.Target)
		}
	}
	open := c.runs.run
	st := c.runs.add(e, place)
	back = append(back, func() { c.runs.undo(st) })
	ch := st.change
	if c.whole != c.runs.book {
		ch = c.whole.add(e)
		back = append(back, func() { c.whole.undo(ch) })
	}
	if ch.made {
		c.result.Calls++
	}
	if own {
		back = append(back, c.alone(e, ch, open)...)
	}
	if item, ok := e.(*ItemEntry); ok && own && ch.call != nil && ch.call.Output == item && c.promises(ch.call) {
		call := ch.call
		c.owed[call] = c.at
		back = append(back, func() { delete(c.owed, call) })
	}
	if st.end {
		c.result.Runs++
		if own {
			c.run(c.runs.run)
		}
		run := c.runs.run
		c.runs.run = nil
		back = append(back, func() { c.runs.run = run })
	}
	return back
}

// alone notes an output, a record or the end of a run that belongs to nothing on its path, which readers pass over (A.10, A.11),
// and a run that has the id of an earlier one.
func (c *checker) alone(e Entry, ch change, open *openRun) (back []func()) {
	switch e := e.(type) {
	case *ItemEntry:
		if e.Item.Type == ItemFunctionCallOutput && c.whole.byID[e.Item.CallID] == nil {
			c.noted(fmt.Errorf("%w: an output of the call %.100q, which the path does not have", ErrReference, e.Item.CallID))
		}
	case *DispatchEntry:
		if ch.call == nil && !c.rules.CallOrder {
			c.noted(fmt.Errorf("%w: a dispatch of the call %.100q, which the path does not have", ErrReference, e.CallID))
		}
	case *DecisionEntry:
		if ch.call == nil && !c.rules.CallOrder {
			c.noted(fmt.Errorf("%w: a decision on the call %.100q, which the path does not have", ErrReference, e.CallID))
		}
	case *RunEntry:
		switch id := e.RunID; {
		case e.IsEnd() && (open == nil || open.start.RunID != id):
			c.noted(fmt.Errorf("%w: an end of run %.100q, which is not open", ErrReference, id))
		case e.IsStart() && c.runIDs[id]:
			c.noted(fmt.Errorf("%w: run %.100q has the id of an earlier one", ErrReference, id))
		case e.IsStart():
			c.runIDs[id] = true
			back = append(back, func() { delete(c.runIDs, id) })
		}
	}
	return back
}

// record checks what is recorded of a call against what was recorded before.
func (c *checker) record(e Entry, callID, target string) {
	call := c.whole.find(callID, target)
	c.found(checkRecord(call, callID, target, e, c.rules))
	c.found(c.s.checkAnswer(call, e, c.dispatched))
}

// promises reports whether a call that has got its output is one whose dispatch the header promises (A.12): not one that was
// handed over on another branch, or in the session that it was made in.
func (c *checker) promises(call *openCall) bool {
	return c.whole.promised && !c.dispatched[call.Entry.ID] && c.s.index[call.Entry.ID] > c.s.base
}

// leaf checks, at the end of a path, that the calls on it which have their output have the dispatch that is promised. It may
// stand behind the output in files of earlier minors, and so may the reject that makes it unnecessary.
func (c *checker) leaf() {
	for call, output := range c.owed {
		if call.rejected || len(call.Dispatches) > 0 {
			continue
		}
		c.at = output
		c.found(fmt.Errorf("%w: call %.100q has an output and no dispatch", ErrRecordMissing, call.ID()))
		delete(c.owed, call) // it has been said
	}
}

// run checks the end of a run against its segment.
func (c *checker) run(r *openRun) {
	c.found(verifyEnd(r.end, c.runs.reason(r), len(r.pending), func(id string) bool { return r.pending[id] > 0 }))
	if !c.rules.RunSource {
		return
	}
	end := c.at
	defer func() { c.at = end }()
	c.at = c.s.index[r.start.ID]
	switch source := r.start.Source; {
	case source != SourceInput && source != SourceResume:
		c.found(fmt.Errorf("%w: run %.100q says %.100q, which is neither %s nor %s", ErrSource, r.start.RunID, source, SourceInput, SourceResume))
	case source == SourceResume && (r.takesUp == takesOwn || r.takesUp == takesNothing && r.talks):
		c.found(fmt.Errorf("%w: run %.100q says %s, and takes up no call that was pending", ErrSource, r.start.RunID, source))
	case source == SourceInput && r.takesUp == takesEarlier:
		c.found(fmt.Errorf("%w: run %.100q says %s, and begins with a call that was pending", ErrSource, r.start.RunID, source))
	}
}

// unique checks that no two calls have one id, from the minor on that wants it (C, 0.9).
func (c *checker) unique() {
	if !c.rules.CallOrder {
		return
	}
	first := map[string]string{}
	for i, r := range c.s.rows {
		e, ok := r.entry.(*ItemEntry)
		if !ok || e.Item.Type != ItemFunctionCall {
			continue
		}
		c.at = i
		switch id, used := first[e.Item.CallID]; {
		case e.Item.CallID == "" && i > c.s.base:
			c.found(fmt.Errorf("%w: a function call without a call_id", ErrCallOrder))
		case used && i > c.s.base:
			c.found(fmt.Errorf("%w: %.100s has a call %.100q already", ErrCallOrder, id, e.Item.CallID))
		case !used:
			first[e.Item.CallID] = e.ID
		}
	}
}
