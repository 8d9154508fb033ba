package waterfall

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/trace"
)

// row is what is written of a node, apart from its bar.
type row struct {
	entry
	guides string
	glyph  piece
	label  []piece // operation and object; the object alone where the columns are few
	notes  []piece
	tokens piece
	time   []piece
}

// maxGuides is how many levels of the tree are drawn; what is deeper keeps the indentation of this one.
const maxGuides = 12

// guides returns the lines of the tree to the left of a node.
func (p pen) guides(n *node) string {
	if n.depth == 0 {
		return ""
	}
	levels := make([]string, 0, maxGuides)
	last := p.tee
	if n.last {
		last = p.elbow
	}
	levels = append(levels, last)
	for a := n.parent; a != nil && a.depth > 0; a = a.parent {
		switch {
		case len(levels) == maxGuides-1 && a.depth > 1:
			levels = append(levels, p.deep)
		case a.last:
			levels = append(levels, "  ")
		default:
			levels = append(levels, p.pass)
		}
		if len(levels) == maxGuides {
			break
		}
	}
	var b strings.Builder
	for i := len(levels) - 1; i >= 0; i-- {
		b.WriteString(levels[i])
	}
	return b.String()
}

// inkOf returns the colour of a node's bar and glyph.
func inkOf(n *node) ink {
	if n.facts.failure != "" {
		return inkFail
	}
	switch n.span.Type {
	case projection.TypeSession, projection.TypeRun:
		return inkPlain
	case projection.TypeChat:
		return inkChat
	case projection.TypeTool:
		return inkTool
	case projection.TypeApproval:
		return inkWait
	}
	return inkMark
}

// newRow describes an entry of the outline. Numbers are those of rows that others refer to.
func (p pen) newRow(t *tree, e entry, numbers map[trace.SpanID]int, shortNames bool) row {
	n := e.node
	r := row{entry: e, guides: p.guides(n)}
	if e.cut {
		r.glyph = piece{p.ellipsis, inkFaint}
		r.label = p.separate(p.tally(e.hidden))
		return r
	}
	r.glyph = piece{p.types[n.span.Type], inkOf(n)}
	if r.glyph.text == "" {
		r.glyph.text = p.types[projection.TypeEvent]
	}
	if n.facts.failure != "" {
		r.glyph.text = p.failed
	}
	if n.span.Type == projection.TypeSession || n.span.Type == projection.TypeRun {
		r.glyph.ink = inkStrong
		if n.facts.failure != "" {
			r.glyph.ink = inkFail
		}
	}
	r.label = p.numbered(n, numbers, shortNames)
	r.notes = p.notes(t, n, numbers)
	if e.hidden.spans > 0 {
		r.notes = append(p.tally(e.hidden), r.notes...)
		r.notes[0].text = "+" + r.notes[0].text
	}
	r.notes = p.separate(r.notes)
	r.tokens = p.tokens(n)
	r.time = p.time(n)
	return r
}

// numbered is the name of a span, with its number where others refer to it.
func (p pen) numbered(n *node, numbers map[trace.SpanID]int, shortNames bool) []piece {
	label := p.label(n, shortNames)
	if k := numbers[n.span.SpanID]; k > 0 {
		label = append(label, piece{fmt.Sprintf(" #%d", k), inkFaint})
	}
	return label
}

// label is the name of a span, with what is the same in many rows faint.
func (p pen) label(n *node, shortNames bool) []piece {
	name := strings.TrimPrefix(n.span.Name, "agentsession.")
	if name == "" {
		name = string(n.span.Type)
	}
	op, object, _ := strings.Cut(name, " ")
	objectInk := inkPlain
	switch n.span.Type {
	case projection.TypeSession:
		op, objectInk = "session", inkStrong
		if n.parent != nil || n.span.Parent.IsValid() {
			op, object = "subsession", n.facts.sessionName
			if s := n.span.Session; object == "" && s != nil {
				object = s.ID
			}
		}
	case projection.TypeRun:
		objectInk = inkStrong
	case projection.TypeApproval:
		op, object = "approval", n.facts.approvalTool
	}
	op, object = p.text(op), p.text(object)
	switch {
	case object == "":
		return []piece{{op, objectInk}}
	case shortNames:
		return []piece{{object, objectInk}}
	}
	return []piece{{op + " ", inkFaint}, {object, objectInk}}
}

// words makes a value of an attribute read like text.
func words(s string) string { return strings.ReplaceAll(s, "_", " ") }

