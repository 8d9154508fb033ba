package waterfall

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/projection"
)

// chats makes nodes that work at the given times.
func chats(times ...interval) []*node {
	var list []*node
	for _, iv := range times {
		list = append(list, &node{span: &span{Type: projection.TypeChat}, facts: &facts{}, from: iv.from, to: iv.to})
	}
	return list
}

func TestFolds(t *testing.T) {
	tests := []struct {
		name string
		work []interval
		want []interval
	}{
		{"none", nil, nil},
		{"no gap", []interval{{0, 10 * s}, {10 * s, 20 * s}}, nil},
		{"a gap of ten seconds stays", []interval{{0, 10 * s}, {20 * s, 30 * s}}, nil},
		{"a longer one is folded", []interval{{0, 10 * s}, {21 * s, 30 * s}}, []interval{{10 * s, 21 * s}}},
		{"unless it is short beside the work", []interval{{0, 20 * m}, {22 * m, 30 * m}}, nil},
		{"however many there are", []interval{{0, m}, {h, h + m}, {2 * h, 2*h + m}}, []interval{{m, h}, {h + m, 2 * h}}},
		{"work that runs beside covers it", []interval{{0, 10 * s}, {5 * s, h}, {h, h + s}}, nil},
		{"moments are work", []interval{{0, 0}, {11 * s, 11 * s}}, []interval{{0, 11 * s}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := newAxis(chats(tt.work...), 60).folds()
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(interval{})); diff != "" {
				t.Errorf("folds (-want +got):\n%s", diff)
			}
		})
	}
}

// What only encloses work, or waits, does not keep idle time from being folded.
func TestFoldsUnderEnclosingSpans(t *testing.T) {
	st := idle()
	a := newAxis(newTree(st.spans(), time.Time{}).rows, 60)
	want := []interval{{15 * s, 13*h + 42*m + 16*s}, {13*h + 42*m + 51*s, 14 * h}}
	if diff := cmp.Diff(want, a.folds(), cmp.AllowUnexported(interval{})); diff != "" {
		t.Errorf("folds (-want +got):\n%s", diff)
	}
}

// Time that goes on never goes back on the axis, and nothing leaves it.
func TestAxisIsMonotonic(t *testing.T) {
	for _, width := range []int{20, 21, 60, 200} {
		for _, n := range []int{1, 2, 7, 40, 300} {
			var work []interval
			for i := range n {
				at := time.Duration(i) * h
				work = append(work, interval{at, at + time.Duration(i*i)*s%(50*m)})
			}
			a := newAxis(chats(work...), width)
			last := 0
			for d := time.Duration(0); d <= time.Duration(n)*h; d += m {
				x := a.half(d)
				if x < last || x > 2*width {
					t.Fatalf("width %d, %d stretches: %v is at %d, what was before at %d", width, n, d, x, last)
				}
				last = x
				if lo, hi := a.cells(d, d+s); lo < 0 || hi <= lo || hi > 2*width {
					t.Fatalf("width %d, %d stretches: a bar at %v takes %d to %d", width, n, d, lo, hi)
				}
			}
			if a.regions[0].left != 0 || a.regions[len(a.regions)-1].right != width {
				t.Errorf("width %d, %d stretches: the axis is not filled", width, n)
			}
		}
	}
}

func TestTicks(t *testing.T) {
	tests := []struct {
		name  string
		work  []interval
		width int
		want  string
	}{
		{"seconds", []interval{{0, 30 * s}}, 60, "0@0 5s@10 10s@20 15s@30 20s@40 25s@50"},
		{"minutes", []interval{{0, 10 * m}}, 40, "0@0 2m@8 4m@16 6m@24 8m@32"},
		{"days", []interval{{0, 96 * h}}, 40, "0@0 1d@10 2d@20 3d@30"},
		{"years", []interval{{0, 90000 * h}}, 40, "0@0 1024d@11 2048d@22 3072d@33"},
		{"after a fold they count from it", []interval{{0, 20 * s}, {2 * h, 2*h + 20*s}}, 41, "0@0 10s@10 2h@21 +10s@31"},
		{"one moment", []interval{{0, 0}}, 40, "0@0"},
		{"less than a millisecond", []interval{{0, 900}}, 40, "0@0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			for _, k := range newAxis(chats(tt.work...), tt.width).ticks() {
				if got != "" {
					got += " "
				}
				got += fmt.Sprintf("%s@%d", k.label, k.column)
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
