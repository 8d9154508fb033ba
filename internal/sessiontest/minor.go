package sessiontest

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// Minors of the format in which something changes that the generator writes or reckons with.
const (
	queues      = 3 // queued inputs, triggers, instruction parts, pinned items
	pathReason  = 3 // the reason of a run's end reads the path
	merges      = 4
	hashedIDs   = 5
	runTriggers = 6 // and what was left open is closed first
	attempts    = 7 // and parts that are kept
	answers     = 8 // and a hold after a dispatch holds
	takesUp     = 9
	elsewhere   = 10 // a call that was handed over on another branch may have started
	omits       = 11 // and judges
)

// waiting is an input that waits.
type waiting struct {
	id   string
	item object
}

// trigger says what caused something.
func (f *file) trigger() object {
	t := object{{"kind", []string{"human", "schedule", "webhook"}[f.r.IntN(3)]}, {"ref", phrase(f.r, 8)}}
	if f.oneIn(2) {
		t = t.with("source", "gateway")
	}
	if f.o.Minor >= answers && f.oneIn(3) {
		t = t.with("due", "2026-01-01T03:00:00Z")
	}
	return t
}

// enqueue has an input wait, now and then.
func (p *pen) enqueue() {
	f := p.f
	if f.o.Minor < queues || p.at < 0 || !f.oneIn(6) {
		return
	}
	item := message("user", "input_text", f.prose.text(f.r, userText))
	body := object{{"mode", []string{"steer", "followup"}[f.r.IntN(2)]}, {"item", item}}
	if f.oneIn(2) {
		body = body.with("trigger", f.trigger())
	}
	p.append("queued", body, func(n *node) {
		f.truth.Queued++
		old := n.state.queued
		n.state.queued = append(old[:len(old):len(old)], waiting{n.id, item})
	})
}

// arrive says where the input of an item entry comes from, and takes it from those that wait, now and then.
func (p *pen) arrive(body object) (object, func(*node)) {
	f := p.f
	if f.o.Minor < queues {
		return body, func(*node) {}
	}
	if f.oneIn(3) {
		body = body.with("source", f.trigger())
	}
	queued := p.state().queued
	if len(queued) == 0 || f.oneIn(2) {
		return body, func(*node) {}
	}
	i := f.r.IntN(len(queued))
	body[0].value = queued[i].item
	body = body.with("queued_from", queued[i].id)
	return body, func(n *node) {
		f.truth.Taken++
		n.state.queued = slices.Delete(slices.Clone(n.state.queued), i, i+1)
	}
}

// compose returns a change of what the instructions are composed of, and of what is left out of them.
func (f *file) compose(s *settings) object {
	var parts list
	for i, x := range s.parts {
		id, text := x.(object)[0].value, x.(object)[1].value.(string)
		switch f.r.IntN(4) {
		case 0: // it goes
		case 1:
			parts = append(parts, object{{"id", id}, {"text", phrase(f.r, 30)}})
		case 2:
			if f.o.Minor >= attempts && len(parts) == i { // nothing went before it
				parts = append(parts, object{{"keep", 1}})
				break
			}
			fallthrough
		default:
			sum := sha256.Sum256([]byte(text))
			parts = append(parts, object{{"id", id}, {"hash", "sha256:" + hex.EncodeToString(sum[:])}})
		}
	}
	for len(parts) == 0 || len(parts) < 5 && f.oneIn(2) {
		parts = append(parts, object{{"id", "part-" + f.newID()}, {"text", phrase(f.r, 40)}})
	}
	o := object{{"instructions_parts", parts}}
	if f.o.Minor < answers || f.oneIn(2) { // before, they are those of the entry alone
		left := list{}
		if f.o.Minor >= takesUp && len(s.omitted) > 0 && f.oneIn(2) {
			left = append(left, object{{"keep", 1}})
		}
		for f.oneIn(2) {
			left = append(left, object{{"id", "part-" + f.newID()}, {"reason", "budget"}, {"size", f.r.IntN(5000)}})
		}
		o = o.with("instructions_omitted", left)
	}
	return o
}

