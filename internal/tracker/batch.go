package tracker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sessionspan/sessionspan/internal/follow"
	"github.com/sessionspan/sessionspan/internal/projection"
)

// batch is what is given to the consumer at once.
type batch struct {
	spans []*projection.Span
	bytes int
	parts []part
	tries int
	next  time.Time // when it is tried again
}

// part is what a batch has of one file.
type part struct {
	unit  *unit
	spans []*projection.Span
	upTo  follow.Position // what was read of it then
}

// sizeOf is about what a span takes, in bytes.
func sizeOf(s *projection.Span) int {
	n := 256 + 160*len(s.Links)
	for _, kv := range s.Attributes {
		n += 64 + len(kv.Key) + len(kv.Value.AsString())
	}
	for _, e := range s.Events {
		n += 96 + 96*len(e.Attributes)
	}
	return n
}

// due reports whether what is pending is to be given to the consumer now.
func (t *Tracker) due(now time.Time) bool {
	return t.pending() >= t.o.BatchBytes || !t.since.IsZero() && now.Sub(t.since) >= t.o.BatchWait
}

// pending is how many bytes of spans are waiting to be put into a batch.
func (t *Tracker) pending() (bytes int) {
	for u := range t.waiting {
		bytes += u.bytes
	}
	return bytes
}

// deliver gives the consumer what is pending, and what is to be tried again.
func (t *Tracker) deliver(ctx context.Context, now time.Time) {
	b := &batch{}
	for u := range t.waiting {
		if u.sending != nil {
			continue // in the order of the file
		}
		b.parts = append(b.parts, part{u, u.pending, u.file.Position()})
		b.spans, b.bytes = append(b.spans, u.pending...), b.bytes+u.bytes
		u.pending, u.bytes = nil, 0
		delete(t.waiting, u)
	}
	if len(t.waiting) == 0 {
		t.since = time.Time{}
	}
	if len(b.spans) > 0 {
		t.try(ctx, b, now)
	}
	again := t.retrying
	t.retrying = nil
	for _, b := range again {
		if b.next.After(now) || ctx.Err() != nil {
			t.retrying = append(t.retrying, b)
		} else {
			t.try(ctx, b, now)
		}
	}
}

// try gives a batch to the consumer. One that is not accepted is tried again, each file by itself, so that one which is never accepted holds up
// no other.
func (t *Tracker) try(ctx context.Context, b *batch, now time.Time) {
	err := t.consumer.Consume(ctx, b.spans)
	if _, final := errors.AsType[permanent](err); final {
		t.stats.Refused += int64(len(b.spans))
		for _, p := range b.parts {
			t.o.Problem(p.unit.file.Path, fmt.Errorf("%d spans up to byte %d were refused: %w", len(p.spans), p.upTo.Offset, err), false)
		}
		err = nil
	} else if err == nil {
		t.stats.Sent += int64(len(b.spans))
	}
	if err == nil {
		for _, p := range b.parts {
			p.unit.sending, p.unit.accepted = nil, p.upTo
			t.dirty[p.unit] = true
		}
		return
	}
	if b.tries == 0 && ctx.Err() == nil {
		t.o.Problem("", fmt.Errorf("%d spans were not accepted, and are tried again: %w", len(b.spans), err), true)
	}
	b.tries++
	wait := min(t.o.FirstWait<<min(b.tries-1, 20), t.o.MostWait)
	for _, p := range b.parts {
		one := &batch{spans: p.spans, parts: []part{p}, tries: b.tries, next: now.Add(wait)}
		for _, s := range p.spans {
			one.bytes += sizeOf(s)
		}
		p.unit.sending = one
		t.retrying = append(t.retrying, one)
	}
}

// full reports whether so much waits for the consumer that nothing more is read.
func (t *Tracker) full() bool {
	bytes := 0
	for _, b := range t.retrying {
		bytes += b.bytes
	}
	return bytes >= t.o.Retries*t.o.BatchBytes
}
