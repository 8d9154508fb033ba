package sessiontest

import (
	"fmt"
	"maps"
)

// claudeAsked is a call in the making.
type claudeAsked struct {
	id, line   string
	name       string
	prompt     string // of an agent
	background bool
	agent      *claudeAgent
}

// claudeFate is what becomes of a message.
type claudeFate int

const (
	whole    claudeFate = iota
	someLost            // some of its calls never have a result
	killed              // and nothing else comes
	refused             // a person does not want one of its calls
	broken              // it is broken off while it is being written
)

// message appends a message with so many calls, each block on a line of its own, and the results of the calls.
func (f *claudeOut) message(calls, depth int, fate claudeFate) {
	u, r := f.u, f.u.r
	u.truth.Chats++
	f.said++
	id := fmt.Sprintf("msg_%016x", r.Uint64())
	var blocks []map[string]any
	if u.one(3) {
		blocks = append(blocks, map[string]any{"type": "thinking", "thinking": "hm", "signature": "s"})
	}
	if calls == 0 || u.one(2) {
		blocks = append(blocks, block("text", "well"))
	}
	var asked []*claudeAsked
	for range calls {
		a := f.ask(depth)
		asked = append(asked, a)
		input := map[string]any{"command": "ls"}
		if a.prompt != "" {
			input = map[string]any{"prompt": a.prompt, "description": "d", "subagent_type": "Explore", "run_in_background": a.background}
		}
		blocks = append(blocks, map[string]any{"type": "tool_use", "id": a.id, "name": a.name, "input": input})
	}
	if fate == broken {
		blocks = blocks[:1+r.IntN(len(blocks))]
	}
	model := []string{"claude-sonnet-4-5", "claude-opus-4-6"}[r.IntN(2)]
	stop := "end_turn"
	switch {
	case calls > 0:
		stop = "tool_use"
	case u.one(20):
		stop = "max_tokens"
	}
	usage, input := f.usage()
	final := 1 + r.IntN(900)
	counted := int64(-1)
	waiting := asked[:0:0]
	for i, b := range blocks {
		last := i == len(blocks)-1 && fate != broken
		m := map[string]any{"id": id, "type": "message", "role": "assistant", "model": model, "content": []any{b}, "stop_reason": nil, "stop_sequence": nil}
		out := max(counted, 0) + int64(r.IntN(max(1, (final-int(max(counted, 0)))/2)))
		if last || f.style == copied {
			out = int64(final)
			if f.style != unended {
				m["stop_reason"] = stop
			}
		}
		m["usage"] = nil
		if usage != nil && (last || f.style == copied || !u.o.Uncounted || !u.one(20)) {
			line := maps.Clone(usage)
			line["output_tokens"] = out
			m["usage"], counted = line, max(counted, out)
		}
		more := map[string]any{"message": m}
		if !u.one(4) {
			more["requestId"] = "req_" + id
		}
		line := f.entry(f.tip, "assistant", more)
		if b["type"] == "tool_use" {
			a := asked[0]
			asked = asked[1:]
			a.line = line
			u.truth.Calls++
			waiting = append(waiting, a)
			if !last && f.style != copied && fate == whole && u.one(4) { // it has its result before the message is complete
				f.results(waiting[:1], depth, whole)
				waiting = waiting[1:]
				if !f.linear {
					f.tip = line
				}
			}
		}
		if i < len(blocks)-1 {
			f.between()
		}
	}
	if counted >= 0 {
		u.truth.In += input
		u.truth.Out += counted
	}
	if fate != broken {
		f.results(waiting, depth, fate)
	}
}

