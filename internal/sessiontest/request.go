package sessiontest

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
)

// settings are the request settings in force (A.5).
type settings struct {
	model, instructions string
	// parts are what the instructions are composed of, omitted what was left out of them: whole elements.
	parts, omitted list
	// otherModels, items: what requests leave out.
	otherModels     bool
	items           list
	reasoning, text any
	tools           []object
	extra           object
}

func (s *settings) clone() *settings {
	c := *s
	c.tools, c.extra = slices.Clone(s.tools), slices.Clone(s.extra)
	return &c
}

// apply returns the settings after a config entry with the given members.
func (s *settings) apply(delta object) *settings {
	c := s.clone()
	for _, m := range delta {
		if m.name == "replace" && m.value == true {
			c = &settings{}
		}
	}
	for _, m := range delta {
		switch m.name {
		case "model":
			c.model = m.value.(string)
		case "instructions":
			c.instructions, c.parts = m.value.(string), nil
		case "instructions_parts":
			c.parts = resolve(m.value.(list), c.parts)
			c.instructions = joined(c.parts)
		case "instructions_omitted":
			c.omitted = resolve(m.value.(list), c.omitted)
		case "omit":
			c.omit(m.value.(object))
		case "reasoning":
			c.reasoning = m.value
		case "text":
			c.text = m.value
		case "tools_removed":
			for _, name := range m.value.(list) {
				c.drop(name)
			}
		case "extra":
			for _, x := range m.value.(object) {
				c.extra = slices.DeleteFunc(c.extra, func(y member) bool { return y.name == x.name })
				if x.value != nil {
					c.extra = append(c.extra, x)
				}
			}
		}
	}
	for _, m := range delta {
		if m.name == "tools_added" {
			for _, t := range m.value.(list) {
				c.drop(toolName(t.(object)))
				c.tools = append(c.tools, t.(object))
			}
		}
	}
	return c
}

// drop takes out the tool of that name; a tool without a name is never meant.
func (s *settings) drop(name any) {
	s.tools = slices.DeleteFunc(s.tools, func(t object) bool { return name != nil && toolName(t) == name })
}

func toolName(t object) any {
	for _, m := range t {
		if m.name == "name" {
			return m.value
		}
	}
	return nil
}

// checkpoint returns the settings as the config of a compaction.
func (s *settings) checkpoint() object {
	o := object{{"model", s.model}}
	if s.instructions != "" {
		o = o.with("instructions", s.instructions)
	}
	if s.parts != nil {
		o = o.with("instructions_parts", s.parts)
	}
	if s.omitted != nil {
		o = o.with("instructions_omitted", s.omitted)
	}
	if s.otherModels || s.items != nil {
		o = o.with("omit", s.omission())
	}
	return append(o, s.members(func(extra object) object { return object{{"extra", extra}} })...)
}

// members returns what checkpoint and request have in common; extra is where they differ.
func (s *settings) members(extra func(object) object) object {
	var o object
	if s.reasoning != nil {
		o = o.with("reasoning", s.reasoning)
	}
	if s.text != nil {
		o = o.with("text", s.text)
	}
	if len(s.tools) > 0 {
		var tools list
		for _, t := range s.tools {
			tools = append(tools, t)
		}
		o = o.with("tools", tools)
	}
	if len(s.extra) > 0 {
		o = append(o, extra(s.extra)...)
	}
	return o
}

// requestHash returns the hash of the canonical request that the path to the entry at index at gives (A.7, A.8).
func (f *file) requestHash(at int) string {
	s := f.nodes[at].state.set
	o := object{{"store", false}}
	if s.model != "" {
		o = o.with("model", s.model)
	}
	if s.instructions != "" {
		o = o.with("instructions", s.instructions)
	}
	o = append(o, s.members(func(extra object) object { return extra })...)
	if input := f.context(at); len(input) > 0 {
		o = o.with("input", input)
	}
	sum := sha256.Sum256([]byte(canonical(o)))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// context returns the items in context at an entry, in order.
func (f *file) context(at int) list {
	var items list // last one first
	summary, kept := any(nil), -1
	var pinned list
	set := f.nodes[at].state.set
	for i := at; i >= 0; i = f.nodes[i].parent {
		n := &f.nodes[i]
		switch {
		case n.firstKept >= 0 && summary == nil: // the last compaction of the path
			summary, kept, pinned = n.item, n.firstKept, n.pinned
		case n.firstKept >= 0: // an earlier one inside the kept window
		case set.leavesOut(n):
		case n.item != nil:
			items = append(items, n.item)
		}
		if i == kept {
			break
		}
	}
	for _, x := range slices.Backward(pinned) {
		items = append(items, x)
	}
	if summary != nil {
		items = append(items, summary)
	}
	slices.Reverse(items)
	return items
}
