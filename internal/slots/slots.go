// Package slots gives each session of a store a place, in which one goroutine at a time opens, releases or deletes it while others
// work on other sessions.
package slots

import (
	"context"
	"sync"
)

// Map holds what is open, by the id of its session. The zero value is empty and ready for use.
type Map[T any] struct {
	mu     sync.Mutex
	slots  map[string]*Slot[T]
	closed bool
}

// Slot is the place of a session.
type Slot[T any] struct {
	// Open is what stands in it; nil for nothing. It is for who has the slot.
	Open *T

	mu     sync.Mutex
	users  int
	closed bool // by Close, which has taken it out
}

// Enter takes the place of a session, which [Map.Leave] gives back, and waits for whoever has it. It reports false when the map is
// closed; the error is that of the context.
func (m *Map[T]) Enter(ctx context.Context, id string) (at *Slot[T], ok bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil, false, nil
	}
	if m.slots == nil {
		m.slots = map[string]*Slot[T]{}
	}
	at = m.slots[id]
	if at == nil {
		at = &Slot[T]{}
		m.slots[id] = at
	}
	at.users++
	m.mu.Unlock()
	at.mu.Lock()
	if at.closed {
		m.Leave(id, at)
		return nil, false, nil
	}
	if err := ctx.Err(); err != nil { // it may have been a long wait
		m.Leave(id, at)
		return nil, false, err
	}
	return at, true, nil
}

// Leave gives the place of a session back.
func (m *Map[T]) Leave(id string, at *Slot[T]) {
	m.mu.Lock() // while the place is taken still: nobody holds them the other way round
	defer m.mu.Unlock()
	at.users--
	if at.users == 0 && at.Open == nil && m.slots[id] == at {
		delete(m.slots, id)
	}
	at.mu.Unlock()
}

// Remove takes out what is open of a session, if something is, and has it closed while nobody else gets its place.
func (m *Map[T]) Remove(id string, end func(*T) error) error {
	at, ok, _ := m.Enter(context.Background(), id)
	if !ok {
		return nil // closed: nothing is open any more
	}
	defer m.Leave(id, at)
	open := at.Open
	if open == nil {
		return nil
	}
	at.Open = nil
	return end(open)
}

// Peek returns what is open of a session, unless somebody has its place; nil for nothing.
func (m *Map[T]) Peek(id string) *T {
	m.mu.Lock()
	at := m.slots[id]
	m.mu.Unlock()
	if at == nil || !at.mu.TryLock() {
		return nil
	}
	defer at.mu.Unlock()
	return at.Open
}

// Closed reports whether the map is closed.
func (m *Map[T]) Closed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

// Close takes everything out, waiting for whoever has a place, and lets nobody in any more.
func (m *Map[T]) Close() (open []*T) {
	m.mu.Lock()
	m.closed = true
	all := m.slots
	m.slots = nil
	m.mu.Unlock()
	for _, at := range all {
		at.mu.Lock()
		at.closed = true
		if at.Open != nil {
			open = append(open, at.Open)
			at.Open = nil
		}
		at.mu.Unlock()
	}
	return open
}