// usage is what a message takes, without the output, and how much goes in; nil when nothing says it. Members that are null or left out
// add nothing.
func (f *claudeOut) usage() (map[string]any, int64) {
	r, u := f.u.r, f.u
	in, written, read := r.IntN(20), r.IntN(2000), r.IntN(20000)
	usage := map[string]any{
		"input_tokens": in, "cache_creation_input_tokens": written, "cache_read_input_tokens": read, "service_tier": "standard",
		"cache_creation": map[string]any{"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0},
	}
	if f.version > "2.1" {
		usage["inference_geo"], usage["server_tool_use"] = "not_available", map[string]any{"web_search_requests": 0, "web_fetch_requests": 0}
		usage["iterations"] = []any{map[string]any{"type": "message", "input_tokens": in, "output_tokens": 1}}
	}
	total := int64(in + written + read)
	if !u.o.Uncounted {
		return usage, total
	}
	switch r.IntN(25) {
	case 0:
		return nil, 0
	case 1:
		usage["cache_read_input_tokens"], usage["service_tier"], usage["server_tool_use"] = nil, nil, nil
		total -= int64(read)
	case 2:
		usage["cache_creation_input_tokens"], usage["cache_creation"] = nil, nil
		total -= int64(written)
	case 3:
		usage = map[string]any{"input_tokens": in}
		total = int64(in)
	}
	return usage, total
}

// ask makes a call.
func (f *claudeOut) ask(depth int) *claudeAsked {
	u := f.u
	a := &claudeAsked{
		id: fmt.Sprintf("toolu_%016x", u.r.Uint64()), name: []string{"Bash", "Read", "mcp__db__query"}[u.r.IntN(3)],
	}
	switch {
	case u.layout == noAgents:
	case depth < 2 && u.one(6) && (u.layout != inFile || depth == 0):
		a.name = []string{"Agent", "Task"}[u.r.IntN(2)]
		a.prompt = u.text("look at")
		a.background = u.o.Background && u.layout == inFolder && u.one(3)
	case depth == 0 && u.o.Workflows && u.layout == inFolder && u.one(16):
		a.name = "Workflow"
	}
	return a
}

// results appends what comes of calls, and before that the work of the agents that they spawn, side by side.
func (f *claudeOut) results(asked []*claudeAsked, depth int, fate claudeFate) {
	r := f.u.r
	var works []*claudeWork
	var unwanted *claudeAsked
	if fate == refused && len(asked) > 0 {
		unwanted = asked[r.IntN(len(asked))]
	}
	for _, a := range asked {
		switch {
		case a == unwanted: // so that no agent begins
		case a.prompt != "":
			a.agent = f.spawn(a, depth, fate)
			if a.agent.work != nil {
				works = append(works, a.agent.work)
			}
		case a.name == "Workflow":
			a.agent = f.workflow()
			works = append(works, a.agent.works...)
		}
	}
	together(r, works)
	r.Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
	switch {
	case fate == someLost && len(asked) > 0:
		asked = asked[1:]
	case fate == killed:
		asked = asked[:r.IntN(len(asked))]
	}
	for _, a := range asked {
		f.between()
		f.result(a, a == unwanted)
	}
}

// result appends what came of a call.
func (f *claudeOut) result(a *claudeAsked, refused bool) {
	u, r := f.u, f.u.r
	u.truth.Ended++
	up := a.line
	if u.o.Asides && u.one(8) {
		data := map[string]any{"type": "bash_progress", "elapsedTimeSeconds": 3}
		if a.agent != nil && a.agent.id != "" {
			data = map[string]any{"type": "agent_progress", "agentId": a.agent.id}
		}
		up = f.entry(up, "progress", map[string]any{"data": data, "toolUseID": "p", "parentToolUseID": a.id})
	}
	if f.linear {
		up = f.tip
	}
	b := map[string]any{"type": "tool_result", "tool_use_id": a.id, "content": "done"}
	more := map[string]any{}
	if !f.linear {
		more["sourceToolAssistantUUID"] = a.line
	}
	kind := r.IntN(10)
	switch {
	case refused:
		b["is_error"], b["content"] = true, "The user doesn't want to proceed with this tool use. The tool use was rejected."
		more["toolUseResult"] = "User rejected tool use"
		u.truth.Failed++
	case a.agent != nil:
		b["content"], more["toolUseResult"] = []any{block("text", "It is so.")}, a.agent.said
	case kind == 0 && u.o.Errors:
		b["is_error"], b["content"], more["toolUseResult"] = true, "Exit code 1", "Error: Exit code 1"
		u.truth.Failed++
	case kind == 1:
		more["toolUseResult"] = map[string]any{"durationMs": r.IntN(500)}
	case kind == 2:
		b["is_error"], more["toolUseResult"] = false, map[string]any{"stdout": "done", "stderr": "", "interrupted": false}
	case kind == 3:
		b["content"] = "<persisted-output>\nOutput too large. Full output saved to: tool-results/a.txt"
	case kind == 4:
		b["content"] = []any{block("text", "one"), map[string]any{"type": "image", "source": map[string]any{"type": "base64", "data": "iVBORw=="}}}
	}
	f.user(up, []any{b}, more)
}
