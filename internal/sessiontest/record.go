package sessiontest

import (
	"fmt"
	"slices"
	"time"
)

// start writes the start of a run.
func (p *pen) start(source string) {
	f := p.f
	x := &run{RunTruth{ID: fmt.Sprintf("run-%d", len(f.runs)+1), Source: source}}
	body := object{{"run_id", x.truth.ID}, {"phase", "start"}, {"source", source}}
	if f.oneIn(2) {
		body = body.with("ref", "cli:"+x.truth.ID)
	}
	if f.o.Minor >= runTriggers && f.oneIn(2) {
		body = body.with("trigger", f.trigger())
	}
	p.append("run", body, func(n *node) {
		x.truth.EntryID = n.id
		f.runs = append(f.runs, x)
		f.truth.Runs++
		n.state.run, n.state.begun, n.state.answers = x, false, false
		n.state.last = struct{ seen, failed, incomplete, calls bool }{}
	})
}

// end writes the end of the open run.
func (p *pen) end(reason string) {
	f, s := p.f, p.state()
	x, pending := s.run, s.pending(f.o.Minor)
	ids := make(list, len(pending))
	for i, id := range pending {
		ids[i] = id
	}
	f.r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	slices.Sort(pending)
	body := object{{"run_id", x.truth.ID}, {"phase", "end"}, {"reason", reason}, {"pending", ids}}
	if f.oneIn(3) {
		body = body.with("ref", phrase(f.r, 12))
	}
	p.append("run", body, func(n *node) {
		x.truth.Ends = append(x.truth.Ends, RunEndTruth{EntryID: n.id, Reason: reason, Pending: pending})
		n.state.run = nil
	})
}

// handOff hands a call to its tool: a link first when the tool is a session of its own, then the dispatch, then that
// session.
func (p *pen) handOff(c *call) {
	f := p.f
	if c.spawns && c.child == nil {
		id := subsessionID(f.id, c.truth.ID)
		p.append("link", object{{"rel", "subsession"}, {"session", id}, {"call_id", c.truth.ID}}, func(*node) {
			c.truth.Session = id
			f.truth.Links = append(f.truth.Links, id)
		})
	}
	forgotten := !f.o.Records && f.oneIn(10)
	handed := !p.dry && (f.o.NoRuns || forgotten)
	if !f.o.NoRuns && !forgotten {
		body := object{{"call_id", c.truth.ID}, {"target", c.truth.EntryID}}
		if f.o.Minor >= answers && f.oneIn(2) {
			body = body.with("idempotency_key", "idem-"+c.truth.ID)
		}
		p.append("dispatch", body, func(n *node) {
			c.truth.HandOffs++
			n.state.edit(c, func(x *openCall) { x.dispatched, x.heldAfter, x.taken = true, false, n.state.run })
			handed = true
		})
	}
	if handed && c.spawns && (c.child == nil || f.o.Minor < hashedIDs) { // from there on another hand-off has another session
		f.spawn(c)
	}
	f.wait(50 * time.Millisecond)
}

// decide writes a decision about a call.
func (p *pen) decide(c *call, verdict, by, reason string, rewrite bool) {
	body := object{{"call_id", c.truth.ID}, {"target", c.truth.EntryID}, {"verdict", verdict}}
	if by != "" {
		body = body.with("by", by)
	}
	if reason != "" {
		body = body.with("reason", reason)
	}
	if rewrite {
		body = body.with("args", object{{"path", phrase(p.f.r, 20)}, {"limit", 1}})
	}
	p.append("decision", body, func(n *node) {
		t := &c.truth
		t.Holds += count(verdict == "hold")
		t.Rejected = t.Rejected || verdict == "reject"
		t.ArgsRewritten = t.ArgsRewritten || rewrite
		t.Answered = t.Answered || verdict == "answer"
		n.state.answers = true
		n.state.edit(c, func(x *openCall) {
			x.held, x.rejected, x.answered = verdict == "hold", verdict == "reject", verdict == "answer"
			x.heldAfter, x.taken = x.held && x.dispatched, n.state.run
		})
	})
}

// result writes the output of a call.
func (p *pen) result(c *call, output any) {
	if p.f.oneIn(10) {
		output = list{object{{"type", "input_text"}, {"text", output}}}
	}
	p.item(object{{"type", "function_call_output"}, {"call_id", c.truth.ID}, {"output", output}}, func(n *node) {
		c.truth.Outputs++
		c.truth.Completed = true
		n.state.answers = true
		n.state.edit(c, nil)
	})
}

