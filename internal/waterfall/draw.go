package waterfall

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/terminal"
	"go.opentelemetry.io/otel/trace"
)

const (
	gap = 2 // columns between columns

	barFrom    = 60 // the width from which there is a bar
	tokensFrom = 45 // and tokens
	minBar     = 20
	// A picture of more rows than these has the axis again at its end.
	longPicture = 40

	titleTokens, titleTime = "in/out", "time"
	maxFoldsListed         = 4
)

// Draw writes a picture of each trace, with a blank line between two. What the traces of one session have in common is
// said once. The error is that of w, or of the context when it is done before the end.
func (c *Collector) Draw(ctx context.Context, w io.Writer, o Options) error {
	b := bufio.NewWriter(w)
	var before *projection.Session
	for i, spans := range c.traces() {
		if i > 0 {
			b.WriteByte('\n')
		}
		d := &drawing{pen: newPen(o.Look), tree: newTree(spans, o.Now), columns: o.Columns(), more: o.More}
		d.entries = d.tree.outline(o.MaxRows)
		if err := d.layOut(ctx); err != nil {
			return err
		}
		var err error
		if before, err = d.write(ctx, b, before); err != nil {
			return err
		}
	}
	return b.Flush() // keeps the first error of all writes
}

// drawing is one picture: what is in it, and how many columns each part has. A part that is left out has none. Rows are
// made twice, to measure them and to write them, and never kept.
type drawing struct {
	pen
	tree    *tree
	columns int
	axis    *axis // nil without bars
	entries []entry
	numbers map[trace.SpanID]int
	more    string

	name, tokens, time int
	short              bool // names go without their operation

	// What the legend has to explain.
	types                      map[projection.Type]bool
	atMost, about, waits, open bool
}

// number gives numbers to the spans that a link with a hint leads to, in the order of rows.
func number(entries []entry) map[trace.SpanID]int {
	numbers := make(map[trace.SpanID]int)
	for _, e := range entries {
		for _, l := range e.node.span.links {
			if !e.cut {
				numbers[l.to] = 0
			}
		}
	}
	k := 0
	for _, e := range entries {
		if _, ok := numbers[e.node.span.SpanID]; ok && !e.cut {
			k++
			numbers[e.node.span.SpanID] = k
		}
	}
	return numbers
}

// checkEvery is after how many rows it is asked whether anybody still wants the picture.
const checkEvery = 1024

// layOut measures the rows and shares the width out. The bar has between a third and a half; where full names leave it less,
// names go without their operation, and then they are cut.
func (d *drawing) layOut(ctx context.Context) error {
	d.numbers, d.types = number(d.entries), make(map[projection.Type]bool)
	full, short := 0, 0
	for i, e := range d.entries {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r := d.newRow(d.tree, e, d.numbers, false)
		full = max(full, r.need())
		d.tokens = max(d.tokens, terminal.Width(r.tokens.Text))
		d.time = max(d.time, terminal.Widths(r.time))
		if !e.cut {
			d.explain(r)
			r.label = d.numbered(e.node, d.numbers, true)
		}
		short = max(short, r.need())
	}
	if d.columns < tokensFrom {
		d.tokens = 0
	}
	if d.tokens > 0 {
		d.tokens = max(d.tokens, len(titleTokens))
	}
	d.time = max(d.time, len(titleTime))
	room := d.columns - gap - d.time
	if d.tokens > 0 {
		room -= gap + d.tokens
	}
	least := 0
	if d.columns >= barFrom {
		least = gap + max(minBar, d.columns/3)
	}
	d.name = full
	if full+least > room {
		d.name, d.short = min(short, max(room-least, 1)), true
	}
	if least > 0 {
		d.axis = newAxis(d.tree.rows, min(d.columns/2, room-gap-d.name))
	}
	return nil
}

func (d *drawing) write(ctx context.Context, w *bufio.Writer, before *projection.Session) (*projection.Session, error) {
	emit := func(lines ...string) {
		for _, l := range lines {
			w.WriteString(l)
			w.WriteByte('\n')
		}
	}
	row := func(list []terminal.Piece) {
		if d.columns < tokensFrom { // there may not be room even for what is never left out
			list = d.Fit(list, d.columns)
		}
		emit(d.Line(list))
	}

	sum := d.tree.summary()
	emit(d.head(d.tree, sum, before, d.columns)...)
	emit("")
	row(d.titles())
	for i, e := range d.entries {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		row(d.row(d.newRow(d.tree, e, d.numbers, d.short)))
	}
	if d.axis != nil {
		if len(d.entries) > longPicture {
			row(d.titles())
		}
		emit(d.flow(d.idle(), d.columns)...)
	}
	emit(d.flow(d.legend(), d.columns)...)
	emit(d.flow(d.leftOut(), d.columns)...)
	return sum.root, nil
}

