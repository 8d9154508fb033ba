package format

import "fmt"

// records checks what an entry records of runs and calls, and returns what takes the entry back.
func (c *checker) records(e Entry, place int) (back []func()) {
	own := c.at > c.s.base
	switch e := e.(type) {
	case *DispatchEntry:
		if own {
			c.found(checkRecord(c.whole.find(e.CallID, e.Target), e.CallID, e.Target, e, c.rules))
		}
	case *DecisionEntry:
		if own {
			c.found(checkRecord(c.whole.find(e.CallID, e.Target), e.CallID, e.Target, e, c.rules))
		}
	}
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
	if item, ok := e.(*ItemEntry); ok && own && ch.call != nil && ch.call.Output == item {
		c.found(c.promised(ch.call))
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

// promised checks that a call which has its output has the dispatch that the header promises (A.12).
func (c *checker) promised(call *openCall) error {
	switch {
	case !c.whole.promised || call.rejected || len(call.Dispatches) > 0:
		return nil
	case c.dispatched[call.Entry.ID]: // on another branch
		return nil
	case c.s.index[call.Entry.ID] <= c.s.base: // handed over in the session it was made in
		return nil
	}
	return fmt.Errorf("%w: call %q has an output and no dispatch", ErrRecordMissing, call.ID())
}

// run checks the end of a run against its segment.
func (c *checker) run(r *openRun) {
	c.found(verifyEnd(r.end, c.runs.reason(r), r.pending, func(id string) bool {
		call := c.runs.book.byID[id]
		return call != nil && call.Output == nil && r.calls[call]
	}))
	if !c.rules.RunSource {
		return
	}
	switch source := r.start.Source; {
	case source == SourceResume && r.takesUp == takesOwn:
		c.found(fmt.Errorf("%w: run %q says %s, and takes up no call that was pending", ErrSource, r.start.RunID, source))
	case source == SourceInput && r.takesUp == takesEarlier:
		c.found(fmt.Errorf("%w: run %q says %s, and begins with a call that was pending", ErrSource, r.start.RunID, source))
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
			c.found(fmt.Errorf("%w: %s has a call %q already", ErrCallOrder, id, e.Item.CallID))
		case !used:
			first[e.Item.CallID] = e.ID
		}
	}
}
