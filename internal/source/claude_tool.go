package source

import (
	"time"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// claudeCall is a call that has no result yet.
type claudeCall struct {
	id      string
	time    time.Time
	message *claudeMessage
	chain   int32
	agent   int32  // the chain of the agent that it spawned in the same file; 0 for none
	kind    string // what agent it asks for
}

// claudeAgentTools are the tools that spawn agents, by their names now and before.
var claudeAgentTools = map[string]bool{"Agent": true, "Task": true}

// call takes a call that the model asks for.
func (d *claudeSession) call(members []jsonscan.Member, m *claudeMessage, ref string, n int32, typ string) {
	c := &activity.Call{ID: textOf(members, "id"), Name: textOf(members, "name"), ResponseID: ref}
	own := typ == "tool_use"
	if !own || beginsWith(memberOf(members, "name"), "mcp__") {
		c.Type = "extension"
	}
	d.say(c)
	if m != nil && own {
		m.calls++
	}
	call := &claudeCall{id: c.ID, time: d.event.Time, message: m, chain: d.place[n].chain}
	if claudeAgentTools[c.Name] {
		d.maySpawn(c.ID, call, memberOf(members, "input"), n)
	}
	d.calls[c.ID] = call
}

// ownResult takes the result of a tool that the provider ran itself, which is a block of the same message.
func (d *claudeSession) ownResult(members []jsonscan.Member, m *claudeMessage) {
	id := textOf(members, "tool_use_id")
	r := &activity.Result{CallID: id, Timing: activity.Bounded}
	if c := d.calls[id]; c != nil {
		r.Start = c.time
		delete(d.calls, id)
	}
	if code := textOf(objectIn(&d.part, memberOf(members, "content")), "error_code"); code != "" {
		r.Failure = &activity.Failure{Type: code}
	}
	if m == nil {
		d.say(r)
		return
	}
	d.hold(m, []activity.Fact{r})
}

// results takes the results of calls.
func (d *claudeSession) results(e *claudeLine, n int32) {
	raw := e.raw("toolUseResult")
	for members := range e.blocks() {
		if string(memberOf(members, "type")) == `"tool_result"` {
			d.result(members, raw, n)
			raw = nil // it speaks of one
		}
	}
}

// result takes the result of a call: what it says itself, and what Claude Code says of it in a form of its own.
func (d *claudeSession) result(members []jsonscan.Member, extra []byte, n int32) {
	id := textOf(members, "tool_use_id")
	r := &activity.Result{CallID: id, Timing: activity.Bounded}
	c := d.calls[id]
	delete(d.calls, id)
	if c != nil {
		r.Start = c.time
		d.finishInner(c.agent)
	}
	var facts []activity.Fact
	content := firstText(&d.part, memberOf(members, "content"))
	switch {
	case !flagOf(members, "is_error"):
	case claudeRejected(content, extra):
		facts = append(facts, &activity.Decision{CallID: id, Verdict: activity.Reject, By: "user"})
		r.Start = time.Time{}
	default:
		r.Failure = &activity.Failure{}
	}
	if beginsWith(content, "<persisted-output>") {
		r.Attributes = append(r.Attributes, activity.Attribute{Name: "tool.output_elsewhere", Value: true})
	}
	more := objectIn(&d.part, extra)
	for _, name := range []string{"durationMs", "totalDurationMs"} {
		if ms := countOf(more, name); ms != nil {
			r.Attributes = append(r.Attributes, activity.Attribute{Name: "tool.duration_ms", Value: *ms})
			break
		}
	}
	for _, flag := range []struct{ member, name string }{{"interrupted", "tool.interrupted"}, {"isAsync", "tool.background"}} {
		if flagOf(more, flag.member) {
			r.Attributes = append(r.Attributes, activity.Attribute{Name: flag.name, Value: true})
		}
	}
	if agent := textOf(more, "agentId"); agent != "" {
		background := flagOf(more, "isAsync")
		d.evidence(agent, id, background)
		if background {
			d.launched = append(d.launched, claudeLaunch{agent, id, d.event.Time})
		}
		link := &activity.Link{
			Rel: "subsession", Session: claudeAgentID(agent, d.rootID()), CallID: id, Missing: !background && d.agentMissing(agent),
		}
		if link.Missing {
			r.Attributes = append(r.Attributes, activity.Attribute{Name: "subsession.missing", Value: true})
		}
		facts = append(facts, link)
	}
	var m *claudeMessage
	if c != nil {
		m = c.message
	}
	d.conclude(m, append(facts, r))
}

// claudeRejected reports whether a failed result says that a person did not want the tool to run.
func claudeRejected(content, extra []byte) bool {
	return beginsWith(extra, "User rejected tool use") || beginsWith(content, "The user doesn't want to proceed with this tool use")
}

// conclude says what came of a call: at once where the message that asked for it is known in full, else with that. A result shows that
// a message is complete of which a line has said why it ended.
func (d *claudeSession) conclude(m *claudeMessage, facts []activity.Fact) {
	if m != nil && m.stop != "" && d.isOpen(m) {
		d.settle(m)
	}
	if m != nil && d.isOpen(m) {
		d.hold(m, facts)
		return
	}
	for _, f := range facts {
		d.say(f)
	}
}

// hold keeps what the entry says until a message is complete.
func (d *claudeSession) hold(m *claudeMessage, facts []activity.Fact) {
	if d.event.Part == 0 {
		d.say(nil)
	}
	m.held = append(m.held, claudeHeld{event: d.event, facts: facts})
	d.event.Part += len(facts)
}

func (d *claudeSession) isOpen(m *claudeMessage) bool {
	_, open := d.open[m]
	return open
}
