package collectorreceiver

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/sessionspan/sessionspan/collectorreceiver/internal/metadata"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/tracker"
)

// counts are what the receiver has done, for its metrics. They are read from any goroutine.
type counts struct {
	stats           atomic.Pointer[tracker.Stats]
	skipped, broken atomic.Int64 // lines
	mu              sync.Mutex
	spans           map[string]int64 // accepted, by type
}

func (c *counts) set(s tracker.Stats) { c.stats.Store(&s) }

// accepted counts spans that the next component has accepted.
func (c *counts) accepted(spans []*projection.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spans == nil {
		c.spans = map[string]int64{}
	}
	for _, s := range spans {
		c.spans[string(s.Type)]++
	}
}

// now returns what was counted.
func (c *counts) now() metadata.Counts {
	n := metadata.Counts{LinesSkipped: c.skipped.Load(), LinesBroken: c.broken.Load(), Spans: map[string]int64{}}
	c.mu.Lock()
	for typ, count := range c.spans {
		n.Spans[typ] = count
	}
	c.mu.Unlock()
	s := c.stats.Load()
	if s == nil {
		return n
	}
	n.Files, n.OpenSessions = int64(s.Files), int64(s.Open)
	n.BytesRead, n.BytesReread, n.BytesBehind = s.BytesRead, s.Reread, s.Behind
	n.LinesRead, n.Generations = s.LinesRead, s.Generations
	n.SpansRefused, n.SpansRetrying = s.Refused, int64(s.Retrying)
	if !s.Unsaved.IsZero() {
		n.CheckpointAge = time.Since(s.Unsaved).Seconds()
	}
	return n
}