// row puts the columns of a row side by side.
func (d *drawing) row(r row) []terminal.Piece {
	list := d.pen.name(r, d.name)
	if d.tokens > 0 {
		list = append(list, terminal.Blank(gap+d.tokens-terminal.Width(r.tokens.Text)), r.tokens)
	}
	list = append(list, terminal.Blank(gap+d.time-terminal.Widths(r.time)))
	list = append(list, r.time...)
	if d.axis != nil && !r.cut {
		list = append(list, terminal.Blank(gap))
		list = append(list, d.bar(d.axis, r.entry)...)
	}
	return list
}

// titles is the line above the rows, with the time axis.
func (d *drawing) titles() []terminal.Piece {
	list := []terminal.Piece{terminal.Blank(d.name)}
	if d.tokens > 0 {
		list = append(list, terminal.Blank(gap+d.tokens-len(titleTokens)), terminal.Faint.Piece(titleTokens))
	}
	list = append(list, terminal.Blank(gap+d.time-len(titleTime)), terminal.Faint.Piece(titleTime))
	if d.axis != nil {
		list = append(list, terminal.Blank(gap))
		list = append(list, d.ruler(d.axis)...)
	}
	return list
}

// idle lists what was folded, or sums it up.
func (d *drawing) idle() []terminal.Piece {
	folds := d.axis.folds()
	if len(folds) == 0 {
		return nil
	}
	until := func(f interval) string {
		return terminal.Duration(f.to-f.from) + " until " + terminal.Time(d.tree.origin.Add(f.to))
	}
	fold := string(d.fold) + " idle: "
	if len(folds) > maxFoldsListed {
		longest := slices.MaxFunc(folds, func(a, b interval) int { return cmp.Compare(a.to-a.from, b.to-b.from) })
		return []terminal.Piece{
			terminal.Faint.Piece(fmt.Sprintf("%s%s in %d places", fold, terminal.Duration(total(folds)), len(folds))),
			terminal.Faint.Piece("the longest " + until(longest)),
		}
	}
	var list []terminal.Piece
	for _, f := range folds {
		list = append(list, terminal.Faint.Piece(fold+until(f)))
		fold = ""
	}
	return list
}

// explain notes which symbols of a row the legend has to explain.
func (d *drawing) explain(r row) {
	f := r.node.facts
	d.types[r.node.span.Type] = d.types[r.node.span.Type] || f.failure == ""
	if len(r.time) > 1 {
		d.atMost = d.atMost || f.timing == string(activity.Bounded)
		d.about = d.about || f.timing == string(activity.Inferred)
	}
	d.waits = d.waits || r.node.bar() == barWaits
	d.open = d.open || r.node.open
}

// legend explains the symbols that are in the picture and do not explain themselves.
func (d *drawing) legend() []terminal.Piece {
	var list []terminal.Piece
	add := func(used bool, symbol, text string) {
		if used {
			list = append(list, terminal.Faint.Piece(symbol+" "+text))
		}
	}
	if d.short {
		for _, t := range []projection.Type{
			projection.TypeRun, projection.TypeChat, projection.TypeTool, projection.TypeApproval,
		} {
			add(d.types[t], d.pen.types[t], string(t))
		}
	}
	add(d.atMost, d.pen.atMost, "at most")
	add(d.about, d.pen.about, "inferred")
	if d.axis != nil {
		add(d.waits, strings.Repeat(string(d.pen.waits.full), 2), "waiting")
		add(d.open, string(d.pen.open), "still open")
	}
	return list
}

// leftOut says how many spans have no row of their own, and how to see them.
func (d *drawing) leftOut() []terminal.Piece {
	n := len(d.tree.rows)
	for _, e := range d.entries {
		if !e.cut {
			n--
		}
	}
	if n == 0 {
		return nil
	}
	all := terminal.Plural(len(d.tree.rows), "span")
	list := []terminal.Piece{terminal.Faint.Piece(fmt.Sprintf("%s %d of %s have no row of their own", d.Ellipsis(), n, all))}
	if d.more != "" {
		list = append(list, terminal.Faint.Piece(d.more))
	}
	return list
}
