package main

import (
	"bufio"
	"context"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/sessionspan/sessionspan/internal/outline"
	"github.com/sessionspan/sessionspan/internal/stored"
)

// What show writes for programs. What is not known is null.
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
		Damage         int     `json:"damage"`
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
		Damage    []string `json:"damage"`
		Text      string   `json:"text"`
		Entry     rawJSON  `json:"entry"`
	}
	shownDamage struct {
		Object string `json:"object"` // damage
		Line   int    `json:"line"`
		Offset int64  `json:"offset"`
		What   string `json:"what"`
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

// rawJSON is JSON of a file. What is none, such as a text that is no UTF-8, is written as a string.
type rawJSON []byte

func (r rawJSON) MarshalJSON() ([]byte, error) {
	switch {
	case r == nil:
		return []byte("null"), nil
	case utf8.Valid(r) && json.Valid(r):
		return r, nil
	}
	return json.Marshal(string(r))
}

func (o *show) writeJSON(ctx context.Context, path string, out *outline.Outline) error {
	w := bufio.NewWriterSize(o.out, 64<<10)
	enc := json.NewEncoder(escaped{w})
	enc.SetEscapeHTML(false)
	var err error
	write := func(v any) {
		if err == nil {
			err = enc.Encode(v)
		}
	}
	if !o.tree && !o.context {
		write(newShownSession(path, out))
	}
	if !o.context {
		damage := out.Damage
		for i := range out.Entries {
			if i%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			e := newShownEntry(out, i)
			for ; len(damage) > 0 && damage[0].Line <= e.Line; damage = damage[1:] {
				if damage[0].Line == e.Line {
					e.Damage = append(e.Damage, damage[0].What)
				} else {
					write(newShownDamage(&damage[0]))
				}
			}
			write(e)
		}
		for i := range damage {
			write(newShownDamage(&damage[i]))
		}
	}
	if !o.tree {
		write(newShownContext(out))
	}
	if err != nil {
		return err
	}
	return w.Flush()
}

func newShownSession(path string, out *outline.Outline) *shownSession {
	h := out.Header
	s := &shownSession{
		Object: "session", Path: path, ID: h.ID, Name: orNull(out.Name), Format: h.Format, FormatVersion: h.FormatVersion,
		Harness: orNull(h.Harness), HarnessVersion: orNull(h.Version), Created: timeOrNull(h.Created), CWD: orNull(h.CWD),
		ForkOf: orNull(h.ForkOf), Entries: len(out.Entries), Branches: out.Branches(), Repeats: out.Repeats,
		Damage: len(out.Damage),
	}
	if h.Spawn != nil {
		s.Parent, s.SpawnedBy = orNull(h.Spawn.Session), orNull(h.Spawn.CallID)
	}
	if out.Leaf >= 0 {
		s.Leaf = &out.Entries[out.Leaf].ID
	}
	if out.Err != nil {
		s.Error = orNull(out.Err.Error())
	}
	return s
}

func newShownEntry(out *outline.Outline, i int) *shownEntry {
	e := &out.Entries[i]
	return &shownEntry{
		Object: "entry", ID: e.ID, Parent: orNull(e.Parent), Type: e.Type, Kind: e.Kind, Time: timeOrNull(e.Time),
		Line: e.Line, Offset: e.Offset, Leaf: i == out.Leaf, OnPath: e.Place != outline.Aside, InContext: inContext(e),
		Labels: append([]string{}, e.Labels...), Hidden: e.Hidden, Omitted: orNull(e.Omitted), Damage: []string{},
		Text: e.Text, Entry: rawJSON(e.Data()),
	}
}

func newShownDamage(d *stored.Damage) *shownDamage {
	return &shownDamage{Object: "damage", Line: d.Line, Offset: d.Offset, What: d.What}
}

func newShownContext(out *outline.Outline) *shownContext {
	c := &shownContext{Object: "context"}
	if out.At >= 0 {
		c.At = &out.Entries[out.At].ID
	}
	if out.ContextErr != nil {
		c.Error = orNull(out.ContextErr.Error())
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

func timeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format(time.RFC3339Nano)
	return &s
}
