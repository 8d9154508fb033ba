package waterfall

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/terminal"
	"go.opentelemetry.io/otel/trace"
)

// row is what is written of a node, apart from its bar.
type row struct {
	entry
	guides string
	glyph  terminal.Piece
	label  []terminal.Piece // operation and object; the object alone where the columns are few
	notes  []terminal.Piece
	tokens terminal.Piece
	time   []terminal.Piece
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
func inkOf(n *node) terminal.Ink {
	if n.facts.failure != "" {
		return terminal.Fail
	}
	return inkOfType(n.span.Type)
}

func inkOfType(typ projection.Type) terminal.Ink {
	switch typ {
	case projection.TypeSession, projection.TypeRun:
		return terminal.Plain
	case projection.TypeChat:
		return terminal.Model
	case projection.TypeTool:
		return terminal.Work
	case projection.TypeApproval:
		return terminal.Wait
	}
	return terminal.Mark
}

// newRow describes an entry of the outline. Numbers are those of rows that others refer to.
func (p pen) newRow(t *tree, e entry, numbers map[trace.SpanID]int, shortNames bool) row {
	n := e.node
	r := row{entry: e, guides: p.guides(n)}
	if e.cut {
		r.glyph = terminal.Faint.Piece(p.Ellipsis())
		r.label = p.separate(p.tally(e.hidden))
		return r
	}
	r.glyph = inkOf(n).Piece(p.types[n.span.Type])
	if r.glyph.Text == "" {
		r.glyph.Text = p.types[projection.TypeEvent]
	}
	if n.facts.failure != "" {
		r.glyph.Text = p.failed
	}
	if n.span.Type == projection.TypeSession || n.span.Type == projection.TypeRun {
		r.glyph.Ink = terminal.Strong
		if n.facts.failure != "" {
			r.glyph.Ink = terminal.Fail
		}
	}
	r.label = p.numbered(n, numbers, shortNames)
	r.notes = p.notes(t, n, numbers)
	if e.hidden.spans > 0 {
		r.notes = append(p.tally(e.hidden), r.notes...)
		r.notes[0].Text = "+" + r.notes[0].Text
	}
	r.notes = p.separate(r.notes)
	r.tokens = p.tokens(n)
	r.time = p.time(n)
	return r
}

// numbered is the name of a span, with its number where others refer to it.
func (p pen) numbered(n *node, numbers map[trace.SpanID]int, shortNames bool) []terminal.Piece {
	label := p.label(n, shortNames)
	if k := numbers[n.span.SpanID]; k > 0 {
		label = append(label, terminal.Faint.Piece(fmt.Sprintf(" #%d", k)))
	}
	return label
}

// label is the name of a span, with what is the same in many rows faint.
func (p pen) label(n *node, shortNames bool) []terminal.Piece {
	name := strings.TrimPrefix(n.span.Name, "agentsession.")
	if name == "" {
		name = string(n.span.Type)
	}
	op, object, _ := strings.Cut(name, " ")
	objectInk := terminal.Plain
	switch n.span.Type {
	case projection.TypeSession:
		op, objectInk = "session", terminal.Strong
		if n.parent != nil || n.span.Parent.IsValid() {
			op, object = "subsession", n.facts.sessionName
			if s := n.span.Session; object == "" && s != nil {
				object = s.ID
			}
		}
	case projection.TypeRun:
		objectInk = terminal.Strong
	case projection.TypeApproval:
		op, object = "approval", n.facts.approvalTool
	}
	op, object = p.Text(op), p.Text(object)
	switch {
	case object == "":
		return []terminal.Piece{objectInk.Piece(op)}
	case shortNames:
		return []terminal.Piece{objectInk.Piece(object)}
	}
	return []terminal.Piece{terminal.Faint.Piece(op + " "), objectInk.Piece(object)}
}

// words makes a value of an attribute read like text.
func words(s string) string { return strings.ReplaceAll(s, "_", " ") }

// notes say what is not as usual.
func (p pen) notes(t *tree, n *node, numbers map[trace.SpanID]int) []terminal.Piece {
	f := n.facts
	var list []terminal.Piece
	note := func(i terminal.Ink, s string) { list = append(list, i.Piece(p.Text(s))) }
	if f.failure != "" {
		note(terminal.Fail, f.failure)
	}
	switch f.state {
	case "", names.StateCompleted, activity.ReasonDone, f.failure:
	case activity.ReasonError:
		if f.failure == "" {
			note(terminal.Fail, f.state)
		}
	case names.StateHeld, activity.ReasonInputRequired:
		note(terminal.Wait, words(f.state))
	default:
		if words(f.state) != words(f.failure) {
			note(terminal.Faint, words(f.state))
		}
	}
	switch f.verdict {
	case "", activity.Proceed, names.VerdictDispatch:
	default:
		note(terminal.Wait, words(f.verdict))
	}
	if f.wait.known && n.span.Type != projection.TypeApproval {
		note(terminal.Wait, "waited "+terminal.Duration(time.Duration(f.wait.n)*time.Millisecond))
	}
	if f.queued.known {
		note(terminal.Wait, terminal.Count(f.queued.n)+" queued")
	}
	if f.purpose != "" {
		note(terminal.Faint, "for "+words(cmp.Or(f.kind, f.purpose)))
	}
	if f.detail != "" {
		note(terminal.Plain, f.detail)
	}
	if f.inferred {
		note(terminal.Faint, "inferred")
	}
	if f.subsession != "" && !t.sessions[f.subsession] {
		word := " session "
		if f.missing {
			word = " missing: session "
		}
		note(terminal.Faint, p.To()+word+f.subsession)
	}
	for _, l := range n.span.links {
		hint := hints[l.kind]
		if l.kind == names.LinkForkOf && f.parent != "" {
			hint += " " + f.parent
		}
		if k := numbers[l.to]; k > 0 {
			hint = fmt.Sprintf("%s #%d", hint, k)
		}
		note(terminal.Faint, p.back+" "+hint)
	}
	if f.parentLost {
		note(terminal.Wait, "parent lost")
	}
	if f.clockAdjusted {
		note(terminal.Faint, "clock adjusted")
	}
	return list
}

// tally says what a row stands for that is not drawn.
func (p pen) tally(t tally) []terminal.Piece {
	list := []terminal.Piece{terminal.Faint.Piece(terminal.Plural(t.spans, "span"))}
	if t.failed > 0 {
		list = append(list, terminal.Fail.Piece(terminal.Plural(t.failed, "error")))
	}
	if t.open > 0 {
		list = append(list, terminal.Wait.Piece(fmt.Sprintf("%d open", t.open)))
	}
	return list
}

// separate puts dots between pieces.
func (p pen) separate(list []terminal.Piece) []terminal.Piece {
	var out []terminal.Piece
	for i, t := range list {
		if i > 0 {
			out = append(out, terminal.Faint.Piece(p.Dot()))
		}
		out = append(out, t)
	}
	return out
}

// tokens are what went in and what came out. On a run they are sums, which are faint: they are counted on its chats.
func (p pen) tokens(n *node) terminal.Piece {
	f := n.facts
	s := p.Tokens(f.input.pointer(), f.output.pointer(), f.lowerBound)
	if n.span.Type == projection.TypeRun {
		return terminal.Faint.Piece(s)
	}
	return terminal.Plain.Piece(s)
}

// time is the duration, with how it is known. Open work and moments have none.
func (p pen) time(n *node) []terminal.Piece {
	switch {
	case n.open:
		return []terminal.Piece{terminal.Wait.Piece("open" + p.Ellipsis())}
	case n.bar() == barPoint, n.bar() == barNone, n.bar() == barWaits && n.to == n.from:
		return nil
	}
	list := []terminal.Piece{terminal.Plain.Piece(terminal.Duration(n.to - n.from))}
	if n.to-n.from < time.Millisecond { // which says already that it is no more
		return list
	}
	switch n.facts.timing {
	case string(activity.Bounded):
		return append([]terminal.Piece{terminal.Faint.Piece(p.atMost)}, list...)
	case string(activity.Inferred):
		return append([]terminal.Piece{terminal.Faint.Piece(p.about)}, list...)
	}
	return list
}

// name lays guides, glyph, label and notes out in the columns there are. The label gives way first, down to two fifths.
func (p pen) name(r row, columns int) []terminal.Piece {
	guides := r.guides
	if w := terminal.Width(guides); w > columns*2/3 { // deep in the tree, the nearest levels matter
		guides = ansi.TruncateLeft(guides, w-columns/3*2+2, p.deep)
	}
	list := []terminal.Piece{terminal.Faint.Piece(guides), r.glyph, terminal.Plain.Piece(" ")}
	room := columns - terminal.Widths(list)
	label, notes := terminal.Widths(r.label), terminal.Widths(r.notes)
	if notes > 0 && label+2+notes > room {
		label = max(room-2-notes, min(label, room*2/5))
	}
	list = append(list, p.Fit(r.label, min(label, room))...)
	if notes > 0 && room-label-2 > 0 {
		list = append(list, terminal.Blank(2))
		list = append(list, p.Fit(r.notes, room-label-2)...)
	}
	list = p.Fit(list, columns)
	return append(list, terminal.Blank(columns-terminal.Widths(list)))
}

// need returns how many columns the name takes. Notes beyond a measure do not count: one long note is no reason to
// narrow the bars of all rows.
func (r row) need() int {
	const measure = 28
	w := terminal.Width(r.guides) + 2 + terminal.Widths(r.label)
	if n := terminal.Widths(r.notes); n > 0 {
		w += 2 + min(n, measure)
	}
	return w
}
