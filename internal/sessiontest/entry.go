package sessiontest

import (
	"fmt"
	"strings"
	"time"
)

// message returns a message item.
func message(role, part string, text any) object {
	content := any(list{object{{"type", part}, {"text", text}}})
	return object{{"type", "message"}, {"role", role}, {"content", content}}
}

// item writes an item that is no output of a model.
func (p *pen) item(item object, note func(*node)) {
	p.append("item", object{{"item", item}}, func(n *node) {
		n.item = item
		if note != nil {
			note(n)
		}
	})
}

// say writes a message from outside, mostly a person's.
func (p *pen) say() {
	f := p.f
	role := "user"
	if f.oneIn(12) {
		role = []string{"developer", "system"}[f.r.IntN(2)]
	}
	item := message(role, "input_text", f.prose.text(f.r, userText))
	if f.oneIn(10) {
		item[2].value = f.prose.text(f.r, userText) // content may be a bare string
	}
	if f.o.Extensions && f.oneIn(10) {
		item = object{{"type", "acme:note"}, {"text", phrase(f.r, 30)}, {"z", 1}, {"a", list{1, 2}}}
	}
	body := object{{"item", item}}
	if f.oneIn(16) {
		body = body.with("visible", false)
	}
	body, took := p.arrive(body)
	for _, m := range body {
		if m.name == "item" {
			item = m.value.(object)
		}
	}
	p.append("item", body, func(n *node) {
		n.item = item
		took(n)
	})
}

// tools that a session may have.
func (f *file) tool(name string) object {
	return object{
		{"type", "function"},
		{"name", name},
		{"description", "Does what " + name + " does."},
		{"parameters", object{{"type", "object"}, {"properties", object{{"path", object{{"type", "string"}}}}}}},
	}
}

var toolNames = []string{"bash", "read_file", "grep", "edit_file"}

var models = []string{"gpt-5", "gpt-5-mini", "claude-sonnet-4-5", "gemini-3-pro"}

// config writes the full settings, as at a root.
func (p *pen) config() {
	f := p.f
	tools := list{object{{"type", "web_search"}}}
	for _, name := range toolNames {
		tools = append(tools, f.tool(name))
	}
	if f.o.Subsessions > 0 {
		tools = append(tools, f.tool("task"))
	}
	instructions := object{{"instructions", "You are acme-coder. " + phrase(f.r, 40)}}
	if f.o.Minor >= queues && f.oneIn(2) {
		instructions = f.compose(&settings{})
	}
	p.configure(append(object{
		{"model", models[f.r.IntN(len(models))]},
		{"reasoning", object{{"effort", "medium"}, {"summary", "auto"}}},
		{"tools_added", tools},
		{"extra", object{{"temperature", raw("0.5")}, {"service_tier", "default"}}},
	}, instructions...))
}

// reconfigure writes a delta to the settings.
func (p *pen) reconfigure() {
	f := p.f
	cases := 6
	if f.o.Minor >= queues {
		cases = 12
	}
	switch f.r.IntN(cases) {
	case 6, 7, 8:
		p.configure(f.compose(p.state().set))
	case 9, 10, 11:
		if f.o.Minor >= omits {
			p.configure(object{{"model", models[f.r.IntN(len(models))]}, {"omit", p.omit()}})
		}
	case 0:
		p.configure(object{{"model", models[f.r.IntN(len(models))]}})
	case 1:
		p.configure(object{{"instructions", ""}, {"text", object{{"format", object{{"type", "text"}}}, {"verbosity", "low"}}}})
	case 2:
		p.configure(object{{"tools_added", list{f.tool("bash"), f.tool("fetch")}}, {"tools_removed", list{"grep", "none"}}})
	case 3:
		p.configure(object{{"extra", object{{"service_tier", nil}, {"top_p", 1}}}})
	case 4:
		p.configure(object{{"reasoning", object{{"effort", "high"}}}, {"instructions", phrase(f.r, 60)}})
	case 5:
		p.configure(object{{"replace", true}, {"model", models[f.r.IntN(len(models))]}, {"tools_added", list{f.tool("bash")}}})
	}
}

func (p *pen) configure(delta object) {
	p.append("config", delta, func(n *node) { n.state.set = n.state.set.apply(delta) })
}

// tokens returns a usage with its sums entered in the ledger by note.
func (f *file) tokens() (usage object, note func(in, out, cached, reasoning *int64)) {
	in, out := int64(f.r.IntN(200_000)), int64(f.r.IntN(4_000))
	cached, reasoning := f.r.Int64N(in+1), f.r.Int64N(out+1)
	usage = object{
		{"input_tokens", in},
		{"output_tokens", out},
		{"total_tokens", in + out},
		{"input_tokens_details", object{{"cached_tokens", cached}}},
		{"output_tokens_details", object{{"reasoning_tokens", reasoning}}},
	}
	return usage, func(i, o, c, r *int64) { *i += in; *o += out; *c += cached; *r += reasoning }
}

// paid adds usage to what is no response, and enters it in the ledger.
func (p *pen) paid(body object) (object, func()) {
	f := p.f
	usage, note := f.tokens()
	return body.with("usage", usage), func() {
		var ignored int64
		f.truth.OtherCalls++
		note(&f.truth.OtherInputTokens, &f.truth.OtherOutputTokens, &ignored, &ignored)
	}
}

