package format

// book follows the calls of a path, entry by entry. What an entry changed can be taken back, last entry first, so that one
// book serves all paths of a tree.
type book struct {
	rules    *Rules
	promised bool // the file records every dispatch
	calls    []*openCall
	byEntry  map[string]*openCall // by the id of the entry that holds the call
	byID     map[string]*openCall // by call id: the call that is meant by it
	callers  map[string]int       // how many calls a response made
	pending  int                  // calls without an output
}

// openCall is a call as far as the path has been read.
type openCall struct {
	Call
	place              int  // among the calls of the path
	rejected, answered bool // by some decision
	hold               bool // the latest decision is one
	handed             bool // a dispatch follows the latest decision
}

func newBook(h *Header) *book {
	return &book{
		rules:    h.rules(),
		promised: h.HasRecord(TypeDispatch),
		byEntry:  map[string]*openCall{},
		byID:     map[string]*openCall{},
		callers:  map[string]int{},
	}
}

// change is what an entry did to a book.
type change struct {
	call *openCall // that the entry makes, decides, dispatches or completes; nil when it does none of these
	made bool      // the entry makes it
	was  openCall  // before; zero for one that was made
	same *openCall // for one that was made: the call that its id meant before
}

// add takes the next entry of the path.
func (b *book) add(e Entry) change {
	switch e := e.(type) {
	case *ItemEntry:
		switch e.Item.Type {
		case ItemFunctionCall:
			return b.open(e)
		case ItemFunctionCallOutput:
			if c := b.byID[e.Item.CallID]; c != nil && c.Output == nil {
				ch := change{call: c, was: *c}
				c.Output = e
				b.pending--
				return ch
			}
		}
	case *DecisionEntry:
		if c := b.find(e.CallID, e.Target); c != nil {
			ch := change{call: c, was: *c}
			c.Decisions = append(c.Decisions, e)
			c.rejected = c.rejected || e.Verdict == VerdictReject
			c.answered = c.answered || b.rules.Answers && e.Verdict == VerdictAnswer
			c.hold, c.handed = e.Verdict == VerdictHold, false
			return ch
		}
	case *DispatchEntry:
		if c := b.find(e.CallID, e.Target); c != nil {
			ch := change{call: c, was: *c}
			c.Dispatches = append(c.Dispatches, e)
			c.handed = true
			return ch
		}
	}
	return change{}
}

func (b *book) open(e *ItemEntry) change {
	id := e.Item.CallID
	same := b.byID[id]
	if same != nil && !b.rules.LatestCall {
		return change{}
	}
	c := &openCall{Call: Call{Entry: e}, place: len(b.calls)}
	b.calls = append(b.calls, c)
	b.pending++
	b.byEntry[e.ID] = c
	if id != "" { // no output can mean a call without an id
		b.byID[id] = c
	}
	if e.ResponseID != "" {
		b.callers[e.ResponseID]++
	}
	return change{call: c, made: true, same: same}
}

// undo takes back the change that was made last of those not taken back.
func (b *book) undo(ch change) {
	c := ch.call
	switch {
	case c == nil:
	case ch.made:
		b.calls = b.calls[:len(b.calls)-1]
		b.pending--
		delete(b.byEntry, c.Entry.ID)
		if id := c.ID(); ch.same != nil {
			b.byID[id] = ch.same
		} else {
			delete(b.byID, id)
		}
		if r := c.Entry.ResponseID; b.callers[r] > 1 {
			b.callers[r]--
		} else {
			delete(b.callers, r)
		}
	default:
		if c.Output != nil && ch.was.Output == nil {
			b.pending++
		}
		*c = ch.was
	}
}

func (b *book) find(callID, target string) *openCall {
	if b.rules.LatestCall {
		if c := b.byEntry[target]; c != nil {
			return c
		}
	}
	return b.byID[callID]
}

// call returns the call as it is now.
func (b *book) call(c *openCall) *Call {
	call := c.Call
	call.State = b.state(c)
	return &call
}

func (b *book) state(c *openCall) CallState {
	switch {
	case c.Output != nil:
		return CallCompleted
	case c.answered:
		return CallAnswered
	case b.rules.RejectedState && c.rejected:
		return CallRejected
	case b.held(c):
		return CallHeld
	case len(c.Dispatches) > 0:
		return CallInFlight
	case b.promised:
		return CallNeverStarted
	}
	return CallUnknown
}

func (b *book) held(c *openCall) bool {
	if !b.rules.Answers {
		return c.hold && len(c.Dispatches) == 0
	}
	return c.hold && !c.handed
}