// compact writes a compaction of the path.
func (p *pen) compact() {
	f := p.f
	kept, steps := p.at, f.r.IntN(12)
	for ; steps > 0 && f.nodes[kept].parent >= 0; steps-- {
		kept = f.nodes[kept].parent
	}
	summary := message("user", "input_text", f.prose.text(f.r, summaryText))
	if f.oneIn(3) {
		summary = object{
			{"type", "compaction"},
			{"id", "cmp_" + f.nodes[kept].id},
			{"encrypted_content", f.prose.text(f.r, summaryText)},
		}
	}
	body := object{{"first_kept", f.nodes[kept].id}, {"summary", summary}, {"config", p.state().set.checkpoint()}}
	pinned := f.pin(kept)
	if pinned != nil {
		body = body.with("pinned", pinned)
	}
	note := func() {}
	if f.oneIn(2) {
		body, note = p.paid(body)
		f.wait(5 * time.Second)
	}
	if f.oneIn(2) {
		body = body.with("tokens_before", 1000+f.r.IntN(200_000))
	}
	p.append("compaction", body, func(n *node) {
		n.item, n.firstKept, n.pinned = summary, kept, pinned
		note()
	})
}

// summarize writes what was done on the branch that ends at left.
func (p *pen) summarize(left int) {
	f := p.f
	summary := message("user", "input_text", f.prose.text(f.r, summaryText))
	body, note := object{{"from", f.nodes[left].id}, {"summary", summary}}, func() {}
	if f.oneIn(2) {
		body, note = p.paid(body)
	}
	p.append("branch_summary", body, func(n *node) {
		n.item, n.summary = summary, true
		note()
	})
}

// label writes a label on the entry at index target; "" clears.
func (p *pen) label(target int, label string) {
	f := p.f
	body := object{{"target", f.nodes[target].id}, {"label", nil}}
	if label != "" {
		body[1].value = label
	}
	p.append("label", body, func(n *node) {
		switch {
		case label == "leaf":
			n.leafLabel = true
			f.mark, f.since = target, len(f.nodes)
		case label == "" && f.mark == target:
			f.mark = -1
		}
	})
}

// aside writes something that is not about the work.
func (p *pen) aside() {
	f := p.f
	if p.at < 0 || !f.o.Asides && !f.o.Extensions || !f.oneIn(6) {
		return
	}
	if f.o.Extensions && (!f.o.Asides || f.oneIn(4)) {
		p.append("acme:checkpoint", object{{"data", f.anything(3)}, {"order", "kept"}}, nil)
		return
	}
	switch target := f.r.IntN(len(f.nodes)); f.r.IntN(8) {
	case 0:
		name := phrase(f.r, f.r.IntN(20))
		if name == "" && f.o.Again {
			return
		}
		p.append("info", object{{"name", name}}, func(*node) {
			if name != "" {
				f.truth.Name = name
			}
		})
	case 1:
		p.append("env", object{
			{"cwd", "/home/ada/" + phrase(f.r, 5)},
			{"vcs", object{{"system", "git"}, {"dirty", f.oneIn(2)}}},
			{"workspace", object{{"kind", "container"}, {"ref", "sha256:9f2c"}}},
		}, nil)
	case 2:
		p.append("outcome", object{{"kind", "eval"}, {"target", f.nodes[target].id}, {"score", raw("0.75")}, {"pass", true}}, nil)
	case 3:
		p.append("outcome", object{{"kind", "tool_error"}, {"target", f.nodes[p.at].id}}, nil)
	case 4:
		if target != f.mark {
			p.label(target, []string{"", "good", "bad"}[f.r.IntN(3)])
		}
	case 5:
		link := object{{"rel", "fork_of"}, {"session", f.uuid7()}}
		if f.o.Minor >= omits && f.oneIn(2) {
			link = object{{"rel", "judged_by"}, {"session", f.uuid7()}, {"target", f.nodes[target].id}}
		}
		p.append("link", link, nil)
	case 6:
		p.append("custom", object{{"ns", "acme-coder"}, {"data", f.anything(2)}}, nil)
	case 7:
		data, note := p.paid(object{{"model", "gpt-5-mini"}, {"purpose", "title"}})
		p.append("custom", object{{"ns", "acme-coder"}, {"data", data}}, func(*node) { note() })
	}
}
