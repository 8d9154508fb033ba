package projection

import "slices"

// checkpointEvery is how many entries apart states are kept on a path.
const checkpointEvery = 64

// kept holds the states that are not made again: those of some entries of every path, and those of the tips that were
// left last, to which interleaved writers come back at every entry.
type kept struct {
	at    map[uint32]*state
	order []uint32 // the entries, sorted
	left  [16]leftTip
	next  int
}

type leftTip struct {
	node uint32
	st   state
}

// get returns the state kept at an entry, or nil.
func (k *kept) get(n uint32) *state {
	if st := k.at[n]; st != nil {
		return st
	}
	for i := range k.left {
		if k.left[i].node == n {
			return &k.left[i].st
		}
	}
	return nil
}

// put keeps the state of an entry.
func (k *kept) put(n uint32, st state) {
	if k.at == nil {
		k.at = map[uint32]*state{}
	}
	if k.at[n] != nil {
		return
	}
	k.at[n] = &st
	i, _ := slices.BinarySearch(k.order, n)
	k.order = slices.Insert(k.order, i, n)
}

// leave keeps the state of a tip that is left, in place of the one that was left longest ago.
func (k *kept) leave(n uint32, st state) {
	k.left[k.next] = leftTip{n, st}
	k.next = (k.next + 1) % len(k.left)
}

// below calls f for the states kept at entries that come after one in the file, or at the entry itself.
func (k *kept) below(n uint32, f func(uint32, *state)) {
	i, _ := slices.BinarySearch(k.order, n)
	for _, at := range k.order[i:] {
		f(at, k.at[at])
	}
	for i := range k.left {
		if k.left[i].node >= n && k.left[i].node != root {
			f(k.left[i].node, &k.left[i].st)
		}
	}
}
