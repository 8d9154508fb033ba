package waterfall

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"
	"unicode/utf8"

	"github.com/sessionspan/sessionspan/internal/terminal"
)

// interval is a stretch of time, counted from the start of the trace.
type interval struct{ from, to time.Duration }

// merge unites intervals that touch, in place, and returns them in order.
func merge(list []interval) []interval {
	slices.SortFunc(list, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	out := list[:0]
	for _, iv := range list {
		if n := len(out); n > 0 && iv.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, iv.to)
			continue
		}
		out = append(out, iv)
	}
	return out
}

// total adds the lengths of merged intervals.
func total(merged []interval) time.Duration {
	var sum time.Duration
	for _, iv := range merged {
		sum += iv.to - iv.from
	}
	return sum
}

// region is a stretch of the axis between folds: its time, and its columns from left to before right.
type region struct {
	interval
	left, right int
}

// axis lays time on columns. Regions are to scale among each other, but for the least width of each; the idle time
// between two of them is folded into the columns between them.
type axis struct {
	width   int
	regions []region
	perCell time.Duration // of time in one column, outside folds
	folded  []bool        // for each column, whether it stands for a fold
}

const (
	minFold   = 10 * time.Second
	minRegion = 2 // columns
)

// newAxis makes an axis for the rows. An idle stretch is folded when it is longer than ten seconds and than a tenth of all
// work: measured by the work rather than by the whole, since many pauses make each of them a small part of the whole. Waits
// for a person that are at most half as long as all work are not idle.
func newAxis(rows []*node, width int) *axis {
	var work []interval
	for _, n := range rows {
		if n.bar() == barWork {
			work = append(work, interval{n.from, n.to})
			continue
		}
		// What does not work still began and ended at some moment, which is not idle time.
		work = append(work, interval{n.from, n.from}, interval{n.to, n.to})
	}
	work = merge(work)
	all := total(work)
	fold := max(minFold, all/10)
	for _, n := range rows {
		// A wait for a person that is short beside the work is part of what happened; a long one is idle time.
		if n.bar() == barWaits && n.to-n.from <= all/2 {
			work = append(work, interval{n.from, n.to})
		}
	}
	work = merge(work)
	a := &axis{width: width}
	for _, iv := range work {
		if n := len(a.regions); n > 0 && iv.from-a.regions[n-1].to <= fold {
			a.regions[n-1].to = iv.to
			continue
		}
		a.regions = append(a.regions, region{interval: iv})
	}
	a.place()
	return a
}

// place gives the regions their columns.
func (a *axis) place() {
	n := len(a.regions)
	var sum float64
	for _, r := range a.regions {
		sum += float64(r.to - r.from)
	}
	// Least widths and folds take half of the axis at most; beyond that they shrink.
	fixed := float64(n*minRegion + n - 1)
	shrink := min(1, float64(a.width)/2/fixed)
	free := float64(a.width) - fixed*shrink
	at := 0.0
	for i := range a.regions {
		r := &a.regions[i]
		share := 1 / float64(n)
		if sum > 0 {
			share = float64(r.to-r.from) / sum
		}
		r.left = int(math.Round(at))
		at += minRegion*shrink + free*share
		r.right = int(math.Round(at))
		at += shrink
	}
	a.folded = make([]bool, a.width)
	columns := 0
	for i, r := range a.regions {
		columns += r.right - r.left
		if i > 0 {
			for c := a.regions[i-1].right; c < r.left; c++ {
				a.folded[c] = true
			}
		}
	}
	a.perCell = max(1, time.Duration(sum/float64(max(1, columns))))
}

// find returns the index of the region in which a time lies, or which ends before it; -1 when there is none.
func (a *axis) find(d time.Duration) int {
	return sort.Search(len(a.regions), func(i int) bool { return a.regions[i].from > d }) - 1
}

// half returns the place of a time in half columns. Time inside a fold is in the middle of it.
func (a *axis) half(d time.Duration) int {
	i := a.find(d)
	if i < 0 {
		return 0
	}
	r := a.regions[i]
	switch {
	case d > r.to && i+1 < len(a.regions):
		return r.right + a.regions[i+1].left
	case r.to == r.from:
		return 2 * r.left
	case d >= r.to:
		return 2 * r.right
	}
	frac := float64(d-r.from) / float64(r.to-r.from)
	return 2*r.left + int(math.Round(frac*float64(2*(r.right-r.left))))
}

// cells returns the half columns of a bar, from lo to before hi: at least one, and at least one in the regions in which it
// starts and ends, however close to their edges.
func (a *axis) cells(from, to time.Duration) (lo, hi int) {
	lo, hi = a.half(from), a.half(to)
	if i := a.find(from); i >= 0 {
		if r := a.regions[i]; from <= r.to && r.left < r.right {
			lo = min(lo, 2*r.right-1)
		}
	}
	if i := a.find(to); i >= 0 {
		if r := a.regions[i]; to <= r.to && r.left < r.right {
			hi = max(hi, 2*r.left+1)
		}
	}
	lo = min(lo, 2*a.width-1)
	return lo, max(lo+1, min(hi, 2*a.width))
}

// folds returns the idle stretches that were folded.
func (a *axis) folds() []interval {
	var list []interval
	for i := 1; i < len(a.regions); i++ {
		list = append(list, interval{a.regions[i-1].to, a.regions[i].from})
	}
	return list
}

// tick is a label on the axis.
type tick struct {
	column int
	label  string
}

// minTick is how many columns lie between ticks at least.
const minTick = 8

// ticks returns labels that do not touch: round times in each region, and where each region starts, which may reach
// beyond it. In the first region times count from the start of the trace, after a fold from where work went on.
func (a *axis) ticks() []tick {
	var list []tick
	taken := make([]bool, a.width+1)
	put := func(d time.Duration, s string, before int) {
		column, columns := a.half(d)/2, utf8.RuneCountInString(s)+1
		end := column + columns
		if end > before || slices.Contains(taken[max(column-1, 0):end+1], true) {
			return
		}
		for i := column; i < end; i++ {
			taken[i] = true
		}
		list = append(list, tick{column, s})
	}
	step := niceStep(a.perCell, minTick)
	for i, r := range a.regions {
		put(r.from, terminal.Place(r.from), r.right)
		sign := ""
		if i > 0 {
			sign = "+"
		}
		for d := step; d <= r.to-r.from; d += step {
			put(r.from+d, sign+terminal.Place(d), r.right)
			if d > math.MaxInt64-step {
				break
			}
		}
	}
	for _, r := range a.regions {
		put(r.from, terminal.Place(r.from), a.width)
	}
	return list
}

// steps are round times, in seconds.
var steps = []time.Duration{
	1, 2, 5, 10, 15, 30, 60, 2 * 60, 5 * 60, 10 * 60, 15 * 60, 30 * 60,
	3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, 24 * 3600,
}

// niceStep returns a round time that takes at least cells columns.
func niceStep(perCell time.Duration, cells int) time.Duration {
	want := time.Duration(math.MaxInt64)
	if perCell < want/time.Duration(cells) {
		want = perCell * time.Duration(cells)
	}
	if want < time.Second {
		for step := time.Millisecond; ; step *= 10 {
			for _, m := range []time.Duration{1, 2, 5} {
				if step*m >= want {
					return step * m
				}
			}
		}
	}
	for _, s := range steps {
		if s*time.Second >= want {
			return s * time.Second
		}
	}
	step := 24 * time.Hour
	for step < want && step <= math.MaxInt64/2 {
		step *= 2
	}
	return step
}
