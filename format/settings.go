package format

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
	"github.com/sessionspan/sessionspan/internal/jsonwrite"
)

// maxSettings bounds how many tools, instruction parts or further members settings can have. It is far above what a provider
// takes, and keeps a file from making settings that cost more than all of its lines. So does maxWork, which bounds how many of
// them all the changes of a path may write anew: a thousand tools, changed a thousand times.
const (
	maxSettings = 4096
	maxWork     = 1 << 20
)

// Settings are what config entries have put in force at an entry: everything that a request has beside its input (A.5, A.7).
// They are a value: [Settings.Apply] makes other ones, which share lists with those before, so the lists must not be changed.
// Raw values are as the entries wrote them.
type Settings struct {
	Model string
	// Reasoning and Text are raw JSON; nil when not set.
	Reasoning jsontext.Value
	Text      jsontext.Value
	// Tools in order, their definitions as written.
	Tools []openresponses.Tool
	// Extra are further request members under their wire names; none is null.
	Extra Members
	// Parts are what the instructions are composed of (C.1, from minor 3 on); nil when they are one text.
	Parts []InstructionPart
	// Omitted are what was left out of the instructions, as raw elements with the kept ones put in their place. They are for
	// display and never part of a request.
	Omitted []jsontext.Value
	// Omit says which items a request leaves out (C.6, from minor 11 on).
	Omit Omit

	text       string // the instructions when they are one text
	left       *leftPart
	lists      *omittedList
	unresolved error // the instructions are not known
	overfull   error // there was more than settings can have
	work       int   // elements of lists that were written on the way here
}

// Instructions returns the instructions in force: one text, or the texts of the parts they are composed of (C.1).
func (s Settings) Instructions() string {
	if s.Parts == nil {
		return s.text
	}
	texts := make([]string, len(s.Parts))
	for i, p := range s.Parts {
		texts[i] = p.Text
	}
	return strings.Join(texts, partsSeparator)
}

// Err returns why the settings cannot be known, which wraps [ErrSettings]; nil when they can.
func (s Settings) Err() error { return cmp.Or(s.overfull, s.unresolved) }

// Apply returns the settings after a delta. The receiver stays as it is.
func (s Settings) Apply(c *ConfigEntry) Settings {
	if c.Replace {
		s = Settings{lists: s.lists, work: s.work}
	}
	if c.Model != "" {
		s.Model = c.Model
	}
	if c.Reasoning != nil {
		s.Reasoning = c.Reasoning
	}
	if c.Text != nil {
		s.Text = c.Text
	}
	s.Tools = applyTools(s.Tools, c)
	s.Extra = applyExtra(s.Extra, c.Extra)
	s.applyInstructions(c)
	s.applyOmitted(c)
	s.Omit = s.Omit.apply(c.Omit)
	if len(c.ToolsAdded)+len(c.ToolsRemoved) > 0 {
		s.work += len(s.Tools)
	}
	if len(c.Extra) > 0 {
		s.work += len(s.Extra)
	}
	if c.Parts != nil {
		s.work += len(s.Parts)
	}
	if c.Omitted != nil {
		s.work += len(s.Omitted)
	}
	if max(len(s.Tools), len(s.Extra), len(s.Parts), len(s.Omitted)) > maxSettings || s.work > maxWork {
		s.Tools, s.Extra, s.Parts, s.Omitted, s.lists = nil, nil, nil, nil, nil
		s.overfull = fmt.Errorf("%w: more than %d tools, members or instruction parts, or %d in all the changes of a path",
			ErrSettings, maxSettings, maxWork)
	}
	return s
}

// applyTools drops the tools that are removed or defined anew, and puts the added ones at the end (A.5).
func applyTools(tools []openresponses.Tool, c *ConfigEntry) []openresponses.Tool {
	if len(c.ToolsRemoved) == 0 && len(c.ToolsAdded) == 0 {
		return tools
	}
	gone := map[string]bool{}
	for _, name := range c.ToolsRemoved {
		gone[name] = true
	}
	added := make([]openresponses.Tool, len(c.ToolsAdded))
	last := map[string]int{}
	for i, raw := range c.ToolsAdded {
		typ, _ := jsonscan.String(memberOf(raw, "type"))
		added[i] = openresponses.Tool{Raw: raw, Type: typ, Name: openresponses.ToolName(raw)}
		gone[added[i].Name] = true
		last[added[i].Name] = i
	}
	kept := make([]openresponses.Tool, 0, len(tools)+len(added))
	for _, tool := range tools {
		if tool.Name == "" || !gone[tool.Name] {
			kept = append(kept, tool)
		}
	}
	for i, tool := range added {
		if tool.Name == "" || last[tool.Name] == i {
			kept = append(kept, tool)
		}
	}
	return kept
}

