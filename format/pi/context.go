package pi

import (
	"slices"
	"time"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// Roles of messages that are made while a context is built, and are in no file.
const (
	RoleBranchSummary     = "branchSummary"
	RoleCompactionSummary = "compactionSummary"
)

// ContextMessage is one message of a context.
type ContextMessage struct {
	Role string
	// Entry is where it comes from. Several messages may come from one compaction.
	Entry *Entry
	// Message is the message as the file has it; nil for one that was made of an entry.
	Message *Message
	// Content is raw: a string or an array of blocks, as an edit has left it. For a summary it is the text.
	Content []byte
	Time    time.Time
}

// Context is what a model call at an entry is made of. What really was sent may differ: extensions change it, and the agents
// wrap what is not from the user.
type Context struct {
	Messages []ContextMessage
	// Provider, Model, ThinkingLevel and Tools are in force; "" for a model that nothing says. HasTools: Tools are known.
	Provider, Model, ThinkingLevel string
	Tools                          []string
	HasTools                       bool
}

// Context builds the context at the entry of an id, or of the last entry when no entry has it. For "" it is empty: before
// the first entry there is nothing.
func (s *Session) Context(id string) *Context {
	c := &Context{ThinkingLevel: "off"}
	if id == "" {
		return c
	}
	if s.Entry(id) == nil {
		for _, e := range slices.Backward(s.entries) {
			if e.ID != "" {
				id = e.ID
				break
			}
		}
	}
	path := s.Path(id)
	for _, e := range path {
		c.settle(e)
	}
	c.systemTools(path)
	selected := selection(path)
	edits := map[string]*Entry{}
	for _, e := range selected {
		if e.Type == TypeContextEdit {
			edits[e.Text("targetId")] = e
		}
	}
	for i, e := range selected {
		made := messagesOf(e, i == 0)
		if edit := edits[e.ID]; edit != nil && e.ID != "" {
			made = edited(made, edit.Raw("replacement"))
		}
		c.Messages = append(c.Messages, made...)
	}
	return c
}

// settle takes the settings that an entry changes.
func (c *Context) settle(e *Entry) {
	switch e.Type {
	case TypeModelChange:
		c.Provider, c.Model = e.Text("provider"), e.Text("modelId")
	case TypeThinkingLevelChange:
		c.ThinkingLevel = e.Text("thinkingLevel")
	case TypeActiveToolsChange:
		c.Tools, c.HasTools = e.Texts("activeToolNames"), true
	case TypeMessage:
		if m := e.Message(); m != nil && m.Role == RoleAssistant {
			c.Provider, c.Model = m.Text("provider"), m.Text("model")
		}
	}
}

// systemTools has the tools of the system messages, if there are any, stand over those of other entries.
func (c *Context) systemTools(path []*Entry) {
	var tools []string
	known := false
	patch := func(m *Message) {
		known = true
		for _, name := range m.Names("toolsRemoved") {
			tools = slices.DeleteFunc(tools, func(t string) bool { return t == name })
		}
		for _, name := range m.Names("toolsAdded") {
			if !slices.Contains(tools, name) {
				tools = append(tools, name)
			}
		}
	}
	for _, e := range path {
		switch m := e.Message(); {
		case e.Type == TypeMessage && m != nil && m.Role == RoleSystem:
			patch(m)
		case e.Type == TypeCompaction:
			if m := messageIn(e.Raw("systemMessage")); m != nil { // all there is at that place
				tools = nil
				patch(m)
			}
		}
	}
	if known {
		c.Tools, c.HasTools = tools, true
	}
}

// messageIn is a view of a raw message; nil for what is no object.
func messageIn(raw []byte) *Message {
	var sc jsonscan.Scanner
	if sc.Scan(raw, "") != nil {
		return nil
	}
	var m Message
	m.set(cloneMembers(sc.Members, true))
	return &m
}

// selection is what of a path a context is made from: all of it, or the last compaction, what that keeps, and what follows.
func selection(path []*Entry) []*Entry {
	last := -1
	for i, e := range path {
		if e.Type == TypeCompaction {
			last = i
		}
	}
	if last < 0 {
		return path
	}
	selected := []*Entry{path[last]}
	if jsonscan.Kind(path[last].Raw("retainedTail")) != '[' {
		kept := path[last].Text("firstKeptEntryId")
		from := slices.IndexFunc(path[:last], func(e *Entry) bool { return e.ID == kept && kept != "" })
		if from >= 0 {
			for _, e := range path[from:last] {
				if m := e.Message(); m == nil || e.Type != TypeMessage || m.Role != RoleSystem {
					selected = append(selected, e)
				}
			}
		}
	}
	return append(selected, path[last+1:]...)
}

// messagesOf is what an entry gives. A compaction gives something where it is the first.
func messagesOf(e *Entry, first bool) []ContextMessage {
	switch e.Type {
	case TypeMessage:
		if m := e.Message(); m != nil {
			return []ContextMessage{messageFrom(e, m)}
		}
	case TypeCustomMessage:
		return []ContextMessage{{Role: RoleCustom, Entry: e, Content: contentOf(RoleCustom, e.Raw("content")), Time: e.Time}}
	case TypeBranchSummary:
		if e.Text("summary") != "" {
			return []ContextMessage{{Role: RoleBranchSummary, Entry: e, Content: e.Raw("summary"), Time: e.Time}}
		}
	case TypeCompaction:
		if first {
			return compacted(e)
		}
	}
	return nil
}

func compacted(e *Entry) []ContextMessage {
	var list []ContextMessage
	if m := messageIn(e.Raw("systemMessage")); m != nil {
		list = append(list, messageFrom(e, m))
	}
	list = append(list, ContextMessage{Role: RoleCompactionSummary, Entry: e, Content: e.Raw("summary"), Time: e.Time})
	for raw := range jsonscan.Elements(e.Raw("retainedTail")) {
		if m := messageIn(raw); m != nil {
			list = append(list, messageFrom(e, m))
		}
	}
	return list
}

func messageFrom(e *Entry, m *Message) ContextMessage {
	return ContextMessage{Role: m.Role, Entry: e, Message: m, Content: contentOf(m.Role, m.Raw("content")), Time: m.Time}
}

// contentOf is the content of a message; of one without any it is empty.
func contentOf(role string, content []byte) []byte {
	switch {
	case content != nil && !jsonscan.IsNull(content):
		return content
	case role == RoleSystem:
		return []byte(`""`)
	}
	return []byte("[]")
}

// edited applies a replacement to the messages of an entry: it takes them out, or changes their content.
func edited(made []ContextMessage, replacement []byte) []ContextMessage {
	var sc jsonscan.Scanner
	if sc.Scan(replacement, "") != nil {
		return nil
	}
	content := member(sc.Members, "content")
	for i := range made {
		m := &made[i]
		switch m.Role {
		case RoleUser, RoleCustom, RoleHook:
			m.Content = contentOf(m.Role, content)
		case RoleAssistant, RoleToolResult:
			m.Content = contentOf(m.Role, content)
			if jsonscan.Kind(content) == '"' {
				m.Content = slices.Concat([]byte(`[{"type":"text","text":`), content, []byte(`}]`))
			}
		}
	}
	return made
}
