package outline

import (
	"bytes"
	"context"
	"strconv"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/stored"
)

// eventBuilder makes an outline out of events.
type eventBuilder struct {
	out            *Outline
	texts          []*text // of the entries
	facts          eventWords
	loose, repeats bool
	marks          []mark
	moved          *mark // the last move of the leaf
	skipped        int   // line of the entry that was left out last
}

// mark is a leaf mark, or the end of one.
type mark struct {
	at     int // the entry that says it
	target string
	clear  bool
}

func newEventBuilder() *eventBuilder {
	return &eventBuilder{out: &Outline{Leaf: -1, At: -1, index: map[string]int{}}, facts: eventWords{tools{}}}
}

// event takes the next event of the file.
func (b *eventBuilder) event(ev *activity.Event) {
	if s, ok := ev.Fact.(*activity.Session); ok {
		if ev.Within == "" {
			b.loose, b.repeats = s.Loose, s.Loose || s.Repeats
		}
		return
	}
	at, known := b.out.index[ev.Key]
	switch {
	case ev.Part == 0 && known:
		b.skipped = ev.Line
		if !b.repeats {
			b.damaged(ev, format.ErrDuplicateEntry, ev.Key)
		}
		return
	case ev.Part > 0 && (!known || ev.Line == b.skipped):
		return
	case !known:
		at = b.add(ev)
	}
	e, t := &b.out.Entries[at], b.texts[at]
	if m, ok := ev.Fact.(*activity.Mark); ok {
		b.marks = append(b.marks, mark{at: at, target: m.Target, clear: m.Clear})
		e.mark = e.mark || ev.Part == 0 && !m.Clear
	}
	if m, ok := ev.Fact.(*activity.Move); ok {
		b.moved, e.mark = &mark{at: at, target: m.Target}, true
	}
	if n, ok := ev.Fact.(*activity.Name); ok && n.Name != "" {
		b.out.Name = n.Name
	}
	kind, failed := b.facts.describe(t, ev.Fact)
	if e.Kind == "" && kind != "" {
		e.Type, e.Kind = kind, kind
	}
	e.Failed = e.Failed || failed
}

// add gives an entry its place.
func (b *eventBuilder) add(ev *activity.Event) int {
	at := len(b.out.Entries)
	up, known := b.out.index[ev.Parent]
	switch {
	case known && ev.Parent != "":
	case ev.Parent != "" && b.loose:
		up = at - 1
	default:
		up = -1
		if ev.Parent != "" {
			b.damaged(ev, format.ErrNoParent, ev.Parent)
		}
	}
	b.out.index[ev.Key] = at
	b.out.Entries = append(b.out.Entries, Entry{
		ID: ev.Key, Parent: ev.Parent, Time: ev.Time, Line: ev.Line, Offset: ev.Offset, up: up, inner: ev.Within != "",
	})
	b.texts = append(b.texts, &text{})
	return at
}

func (b *eventBuilder) damaged(ev *activity.Event, err error, id string) {
	b.out.Damage = append(b.out.Damage, stored.NewDamage(ev.Line, ev.Offset, ev.Key, err, strconv.Quote(id)))
}

// outline returns what the events came to. The text is that of the file.
func (b *eventBuilder) outline(ctx context.Context, file []byte) (*Outline, error) {
	o := b.out
	for i := range o.Entries {
		if i%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e := &o.Entries[i]
		e.Text = b.texts[i].String()
		if e.Kind == "" {
			e.Type, e.Kind = "entry", "entry"
		}
		if e.Offset >= 0 && e.Offset < int64(len(file)) {
			e.Raw = file[e.Offset:]
			if end := bytes.IndexByte(e.Raw, '\n'); end >= 0 {
				e.Raw = e.Raw[:end+1]
			}
		}
	}
	b.findLeaf()
	return o, nil
}

// findLeaf applies the leaf rule (A.4).
func (b *eventBuilder) findLeaf() {
	o := b.out
	o.Leaf = len(o.Entries) - 1
	for o.Leaf >= 0 && o.Entries[o.Leaf].inner {
		o.Leaf--
	}
	if m := b.moved; m != nil && m.at == o.Leaf {
		target, known := o.index[m.target]
		switch {
		case m.target == "":
			o.Leaf = -1
		case known:
			o.Leaf = target
		}
	}
	if target, since := b.mark(); target >= 0 {
		o.Leaf = target
		under := make([]bool, len(o.Entries))
		under[target] = true
		for i := target + 1; i < len(o.Entries); i++ {
			if up := o.Entries[i].up; up >= 0 && under[up] {
				under[i] = true
				if i > since {
					o.Leaf = i
				}
			}
		}
	}
	for o.Leaf >= 0 && o.Entries[o.Leaf].mark {
		o.Leaf = o.Entries[o.Leaf].up
	}
}

// mark returns the entry that is marked and the one that says so; -1 for no mark in force.
func (b *eventBuilder) mark() (target, since int) {
	target, since = -1, -1
	for _, m := range b.marks {
		marked, ok := b.out.index[m.target]
		switch {
		case !ok || marked > m.at && !m.clear:
		case m.clear && marked == target:
			target, since = -1, -1
		case !m.clear && !b.out.Entries[marked].mark:
			target, since = marked, m.at
		}
	}
	return target, since
}
