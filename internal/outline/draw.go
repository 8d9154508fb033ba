package outline

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/stored"
	"github.com/sessionspan/sessionspan/internal/waterfall"
)

const (
	defaultWidth = 120
	maxWidth     = maxText
	minWidth     = 10 // narrower than this nothing can be said
)

// Options say how to draw. The zero value draws plain text, 120 columns wide.
type Options struct {
	// Width is the number of columns, at least 10; 0 means 120.
	Width int
	// Color turns styles on, of the basic colours.
	Color bool
	// ASCII draws with ASCII characters only, and writes ? for any other.
	ASCII bool
	// Parts says what is drawn; 0 is everything.
	Parts Parts
}

// Parts are the parts of a drawing.
type Parts uint8

// The parts.
const (
	Head Parts = 1 << iota
	Tree
	Context
)

// drawing is an outline on its way to a terminal.
type drawing struct {
	*Outline
	w     *bufio.Writer
	look  *look
	width int
	ids   []string // of the entries, as they are shown

	idWidth, kindWidth int
	start              time.Time       // what times are counted from
	used               map[symbol]bool // what the legend has to explain
}

// Draw writes the outline. The error is that of the writer or the context.
func (o *Outline) Draw(ctx context.Context, w io.Writer, opts Options) error {
	if opts.Parts == 0 {
		opts.Parts = Head | Tree | Context
	}
	if opts.Width <= 0 {
		opts.Width = defaultWidth
	}
	d := &drawing{
		Outline: o, w: bufio.NewWriterSize(w, 64<<10), look: newLook(opts),
		width: min(max(opts.Width, minWidth), maxWidth),
	}
	d.measure()
	some := false // parts were drawn
	for _, part := range []struct {
		is   Parts
		draw func(context.Context) error
	}{{Head, d.head}, {Tree, d.tree}, {Context, d.context}} {
		if opts.Parts&part.is == 0 {
			continue
		}
		if some {
			d.w.WriteByte('\n')
		}
		some = true
		if err := part.draw(ctx); err != nil {
			return err
		}
	}
	return d.w.Flush()
}

// measure finds how wide the columns are.
func (d *drawing) measure() {
	d.ids = d.shortIDs()
	for i, id := range d.ids {
		d.ids[i] = d.look.safe(id)
		d.idWidth = max(d.idWidth, ansi.StringWidth(d.ids[i]))
		d.kindWidth = max(d.kindWidth, ansi.StringWidth(d.look.safe(d.Entries[i].Kind)))
	}
	for _, damage := range d.Damage {
		d.idWidth = max(d.idWidth, len(lineName(damage.Line)))
		d.kindWidth = max(d.kindWidth, len(damageKind))
	}
	most, mostKind := maxID, len("branch_summary")
	if d.width < roomy {
		most, mostKind = minID, len("assistant")
	}
	d.idWidth = min(d.idWidth, most)
	d.kindWidth = min(d.kindWidth, mostKind)
	if d.Header != nil {
		d.start = d.Header.Created
	}
	for i := 0; d.start.IsZero() && i < len(d.Entries); i++ {
		d.start = d.Entries[i].Time
	}
}

const (
	// roomy is the width from which rows have a time, and ids and kinds that are long.
	roomy = 60
	// timeWidth is that of a time.
	timeWidth  = 7
	damageKind = "damage"
)

func lineName(n int) string { return "line " + strconv.Itoa(n) }

// line writes one line of the drawing, cut to its width, without blanks at its end.
func (d *drawing) line(pieces ...piece) {
	room := d.width
	var b strings.Builder
	for _, p := range pieces {
		if room <= 0 {
			break
		}
		w := textWidth(p.text)
		if w > room {
			p.text = ansi.Truncate(p.text, room, d.look.ellipsis)
			w = room
		}
		room -= w
		b.WriteString(d.look.styled(p))
	}
	d.w.WriteString(strings.TrimRight(b.String(), " "))
	d.w.WriteByte('\n')
}

func (d *drawing) tree(ctx context.Context) error {
	up := make([]int, len(d.Entries))
	for i := range d.Entries {
		up[i] = d.Entries[i].up
	}
	g := newGraph(up, min(max(d.width/10, 2), 12))
	d.used = map[symbol]bool{}
	damage := d.Damage
	for i := range d.Entries {
		if i%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e := &d.Entries[i]
		var own []stored.Damage
		for ; len(damage) > 0 && damage[0].Line <= e.Line; damage = damage[1:] {
			if damage[0].Line == e.Line {
				own = append(own, damage[0])
			} else {
				d.damage(g, &damage[0])
			}
		}
		d.entry(g, i, own)
	}
	for i := range damage {
		d.damage(g, &damage[i])
	}
	if len(d.Entries) == 0 {
		d.line(piece{"no entries", faint})
	}
	d.legend()
	return nil
}

