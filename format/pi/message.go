package pi

import (
	"bytes"
	"iter"
	"time"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// The roles of messages. Others occur.
const (
	RoleUser       = "user"
	RoleAssistant  = "assistant"
	RoleToolResult = "toolResult"
	RoleBash       = "bashExecution"
	RoleCustom     = TypeCustom
	RoleHook       = "hookMessage" // version 2 for custom
	RoleSystem     = "system"
)

// Why an assistant's message ended. Others occur.
const (
	StopDone     = "stop"
	StopLength   = "length"
	StopToolUse  = "toolUse"
	StopError    = "error"
	StopAborted  = "aborted"
	StopDeferred = "deferred" // the answer will be fetched later
)

// Message is a view of the message of an entry.
type Message struct {
	Role string
	// Time: of a user's message when it was submitted or queued, of an assistant's when the request was started, of a tool
	// result and a shell command when it had ended. Zero when it does not say.
	Time time.Time

	members []jsonscan.Member
}

func (m *Message) set(members []jsonscan.Member) {
	*m = Message{members: members}
	m.Role = m.Text("role")
	m.Time = unixMilli(m.Raw("timestamp"))
}

// Raw returns the raw value of a member; nil when there is none.
func (m *Message) Raw(name string) []byte { return member(m.members, name) }

// Text returns a member that is a string, else "".
func (m *Message) Text(name string) string {
	s, _ := text(m.Raw(name))
	return s
}

// Flag reports whether a member is true.
func (m *Message) Flag(name string) bool {
	v, _ := jsonscan.Bool(m.Raw(name))
	return v
}

// Count returns a member that is a number, rounded; false where there is none.
func (m *Message) Count(name string) (int64, bool) { return count(m.Raw(name)) }

// Duration is how long the request or the tool took; zero when the message does not say.
func (m *Message) Duration() time.Duration { return duration(m.Raw("durationMs")) }

// Usage returns what the message says it spent; false where it does not.
func (m *Message) Usage() (Usage, bool) { return DecodeUsage(m.Raw("usage")) }

// Names returns the names of the elements of a member: toolsAdded, toolsRemoved.
func (m *Message) Names(member string) []string { return names(m.Raw(member)) }

func names(raw []byte) []string {
	var list []string
	var s jsonscan.Scanner
	for el := range jsonscan.Elements(raw) {
		if s.Scan(el, "") != nil {
			continue
		}
		if name, ok := text(member(s.Members, "name")); ok {
			list = append(list, name)
		}
	}
	return list
}

// ToolCall is a call that an assistant's message asks for.
type ToolCall struct {
	ID, Name string
	// Arguments is raw: an object, but null and parts of one occur.
	Arguments []byte
}

// ToolCalls walks the calls of an assistant's message, in order.
func (m *Message) ToolCalls() iter.Seq[ToolCall] {
	return func(yield func(ToolCall) bool) {
		content := m.Raw("content")
		if !bytes.Contains(content, toolCallWord) && !bytes.Contains(content, escapedWord) {
			return
		}
		var s jsonscan.Scanner
		for block := range jsonscan.Elements(content) {
			if s.Scan(block, "") != nil {
				continue
			}
			if typ, _ := text(member(s.Members, "type")); typ != "toolCall" {
				continue
			}
			c := ToolCall{Arguments: member(s.Members, "arguments")}
			c.ID, _ = text(member(s.Members, "id"))
			c.Name, _ = text(member(s.Members, "name"))
			if !yield(c) {
				return
			}
		}
	}
}

// A call is one of these two: as everybody writes it, or with letters as escapes. Most messages without calls have neither.
var toolCallWord, escapedWord = []byte(`"toolCall"`), []byte(`\u00`)

// NestedCalls are the calls that a tool made itself.
type NestedCalls struct {
	Names           []string
	Failed, Unended int
	// Complete: all of them are there.
	Complete bool
}

// NestedCalls returns those of a tool result; false where it does not say.
func (m *Message) NestedCalls() (NestedCalls, bool) {
	var n NestedCalls
	var s jsonscan.Scanner
	raw := m.Raw("nestedCalls")
	if s.Scan(raw, "") != nil {
		return n, false
	}
	n.Complete, _ = jsonscan.Bool(member(s.Members, "complete"))
	calls := member(s.Members, "calls")
	n.Names = names(calls)
	for el := range jsonscan.Elements(calls) {
		if s.Scan(el, "") != nil {
			continue
		}
		switch status, _ := text(member(s.Members, "status")); status {
		case "error":
			n.Failed++
		case "unfinished":
			n.Unended++
		}
	}
	return n, true
}
