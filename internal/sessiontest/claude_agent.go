package sessiontest

import (
	"fmt"
	"strings"
)

// claudeAgent is an agent in the making, or those of a workflow.
type claudeAgent struct {
	id    string
	said  map[string]any // what the result of its call says of it
	work  *claudeWork    // nil where it has none to do now
	works []*claudeWork  // of a workflow
}

// agentOut begins what an agent writes.
func (f *claudeOut) agentOut(id string) *claudeOut {
	return &claudeOut{
		u: f.u, session: f.session, version: f.version, branch: f.branch, agent: id, lines: &[][]byte{}, style: f.style, linear: f.linear,
	}
}

// spawn begins the work of an agent. Its first line is its task. Where its call may never have a result, what lies beside its file has to
// say what it is.
func (f *claudeOut) spawn(a *claudeAsked, depth int, fate claudeFate) *claudeAgent {
	u := f.u
	out := f.agentOut(fmt.Sprintf("%016x", u.r.Uint64()))
	g := &claudeAgent{id: out.agent, said: map[string]any{
		"status": "completed", "agentId": out.agent, "agentType": "Explore", "prompt": a.prompt, "totalTokens": 77, "totalDurationMs": 9,
		"totalToolUseCount": 1, "usage": map[string]any{"output_tokens": 9},
	}}
	if u.o.Lost && u.layout != inFile && !a.background && u.one(10) {
		return g
	}
	u.truth.Agents++
	switch u.layout {
	case inFile:
		out.inline, out.lines = true, f.lines
		g.id, g.said = "", map[string]any{"totalDurationMs": 5, "totalTokens": 100, "totalToolUseCount": 1}
	case inBeside:
		out.path = "-work-app/agent-" + out.agent + ".jsonl"
		u.files = append(u.files, out)
	default:
		out.path = "-work-app/" + f.session + "/subagents/agent-" + out.agent + ".jsonl"
		card := map[string]any{"agentType": "Explore", "description": "d", "toolUseId": a.id, "spawnDepth": depth + 1}
		if f.agent != "" {
			card["parentAgentId"] = f.agent
		}
		sure := !u.o.Unsettled && depth > 0 && (fate == killed || fate == someLost)
		if u.one(4) && !sure { // it is known by the result, or by its task, only
			card = map[string]any{"agentType": "Explore", "description": "d"}
		}
		if !u.one(8) || sure {
			u.card(out.path, card)
		}
		u.files = append(u.files, out)
	}
	out.user("", a.prompt, nil)
	g.work = out.work(depth + 1)
	if a.background {
		work := g.work
		g.work, g.said = nil, map[string]any{"isAsync": true, "status": "async_launched", "agentId": out.agent, "outputFile": "/tmp/o"}
		u.later = append(u.later, func() {
			together(u.r, []*claudeWork{work})
			if depth == 0 {
				f.notified(out.agent, a.id)
			}
		})
	}
	return g
}

// card puts beside the file of an agent what it is.
func (u *claudeUnit) card(path string, card map[string]any) {
	u.cards = append(u.cards, ClaudeFile{Path: strings.TrimSuffix(path, ".jsonl") + ".meta.json", Data: claudeJSON(card)})
}

// notified appends that an agent in the background has come to something, which the model may answer. That is no turn.
func (f *claudeOut) notified(agent, call string) {
	u := f.u
	if !u.o.Unsettled && f.said < 2 && (f.cut || f.style == unended) {
		return
	}
	text := "<task-notification>\n<task-id>" + agent + "</task-id>\n<tool-use-id>" + call + "</tool-use-id>\n<status>completed</status>\n</task-notification>"
	if u.one(2) && u.o.Asides {
		f.line(map[string]any{"type": "queue-operation", "operation": "enqueue", "content": text, "timestamp": f.stamp(), "sessionId": f.session})
	}
	more := map[string]any{}
	if u.one(2) {
		more["origin"] = map[string]any{"kind": "task-notification"}
	}
	f.user(f.tip, text, more)
	if u.one(2) {
		f.message(0, 0, whole)
	}
}

// workflow begins the work of some agents that have no calls of their own.
func (f *claudeOut) workflow() *claudeAgent {
	u := f.u
	run := fmt.Sprintf("wf_%08x-%03x", u.r.Uint32(), u.r.IntN(1<<12))
	dir := "-work-app/" + f.session + "/subagents/workflows/" + run + "/"
	g := &claudeAgent{said: map[string]any{"status": "completed", "runId": run}}
	var journal []byte
	for range 1 + u.r.IntN(2) {
		out := f.agentOut(fmt.Sprintf("%016x", u.r.Uint64()))
		out.path = dir + "agent-" + out.agent + ".jsonl"
		u.truth.Agents++
		u.files = append(u.files, out)
		u.card(out.path, map[string]any{"agentType": "workflow-subagent", "spawnDepth": 1, "description": "d"})
		out.user("", u.text("confirm"), nil)
		g.works = append(g.works, out.work(2))
		journal = append(append(journal, claudeJSON(map[string]any{"type": "started", "agentId": out.agent})...), '\n')
	}
	u.cards = append(u.cards, ClaudeFile{Path: dir + "journal.jsonl", Data: journal})
	return g
}
