package format

import "fmt"

// Call is a function call on a path with everything that happened to it there (A.11).
type Call struct {
	// Entry holds the call.
	Entry *ItemEntry
	// Decisions and Dispatches are about the call, in the order of the path.
	Decisions  []*DecisionEntry
	Dispatches []*DispatchEntry
	// Output holds the output; nil while there is none.
	Output *ItemEntry
	// State sums it up.
	State CallState
}

// CallState is what a path says happened to a call.
type CallState int

const (
	// CallUnknown: neither dispatch nor output, in a file that does not promise dispatches.
	CallUnknown CallState = iota
	// CallCompleted: it has an output.
	CallCompleted
	// CallHeld: it waits for an answer to a hold.
	CallHeld
	// CallInFlight: it was dispatched and has no output; its side effect may have happened.
	CallInFlight
	// CallNeverStarted: neither dispatch nor output, in a file that promises dispatches.
	CallNeverStarted
	// CallRejected: it was rejected, and the output that says so is not there (from minor 9 on).
	CallRejected
	// CallAnswered: the harness answered it, and the output that says so is not there (from minor 8 on).
	CallAnswered
)

// String returns the state in the format's own word.
func (s CallState) String() string {
	switch s {
	case CallUnknown:
		return "unknown"
	case CallCompleted:
		return "completed"
	case CallHeld:
		return "held"
	case CallInFlight:
		return "in_flight"
	case CallNeverStarted:
		return "never_started"
	case CallRejected:
		return "rejected"
	case CallAnswered:
		return "answered"
	}
	return fmt.Sprintf("CallState(%d)", int(s))
}

// ID returns the call id, which joins the call, what is decided about it, and its output.
func (c *Call) ID() string { return c.Entry.Item.CallID }

// Name returns the name of the tool.
func (c *Call) Name() string { return c.Entry.Item.Name }

// Pending reports whether the call has no output.
func (c *Call) Pending() bool { return c.Output == nil }

// Decided reports whether some decision on the call has that verdict.
func (c *Call) Decided(verdict string) bool {
	for _, d := range c.Decisions {
		if d.Verdict == verdict {
			return true
		}
	}
	return false
}

// Calls returns the function calls on a path, root first, in the order of their items. The header says which minor's rules
// apply, and what its writer promised to record. What concerns a call that is not on the path is left out.
func Calls(path []Entry, h *Header) []*Call {
	b := newBook(h)
	for _, e := range path {
		b.add(e)
	}
	calls := make([]*Call, len(b.calls))
	for i, c := range b.calls {
		calls[i] = b.call(c)
	}
	return calls
}

// Calls returns the calls on the path to an entry. It knows the whole file, and so more than [Calls] does: a call that was
// made above the header's base, under another session's promise, or that has a dispatch on another branch (from minor 10
// on), is not taken for one that never started.
func (s *Session) Calls(leaf string) ([]*Call, error) {
	path, err := s.Path(leaf)
	if err != nil {
		return nil, err
	}
	calls := Calls(path, s.header)
	var dispatched map[string]bool // by target, on any branch
	for _, c := range calls {
		if c.State != CallNeverStarted {
			continue
		}
		if dispatched == nil {
			dispatched = s.dispatched()
		}
		if s.index[c.Entry.ID] < s.base || dispatched[c.Entry.ID] {
			c.State = CallUnknown
		}
	}
	return calls, nil
}

// minorRebase is the first minor in which a dispatch off the path counts.
const minorRebase = 10

func (s *Session) dispatched() map[string]bool {
	targets := map[string]bool{}
	if s.header.Minor() < minorRebase {
		return targets
	}
	for _, r := range s.rows {
		if e, ok := r.entry.(*DispatchEntry); ok {
			targets[e.Target] = true
		}
	}
	return targets
}

// book follows the calls of a path, entry by entry.
type book struct {
	minor    int
	promised bool // the file records every dispatch
	calls    []*openCall
	byEntry  map[string]*openCall // by the id of the entry that holds the call
	byID     map[string]*openCall // by call id
	callers  map[string]bool      // response ids of the calls
	pending  int                  // calls without an output
}

// openCall is a call as far as the path has been read.
type openCall struct {
	Call
	place  int  // among the calls of the path
	handed bool // a dispatch follows the latest decision
}

func newBook(h *Header) *book {
	return &book{
		minor:    h.Minor(),
		promised: h.HasRecord(TypeDispatch),
		byEntry:  map[string]*openCall{},
		byID:     map[string]*openCall{},
		callers:  map[string]bool{},
	}
}

// Minors in which the rules for calls change (C).
const (
	minorLatestCall = 3 // of two calls with one id the later is meant, and a target decides before the id
	minorAnswer     = 8 // a hold after a dispatch holds
	minorRejected   = 9 // a rejected call without its output has a state of its own
)

// add takes the next entry of the path. It returns the call that the entry makes, decides, dispatches or completes; nil
// when it does none of these.
func (b *book) add(e Entry) *openCall {
	switch e := e.(type) {
	case *ItemEntry:
		switch e.Item.Type {
		case ItemFunctionCall:
			return b.open(e)
		case ItemFunctionCallOutput:
			if c := b.byID[e.Item.CallID]; c != nil && c.Output == nil {
				c.Output = e
				b.pending--
				return c
			}
		}
	case *DecisionEntry:
		if c := b.find(e.CallID, e.Target); c != nil {
			c.Decisions = append(c.Decisions, e)
			c.handed = false
			return c
		}
	case *DispatchEntry:
		if c := b.find(e.CallID, e.Target); c != nil {
			c.Dispatches = append(c.Dispatches, e)
			c.handed = true
			return c
		}
	}
	return nil
}

func (b *book) open(e *ItemEntry) *openCall {
	id := e.Item.CallID
	if b.byID[id] != nil && b.minor < minorLatestCall {
		return nil
	}
	c := &openCall{Call: Call{Entry: e}, place: len(b.calls)}
	b.calls = append(b.calls, c)
	b.pending++
	b.byEntry[e.ID] = c
	if id != "" { // no output can mean a call without an id
		b.byID[id] = c
	}
	if e.ResponseID != "" {
		b.callers[e.ResponseID] = true
	}
	return c
}

func (b *book) find(callID, target string) *openCall {
	if b.minor >= minorLatestCall {
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
	case c.Decided(VerdictAnswer):
		return CallAnswered
	case b.minor >= minorRejected && c.Decided(VerdictReject):
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
	n := len(c.Decisions)
	if n == 0 || c.Decisions[n-1].Verdict != VerdictHold {
		return false
	}
	if b.minor < minorAnswer {
		return len(c.Dispatches) == 0
	}
	return !c.handed
}
