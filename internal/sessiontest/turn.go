package sessiontest

import "time"

// turn has the agent work once: a run, or what would be one in a session without run entries.
func (p *pen) turn() {
	f := p.f
	var take []*call
	for _, x := range p.state().open {
		if !f.oneIn(4) && (!x.held || f.oneIn(2)) {
			take = append(take, x.call)
		}
	}
	retry := f.o.Retries && p.state().last.failed && f.oneIn(2)
	s := p.state()
	if !f.o.NoRuns && (s.run == nil || !s.begun || f.o.Minor >= takesUp && len(take) > 0 || f.oneIn(2)) {
		if s.run != nil && f.o.Minor >= runTriggers {
			p.end("error") // what was left open is closed first
		}
		source := "input"
		if len(take) > 0 {
			source = "resume"
		}
		p.start(source)
	}
	for _, c := range take {
		p.takeUp(c)
	}
	if len(take) == 0 && !retry || f.oneIn(3) {
		p.say()
	}
	p.work()
	p.enqueue()
	p.finish()
}

// work lets the model and its tools take turns.
func (p *pen) work() {
	f := p.f
	for round, failures := 0, 0; !p.dry; round++ {
		if f.o.Compactions && f.oneIn(8) {
			p.compact()
		}
		if f.oneIn(20) || f.o.Minor >= queues && f.oneIn(12) {
			p.reconfigure()
		}
		calls, ok := p.chat(round+1 < f.o.Rounds && !f.oneIn(max(2, f.o.Rounds/2)))
		p.aside()
		switch {
		case !ok && f.o.Retries && (!f.o.Interrupted || failures < 2):
			failures++
			f.wait(10 * time.Second)
			if len(calls) > 0 && !p.perform(calls) {
				return
			}
		case !ok:
			return
		case len(calls) == 0 && f.oneIn(8):
			p.say() // somebody was faster than the end of the run
		case len(calls) == 0:
			return
		case !p.perform(calls) || f.oneIn(16):
			return
		}
	}
}

// finish ends the open run, as a rule.
func (p *pen) finish() {
	s := p.state()
	if s.run == nil {
		return
	}
	reason := s.reason(p.f.o.Minor)
	if p.f.o.Interrupted {
		switch p.f.r.IntN(12) {
		case 0, 1: // cut off
			return
		case 2:
			reason = "interrupted"
		case 3:
			reason = "error" // of the harness
		}
	}
	p.end(reason)
}

// takeUp gets the output of a call that an earlier run left open.
func (p *pen) takeUp(c *call) {
	f := p.f
	x, _ := p.state().find(c)
	switch {
	case x.rejected, x.answered:
		p.result(c, "the same again")
	case x.dispatched && f.o.Minor >= answers && f.oneIn(3):
		p.decide(c, "answer", "policy", "nobody knows whether it ran", false)
		p.result(c, "outcome unknown")
	case x.held && f.oneIn(3):
		p.reject(c, "human")
	case x.held:
		p.decide(c, "proceed", "human", "", f.oneIn(3))
		p.handOff(c)
		p.run(c)
	case x.dispatched && !(f.o.Retries && f.oneIn(2)):
		p.result(c, "Error: the result is unknown")
	default:
		p.handOff(c)
		p.run(c)
	}
}

func (p *pen) reject(c *call, by string) {
	reason := "not allowed: " + phrase(p.f.r, 12)
	p.decide(c, "reject", by, reason, false)
	if p.f.oneIn(4) {
		p.aside()
	}
	p.result(c, reason)
}

// run waits for the output of a call.
func (p *pen) run(c *call) {
	f := p.f
	if !c.truth.Background {
		f.wait(20 * time.Second)
	}
	p.result(c, f.prose.text(f.r, outputText))
}

// perform does what the model asked for. It says whether the model can be called again: every call has its output.
func (p *pen) perform(calls []*call) bool {
	f := p.f
	var running, held []*call
	done := true
	for _, c := range calls {
		rewrite := false
		if f.o.Decisions && !f.o.NoRuns {
			switch f.r.IntN(10) {
			case 0:
				p.reject(c, []string{"human", "policy", "agent", ""}[f.r.IntN(4)])
				continue
			case 1, 2:
				p.decide(c, "hold", "policy", "needs a person", false)
				held = append(held, c)
				continue
			case 3:
				rewrite = true
				p.decide(c, "proceed", "policy", "", true)
			}
		}
		if f.o.Interrupted && f.oneIn(16) && !rewrite {
			done = false // never started
			continue
		}
		p.handOff(c)
		if f.oneIn(4) {
			p.run(c) // before the next one is handed off
		} else {
			running = append(running, c)
		}
	}
	f.r.Shuffle(len(running), func(i, j int) { running[i], running[j] = running[j], running[i] })
	for _, c := range running {
		if f.oneIn(12) {
			p.say()
		}
		for f.o.Retries && f.oneIn(5) {
			f.wait(30 * time.Second)
			p.handOff(c)
		}
		if f.o.Interrupted && f.oneIn(14) {
			done = false // it hangs
			continue
		}
		p.run(c)
		p.aside()
		p.enqueue()
	}
	for _, c := range held {
		if f.oneIn(3) {
			done = false // the run does not wait for the answer
			continue
		}
		f.wait(10 * time.Minute)
		p.takeUp(c)
	}
	return done
}
