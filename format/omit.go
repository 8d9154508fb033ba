package format

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
	"github.com/sessionspan/sessionspan/internal/jsonwrite"
)

// OmitOtherModels leaves out the reasoning of other models than the one in force.
const OmitOtherModels = "other_models"

// Omit says which items of the path a request leaves out (C.6, from minor 11 on). The one in force at the end of a path
// applies to all of it.
type Omit struct {
	// Reasoning is [OmitOtherModels], or "".
	Reasoning string
	listed    *omitList
}

// omitList holds ids of items to leave out, before it those that were listed earlier.
type omitList struct {
	before *omitList
	items  []string
}

// IsZero reports whether nothing is left out.
func (o Omit) IsZero() bool { return o.Reasoning == "" && o.listed == nil }

// Items returns the ids of the item entries to leave out, in the order in which they were listed.
func (o Omit) Items() []string {
	var lists [][]string
	for l := o.listed; l != nil; l = l.before {
		lists = append(lists, l.items)
	}
	var items []string
	seen := map[string]bool{}
	for i := len(lists) - 1; i >= 0; i-- {
		for _, id := range lists[i] {
			if !seen[id] {
				seen[id] = true
				items = append(items, id)
			}
		}
	}
	return items
}

// apply returns what is in force after a delta: reasoning is set when it is named and known, items add up, and an object with
// neither ends both.
func (o Omit) apply(delta jsontext.Value) Omit {
	if delta == nil {
		return o
	}
	reasoning := memberOf(delta, "reasoning")
	var items []string
	for element := range jsonscan.Elements(memberOf(delta, "items")) {
		if id, ok := jsonscan.String(element); ok {
			items = append(items, id)
		}
	}
	if len(items) > 0 {
		o.listed = &omitList{before: o.listed, items: items}
	}
	switch word, _ := jsonscan.String(reasoning); {
	case word == OmitOtherModels:
		o.Reasoning = word
	case (reasoning == nil || jsonscan.IsNull(reasoning)) && len(items) == 0:
		return Omit{}
	}
	return o
}

func (o Omit) encode() jsontext.Value {
	var w jsonwrite.Object
	w.OptionalText("reasoning", o.Reasoning)
	if items := o.Items(); len(items) > 0 {
		w.Texts("items", items)
	}
	return w.Bytes()
}

// dropped returns what tells whether a contribution is left out of a request under these settings, and why; nil when none is.
func (s *Settings) dropped() func(*contribution) string {
	if s.Omit.IsZero() {
		return nil
	}
	listed := map[string]bool{}
	for _, id := range s.Omit.Items() {
		listed[id] = true
	}
	return func(c *contribution) string {
		e, ok := c.entry.(*ItemEntry)
		switch {
		case !ok:
			return ""
		case s.Omit.Reasoning == OmitOtherModels && e.Item.Type == ItemReasoning && e.IsOutput() &&
			c.model != "" && s.Model != "" && c.model != s.Model:
			return OmitOtherModels
		case listed[e.ID]:
			return OmittedByID
		}
		return ""
	}
}

// OmittedByID is the reason of an item that is left out because its entry is listed.
const OmittedByID = "items"
