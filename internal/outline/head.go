package outline

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// head says what session it is, and what there is of it.
func (d *drawing) head(context.Context) error {
	h := d.Header
	if d.Name != "" {
		d.line(terminal.Strong.Piece(d.Text(d.Name)))
	}
	d.line(terminal.Plain.Piece("session " + d.Text(h.ID)))
	harness, version := strings.TrimSpace(h.Harness+" "+h.Version), strings.TrimSpace(h.Format+" "+h.FormatVersion)
	d.line(terminal.Faint.Piece(d.list(harness, version, h.CWD)))
	if h.Spawn != nil {
		by := "spawned by "
		if h.Spawn.CallID != "" {
			by += "call " + h.Spawn.CallID + " of "
		}
		d.line(terminal.Faint.Piece(d.Text(by + "session " + h.Spawn.Session)))
	}
	if h.ForkOf != "" {
		d.line(terminal.Faint.Piece(d.Text("goes on from session " + h.ForkOf)))
	}
	counts := []string{terminal.Plural(len(d.Entries), "entry")}
	if n := d.Branches(); n > 1 {
		counts = append(counts, strconv.Itoa(n)+" branches")
	}
	if d.Repeats > 0 {
		counts = append(counts, terminal.Plural(d.Repeats, "repeated line"))
	}
	if d.Leaf >= 0 {
		counts = append(counts, "leaf "+d.ids[d.Leaf])
	}
	if !h.Created.IsZero() {
		counts = append([]string{terminal.Time(h.Created)}, counts...)
	}
	d.line(terminal.Faint.Piece(d.list(counts...)))
	if n := len(d.Damage); n > 0 {
		d.line(terminal.Fail.Piece("damage in " + terminal.Plural(d.damagedLines(), "line")))
	}
	if d.Err != nil {
		d.line(terminal.Fail.Piece(d.Text("not read to the end: " + d.Err.Error())))
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
		if p = d.Text(p); p != "" {
			some = append(some, p)
		}
	}
	return strings.Join(some, d.Dot())
}

// context draws what a model call after the entry that is looked at would receive.
func (d *drawing) context(context.Context) error {
	if d.At < 0 {
		d.line(terminal.Faint.Piece("no context: the session has no leaf"))
		return nil
	}
	title := "context at " + d.ids[d.At]
	if d.At == d.Leaf {
		title += ", the leaf"
	}
	switch {
	case d.MessageContext != nil:
		d.line(terminal.Strong.Piece(title))
		d.messageContext()
		return nil
	case d.session == nil:
		d.line(terminal.Strong.Piece(title), terminal.Faint.Piece(": not known for files of the format "+d.Text(d.Header.Format)))
		return nil
	case d.ContextErr != nil:
		d.line(terminal.Strong.Piece(title), terminal.Fail.Piece(" cannot be built: "+d.Text(d.ContextErr.Error())))
		return nil
	}
	d.line(terminal.Strong.Piece(title))
	d.settings(&d.Context.Settings)
	d.items()
	if len(d.Context.Omitted) > 0 {
		d.line(terminal.Strong.Piece("left out of requests: " + terminal.Plural(len(d.Context.Omitted), "item")))
		for _, o := range d.Context.Omitted {
			d.item(o.Entry, o.Entry.Item, terminal.Wait.Piece("("+reasonWords(o.Reason)+")"), terminal.Blank(1))
		}
	}
	return nil
}

// setting draws one setting under its name.
func (d *drawing) setting(name, value string) {
	d.line(terminal.Faint.Piece("  "+d.pad(d.Text(name), len("instructions"))+" "), terminal.Plain.Piece(d.Text(value)))
}

func (d *drawing) settings(s *format.Settings) {
	if s.Model != "" {
		d.setting("model", s.Model)
	}
	if len(s.Parts) > 0 {
		d.setting("instructions", terminal.Plural(len(s.Parts), "part"))
		for _, p := range s.Parts {
			d.setting("", d.list(p.ID, p.Source, characters(p.Text), beginning(p.Text)))
		}
	} else if text := s.Instructions(); text != "" {
		d.setting("instructions", d.list(characters(text), beginning(text)))
	}
	if n := len(s.Omitted); n > 0 {
		d.setting("", terminal.Plural(n, "part")+" left out")
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
			said = d.list(said, terminal.Plural(n, "listed item"))
		}
		d.setting("left out", said)
	}
	if err := s.Err(); err != nil {
		d.line(terminal.Fail.Piece("  " + d.Text(err.Error())))
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
	d.line(terminal.Strong.Piece("items: " + strconv.Itoa(len(c.Items))))
	for i, item := range c.Items {
		d.item(c.ItemEntries[i], item)
	}
}

// item draws an item under the entry that gave it.
func (d *drawing) item(from format.Entry, item openresponses.Item, marks ...terminal.Piece) {
	at := d.index[from.Base().ID]
	kind, said := d.Entries[at].Kind, d.Entries[at].Text
	if from.EntryType() != format.TypeItem {
		w := &words{tools: tools{}}
		var t text
		kind = w.item(&t, item)
		said = t.String()
	}
	pieces := []terminal.Piece{
		terminal.Blank(2),
		terminal.ID.Piece(d.pad(d.ids[at], d.idWidth)),
		terminal.Blank(1),
		kindInks[kind].Piece(d.pad(d.Text(kind), d.kindWidth)),
		terminal.Blank(1),
	}
	d.line(append(append(pieces, marks...), terminal.Plain.Piece(d.Text(said)))...)
}
