package follow

import (
	"slices"
	"strings"
)

// dueHeap orders files by when they are to be looked at.
type dueHeap []*Tracked

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].due.Before(h[j].due) }

func (h dueHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

// Push implements [heap.Interface].
func (h *dueHeap) Push(x any) {
	t := x.(*Tracked)
	t.at = len(*h)
	*h = append(*h, t)
}

// Pop implements [heap.Interface].
func (h *dueHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	t.at = -1
	return t
}

// news collects [News].
type news struct {
	News
	seen map[listed]bool
}

// listed is a file in a list.
type listed struct {
	in *[]*Tracked
	t  *Tracked
}

func newNews() *news { return &news{News: News{Errs: map[string]error{}}, seen: map[listed]bool{}} }

// add adds a file to a list, once.
func (n *news) add(to *[]*Tracked, t *Tracked) {
	if key := (listed{to, t}); !n.seen[key] {
		n.seen[key] = true
		*to = append(*to, t)
	}
}

func (n *news) sorted() News {
	for _, list := range []*[]*Tracked{&n.New, &n.Grown, &n.Gone, &n.Again} {
		slices.SortFunc(*list, func(a, b *Tracked) int { return strings.Compare(a.Path, b.Path) })
	}
	return n.News
}