// entry draws the row of an entry, with what is wrong with its line.
func (d *drawing) entry(g *graph, i int, damage []stored.Damage) {
	e := &d.Entries[i]
	s := d.symbolOf(i)
	if len(damage) > 0 {
		s = symbolDamage
	}
	d.used[s] = true
	pieces := []piece{{g.row(i, d.look.symbols[s], &d.look.strokes), s.ink()}, {" ", plain}}
	pieces = append(pieces, d.columns(i)...)
	for _, m := range d.marks(i, damage) {
		pieces = append(pieces, m, piece{" ", plain})
	}
	style := plain
	if e.Place == Aside || e.Place == Folded || e.Hidden {
		style = faint
	}
	d.line(append(pieces, piece{d.look.safe(e.Text), style})...)
}

// columns are what is aligned in the row of an entry: its id, its time, its kind.
func (d *drawing) columns(i int) []piece {
	e := &d.Entries[i]
	list := []piece{{d.pad(d.ids[i], d.idWidth), idInk}, {" ", plain}}
	if d.width >= roomy {
		list = append(list, piece{d.padLeft(d.since(e.Time), timeWidth), faint}, piece{" ", plain})
	}
	ink := kindInks[e.Kind]
	if e.Failed {
		ink = bad
	}
	return append(list, piece{d.pad(d.look.safe(e.Kind), d.kindWidth), ink}, piece{" ", plain})
}

// damage draws the row of a line that is no entry.
func (d *drawing) damage(g *graph, damage *stored.Damage) {
	cells := g.between(&d.look.strokes)
	pieces := []piece{{cells, plain}, {" ", plain}}
	pieces = append(pieces, piece{d.pad(lineName(damage.Line), d.idWidth), bad}, piece{" ", plain})
	if d.width >= roomy {
		pieces = append(pieces, piece{d.padLeft("", timeWidth), plain}, piece{" ", plain})
	}
	d.line(append(pieces, piece{d.pad(damageKind, d.kindWidth), bad}, piece{" ", plain}, piece{d.look.safe(damage.What), bad})...)
}

// marks are what is said of an entry beside what it says itself.
func (d *drawing) marks(i int, damage []stored.Damage) []piece {
	e := &d.Entries[i]
	var list []piece
	add := func(s string, ink ink) { list = append(list, piece{"(" + d.look.safe(s) + ")", ink}) }
	if i == d.Leaf {
		add("leaf", here)
	} else if i == d.At {
		add("here", here)
	}
	for _, label := range e.Labels {
		add(strconv.Quote(label), good)
	}
	for _, one := range damage {
		add(one.What, bad)
	}
	if e.up < 0 && i > 0 {
		add("new root", good)
	}
	if e.FirstKept {
		add("kept from here", good)
	}
	if e.Omitted != "" {
		add("left out: "+reasonWords(e.Omitted), wait)
	}
	if e.Hidden {
		add("hidden", wait)
	}
	return list
}

// reasonWords says why an item is left out of requests.
func reasonWords(reason string) string {
	if reason == format.OmittedByID {
		return "listed"
	}
	return strings.ReplaceAll(reason, "_", " ")
}

// since writes a time as that after the start.
func (d *drawing) since(t time.Time) string {
	if t.IsZero() || d.start.IsZero() {
		return ""
	}
	if t.Before(d.start) {
		return "-" + waterfall.Duration(d.start.Sub(t))
	}
	return "+" + waterfall.Duration(t.Sub(d.start))
}

func (d *drawing) pad(s string, width int) string {
	if textWidth(s) > width {
		s = ansi.Truncate(s, width, d.look.ellipsis)
	}
	return s + strings.Repeat(" ", width-textWidth(s))
}

func (d *drawing) padLeft(s string, width int) string {
	return strings.Repeat(" ", max(width-textWidth(s), 0)) + s
}

// legend says what the symbols mean, where there are others than that of the path.
func (d *drawing) legend() {
	var list []string
	for s, words := range symbolWords {
		if words != "" && d.used[symbol(s)] {
			list = append(list, d.look.symbols[s]+" "+words)
		}
	}
	if len(list) > 1 || d.used[symbolDamage] {
		d.line(piece{strings.Join(list, "   "), faint})
	}
}
