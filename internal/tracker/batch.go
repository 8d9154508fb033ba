package tracker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
)

// batch is what is given to the consumer at once.
type batch struct {
	spans []*projection.Span
	bytes int
	parts []part
	tries int
	waits *backoff.ExponentialBackOff
	born  time.Time // when the first of its spans began to wait
	begun time.Time // when it was tried first
	next  time.Time // when it is tried again
}

// part is what a batch has of one file.
type part struct {
	unit  *unit
	spans []*projection.Span
	upTo  progress // what was read of it then
	// generation is that of the file then.
	generation int
}

// due reports whether what is pending is to be given to the consumer now.
func (t *Tracker) due(now time.Time) bool {
	return t.pending() >= t.o.BatchBytes || !t.since.IsZero() && now.Sub(t.since) >= t.o.BatchWait
}

// pending is how many bytes of spans can be put into a batch.
func (t *Tracker) pending() (bytes int) {
	for u := range t.waiting {
		if u.sending == nil {
			bytes += u.bytes
		}
	}
	return bytes
}

// deliver gives the consumer what is pending, and what is to be tried again.
func (t *Tracker) deliver(ctx context.Context, now time.Time) {
	b := &batch{born: t.since}
	for u := range t.waiting {
		if u.sending != nil {
			continue // in the order of the file
		}
		b.parts = append(b.parts, part{u, u.pending, u.progress(), u.file.Generation})
		b.spans, b.bytes = append(b.spans, u.pending...), b.bytes+u.bytes
		u.pending, u.bytes = nil, 0
		delete(t.waiting, u)
	}
	t.since = time.Time{}
	failed := len(b.spans) > 0 && !t.try(ctx, b, now)
	again := t.retrying
	t.retrying = nil
	slices.SortFunc(again, func(a, b *batch) int { return a.next.Compare(b.next) })
	for _, b := range again {
		if failed || b.next.After(now) { // one that fails is enough for now: the others have their turn before it
			t.retrying = append(t.retrying, b)
		} else {
			failed = !t.try(ctx, b, now)
		}
	}
	for u := range t.waiting {
		if u.sending == nil && t.since.IsZero() {
			t.since = now
		}
	}
}

// splitAfter is how often a batch is tried as a whole.
const splitAfter = 3

// try gives a batch to the consumer, and reports whether that has dealt with it. One that it does not accept is tried again, after some
// times each file by itself, so that one which is never accepted holds up no other.
func (t *Tracker) try(ctx context.Context, b *batch, now time.Time) bool {
	err := t.consumer.Consume(ctx, b.spans)
	if r, some := errors.AsType[*Rest](err); some && len(r.Spans) < len(b.spans) {
		t.stats.Sent += int64(len(b.spans) - len(r.Spans))
		before := b.bytes
		b.keep(r.Spans)
		t.held += b.bytes - before
	}
	refusal, final := errors.AsType[*Refusal](err)
	switch {
	case err == nil:
		t.stats.Sent += int64(len(b.spans))
		t.accept(b)
		return true
	case final && !refusal.Known && refusal.Spans >= len(b.spans) && len(b.parts) > 1:
		for _, one := range b.split() {
			one.next = now
			t.retry(one)
		}
		return true
	case final:
		t.refuse(b, refusal.Spans, refusal.Err)
		return true
	case t.o.Retry.Never || t.o.Retry.For > 0 && b.tries > 0 && now.Sub(b.begun) >= t.o.Retry.For:
		t.refuse(b, len(b.spans), err)
		return true
	case ctx.Err() != nil: // it was interrupted: what comes last is still to be tried
		b.next = now
		t.retry(b)
		return false
	}
	if b.tries == 0 {
		b.begun, b.waits = now, t.o.Retry.waits()
		t.o.Problem("", fmt.Errorf("%d spans were not accepted, and are tried again: %w", len(b.spans), err), true)
	}
	b.tries++
	b.next = now.Add(b.waits.NextBackOff())
	if b.tries < splitAfter || len(b.parts) == 1 {
		t.retry(b)
		return false
	}
	for _, one := range b.split() {
		t.retry(one)
	}
	return false
}

// accept takes that nothing of a batch is to be tried again.
func (t *Tracker) accept(b *batch) {
	t.held -= b.bytes
	for _, p := range b.parts {
		p.unit.sending = nil
		if p.generation == p.unit.file.Generation {
			p.unit.accepted = p.upTo
		}
		t.dirty[p.unit] = true
	}
}

// refuse takes that so many spans of a batch never will be accepted.
func (t *Tracker) refuse(b *batch, spans int, err error) {
	t.stats.Refused += int64(spans)
	t.stats.Sent += int64(len(b.spans) - spans)
	for _, p := range b.parts {
		n, of := spans, len(b.spans) // of which files these are is not known
		if n >= of {
			n, of = len(p.spans), len(p.spans)
		}
		if of > 0 {
			t.o.Problem(p.unit.file.Path, fmt.Errorf("%d spans were refused, of %d in bytes %d to %d: %w",
				n, of, p.unit.accepted.known.Position.Offset, p.upTo.known.Position.Offset, err), false)
		}
	}
	t.accept(b)
}

// keep leaves in a batch what is still to be tried.
func (b *batch) keep(rest []*projection.Span) {
	is := make(map[*projection.Span]bool, len(rest))
	for _, s := range rest {
		is[s] = true
	}
	accepted := func(s *projection.Span) bool { return !is[s] }
	b.spans, b.bytes = slices.DeleteFunc(slices.Clone(b.spans), accepted), 0
	for i := range b.parts {
		p := &b.parts[i]
		p.spans = slices.DeleteFunc(slices.Clone(p.spans), accepted)
	}
	for _, s := range b.spans {
		b.bytes += otlp.Size(s)
	}
}

// retry has a batch be tried again.
func (t *Tracker) retry(b *batch) {
	for _, p := range b.parts {
		p.unit.sending = b
	}
	t.retrying = append(t.retrying, b)
}

// split makes a batch of each file's part.
func (b *batch) split() []*batch {
	var list []*batch
	for _, p := range b.parts {
		one := &batch{spans: p.spans, parts: []part{p}, tries: b.tries, waits: b.waits, born: b.born, begun: b.begun, next: b.next}
		for _, s := range p.spans {
			one.bytes += otlp.Size(s)
		}
		list = append(list, one)
	}
	return list
}

// full reports whether so much waits for the consumer that nothing more is read.
func (t *Tracker) full() bool { return t.held >= t.o.Retries*t.o.BatchBytes }
