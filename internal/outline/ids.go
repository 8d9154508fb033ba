package outline

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sessionspan/sessionspan/format"
)

const (
	minID   = 8  // characters that an id is cut to at least
	wholeID = 12 // characters up to which an id that is no hash stays whole
	maxID   = 24 // characters after which it is cut though that makes it like another one
)

// shortID cuts an id of which nothing is known but itself.
func shortID(id string) string {
	if hash, ok := strings.CutPrefix(id, format.HashPrefix); ok {
		return cutRunes(hash, minID)
	}
	return cutRunes(id, maxID)
}

// shortIDs returns the ids of the entries, cut as far as they stay different from each other.
func (o *Outline) shortIDs() []string {
	ids := make([]string, len(o.Entries))
	order := make([]int, len(o.Entries))
	for i := range o.Entries {
		ids[i], order[i] = strings.TrimPrefix(o.Entries[i].ID, format.HashPrefix), i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(ids[a], ids[b]) })
	short := make([]string, len(ids))
	common := 0 // with the id before
	for at, i := range order {
		next := 0
		if at+1 < len(order) {
			next = commonPrefix(ids[i], ids[order[at+1]])
		}
		short[i] = ids[i]
		if len(ids[i]) > wholeID || o.Entries[i].ID != ids[i] {
			short[i] = cutRunes(ids[i], min(max(common, next)+1, maxID))
		}
		common = next
	}
	return short
}

// commonPrefix is the length of what two ids begin with both, in characters.
func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return utf8.RuneCountInString(a[:n])
}

// cutRunes returns the first characters of a text, at least [minID].
func cutRunes(s string, n int) string {
	n = max(n, minID)
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
