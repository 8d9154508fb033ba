package outline

import (
	"strconv"
	"strings"

	"github.com/sessionspan/sessionspan/format/pi"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// MessageContext is the context at an entry, as a list of messages.
type MessageContext struct {
	Provider, Model, ThinkingLevel string
	// Tools are those that the model may use; HasTools is false where the file does not say.
	Tools    []string
	HasTools bool
	Messages []ContextMessage
}

// ContextMessage is a message of a context.
type ContextMessage struct {
	// Entry is the number of the entry that gives it.
	Entry int
	Role  string
	// Content is raw: a string or an array of blocks.
	Content []byte
}

// fromPi has the outline of a session of pi say what its messages say, and know their context. The text is that of the file.
func (o *Outline) fromPi(file []byte) {
	s, err := pi.Parse(file)
	if err != nil {
		return // it was read as events all the same, and the context is not known
	}
	if s.Header().Version < 2 {
		if s, err = s.Migrated(numbered(s)); err != nil {
			return
		}
	}
	o.pi = s
	for i := range o.Entries {
		e := &o.Entries[i]
		from := s.Entry(e.ID)
		if from == nil {
			continue
		}
		e.Type, e.Kind = from.Type, from.Type
		if m := from.Message(); m != nil && m.Role != "" && from.Type == pi.TypeMessage {
			e.Kind = m.Role
		}
		var t text
		said(&t, contentOf(from))
		if words := t.String(); words != "" && e.Text != "" {
			t.add("· %s", e.Text)
		} else if words == "" {
			t.add("%s", e.Text)
		}
		e.Text = t.String()
		if e.Text == "" {
			e.Text = unchanged(from)
		}
	}
}

// unchanged says of a choice what it was, if it says nothing else: that was in force already.
func unchanged(e *pi.Entry) string {
	var t text
	switch e.Type {
	case pi.TypeModelChange:
		t.add("%s %s, as before", e.Text("provider"), e.Text("modelId"))
	case pi.TypeThinkingLevelChange:
		t.add("%s, as before", e.Text("thinkingLevel"))
	}
	return t.String()
}

// numbered gives the entries of version 1 the ids that they have as events: their numbers among the values of the file.
func numbered(s *pi.Session) func() string {
	var ids []string
	for _, l := range s.Lines() {
		if l.Kind == pi.EntryLine {
			ids = append(ids, strconv.Itoa(l.Number))
		}
	}
	return func() string {
		id := ids[0]
		ids = ids[1:]
		return id
	}
}

// contentOf is what an entry says in words, raw; nil for one that has none.
func contentOf(e *pi.Entry) []byte {
	if m := e.Message(); m != nil && e.Type == pi.TypeMessage {
		if m.Role == pi.RoleBash {
			return m.Raw("command")
		}
		return m.Raw("content")
	}
	switch e.Type {
	case pi.TypeCustomMessage:
		return e.Raw("content")
	case pi.TypeCompaction, pi.TypeBranchSummary:
		return e.Raw("summary")
	}
	return nil
}

// said adds the texts of a raw content.
func said(t *text, content []byte) {
	if s, ok := jsonscan.String(content); ok {
		t.add("%s", s)
		return
	}
	var scan jsonscan.Scanner
	for block := range jsonscan.Elements(content) {
		if t.full() || scan.Scan(block, "") != nil {
			break
		}
		for _, m := range scan.Members {
			if string(m.Name) != "text" {
				continue
			}
			if s, ok := jsonscan.String(m.Value); ok {
				t.add("%s", s)
			}
		}
	}
}

// lookAtPi builds the context at an entry, and marks the entries by what it makes of them.
func (o *Outline) lookAtPi(id string) {
	if o.pi.Entry(id) == nil { // an entry without an id of its own
		return
	}
	c := o.pi.Context(id)
	o.MessageContext = &MessageContext{
		Provider: c.Provider, Model: c.Model, ThinkingLevel: c.ThinkingLevel, Tools: c.Tools, HasTools: c.HasTools, Messages: []ContextMessage{},
	}
	for _, m := range c.Messages {
		o.MessageContext.Messages = append(o.MessageContext.Messages, ContextMessage{Entry: o.index[m.Entry.ID], Role: m.Role, Content: m.Content})
	}
	var fold *pi.Entry // the last compaction of the path
	for i := o.At; i >= 0 && fold == nil; i = o.Entries[i].up {
		if e := o.pi.Entry(o.Entries[i].ID); e != nil && e.Type == pi.TypeCompaction {
			fold = e
		}
	}
	if fold == nil {
		return
	}
	first := o.index[fold.ID]
	for _, m := range c.Messages {
		if at := o.index[m.Entry.ID]; at < first {
			first = at
			o.Entries[first].FirstKept = true
			break
		}
	}
	for i := o.Entries[first].up; i >= 0; i = o.Entries[i].up {
		o.Entries[i].Place = Folded
	}
}

// messageContext draws a context that is a list of messages.
func (d *drawing) messageContext() {
	c := d.MessageContext
	if model := strings.TrimSpace(c.Provider + " " + c.Model); model != "" {
		d.setting("model", model)
	}
	if c.ThinkingLevel != "" {
		d.setting("thinking", c.ThinkingLevel)
	}
	if c.HasTools {
		d.setting("tools", strconv.Itoa(len(c.Tools))+": "+strings.Join(c.Tools[:min(len(c.Tools), maxText)], ", "))
	}
	d.line(terminal.Strong.Piece("messages: " + strconv.Itoa(len(c.Messages))))
	for _, m := range c.Messages {
		var t text
		said(&t, m.Content)
		words := t.String()
		if words == "" {
			words = d.Entries[m.Entry].Text
		}
		d.line(
			terminal.Blank(2), terminal.ID.Piece(d.pad(d.ids[m.Entry], d.idWidth)), terminal.Blank(1),
			kindInks[m.Role].Piece(d.pad(d.Text(m.Role), d.kindWidth)), terminal.Blank(1), terminal.Plain.Piece(d.Text(words)),
		)
	}
}
