package outline

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
)

// head says what session it is, and what there is of it.
func (d *drawing) head(context.Context) error {
	h := d.Header
	if d.Name != "" {
		d.line(piece{d.look.safe(d.Name), strong})
	}
	d.line(piece{"session " + d.look.safe(h.ID), plain})
	d.line(piece{d.list(strings.TrimSpace(h.Harness+" "+h.Version), strings.TrimSpace(h.Format+" "+h.FormatVersion), h.CWD), faint})
	if h.Spawn != nil {
		d.line(piece{d.look.safe("spawned by call " + h.Spawn.CallID + " of session " + h.Spawn.Session), faint})
	}
	if h.ForkOf != "" {
		d.line(piece{d.look.safe("goes on from session " + h.ForkOf), faint})
	}
	counts := []string{plural(len(d.Entries), "entry")}
	if n := d.Branches(); n > 1 {
		counts = append(counts, strconv.Itoa(n)+" branches")
	}
	if d.Repeats > 0 {
		counts = append(counts, plural(d.Repeats, "repeated line"))
	}
	if d.Leaf >= 0 {
		counts = append(counts, "leaf "+d.ids[d.Leaf])
	}
	if !h.Created.IsZero() {
		counts = append([]string{h.Created.UTC().Format("2006-01-02 15:04:05Z")}, counts...)
	}
	d.line(piece{d.list(counts...), faint})
	if n := len(d.Damage); n > 0 {
		d.line(piece{"damage in " + plural(d.damagedLines(), "line"), bad})
	}
	if d.Err != nil {
		d.line(piece{d.look.safe("not read to its end: " + d.Err.Error()), bad})
	}
	return nil
}

func (d *drawing) damagedLines() int {
	n, last := 0, 0
	for _, one := range d.Damage {
		if one.Line != last {
			n, last = n+1, one.Line
		}
	}
	return n
}

// list joins what is not empty.
func (d *drawing) list(parts ...string) string {
	var some []string
	for _, p := range parts {
		if p = d.look.safe(p); p != "" {
			some = append(some, p)
		}
	}
	return strings.Join(some, d.look.dot)
}

// context draws what a model call after the entry that is looked at would receive.
func (d *drawing) context(context.Context) error {
	if d.At < 0 {
		d.line(piece{"no context: the session has no leaf", faint})
		return nil
	}
	title := "context at " + d.ids[d.At]
	if d.At == d.Leaf {
		title += ", the leaf"
	}
	switch {
	case d.session == nil:
		d.line(piece{title, strong}, piece{": not known for files of the format " + d.look.safe(d.Header.Format), faint})
		return nil
	case d.ContextErr != nil:
		d.line(piece{title, strong}, piece{" cannot be built: " + d.look.safe(d.ContextErr.Error()), bad})
		return nil
	}
	d.line(piece{title, strong})
	d.settings(&d.Context.Settings)
	d.items()
	if len(d.Context.Omitted) > 0 {
		d.line(piece{"left out of requests: " + plural(len(d.Context.Omitted), "item"), strong})
		for _, o := range d.Context.Omitted {
			d.item(o.Entry, o.Entry.Item, piece{"(" + reasonWords(o.Reason) + ")", wait}, piece{" ", plain})
		}
	}
	return nil
}

// setting draws one setting under its name.
func (d *drawing) setting(name, value string) {
	d.line(piece{"  " + d.pad(d.look.safe(name), len("instructions")) + " ", faint}, piece{d.look.safe(value), plain})
}

func (d *drawing) settings(s *format.Settings) {
	if s.Model != "" {
		d.setting("model", s.Model)
	}
	switch {
	case len(s.Parts) > 0:
		d.setting("instructions", plural(len(s.Parts), "part"))
		for _, p := range s.Parts {
			d.setting("", d.list(p.ID, p.Source, characters(p.Text), beginning(p.Text)))
		}
	case s.Instructions != "":
		d.setting("instructions", d.list(characters(s.Instructions), beginning(s.Instructions)))
	}
	if n := len(s.Omitted); n > 0 {
		d.setting("", plural(n, "part")+" left out")
	}
	if len(s.Tools) > 0 {
		all := make([]string, len(s.Tools))
		for i, t := range s.Tools {
			all[i] = cmp.Or(t.Name, t.Type, "?")
		}
		d.setting("tools", strconv.Itoa(len(all))+": "+strings.Join(all[:min(len(all), maxText)], ", "))
	}
	if s.Reasoning != nil {
		d.setting("reasoning", cutBytes(s.Reasoning))
	}
	if s.Text != nil {
		d.setting("text", cutBytes(s.Text))
	}
	for _, m := range s.Extra {
		d.setting(m.Name, cutBytes(m.Value))
	}
	if !s.Omit.IsZero() {
		said := strings.TrimSpace(strings.ReplaceAll(s.Omit.Reasoning, "_", " "))
		if said != "" {
			said = "reasoning of " + said
		}
		if n := len(s.Omit.Items()); n > 0 {
			said = d.list(said, plural(n, "listed item"))
		}
		d.setting("left out", said)
	}
	if err := s.Err(); err != nil {
		d.line(piece{"  " + d.look.safe(err.Error()), bad})
	}
}

// beginning is the beginning of a text on one line.
func beginning(s string) string {
	var t text
	t.add("%s", s)
	return t.String()
}

// items draws the items that a request would hold.
func (d *drawing) items() {
	c := d.Context
	d.line(piece{"items: " + strconv.Itoa(len(c.Items)), strong})
	for i, item := range c.Items {
		d.item(c.ItemEntries[i], item)
	}
}

// item draws an item under the entry that gave it.
func (d *drawing) item(from format.Entry, item openresponses.Item, marks ...piece) {
	at := d.index[from.Base().ID]
	kind, said := d.Entries[at].Kind, d.Entries[at].Text
	if from.EntryType() != format.TypeItem {
		w := &words{tools: map[string]string{}}
		var t text
		kind = w.item(&t, item)
		said = t.String()
	}
	pieces := []piece{
		{"  ", plain},
		{d.pad(d.ids[at], d.idWidth), idInk},
		{" ", plain},
		{d.pad(d.look.safe(kind), d.kindWidth), kindInks[kind]},
		{" ", plain},
	}
	d.line(append(append(pieces, marks...), piece{d.look.safe(said), plain})...)
}