// resolve returns a whole list from one that refers to the list in force. It knows what compose writes: what is kept is
// kept in place.
func resolve(change, before list) list {
	var out list
	for _, x := range change {
		o := x.(object)
		switch {
		case o[0].name == "keep":
			out = append(out, before[len(out)])
		case o[1].name == "hash":
			i := slices.IndexFunc(before, func(b any) bool { return b.(object)[0].value == o[0].value })
			out = append(out, before[i])
		default:
			out = append(out, o)
		}
	}
	return out
}

// joined returns the text that parts make.
func joined(parts list) string {
	var texts []string
	for _, x := range parts {
		texts = append(texts, x.(object)[1].value.(string))
	}
	return strings.Join(texts, "\n\n")
}

// omit returns a change of what requests leave out.
func (p *pen) omit() object {
	f := p.f
	var o object
	if f.oneIn(2) {
		o = o.with("reasoning", "other_models")
	}
	var items list
	for i := p.at; i >= 0 && f.o.Hashes; i = f.nodes[i].parent {
		if n := &f.nodes[i]; n.isItem() && f.oneIn(6) && !slices.Contains(items, any(n.id)) {
			items = append(items, n.id)
		}
	}
	if items != nil {
		o = o.with("items", items)
	}
	return o
}

// isItem says whether the entry is an item, as far as items are kept at all.
func (n *node) isItem() bool { return n.item != nil && n.firstKept < 0 && !n.summary }

func (s *settings) omit(o object) {
	if len(o) == 0 {
		s.otherModels, s.items = false, nil
	}
	for _, m := range o {
		switch m.name {
		case "reasoning":
			s.otherModels = true
		case "items":
			s.items = slices.Clone(s.items)
			for _, id := range m.value.(list) {
				if !slices.Contains(s.items, id) {
					s.items = append(s.items, id)
				}
			}
		}
	}
}

// omission returns what omit made, as a checkpoint has it.
func (s *settings) omission() object {
	var o object
	if s.otherModels {
		o = o.with("reasoning", "other_models")
	}
	if s.items != nil {
		o = o.with("items", s.items)
	}
	return o
}

// leavesOut says whether a request with these settings leaves out an entry of its path.
func (s *settings) leavesOut(n *node) bool {
	by := n.state.set.model
	return n.isItem() && (s.otherModels && n.reasoning && by != "" && s.model != "" && by != s.model ||
		slices.Contains(s.items, any(n.id)))
}

// pin returns some of the items before an entry, in order, or nil.
func (f *file) pin(kept int) list {
	if f.o.Minor < queues || !f.oneIn(2) {
		return nil
	}
	var pinned list
	for i := f.nodes[kept].parent; i >= 0 && len(pinned) < 3; i = f.nodes[i].parent {
		if n := &f.nodes[i]; n.isItem() && f.oneIn(4) {
			pinned = append(pinned, n.item)
		}
	}
	slices.Reverse(pinned)
	return pinned
}

// merge has an entry name others whose work it merges, now and then.
func (f *file) merge(o object, parent int) object {
	if f.o.Minor < merges || !f.o.Branches || !f.oneIn(16) {
		return o
	}
	var parents list
	if i := f.r.IntN(len(f.nodes)); i != parent && !f.nodes[i].leafLabel {
		parents = append(parents, object{{"entry", f.nodes[i].id}})
	}
	if f.oneIn(2) {
		parents = append(parents, object{{"session", subsessionID(f.id, "call_1_0")}, {"entry", "an entry of it"}})
	}
	if parents == nil {
		return o
	}
	f.truth.Merges++
	return o.with("parents", parents)
}

// hashID gives an entry the id that its content has, at a time at which no other has it (C.4).
func (f *file) hashID(o object) string {
	sum := func(v any) string {
		h := sha256.Sum256([]byte(canonical(v)))
		return "sha256:" + hex.EncodeToString(h[:])
	}
	for {
		var head, content object
		for _, m := range o {
			switch m.name {
			case "id":
			case "type", "parent", "parents", "ts":
				head = append(head, m)
			default:
				content = append(content, m)
			}
		}
		id := sum(head.with("content", sum(content)))
		if !f.ids[id] {
			f.ids[id], o[1].value = true, id
			return id
		}
		f.now = f.now.Add(time.Millisecond)
		o[3].value = f.stamp(f.now)
	}
}
