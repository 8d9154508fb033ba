package sessiontest

// state is what is true at an entry, on the path that leads to it. It is a value: every entry keeps its own, so that work
// can go on from any of them.
type state struct {
	// run is the open run, or nil.
	run *run
	// begun: there is an item since its start, so that its source is settled.
	begun bool
	// open are the calls without an output. The slice is never written to.
	open []openCall
	// last is the last response of the open run's segment.
	last struct{ seen, failed, incomplete, calls bool }
	// set are the settings in force, never written to.
	set *settings
}

// openCall is a call on the path that has no output.
type openCall struct {
	call *call
	// seg is the run on whose segment the call was asked for, or nil.
	seg *run
	// dispatched, held, rejected: there is a dispatch; the latest decision is a hold; one is a reject.
	dispatched, held, rejected bool
}

// call is one function call of the file.
type call struct {
	truth CallTruth
	// spawns: the tool is a session of its own, which exists when child is set.
	spawns bool
	child  *file
}

// run is one run of the file.
type run struct{ truth RunTruth }

// edit applies f to the open call c, or takes it out when f is nil.
func (s *state) edit(c *call, f func(*openCall)) {
	var open []openCall
	for _, x := range s.open {
		if x.call == c {
			if f == nil {
				continue
			}
			f(&x)
		}
		open = append(open, x)
	}
	s.open = open
}

// find returns the open call c.
func (s *state) find(c *call) (openCall, bool) {
	for _, x := range s.open {
		if x.call == c {
			return x, true
		}
	}
	return openCall{}, false
}

// pending returns the ids of the calls on the open run's segment that have no output.
func (s *state) pending() []string {
	ids := []string{}
	for _, x := range s.open {
		if x.seg == s.run {
			ids = append(ids, x.call.truth.ID)
		}
	}
	return ids
}

// reason returns why the open run ends, if it ends here and nothing else stops it (A.10).
func (s *state) reason() string {
	var pending, held, dispatched bool
	for _, x := range s.open {
		if x.seg == s.run {
			pending = true
			held = held || x.held && !x.dispatched
			dispatched = dispatched || x.dispatched
		}
	}
	switch {
	case s.last.failed:
		return "error"
	case held && !dispatched:
		return "input_required"
	case pending || s.last.incomplete || !s.last.seen:
		return "aborted"
	case !s.last.calls:
		return "done"
	default:
		return "stopped"
	}
}

// callState returns the state of a call without an output (A.11).
func (x openCall) callState(promised bool) string {
	switch {
	case x.held && !x.dispatched:
		return "held"
	case x.dispatched:
		return "in_flight"
	case promised:
		return "never_started"
	default:
		return "unknown"
	}
}
