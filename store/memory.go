package store

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sessionspan/sessionspan/format"
)

// Memory keeps sessions in memory: for tests, and for sessions that nobody will want again.
type Memory struct {
	mu       sync.RWMutex
	sessions map[string]*remembered
}

var (
	_ Store        = (*Memory)(nil)
	_ HeaderReader = (*Memory)(nil)
)

// remembered is a session with what its summary says.
type remembered struct {
	*format.Session
	size     atomic.Int64
	modified atomic.Int64 // nanoseconds since 1970
	deleted  atomic.Bool
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{sessions: map[string]*remembered{}} }

// Create implements [Store].
func (m *Memory) Create(ctx context.Context, h format.Header) (*format.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := format.NewSession(h)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sessions[s.ID()] != nil {
		return nil, fmt.Errorf("%w: %.100q", ErrSessionExists, s.ID())
	}
	r := &remembered{Session: s}
	size, err := s.WriteTo(discard{})
	if err != nil {
		return nil, err
	}
	r.wrote(size)
	s.Attach(func(more []byte, _ format.Entry) error {
		if r.deleted.Load() {
			return fmt.Errorf("%w: %.100q was deleted", ErrNoSession, s.ID())
		}
		r.wrote(int64(len(more)))
		return nil
	})
	m.sessions[s.ID()] = r
	return s, nil
}

func (r *remembered) wrote(bytes int64) {
	r.size.Add(bytes)
	r.modified.Store(time.Now().UnixNano())
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// Open implements [Store].
func (m *Memory) Open(ctx context.Context, id string) (*format.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if r := m.sessions[id]; r != nil {
		return r.Session, nil
	}
	return nil, fmt.Errorf("%w: %.100q", ErrNoSession, id)
}

// Append implements [Store].
func (m *Memory) Append(ctx context.Context, id string, e format.Entry) (string, error) {
	s, err := m.Open(ctx, id)
	if err != nil {
		return "", err
	}
	return s.Append(e)
}

// List implements [Store]. Names and successors are always there.
func (m *Memory) List(ctx context.Context, f ListFilter) iter.Seq2[Summary, error] {
	return func(yield func(Summary, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(Summary{}, err)
			return
		}
		for _, s := range m.snapshot(f) {
			if err := ctx.Err(); err != nil {
				yield(Summary{}, err)
				return
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}

func (m *Memory) snapshot(f ListFilter) []Summary {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var all []Summary
	for _, r := range m.sessions {
		s := Summary{
			Header: *r.Header(), Name: r.Name(), SupersededBy: r.SupersededBy(),
			Size: r.size.Load(), Modified: time.Unix(0, r.modified.Load()),
		}
		if f.Keep(s) {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, CompareNewest)
	if f.Limit > 0 && len(all) > f.Limit {
		all = all[:f.Limit]
	}
	return all
}

// Delete implements [Store].
func (m *Memory) Delete(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.sessions[id]
	if r == nil {
		return fmt.Errorf("%w: %.100q", ErrNoSession, id)
	}
	r.deleted.Store(true)
	delete(m.sessions, id)
	return nil
}

// Header implements [HeaderReader].
func (m *Memory) Header(ctx context.Context, id string) (*format.Header, error) {
	s, err := m.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.Header(), nil
}
