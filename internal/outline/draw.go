package outline

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/stored"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

// minWidth is the least number of columns: narrower than this nothing can be said.
const minWidth = 10

// Options say how to draw. The zero value draws everything, as plain text, [terminal.DefaultWidth] columns wide.
type Options struct {
	terminal.Look
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
	alphabet
	w     *bufio.Writer
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
	d := &drawing{
		Outline: o, alphabet: newAlphabet(opts.Look), w: bufio.NewWriterSize(w, 64<<10), width: max(opts.Columns(), minWidth),
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
		d.ids[i] = d.Text(id)
		d.idWidth = max(d.idWidth, terminal.Width(d.ids[i]))
		d.kindWidth = max(d.kindWidth, terminal.Width(d.Text(d.Entries[i].Kind)))
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
func (d *drawing) line(pieces ...terminal.Piece) {
	d.w.WriteString(d.Line(d.Fit(pieces, d.width)))
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
		d.line(terminal.Faint.Piece("no entries"))
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
	pieces := []terminal.Piece{s.ink().Piece(g.row(i, d.symbols[s], &d.strokes)), terminal.Blank(1)}
	pieces = append(pieces, d.columns(i)...)
	for _, m := range d.marks(i, damage) {
		pieces = append(pieces, m, terminal.Blank(1))
	}
	style := terminal.Plain
	if e.Place == Aside || e.Place == Folded || e.Hidden {
		style = terminal.Faint
	}
	d.line(append(pieces, style.Piece(d.Text(e.Text)))...)
}

// columns are what is aligned in the row of an entry: its id, its time, its kind.
func (d *drawing) columns(i int) []terminal.Piece {
	e := &d.Entries[i]
	list := []terminal.Piece{terminal.ID.Piece(d.pad(d.ids[i], d.idWidth)), terminal.Blank(1)}
	if d.width >= roomy {
		list = append(list, terminal.Faint.Piece(d.padLeft(d.since(e.Time), timeWidth)), terminal.Blank(1))
	}
	ink := kindInks[e.Kind]
	if e.Failed {
		ink = terminal.Fail
	}
	return append(list, ink.Piece(d.pad(d.Text(e.Kind), d.kindWidth)), terminal.Blank(1))
}

// damage draws the row of a line that is no entry.
func (d *drawing) damage(g *graph, damage *stored.Damage) {
	cells := g.between(&d.strokes)
	pieces := []terminal.Piece{terminal.Plain.Piece(cells), terminal.Blank(1)}
	pieces = append(pieces, terminal.Fail.Piece(d.pad(lineName(damage.Line), d.idWidth)), terminal.Blank(1))
	if d.width >= roomy {
		pieces = append(pieces, terminal.Plain.Piece(d.padLeft("", timeWidth)), terminal.Blank(1))
	}
	pieces = append(pieces, terminal.Fail.Piece(d.pad(damageKind, d.kindWidth)), terminal.Blank(1))
	d.line(append(pieces, terminal.Fail.Piece(d.Text(damage.What)))...)
}

// marks are what is said of an entry beside what it says itself.
func (d *drawing) marks(i int, damage []stored.Damage) []terminal.Piece {
	e := &d.Entries[i]
	var list []terminal.Piece
	add := func(s string, ink terminal.Ink) { list = append(list, ink.Piece("("+d.Text(s)+")")) }
	if i == d.Leaf {
		add("leaf", terminal.Here)
	} else if i == d.At {
		add("here", terminal.Here)
	}
	for _, label := range e.Labels {
		add(strconv.Quote(label), terminal.Mark)
	}
	for _, one := range damage {
		add(one.What, terminal.Fail)
	}
	if e.up < 0 && i > 0 {
		add("new root", terminal.Mark)
	}
	if e.FirstKept {
		add("kept from here", terminal.Mark)
	}
	if e.Omitted != "" {
		add("left out: "+reasonWords(e.Omitted), terminal.Wait)
	}
	if e.Hidden {
		add("hidden", terminal.Wait)
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
		return "-" + terminal.Duration(d.start.Sub(t))
	}
	return "+" + terminal.Duration(t.Sub(d.start))
}

func (d *drawing) pad(s string, width int) string {
	s = d.Cut(s, width)
	return s + strings.Repeat(" ", width-terminal.Width(s))
}

func (d *drawing) padLeft(s string, width int) string {
	return strings.Repeat(" ", max(width-terminal.Width(s), 0)) + s
}

// legend says what the symbols mean, where there are others than that of the path.
func (d *drawing) legend() {
	var list []string
	for s, words := range symbolWords {
		if words != "" && d.used[symbol(s)] {
			list = append(list, d.symbols[s]+" "+words)
		}
	}
	if len(list) > 1 || d.used[symbolDamage] {
		d.line(terminal.Faint.Piece(strings.Join(list, "   ")))
	}
}
