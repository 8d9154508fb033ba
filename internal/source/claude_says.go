package source

import "github.com/sessionspan/sessionspan/internal/jsonscan"

// ClaudeSays is what a line of Claude Code says to people.
type ClaudeSays struct {
	// Kind is user, assistant, reasoning, call, output, summary, or the kind of the line, of its system message or attachment.
	Kind string
	// Role is that of the message, where the model gets to see it: user or assistant; else "".
	Role string
	// Model is the one that wrote it.
	Model string
	// Content is raw: what the message holds, nil where it has none.
	Content []byte
	// Texts are raw: strings, and the inputs of calls.
	Texts [][]byte
}

// SaysClaude reads a line for people; ok is false for one that is no entry. What it gives points into the line.
func SaysClaude(line []byte) (says ClaudeSays, ok bool) {
	var r claudeReader
	e, err := r.read(line)
	if err != nil || !e.chained {
		return says, false
	}
	says.Kind = e.typ
	switch e.typ {
	case "system":
		if subtype := e.text("subtype"); subtype != "" {
			says.Kind = subtype
		}
		return says, true
	case "attachment":
		var s jsonscan.Scanner
		a := objectIn(&s, e.raw("attachment"))
		says.Kind = textOf(a, "type")
		if prompt := memberOf(a, "prompt"); prompt != nil {
			says.Texts = append(says.Texts, prompt)
		}
		return says, true
	case "user", "assistant":
	default:
		return says, true
	}
	says.Content, says.Model = e.content, textOf(e.message, "model")
	var s jsonscan.Scanner
	kind := claudePrompt
	if e.typ == "user" {
		kind, _ = e.input(&s)
	}
	switch kind {
	case claudeSummary:
		says.Kind = "summary"
	case claudeInjected:
		says.Kind = "meta"
	case claudeLocal, claudeShell, claudeCommand:
		says.Kind = "command"
	case claudeNotification:
		says.Kind = "notification"
	}
	if kind != claudeLocal && kind != claudeShell {
		says.Role = e.typ
	}
	if jsonscan.Kind(e.content) == '"' {
		says.Texts = append(says.Texts, e.content)
	}
	for members := range e.blocks() {
		says.block(members, e.typ)
	}
	return says, true
}

// block takes a block of a message. The kind of an entry is that of its last block.
func (c *ClaudeSays) block(members []jsonscan.Member, typ string) {
	add := func(kind, member string) {
		if typ == "assistant" || kind == "output" {
			c.Kind = kind
		}
		if raw := memberOf(members, member); raw != nil && len(c.Texts) < maxBlocks {
			c.Texts = append(c.Texts, raw)
		}
	}
	switch textOf(members, "type") {
	case "text":
		add(typ, "text")
	case "thinking", "redacted_thinking":
		add("reasoning", "thinking")
	case "tool_use", "server_tool_use", "mcp_tool_use":
		add("call", "input")
	case "tool_result":
		add("output", "content")
	}
}
