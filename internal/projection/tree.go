package projection

import "hash/maphash"

// tree is the index of a session's entries: 32 bytes and a table slot each, whatever the entries hold. Nodes are
// numbered from 1 in file order; 0 is the place above every root.
type tree struct {
	seed  maphash.Seed
	nodes chunked[node]
	table []uint32 // open addressing over node numbers, at most three quarters full
}

type node struct {
	hash   uint64 // of the entry's key
	time   int64  // nanoseconds since 1970
	parent uint32
	jump   uint32 // an ancestor further up, so that any ancestor is O(log n) steps away
	depth  uint32
	op     uint32 // the last of what the entry did to the state, see op
}

const root uint32 = 0

func newTree() *tree {
	t := &tree{seed: maphash.MakeSeed(), table: make([]uint32, 64)}
	t.nodes.add(node{})
	return t
}

func (t *tree) at(n uint32) *node { return t.nodes.at(n) }

// newest is the entry that was added last.
func (t *tree) newest() uint32 { return t.nodes.len() - 1 }

// find returns the node of a key, or 0.
func (t *tree) find(key string) uint32 {
	n, _ := t.lookup(maphash.String(t.seed, key))
	return n
}

func (t *tree) lookup(hash uint64) (n uint32, slot uint64) {
	mask := uint64(len(t.table) - 1)
	for slot = hash & mask; t.table[slot] != 0; slot = (slot + 1) & mask {
		if t.at(t.table[slot]).hash == hash {
			return t.table[slot], slot
		}
	}
	return 0, slot
}

// add appends an entry; its key must be new.
func (t *tree) add(key string, parent uint32, nanos int64) uint32 {
	hash := maphash.String(t.seed, key)
	above := t.at(parent)
	jump := parent
	// The skew-binary rule: two jumps of one length are joined to one of twice the length.
	if up := t.at(above.jump); above.depth-up.depth == up.depth-t.at(up.jump).depth && parent != root {
		jump = up.jump
	}
	n := t.nodes.add(node{hash: hash, time: nanos, parent: parent, jump: jump, depth: above.depth + 1})
	if uint64(n)*4 > uint64(len(t.table))*3 {
		t.grow()
	}
	_, slot := t.lookup(hash)
	t.table[slot] = n
	return n
}

func (t *tree) grow() {
	t.table = make([]uint32, 2*len(t.table))
	for n := uint32(1); n < t.nodes.len()-1; n++ {
		_, slot := t.lookup(t.at(n).hash)
		t.table[slot] = n
	}
}

// above reports whether a is on the path from the roots to n, n included.
func (t *tree) above(a, n uint32) bool { return t.up(n, t.at(a).depth) == a }

// up returns the entry at a depth on the path to n, or n itself when that is no deeper.
func (t *tree) up(n, depth uint32) uint32 {
	for {
		at := t.at(n)
		switch {
		case at.depth <= depth:
			return n
		case t.at(at.jump).depth >= depth:
			n = at.jump
		default:
			n = at.parent
		}
	}
}

// chunked is a list that grows without copying what it holds.
type chunked[T any] struct {
	chunks [][]T
	n      uint32
}

const chunkSize = 1 << 10

func (c *chunked[T]) add(v T) uint32 {
	if c.n%chunkSize == 0 {
		size := chunkSize
		if c.n == 0 {
			size = 32 // most sessions are short
		}
		c.chunks = append(c.chunks, make([]T, 0, size))
	}
	last := len(c.chunks) - 1
	c.chunks[last] = append(c.chunks[last], v)
	c.n++
	return c.n - 1
}

func (c *chunked[T]) at(i uint32) *T { return &c.chunks[i/chunkSize][i%chunkSize] }
func (c *chunked[T]) len() uint32    { return c.n }
