package outline

import (
	"github.com/sessionspan/sessionspan/internal/jsonscan"
	"github.com/sessionspan/sessionspan/internal/source"
)

// fromClaude has the outline of a session of Claude Code say what its lines say.
func (o *Outline) fromClaude() {
	o.claude = true
	for i := range o.Entries {
		e := &o.Entries[i]
		says, ok := source.SaysClaude(e.Data())
		if !ok {
			continue
		}
		if e.Type = says.Kind; e.Kind != "decision" || says.Kind != "output" {
			e.Kind = says.Kind
		}
		var t text
		for _, raw := range says.Texts {
			if jsonscan.Kind(raw) == '{' {
				t.add("%s", raw[:min(len(raw), maxText*4)])
				continue
			}
			said(&t, raw)
		}
		words := t.String()
		t = text{}
		switch {
		case words == "":
			t.add("%s", e.Text)
		case e.Text == "":
			t.add("%s", words)
		case says.Kind == "call", says.Kind == "output": // the tool's name first
			t.add("%s · %s", e.Text, words)
		default:
			t.add("%s · %s", words, e.Text)
		}
		e.Text = t.String()
	}
}

// lookAtClaude builds the context at an entry: the messages on its path since the last compaction. What Claude Code adds to them by itself,
// instructions and tools, is not in the file.
func (o *Outline) lookAtClaude(at int) {
	c := &MessageContext{Messages: []ContextMessage{}}
	var path []int
	first := -1
	for i := at; i >= 0; i = o.Entries[i].up {
		if first >= 0 {
			o.Entries[i].Place = Folded
			continue
		}
		path = append(path, i)
		if o.Entries[i].Type == "compact_boundary" {
			first = i
		}
	}
	if first >= 0 && len(path) > 1 {
		o.Entries[path[len(path)-2]].FirstKept = true
	}
	for i := len(path) - 1; i >= 0; i-- {
		says, _ := source.SaysClaude(o.Entries[path[i]].Data())
		if says.Role == "" {
			continue
		}
		if says.Model != "" {
			c.Model = says.Model
		}
		c.Messages = append(c.Messages, ContextMessage{Entry: path[i], Role: says.Role, Content: says.Content})
	}
	o.MessageContext = c
}
