package main

import (
	"context"

	"github.com/sessionspan/sessionspan/format/pi"
	"github.com/sessionspan/sessionspan/internal/jsonwrite"
	"github.com/sessionspan/sessionspan/internal/outline"
	"github.com/sessionspan/sessionspan/internal/stored"
)

// What show writes for programs.
type (
	shownSession struct {
		Object         string  `json:"object"` // session
		Path           string  `json:"path"`
		ID             string  `json:"id"`
		Name           *string `json:"name"`
		Format         string  `json:"format"`
		FormatVersion  string  `json:"format_version"`
		Harness        *string `json:"harness"`
		HarnessVersion *string `json:"harness_version"`
		Created        *string `json:"created"`
		CWD            *string `json:"cwd"`
		Parent         *string `json:"parent"`
		SpawnedBy      *string `json:"spawned_by"`
		ForkOf         *string `json:"fork_of"`
		Entries        int     `json:"entries"`
		Branches       int     `json:"branches"`
		Repeats        int     `json:"repeated_lines"`
		Leaf           *string `json:"leaf"`
		Damaged        int     `json:"damaged"`
		Error          *string `json:"error"`
	}
	shownEntry struct {
		Object    string   `json:"object"` // entry
		ID        string   `json:"id"`
		Parent    *string  `json:"parent"`
		Type      string   `json:"type"`
		Kind      string   `json:"kind"`
		Time      *string  `json:"time"`
		Line      int      `json:"line"`
		Offset    int64    `json:"offset"`
		Leaf      bool     `json:"leaf"`
		OnPath    bool     `json:"on_path"`
		InContext bool     `json:"in_context"`
		Labels    []string `json:"labels"`
		Hidden    bool     `json:"hidden"`
		Omitted   *string  `json:"omitted"`
		Damage    []damage `json:"damage"`
		Text      string   `json:"text"`
		Entry     rawJSON  `json:"entry"`
	}
	shownDamage struct {
		Object string `json:"object"` // damage
		damage
	}
	damage struct {
		Line   int     `json:"line"`
		Offset int64   `json:"offset"`
		Rule   string  `json:"rule"`
		Entry  *string `json:"entry"`
		What   string  `json:"what"`
	}
	shownContext struct {
		Object   string         `json:"object"` // context
		At       *string        `json:"at"`
		Settings rawJSON        `json:"settings"`
		Items    []shownItem    `json:"items"`
		Entries  []string       `json:"entries"`
		Omitted  []shownOmitted `json:"omitted"`
		Error    *string        `json:"error"`
	}
	shownItem struct {
		Entry string  `json:"entry"`
		Item  rawJSON `json:"item"`
	}
	shownOmitted struct {
		Entry  string `json:"entry"`
		Reason string `json:"reason"`
	}
)

func (o *show) writeJSON(ctx context.Context, path string, out *outline.Outline) error {
	w := newJSONLines(o.out)
	if !o.tree && !o.context {
		w.write(newShownSession(path, out))
	}
	if !o.context {
		if err := writeShownEntries(ctx, w, out); err != nil {
			return err
		}
	}
	if !o.tree {
		w.write(newShownContext(out))
	}
	return w.flush()
}

// writeShownEntries writes entries and damage in the order of the file. What is wrong with an entry is a part of it.
func writeShownEntries(ctx context.Context, w *jsonLines, out *outline.Outline) error {
	left := out.Damage
	for i := range out.Entries {
		if i%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e := newShownEntry(out, i)
		for ; len(left) > 0 && left[0].Line <= e.Line; left = left[1:] {
			if left[0].Line == e.Line {
				e.Damage = append(e.Damage, newDamage(&left[0]))
			} else {
				w.write(shownDamage{"damage", newDamage(&left[0])})
			}
		}
		w.write(e)
	}
	for i := range left {
		w.write(shownDamage{"damage", newDamage(&left[i])})
	}
	return nil
}

