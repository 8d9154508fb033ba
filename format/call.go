package format

import (
	"fmt"
	"slices"
)

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

// Args returns the arguments that the tool ran with: those of the last decision that rewrote them, else the model's own, which
// are a text that should be JSON. What an answer gives is for no tool.
func (c *Call) Args() string {
	for _, d := range slices.Backward(c.Decisions) {
		if d.Args != nil && d.Verdict != VerdictAnswer {
			return string(d.Args)
		}
	}
	call, err := c.Entry.Item.FunctionCall()
	if err != nil {
		return ""
	}
	return call.Arguments
}

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
	s.mu.RLock()
	defer s.mu.RUnlock()
	var dispatched map[string]bool // by target, on any branch
	for _, c := range calls {
		if c.State != CallNeverStarted {
			continue
		}
		if dispatched == nil {
			dispatched = s.dispatched()
		}
		if s.index[c.Entry.ID] <= s.base || dispatched[c.Entry.ID] {
			c.State = CallUnknown
		}
	}
	return calls, nil
}

func (s *Session) dispatched() map[string]bool {
	targets := map[string]bool{}
	if !s.header.rules().DispatchElsewhere {
		return targets
	}
	for _, r := range s.rows {
		if e, ok := r.entry.(*DispatchEntry); ok {
			targets[e.Target] = true
		}
	}
	return targets
}

// PendingCalls returns the calls on the path to an entry that have no output: what a resume answers.
func (s *Session) PendingCalls(leaf string) ([]*Call, error) {
	calls, err := s.Calls(leaf)
	var pending []*Call
	for _, c := range calls {
		if c.Pending() {
			pending = append(pending, c)
		}
	}
	return pending, err
}
