package outline

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// draw returns the rows of a graph of entries that are called a, b, c, …
func drawGraph(up []int, columns int) []string {
	g := newGraph(up, columns)
	var rows []string
	for i := range up {
		rows = append(rows, strings.TrimRight(g.row(i, "●", &unicodeStrokes), " "))
	}
	return rows
}

func TestGraph(t *testing.T) {
	for _, tc := range []struct {
		name    string
		up      []int
		columns int
		want    string
	}{
		{"a straight line", []int{-1, 0, 1, 2}, 9, "● ● ● ●"},
		{"a branch that was left", []int{-1, 0, 1, 0, 3}, 9, "●|├─●|│ ●|●|●"},
		{"three children", []int{-1, 0, 0, 0}, 9, "●|├─●|├─●|●"},
		{"two writers in turns", []int{-1, 0, 0, 1, 2, 3, 4}, 9, "●|├─●|● │|│ ●|● │|│ ●|●"},
		{"a branch of a branch", []int{-1, 0, 1, 1, 0}, 9, "●|├─●|│ ├─●|│ ●|●"},
		{"over another branch", []int{-1, 0, 0, 1, 2}, 9, "●|├─●|● │|│ ●|●"},
		{"a line crosses", []int{-1, 0, 0, 1, 0, 4}, 9, "●|├─●|├─┼─●|│ ●|●|●"},
		{"two roots", []int{-1, -1, 0, 1}, 9, "●|│ ●|● │|  ●"},
		{"more than fit", []int{-1, 0, 1, 2, 2, 1, 0}, 2, "●|├─●|│ ●|│ ●|│ ●|│ ●|●"},
		{"no room at all", []int{-1, 0, 0, 1}, 1, "●|●|●|●"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := tc.want
			if !strings.Contains(want, "|") {
				want = strings.ReplaceAll(want, " ", "|")
			}
			if got := strings.Join(drawGraph(tc.up, tc.columns), "|"); got != want {
				t.Errorf("got\n%s\nwant\n%s", strings.ReplaceAll(got, "|", "\n"), strings.ReplaceAll(want, "|", "\n"))
			}
		})
	}
}

// Who looks at a drawing sees the tree that was drawn.
func TestTheTreeCanBeReadOffTheDrawing(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		up := make([]int, 1+r.IntN(60))
		for i := range up {
			switch {
			case i == 0 || r.IntN(15) == 0:
				up[i] = -1
			case r.IntN(3) > 0:
				up[i] = i - 1
			default:
				up[i] = r.IntN(i)
			}
		}
		g := newGraph(up, len(up))
		var tips []int // of the columns
		for range g.most {
			tips = append(tips, -1)
		}
		for i := range up {
			cells := []rune(g.row(i, "●", &unicodeStrokes))
			own := slices.Index(cells, '●') / 2
			got := tips[own]
			if from := slices.IndexFunc(cells, func(r rune) bool { return r == '├' || r == '┤' }); from >= 0 {
				got = tips[from/2]
				for c := min(from, 2*own) + 1; c < max(from, 2*own); c++ {
					if cells[c] != '─' && cells[c] != '┼' {
						t.Fatalf("seed %d, row %d: the line is broken: %q", seed, i, string(cells))
					}
				}
			}
			if up[i] < 0 { // a root has a mark of its own in words
				got = -1
			}
			if got != up[i] {
				t.Fatalf("seed %d, row %d: the picture says that its parent is %d, it is %d", seed, i, got, up[i])
			}
			tips[own] = i
			for c := range tips { // what has no child to come has no line
				if c < len(g.busy) && tips[c] >= 0 && (g.busy[c] > 0) != (g.left[tips[c]] > 0) {
					t.Fatalf("seed %d, row %d: column %d of %d", seed, i, c, tips[c])
				}
			}
		}
	}
}

// However deep branches are nested, it costs no more than its rows.
func TestADeepTreeIsDrawnInLinearTime(t *testing.T) {
	const n = 100_000
	up := make([]int, 2*n)
	for i := range n { // each entry has a second child, the first one's last of all
		up[i] = i - 1
		up[n+i] = n - 1 - i
	}
	rows := drawGraph(up, 8)
	if got, most := len([]rune(rows[n])), 15; got > most {
		t.Errorf("a row has %d columns, more than %d: %q", got, most, rows[n])
	}
	if want := "●"; rows[0] != want || rows[2*n-1] != want {
		t.Errorf("%q and %q", rows[0], rows[2*n-1])
	}
}

func TestShortIDs(t *testing.T) {
	hash := func(digits string) string { return "sha256:" + digits + strings.Repeat("0", 64-len(digits)) }
	for _, tc := range []struct{ ids, want []string }{
		{[]string{"a", "run1-end", "", "12345678901"}, []string{"a", "run1-end", "", "12345678901"}},
		{[]string{hash("aaaaaaaab"), hash("bbbb")}, []string{"aaaaaaaa", "bbbb0000"}},
		{[]string{hash("aaaaaaaab"), hash("aaaaaaaac"), hash("ab")}, []string{"aaaaaaaab", "aaaaaaaac", "ab000000"}},
		{
			[]string{"019f0000-0000-7000-8000-000000000001", "029f0000-0000-7000-8000-000000000001"},
			[]string{"019f0000", "029f0000"},
		},
		{[]string{strings.Repeat("é", 40), strings.Repeat("é", 41)}, []string{strings.Repeat("é", maxID), strings.Repeat("é", maxID)}},
	} {
		o := &Outline{}
		for _, id := range tc.ids {
			o.Entries = append(o.Entries, Entry{ID: id})
		}
		if got := o.shortIDs(); !slices.Equal(got, tc.want) {
			t.Errorf("%q: got %q, want %q", tc.ids, got, tc.want)
		}
	}
}

func TestTextIsBoundedAndOnOneLine(t *testing.T) {
	var tx text
	tx.next("%s", "a \n\t b")
	tx.next("%s", strings.Repeat("ü ", 10*maxText))
	tx.add("%s", "never")
	if got := tx.String(); !strings.HasPrefix(got, "a b, ü ü ü") || len([]rune(got)) > maxText+1 || strings.Contains(got, "never") {
		t.Errorf("%q", got)
	}
	tx = text{}
	tx.add("%s", "")
	tx.next("%s", "x")
	if got := tx.String(); got != "x" {
		t.Errorf("%q", got)
	}
	if got, want := names([]string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}), "1, 2, 3, 4, 5, 6, 7, 8 and 1 more"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
