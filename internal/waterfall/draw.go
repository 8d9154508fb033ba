package waterfall

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/projection"
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
// said once.
func (c *Collector) Draw(w io.Writer, o Options) error {
	b := bufio.NewWriter(w)
	var before *projection.Session
	for i, spans := range c.traces() {
		if i > 0 {
			b.WriteByte('\n')
		}
		d := newDrawing(newTree(spans, o.Now), o)
		before = d.write(b, before)
	}
	return b.Flush() // keeps the first error of all writes
}

// drawing is one picture: what is in it, and how many columns each part has. A part that is left out has none.
type drawing struct {
	pen
	tree    *tree
	columns int
	axis    *axis // nil without bars
	rows    []row

	name, tokens, time int
	short              bool // names go without their operation
}

func newDrawing(t *tree, o Options) *drawing {
	d := &drawing{pen: newPen(o), tree: t, columns: o.width()}
	d.layOut(t.outline(o.MaxRows))
	return d
}

// number gives numbers to the spans that a link with a hint leads to, in the order of rows.
func number(entries []entry) map[trace.SpanID]int {
	numbers := make(map[trace.SpanID]int)
	for _, e := range entries {
		for _, l := range e.node.span.Links {
			if hints[linkKind(l)] != "" && !e.cut {
				numbers[l.SpanID] = 0
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

// layOut makes the rows and shares the width out. The bar has between a third and a half; where full names leave it less,
// names go without their operation, and then they are cut.
func (d *drawing) layOut(entries []entry) {
	numbers := number(entries)
	full, short := 0, 0
	shortRows := make([]row, len(entries))
	d.rows = make([]row, len(entries))
	for i, e := range entries {
		r := d.newRow(d.tree, e, numbers, false)
		d.rows[i] = r
		full = max(full, r.need())
		d.tokens = max(d.tokens, textWidth(r.tokens.text))
		d.time = max(d.time, width(r.time))
		shortRows[i] = d.newRow(d.tree, e, numbers, true)
		short = max(short, shortRows[i].need())
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
		d.name, d.rows, d.short = min(short, max(room-least, 1)), shortRows, true
	}
	if least > 0 {
		d.axis = newAxis(d.tree.rows, min(d.columns/2, room-gap-d.name))
	}
}

func (d *drawing) write(w *bufio.Writer, before *projection.Session) *projection.Session {
	emit := func(lines ...string) {
		for _, l := range lines {
			w.WriteString(l)
			w.WriteByte('\n')
		}
	}
	row := func(list []piece) {
		if d.columns < tokensFrom { // there may not be room even for what is never left out
			list = d.fit(list, d.columns)
		}
		emit(d.line(list))
	}

	sum := d.tree.summary()
	emit(d.head(d.tree, sum, before, d.columns)...)
	emit("")
	row(d.titles())
	for _, r := range d.rows {
		row(d.row(r))
	}
	if d.axis != nil {
		if len(d.rows) > longPicture {
			row(d.titles())
		}
		emit(d.flow(d.idle(), d.columns)...)
	}
	emit(d.flow(d.legend(), d.columns)...)
	return sum.root
}

// row puts the columns of a row side by side.
func (d *drawing) row(r row) []piece {
	list := d.pen.name(r, d.name)
	if d.tokens > 0 {
		list = append(list, blank(gap+d.tokens-textWidth(r.tokens.text)), r.tokens)
	}
	list = append(list, blank(gap+d.time-width(r.time)))
	list = append(list, r.time...)
	if d.axis != nil && !r.cut {
		list = append(list, blank(gap))
		list = append(list, d.bar(d.axis, r.entry)...)
	}
	return list
}

// titles is the line above the rows, with the time axis.
func (d *drawing) titles() []piece {
	list := []piece{blank(d.name)}
	if d.tokens > 0 {
		list = append(list, blank(gap+d.tokens-len(titleTokens)), piece{titleTokens, inkFaint})
	}
	list = append(list, blank(gap+d.time-len(titleTime)), piece{titleTime, inkFaint})
	if d.axis != nil {
		list = append(list, blank(gap))
		list = append(list, d.ruler(d.axis)...)
	}
	return list
}

// idle lists what was folded, or sums it up.
func (d *drawing) idle() []piece {
	folds := d.axis.folds()
	if len(folds) == 0 {
		return nil
	}
	until := func(f interval) string {
		return human(f.to-f.from) + " until " + d.tree.origin.Add(f.to).UTC().Format(timeLayout)
	}
	fold := string(d.fold) + " idle: "
	if len(folds) > maxFoldsListed {
		longest := slices.MaxFunc(folds, func(a, b interval) int { return cmp.Compare(a.to-a.from, b.to-b.from) })
		return []piece{
			{fmt.Sprintf("%s%s in %d places", fold, human(total(folds)), len(folds)), inkFaint},
			{"the longest " + until(longest), inkFaint},
		}
	}
	var list []piece
	for _, f := range folds {
		list = append(list, piece{fold + until(f), inkFaint})
		fold = ""
	}
	return list
}

// legend explains the symbols that are in the picture and do not explain themselves.
func (d *drawing) legend() []piece {
	types := make(map[projection.Type]bool)
	var atMost, about, waits, open bool
	for _, r := range d.rows {
		if r.cut {
			continue
		}
		kind, f := r.node.bar(), &r.node.facts
		types[r.node.span.Type] = types[r.node.span.Type] || f.failure == ""
		if len(r.time) > 1 {
			atMost = atMost || f.timing == string(activity.Bounded)
			about = about || f.timing == string(activity.Inferred)
		}
		waits = waits || kind == barWaits
		open = open || r.node.open
	}
	var list []piece
	add := func(used bool, symbol, text string) {
		if used {
			list = append(list, piece{symbol + " " + text, inkFaint})
		}
	}
	if d.short {
		for _, t := range []projection.Type{
			projection.TypeRun, projection.TypeChat, projection.TypeTool, projection.TypeApproval,
		} {
			add(types[t], d.types[t], string(t))
		}
	}
	add(atMost, d.atMost, "at most")
	add(about, d.about, "inferred")
	if d.axis != nil {
		add(waits, strings.Repeat(string(d.waits.full), 2), "waiting")
		add(open, string(d.open), "still open")
	}
	return list
}