// memberOf returns the raw value of the last member of that name in an object, or nil.
func memberOf(object jsontext.Value, name string) jsontext.Value {
	var s jsonscan.Scanner
	if jsonscan.Kind(object) != '{' || s.Scan(object, "") != nil {
		return nil
	}
	for _, m := range slices.Backward(s.Members) {
		if string(m.Name) == name {
			return jsontext.Value(m.Value)
		}
	}
	return nil
}

// applyExtra merges members key by key; null takes one away.
func applyExtra(extra, delta Members) Members {
	if len(delta) == 0 {
		return extra
	}
	values := map[string]jsontext.Value{}
	for _, m := range delta {
		values[m.Name] = m.Value
	}
	var merged Members
	for _, m := range extra {
		value, changed := values[m.Name]
		if !changed {
			value = m.Value
		}
		if !jsonscan.IsNull(value) {
			merged = append(merged, Member{Name: m.Name, Value: value})
		}
		delete(values, m.Name)
	}
	for _, m := range delta {
		if value, add := values[m.Name]; add && !jsonscan.IsNull(value) {
			merged = append(merged, Member{Name: m.Name, Value: value})
		}
		delete(values, m.Name)
	}
	return merged
}

// ExtraValue returns the raw value of a further request member, and whether it is set.
func (s Settings) ExtraValue(name string) (jsontext.Value, bool) {
	value := s.Extra.Get(name)
	return value, value != nil
}

// Request returns the canonical request for the settings over these items (A.7): not stored, and without a previous response.
// The error is that of settings which cannot be known.
func (s Settings) Request(items []Item) (openresponses.Request, error) {
	if err := s.Err(); err != nil {
		return openresponses.Request{}, err
	}
	store := false
	return openresponses.Request{
		Model: s.Model, Instructions: s.Instructions(), Reasoning: s.Reasoning, Text: s.Text, Tools: slices.Clip(s.Tools),
		Input: slices.Clip(items), Store: &store, Extra: slices.Clip(s.Extra),
	}, nil
}

// Config returns the settings as the checkpoint of a compaction holds them (A.5): complete, with empty members left out.
func (s Settings) Config() jsontext.Value {
	var o jsonwrite.Object
	o.OptionalText("model", s.Model)
	o.OptionalText("instructions", s.Instructions())
	if len(s.Parts) > 0 {
		jsonwrite.Array(&o, "instructions_parts", s.Parts, appendPart)
	}
	if len(s.Omitted) > 0 {
		jsonwrite.Array(&o, "instructions_omitted", s.Omitted, appendRaw)
	}
	o.OptionalRaw("reasoning", s.Reasoning)
	o.OptionalRaw("text", s.Text)
	if len(s.Tools) > 0 {
		jsonwrite.Array(&o, "tools", s.Tools, func(dst []byte, t openresponses.Tool) []byte { return appendRaw(dst, t.Raw) })
	}
	if len(s.Extra) > 0 {
		o.Raw("extra", encodeObject(s.Extra))
	}
	if !s.Omit.IsZero() {
		o.Raw("omit", s.Omit.encode())
	}
	return o.Bytes()
}

// Entry returns the config entry that puts these settings in force wherever it stands, whatever was in force before: what the
// first entry of a session says that goes on with another (A.14). The error is that of settings which cannot be known.
func (s Settings) Entry() (*ConfigEntry, error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	return fullConfig(s.Config())
}

// settingsOf reads a checkpoint.
func settingsOf(config jsontext.Value) Settings {
	c, err := fullConfig(config)
	if err != nil {
		return Settings{unresolved: fmt.Errorf("%w: the checkpoint of the compaction: %w", ErrSettings, err)}
	}
	return Settings{}.Apply(c)
}

// fullConfig reads complete settings as a config entry that replaces, with its tools added to none.
func fullConfig(config jsontext.Value) (*ConfigEntry, error) {
	var d Decoder
	if err := d.part.Scan(config, ""); err != nil {
		return nil, err
	}
	var buf [9]found
	f := find(buf[:], d.part.Members, checkpointFields)
	c := &ConfigEntry{Replace: true}
	c.Model = d.text(f[0])
	c.Instructions = d.optionalText(f[1])
	c.Reasoning = d.value(f[2])
	c.Text = d.value(f[3])
	c.ToolsAdded = d.values(f[4])
	c.Extra = d.members(f[5])
	c.Parts = d.value(f[6])
	c.Omitted = d.value(f[7])
	c.Omit = d.value(f[8])
	if d.trouble != "" {
		return nil, errors.New(d.trouble)
	}
	return c, nil
}

var checkpointFields = []field{
	{name: "model"},
	{name: "instructions"},
	{name: "reasoning"},
	{name: "text"},
	{name: "tools"},
	{name: "extra"},
	{"instructions_parts", '['},
	{"instructions_omitted", '['},
	{"omit", '{'},
}
