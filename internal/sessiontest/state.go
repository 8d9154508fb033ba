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
	// asked: the last response on the path has calls. answers: the segment has an output or a decision.
	asked, answers bool
	// queued are the inputs that wait. The slice is never written to.
	queued []waiting
	// set are the settings in force, never written to.
	set *settings
}

// openCall is a call on the path that has no output.
type openCall struct {
	call *call
	// seg is the run on whose segment the call was asked for, or nil.
	seg *run
	// taken is the run that took it up last.
	taken *run
	// dispatched, held, rejected: there is a dispatch; the latest decision is a hold; one is a reject.
	dispatched, held, rejected bool
	// heldAfter, answered: the hold came after the last dispatch; a decision answers it.
	heldAfter, answered bool
}

// of says whether the call is one of the run's: asked for on its segment or, from minor 9 on, taken up there.
func (x openCall) of(r *run, minor int) bool { return x.seg == r || minor >= takesUp && x.taken == r }

// inFlight says whether the call may be running: from minor 8 on, a hold or an answer after its dispatch ends that.
func (x openCall) inFlight(minor int) bool {
	return x.dispatched && (minor < answers || !x.heldAfter && !x.answered)
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

// pending returns the ids of the open run's calls that have no output.
func (s *state) pending(minor int) []string {
	ids := []string{}
	for _, x := range s.open {
		if x.of(s.run, minor) {
			ids = append(ids, x.call.truth.ID)
		}
	}
	return ids
}

// reason returns why the open run ends, if it ends here and nothing else stops it (A.10; C.3 from minor 3 on).
func (s *state) reason(minor int) string {
	var pending, held, flying bool
	for _, x := range s.open {
		if x.of(s.run, minor) {
			pending = true
			held = held || x.held && !x.inFlight(minor)
			flying = flying || x.inFlight(minor)
		}
	}
	switch {
	case s.last.failed:
		return "error"
	case held && !flying:
		return "input_required"
	case pending || s.last.incomplete || minor < pathReason && !s.last.seen:
		return "aborted"
	case s.last.seen && !s.last.calls:
		return "done"
	case minor < pathReason || s.asked && len(s.open) == 0 && s.answers:
		return "stopped"
	default:
		return "aborted"
	}
}

// callState returns the state of a call without an output (A.11).
func (x openCall) callState(promised bool, minor int) string {
	switch {
	case x.answered:
		return "answered"
	case x.rejected && minor >= takesUp:
		return "rejected"
	case x.held && !x.inFlight(minor):
		return "held"
	case x.dispatched:
		return "in_flight"
	case promised:
		return "never_started"
	default:
		return "unknown"
	}
}
