package projection

import "slices"

// checkpointEvery is how many entries apart states are kept on a path.
const checkpointEvery = 64

// kept holds the states that are not made again: those of some entries of every path, and those of the tips that were
// left last, to which interleaved writers come back at every entry.
type kept struct {
	at    map[uint32]*state
	order []uint32  // the entries, sorted
	left  []leftTip // at most as many as were made room for
	next  int
	every uint32
}

// keptTips is how many tips that were left keep their state.
const keptTips = 16

func newKept() kept {
	return kept{at: map[uint32]*state{}, left: make([]leftTip, keptTips), every: checkpointEvery}
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
	if k.at[n] != nil {
		return
	}
	k.at[n] = &st
	i, _ := slices.BinarySearch(k.order, n)
	k.order = slices.Insert(k.order, i, n)
}

// leave keeps the state of a tip that is left, in place of the one that was left longest ago.
func (k *kept) leave(n uint32, st state) {
	if len(k.left) == 0 {
		return
	}
	k.left[k.next] = leftTip{n, st}
	k.next = (k.next + 1) % len(k.left)
}

// drop forgets the states of some of the entries from one on.
func (k *kept) drop(from uint32, which func(uint32) bool) {
	for i := len(k.order) - 1; i >= 0 && k.order[i] >= from; i-- {
		if n := k.order[i]; which(n) {
			delete(k.at, n)
			k.order = slices.Delete(k.order, i, i+1)
		}
	}
	for i := range k.left {
		if n := k.left[i].node; n >= from && which(n) {
			k.left[i] = leftTip{}
		}
	}
}