// notes say what is not as usual.
func (p pen) notes(t *tree, n *node, numbers map[trace.SpanID]int) []piece {
	f := n.facts
	var list []piece
	note := func(i ink, s string) { list = append(list, piece{p.text(s), i}) }
	if f.failure != "" {
		note(inkFail, f.failure)
	}
	switch f.state {
	case "", names.StateCompleted, activity.ReasonDone, f.failure:
	case activity.ReasonError:
		if f.failure == "" {
			note(inkFail, f.state)
		}
	case names.StateHeld, activity.ReasonInputRequired:
		note(inkWait, words(f.state))
	default:
		if words(f.state) != words(f.failure) {
			note(inkFaint, words(f.state))
		}
	}
	switch f.verdict {
	case "", activity.Proceed, names.VerdictDispatch:
	default:
		note(inkWait, words(f.verdict))
	}
	if f.wait.known && n.span.Type != projection.TypeApproval {
		note(inkWait, "waited "+human(time.Duration(f.wait.n)*time.Millisecond))
	}
	if f.queued.known {
		note(inkWait, short(f.queued.n)+" queued")
	}
	if f.purpose != "" {
		note(inkFaint, "for "+words(f.purpose))
	}
	if f.inferred {
		note(inkFaint, "inferred")
	}
	if f.subsession != "" && !t.sessions[f.subsession] {
		note(inkFaint, p.to+" session "+f.subsession)
	}
	for _, l := range n.span.links {
		hint := hints[l.kind]
		if k := numbers[l.to]; k > 0 {
			hint = fmt.Sprintf("%s #%d", hint, k)
		}
		note(inkFaint, p.back+" "+hint)
	}
	if f.parentLost {
		note(inkWait, "parent lost")
	}
	if f.clockAdjusted {
		note(inkFaint, "clock adjusted")
	}
	return list
}

// tally says what a row stands for that is not drawn.
func (p pen) tally(t tally) []piece {
	list := []piece{{plural(t.spans, "span"), inkFaint}}
	if t.failed > 0 {
		list = append(list, piece{plural(t.failed, "error"), inkFail})
	}
	if t.open > 0 {
		list = append(list, piece{fmt.Sprintf("%d open", t.open), inkWait})
	}
	return list
}

// separate puts dots between pieces.
func (p pen) separate(list []piece) []piece {
	var out []piece
	for i, t := range list {
		if i > 0 {
			out = append(out, piece{p.dot, inkFaint})
		}
		out = append(out, t)
	}
	return out
}

// tokens are what went in and what came out. On a run they are sums, which are faint: they are counted on its chats.
func (p pen) tokens(n *node) piece {
	f := n.facts
	if !f.input.known && !f.output.known {
		return piece{}
	}
	side := func(c count) string {
		if !c.known {
			return "?"
		}
		return short(c.n)
	}
	s := side(f.input) + p.to + side(f.output)
	if f.lowerBound {
		s = p.atLeast + s
	}
	if n.span.Type == projection.TypeRun {
		return piece{s, inkFaint}
	}
	return piece{s, inkPlain}
}

// time is the duration, with how it is known. Open work and moments have none.
func (p pen) time(n *node) []piece {
	switch {
	case n.open:
		return []piece{{"open" + p.ellipsis, inkWait}}
	case n.bar() == barPoint, n.bar() == barNone, n.bar() == barWaits && n.to == n.from:
		return nil
	}
	list := []piece{{human(n.to - n.from), inkPlain}}
	if n.to-n.from < time.Millisecond { // which says already that it is no more
		return list
	}
	switch n.facts.timing {
	case string(activity.Bounded):
		return append([]piece{{p.atMost, inkFaint}}, list...)
	case string(activity.Inferred):
		return append([]piece{{p.about, inkFaint}}, list...)
	}
	return list
}

// name lays guides, glyph, label and notes out in the columns there are. The label gives way first, down to two fifths.
func (p pen) name(r row, columns int) []piece {
	guides := r.guides
	if w := textWidth(guides); w > columns*2/3 { // deep in the tree, the nearest levels matter
		guides = ansi.TruncateLeft(guides, w-columns/3*2+2, p.deep)
	}
	list := []piece{{guides, inkFaint}, r.glyph, {" ", inkPlain}}
	room := columns - width(list)
	label, notes := width(r.label), width(r.notes)
	if notes > 0 && label+2+notes > room {
		label = max(room-2-notes, min(label, room*2/5))
	}
	list = append(list, p.fit(r.label, min(label, room))...)
	if notes > 0 && room-label-2 > 0 {
		list = append(list, blank(2))
		list = append(list, p.fit(r.notes, room-label-2)...)
	}
	list = p.fit(list, columns)
	return append(list, blank(columns-width(list)))
}

// need returns how many columns the name takes. Notes beyond a measure do not count: one long note is no reason to
// narrow the bars of all rows.
func (r row) need() int {
	const measure = 28
	w := textWidth(r.guides) + 2 + width(r.label)
	if n := width(r.notes); n > 0 {
		w += 2 + min(n, measure)
	}
	return w
}
