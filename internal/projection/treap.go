package projection

// treap is an immutable map from a 64-bit hash to something. Every change copies the path to what changed and shares the
// rest, so that each branch of a session keeps its own pending work for a few words each.
type treap[V any] struct {
	key         uint64
	value       *V
	left, right *treap[V]
}

// priority orders the heap. Mixing the key, itself a seeded hash, makes the shape random and yet the same every time.
func priority(key uint64) uint64 {
	key *= 0x9E3779B97F4A7C15
	return key ^ key>>29
}

func (t *treap[V]) get(key uint64) *V {
	for t != nil && t.key != key {
		if key < t.key {
			t = t.left
		} else {
			t = t.right
		}
	}
	if t == nil {
		return nil
	}
	return t.value
}

// set returns the map with key bound to value; a nil value removes it.
func (t *treap[V]) set(key uint64, value *V) *treap[V] {
	switch {
	case t == nil && value == nil:
		return nil
	case t == nil:
		return &treap[V]{key: key, value: value}
	case key == t.key && value == nil:
		return join(t.left, t.right)
	case key == t.key:
		return &treap[V]{key: key, value: value, left: t.left, right: t.right}
	case value != nil && priority(key) > priority(t.key):
		left, right := t.split(key)
		return &treap[V]{key: key, value: value, left: left, right: right}
	case key < t.key:
		return &treap[V]{key: t.key, value: t.value, left: t.left.set(key, value), right: t.right}
	default:
		return &treap[V]{key: t.key, value: t.value, left: t.left, right: t.right.set(key, value)}
	}
}

// split returns what is below and what is above key, leaving key itself out.
func (t *treap[V]) split(key uint64) (below, above *treap[V]) {
	switch {
	case t == nil:
		return nil, nil
	case t.key == key:
		return t.left, t.right
	case t.key < key:
		b, a := t.right.split(key)
		return &treap[V]{key: t.key, value: t.value, left: t.left, right: b}, a
	default:
		b, a := t.left.split(key)
		return b, &treap[V]{key: t.key, value: t.value, left: a, right: t.right}
	}
}

func join[V any](left, right *treap[V]) *treap[V] {
	switch {
	case left == nil:
		return right
	case right == nil:
		return left
	case priority(left.key) > priority(right.key):
		return &treap[V]{key: left.key, value: left.value, left: left.left, right: join(left.right, right)}
	default:
		return &treap[V]{key: right.key, value: right.value, left: join(left, right.left), right: right.right}
	}
}