// chat writes one model call: its output items and its response. It returns the calls asked for, and whether the model
// answered in full.
func (p *pen) chat(mayCall bool) (calls []*call, ok bool) {
	f := p.f
	f.chats++
	id := fmt.Sprintf("resp_%d", f.chats)
	failed := (f.o.Interrupted || f.o.Retries) && f.oneIn(10)
	incomplete := !failed && f.o.Interrupted && f.oneIn(14)
	body := object{{"response_id", id}}
	if failed && f.oneIn(3) {
		id, body = "", nil // it failed before it had an id, and so before it had any output
	}
	if f.o.Hashes && p.at >= 0 && !f.oneIn(10) {
		body = body.with("request_hash", f.requestHash(p.at))
	}
	sent := f.now
	f.wait(8 * time.Second)
	if !failed || id != "" && f.oneIn(2) {
		calls = p.outputs(id, mayCall, incomplete)
	}
	f.wait(time.Second)
	if !f.oneIn(6) {
		body = body.with("model", p.state().set.model)
	}
	status := "completed"
	switch {
	case failed:
		status = "failed"
		body = body.with("error", object{
			{"type", "server_error"},
			{"code", "overloaded"},
			{"message", phrase(f.r, 40)},
			{"param", nil},
		})
	case incomplete:
		status = "incomplete"
		body = body.with("incomplete", object{{"reason", []string{"max_output_tokens", "content_filter"}[f.r.IntN(2)]}})
	case !f.o.Again && f.oneIn(4):
		body = append(body, member{"error", nil}, member{"incomplete", nil})
	}
	body = body.with("status", status)
	usage, note := f.tokens()
	if absent := f.oneIn(12) || failed && f.oneIn(2); absent {
		note = func(_, _, _, _ *int64) {}
	} else {
		body = body.with("usage", usage)
	}
	if f.o.Minor >= attempts && f.oneIn(4) {
		body = body.with("attempts", 1+f.r.IntN(4))
	}
	if ms := f.now.Sub(sent).Milliseconds(); ms > 0 && !f.oneIn(5) {
		body = body.with("latency_ms", ms)
	}
	p.append("response", body, func(n *node) {
		n.state.last = struct{ seen, failed, incomplete, calls bool }{true, failed, incomplete, len(calls) > 0}
		n.state.asked = len(calls) > 0
		t := &f.truth
		t.Responses++
		t.Failed += count(failed)
		t.Incomplete += count(incomplete)
		for _, m := range body {
			t.Hashes += count(m.name == "request_hash")
		}
		note(&t.InputTokens, &t.OutputTokens, &t.CachedTokens, &t.ReasoningTokens)
	})
	return calls, !failed && !incomplete
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// outputs writes the output items of a response.
func (p *pen) outputs(id string, mayCall, incomplete bool) (calls []*call) {
	f := p.f
	status := func(last bool) string {
		if last && incomplete {
			return "incomplete"
		}
		return "completed"
	}
	n := 0
	if mayCall {
		n = 1 + f.r.IntN(f.o.CallsPerResponse)
	}
	if !f.oneIn(3) {
		summary := list{object{{"type", "summary_text"}, {"text", phrase(f.r, 60)}}}
		item := object{{"type", "reasoning"}, {"id", "rs_" + id}, {"summary", summary}}
		if !f.oneIn(3) {
			item = item.with("encrypted_content", f.prose.text(f.r, reasoningText))
		}
		p.output(id, item, nil)
	}
	if n == 0 || f.oneIn(4) {
		item := message("assistant", "output_text", f.prose.text(f.r, messageText))
		item[2].value.(list)[0] = item[2].value.(list)[0].(object).with("annotations", list{})
		p.output(id, append(item, member{"id", "msg_" + id}, member{"status", status(n == 0)}), nil)
	}
	for i := range n {
		callID := fmt.Sprintf("call_%s_%d", strings.TrimPrefix(id, "resp_"), i)
		c := &call{truth: CallTruth{ID: callID, Name: toolNames[f.r.IntN(len(toolNames))], ResponseID: id}}
		if f.o.Subsessions > 0 && f.oneIn(3) {
			c.truth.Name, c.spawns, c.truth.Background = "task", true, f.oneIn(3)
		}
		item := object{
			{"type", "function_call"},
			{"id", "fc_" + callID},
			{"status", status(i == n-1)},
			{"call_id", callID},
			{"name", c.truth.Name},
			{"arguments", f.prose.args(f.r)},
		}
		p.output(id, item, func(n *node) {
			c.truth.EntryID = n.id
			f.calls = append(f.calls, c)
			n.state.open = append(n.state.open[:len(n.state.open):len(n.state.open)], openCall{call: c, seg: n.state.run})
		})
		calls = append(calls, c)
		if f.o.Extensions && f.oneIn(8) {
			p.append("acme:progress", object{{"tokens", f.r.IntN(100)}}, nil)
		}
	}
	return calls
}

func (p *pen) output(id string, item object, note func(*node)) {
	p.append("item", object{{"item", item}, {"response", id}}, func(n *node) {
		n.item, n.reasoning = item, item[0].value == "reasoning"
		if note != nil {
			note(n)
		}
	})
	p.f.wait(500 * time.Millisecond)
}
