package sessiontest

import (
	"encoding/json"
	"fmt"
)

// claudeAsked is a call in the making.
type claudeAsked struct {
	id, line, name, prompt string
	background             bool
}

// message appends a message with so many calls, each block on a line of its own, and the results of the calls. One that is cut off never has
// some of them.
func (f *claudeOut) message(calls, depth int, cut bool) {
	r := f.u.r
	f.u.truth.Chats++
	id := fmt.Sprintf("msg_%016x", r.Uint64())
	model := []string{"claude-sonnet-4-5", "claude-opus-4-6"}[r.IntN(2)]
	in, written, read, out := r.IntN(20), r.IntN(2000), r.IntN(20000), 1+r.IntN(900)
	counted := r.IntN(25) > 0
	if counted {
		f.u.truth.In += int64(in + written + read)
		f.u.truth.Out += int64(out)
	}
	var blocks []map[string]any
	if r.IntN(3) == 0 {
		blocks = append(blocks, map[string]any{"type": "thinking", "thinking": "hm", "signature": "s"})
	}
	if calls == 0 || r.IntN(2) == 0 {
		blocks = append(blocks, map[string]any{"type": "text", "text": "well"})
	}
	var asked []claudeAsked
	for range calls {
		a := f.ask(depth)
		input := map[string]any{"command": "ls"}
		if a.prompt != "" {
			input = map[string]any{"prompt": a.prompt, "subagent_type": "Explore", "run_in_background": a.background}
		}
		asked = append(asked, a)
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": a.id, "name": a.name, "input": input})
	}
	stop := "end_turn"
	if calls > 0 {
		stop = "tool_use"
	}
	var waiting []claudeAsked
	next := 0
	for i, b := range blocks {
		last := i == len(blocks)-1
		usage := map[string]any{
			"input_tokens": in, "cache_creation_input_tokens": written, "cache_read_input_tokens": read, "output_tokens": out, "service_tier": "standard",
		}
		m := map[string]any{"id": id, "type": "message", "role": "assistant", "model": model, "content": []any{b}, "stop_reason": stop, "usage": usage}
		if !last && f.style != 2 {
			usage["output_tokens"], m["stop_reason"] = r.IntN(out), nil
		}
		if f.style == 1 {
			m["stop_reason"] = nil
		}
		if !counted {
			m["usage"] = nil
		}
		more := map[string]any{"message": m}
		if r.IntN(4) > 0 {
			more["requestId"] = "req_" + id
		}
		line := f.entry(f.tip, "assistant", more)
		if b["type"] == "tool_use" {
			asked[next].line = line
			waiting = append(waiting, asked[next])
			next++
			if !last && f.style != 2 && r.IntN(4) == 0 && !cut {
				f.result(waiting[0], depth)
				waiting = waiting[1:]
			}
		}
		if !last {
			f.between()
		}
	}
	r.Shuffle(len(waiting), func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] })
	if cut && len(waiting) > 0 {
		waiting = waiting[1:]
	}
	for _, a := range waiting {
		f.between()
		f.result(a, depth)
	}
}

// ask makes a call.
func (f *claudeOut) ask(depth int) claudeAsked {
	r := f.u.r
	f.u.truth.Calls++
	a := claudeAsked{id: fmt.Sprintf("toolu_%016x", r.Uint64()), name: []string{"Bash", "Read", "mcp__db__query"}[r.IntN(3)]}
	if depth < 2 && r.IntN(6) == 0 && (f.u.layout != 2 || depth == 0) {
		a.name = "Agent"
		a.prompt = fmt.Sprintf("look at %x", r.Uint64())
		a.background = f.u.layout == 0 && r.IntN(3) == 0
	}
	return a
}

// result appends what came of a call, an agent's work before it.
func (f *claudeOut) result(a claudeAsked, depth int) {
	r := f.u.r
	f.u.truth.Ended++
	block := map[string]any{"type": "tool_result", "tool_use_id": a.id, "content": "done"}
	more := map[string]any{"sourceToolAssistantUUID": a.line}
	if a.prompt != "" {
		more["toolUseResult"] = f.agentFor(a, depth)
	} else {
		switch r.IntN(8) {
		case 0:
			block["is_error"], more["toolUseResult"] = true, "Error: no"
			f.u.truth.Failed++
		case 1:
			block["is_error"], more["toolUseResult"] = true, "User rejected tool use"
			f.u.truth.Failed++
		case 2:
			more["toolUseResult"] = map[string]any{"durationMs": r.IntN(500)}
		}
	}
	up := a.line
	if f.style == 1 {
		up = f.tip
	}
	f.user(up, []any{block}, more)
}

// agentFor has an agent do its work, and returns what its call gets to know of it.
func (f *claudeOut) agentFor(a claudeAsked, depth int) map[string]any {
	r := f.u.r
	f.u.truth.Agents++
	agent := &claudeOut{u: f.u, session: f.session, agent: fmt.Sprintf("%016x", r.Uint64()), lines: &[][]byte{}, style: f.style}
	work := func() {
		agent.user("", a.prompt, nil)
		agent.turn(depth + 1)
	}
	switch f.u.layout {
	case 2:
		agent.inline, agent.lines = true, f.lines
		work()
		return map[string]any{"totalDurationMs": 5, "totalTokens": 100}
	case 1:
		agent.path = "-work-app/agent-" + agent.agent + ".jsonl"
	default:
		agent.path = "-work-app/" + f.session + "/subagents/agent-" + agent.agent + ".jsonl"
		card := map[string]any{"agentType": "Explore", "toolUseId": a.id, "spawnDepth": depth + 1}
		if f.agent != "" {
			card["parentAgentId"] = f.agent
		}
		if r.IntN(4) == 0 { // it is known by the result only
			card = map[string]any{"agentType": "Explore"}
		}
		if b, err := json.Marshal(card); err == nil && r.IntN(8) > 0 {
			f.u.cards = append(f.u.cards, ClaudeFile{Path: agent.path[:len(agent.path)-len(".jsonl")] + ".meta.json", Data: b})
		}
	}
	f.u.files = append(f.u.files, agent)
	if a.background {
		agent.user("", a.prompt, nil)
		f.u.later = append(f.u.later, func() { agent.turn(depth + 1) })
		return map[string]any{"isAsync": true, "status": "async_launched", "agentId": agent.agent}
	}
	work()
	return map[string]any{"status": "completed", "agentId": agent.agent, "totalTokens": 77, "totalDurationMs": 9, "usage": map[string]any{"output_tokens": 9}}
}