func newShownSession(path string, out *outline.Outline) *shownSession {
	h := out.Header
	s := &shownSession{
		Object: "session", Path: path, ID: h.ID, Name: orNull(out.Name), Format: h.Format, FormatVersion: h.FormatVersion,
		Harness: orNull(h.Harness), HarnessVersion: orNull(h.Version), Created: timeOrNull(h.Created), CWD: orNull(h.CWD),
		ForkOf: orNull(h.ForkOf), Entries: len(out.Entries), Branches: out.Branches(), Repeats: out.Repeats,
		Damaged: len(out.Damage), Error: errorOrNull(out.Err),
	}
	if h.Spawn != nil {
		s.Parent, s.SpawnedBy = orNull(h.Spawn.Session), orNull(h.Spawn.CallID)
	}
	if out.Leaf >= 0 {
		s.Leaf = &out.Entries[out.Leaf].ID
	}
	return s
}

func newShownEntry(out *outline.Outline, i int) *shownEntry {
	e := &out.Entries[i]
	return &shownEntry{
		Object: "entry", ID: e.ID, Parent: orNull(e.Parent), Type: e.Type, Kind: e.Kind, Time: timeOrNull(e.Time),
		Line: e.Line, Offset: e.Offset, Leaf: i == out.Leaf, OnPath: e.Place != outline.Aside, InContext: inContext(e),
		Labels: append([]string{}, e.Labels...), Hidden: e.Hidden, Omitted: orNull(e.Omitted), Damage: []damage{},
		Text: e.Text, Entry: rawJSON(e.Data()),
	}
}

func newDamage(d *stored.Damage) damage {
	return damage{d.Line, d.Offset, d.Rule, orNull(d.Entry), d.What}
}

func newShownContext(out *outline.Outline) *shownContext {
	c := &shownContext{Object: "context"}
	if out.At >= 0 {
		c.At = &out.Entries[out.At].ID
	}
	c.Error = errorOrNull(out.ContextErr)
	if out.MessageContext != nil {
		c.fromMessages(out)
		return c
	}
	of := out.Context
	if of == nil {
		return c
	}
	c.Settings = rawJSON(of.Settings.Config())
	c.Items, c.Entries, c.Omitted = []shownItem{}, []string{}, []shownOmitted{}
	for i, item := range of.Items {
		c.Items = append(c.Items, shownItem{of.ItemEntries[i].Base().ID, rawJSON(item.Raw)})
	}
	for _, e := range of.Entries {
		c.Entries = append(c.Entries, e.Base().ID)
	}
	for _, omitted := range of.Omitted {
		c.Omitted = append(c.Omitted, shownOmitted{omitted.Entry.ID, omitted.Reason})
	}
	if err := of.Settings.Err(); err != nil {
		c.Error = orNull(err.Error())
	}
	return c
}

// fromMessages takes a context that is a list of messages: settings in a form of our own, and each message with its role and content.
func (c *shownContext) fromMessages(out *outline.Outline) {
	of := out.MessageContext
	c.Items, c.Entries, c.Omitted = []shownItem{}, []string{}, []shownOmitted{}
	settings := &jsonwrite.Object{}
	settings.OptionalText("provider", of.Provider)
	settings.OptionalText("model", of.Model)
	settings.OptionalText("thinking_level", of.ThinkingLevel)
	if of.HasTools {
		settings.Texts("tools", of.Tools)
	}
	c.Settings = rawJSON(settings.Bytes())
	for _, m := range of.Messages {
		id := out.Entries[m.Entry].ID
		item := &jsonwrite.Object{}
		item.Text("role", m.Role)
		if content, err := pi.Stringify(m.Content); err == nil { // bytes that are no UTF-8 are none any more
			item.Raw("content", content)
		}
		c.Items = append(c.Items, shownItem{id, rawJSON(item.Bytes())})
		if n := len(c.Entries); n == 0 || c.Entries[n-1] != id {
			c.Entries = append(c.Entries, id)
		}
	}
}
