package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sessionspan/sessionspan/internal/otlp"
)

// Why a sender ends early, for errors.Is.
var (
	// ErrDown: the backend did not answer, or asked to come again, for longer than Options.Patience or MaxElapsed.
	ErrDown = errors.New("nothing was accepted")
	// ErrDenied: nothing was accepted yet, and the answer was that nothing is taken at this address, or from this sender.
	ErrDenied = errors.New("it takes no traces")

	errClosed = errors.New("the sender is closed")
)

// IsEnd reports whether an error is why a sender ended by itself, and not that of the context which it was given.
func IsEnd(err error) bool { return errors.Is(err, ErrDown) || errors.Is(err, ErrDenied) }

const (
	// Waits between attempts grow from the first to the last, each longer or shorter by half at random.
	firstWait, lastWait = 500 * time.Millisecond, 30 * time.Second
	// minLimit is the least that the size of batches is brought down to for a backend that finds them too large.
	minLimit = 64 << 10
	// minPart is the size from which on "too large" is not taken at its word any more: nobody means it, and to try every
	// span by itself would cost a request for each.
	minPart = 4 << 10
)

// deliver sends a batch, in parts if need be, and counts what became of its spans. Each of them is counted once, and taken off
// left.
func (s *Sender) deliver(b *otlp.Batch, isCut bool, left *int64) {
	a, given := s.upload(b)
	s.tally.update(func(r *Result) { r.note(a.message) })
	if given && a.verdict == tooLarge && s.deliverParts(b, left) {
		return
	}
	n := int64(b.Len())
	*left -= n
	s.tally.update(func(r *Result) {
		switch {
		case !given:
			r.Lost += n
		case a.verdict != accepted:
			r.Refused += n
		default:
			rejected := min(a.rejected, n)
			r.Refused += rejected
			r.Sent += n - rejected
			r.Bytes += int64(b.Size())
			if isCut {
				r.Cut += n - rejected
			}
		}
	})
	if given && a.verdict == denied && s.accepted.Load() == 0 {
		why := fmt.Errorf("%w: %s", ErrDenied, a.message)
		if misread(a.message) == "" { // else it says what to do
			why = fmt.Errorf("%w; look at the endpoint and at OTEL_EXPORTER_OTLP_HEADERS", why)
		}
		s.end(why)
	}
}

// deliverParts sends a batch that was found too large in halves, or with its only span cut down. It reports whether there
// was a way to make it smaller.
func (s *Sender) deliverParts(b *otlp.Batch, left *int64) bool {
	switch {
	case b.Size() < minPart:
		return false
	case b.Len() > 1:
		s.lower(b.Size() / 2)
		first, second := b.Halves()
		s.deliver(first, false, left)
		s.deliver(second, false, left)
	case b.Cut(min(b.Size()/2, s.o.MaxBytes)):
		s.deliver(b, true, left)
	default:
		return false
	}
	return true
}

// lower makes the batches to come smaller.
func (s *Sender) lower(size int) {
	want := max(int64(size), minLimit)
	for have := s.maxBytes.Load(); want < have && !s.maxBytes.CompareAndSwap(have, want); {
		have = s.maxBytes.Load()
	}
}

// upload sends a batch until there is an answer to count. It reports whether there is one; if not, the batch is given up.
func (s *Sender) upload(b *otlp.Batch) (a answer, given bool) {
	waits := backoff.ExponentialBackOff{
		InitialInterval: s.o.firstWait, MaxInterval: lastWait,
		Multiplier: 2, RandomizationFactor: backoff.DefaultRandomizationFactor,
	}
	start, acceptedBefore := time.Now(), s.accepted.Load()
	for attempt := 0; s.requests.Err() == nil; attempt++ {
		if attempt > 0 {
			s.tally.update(func(r *Result) {
				r.note(a.message)
				r.Retries++
			})
			s.tally.report()
		}
		last := s.ctx.Err() != nil // after an interrupt every batch has one attempt
		a = s.request(b, start)
		if a.verdict == accepted {
			s.accepted.Add(1)
		}
		if a.verdict != retry {
			return a, true
		}
		if s.requests.Err() != nil {
			a.message = "" // it is our own giving up, and no word of the backend's
			break
		}
		if last {
			break
		}
		tried := time.Since(start)
		left := s.limit(a) - tried
		hopeless := a.wait > 0 && left < a.wait && s.accepted.Load() == 0 // nobody waits that long for what may never have been there
		if (left <= 0 || hopeless) && s.ctx.Err() == nil {
			if s.accepted.Load() == acceptedBefore {
				s.end(s.downError(a, tried, hopeless))
			}
			break
		}
		s.pause(min(max(a.wait, waits.NextBackOff()), left)) // the last attempt comes at the limit
	}
	return a, false
}

// minAttempt is how long a request may take at least, however long its batch has been tried.
const minAttempt = 5 * time.Second

// request makes one request, which takes no longer than the batch may be tried: not every client has a limit of its own.
func (s *Sender) request(b *otlp.Batch, start time.Time) answer {
	ctx, cancel := context.WithTimeout(s.requests, max(s.limit(answer{})-time.Since(start), minAttempt))
	defer cancel()
	s.tally.update(func(r *Result) { r.Requests++ })
	a := classify(s.up.UploadTraces(ctx, b.ResourceSpans()))
	if discreet, ok := s.up.(interface{ Hide(string) string }); ok {
		a.message = discreet.Hide(a.message)
	}
	return a
}

// limit returns how long a batch is tried.
func (s *Sender) limit(a answer) time.Duration {
	if s.accepted.Load() == 0 && a.wait == 0 {
		return min(s.o.Patience, s.o.MaxElapsed)
	}
	return s.o.MaxElapsed
}

// pause waits before the next attempt; an interrupt ends it.
func (s *Sender) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.ctx.Done():
	}
}

// end gives everything up.
func (s *Sender) end(why error) {
	if named, ok := s.up.(fmt.Stringer); ok {
		why = fmt.Errorf("%s: %w", named, why)
	}
	s.stop(why)
	s.abort()
}

func (s *Sender) downError(a answer, tried time.Duration, hopeless bool) error {
	switch {
	case hopeless:
		return fmt.Errorf("%w: %s; it asks to wait %v, and %v is the longest that is waited", ErrDown, a.message, a.wait, s.o.MaxElapsed)
	case a.wait > 0:
		return fmt.Errorf("%w for %v: %s; it asks to wait %v", ErrDown, tried.Round(time.Second), a.message, a.wait)
	case s.accepted.Load() == 0:
		return fmt.Errorf("%w for %v: %s; is that the right endpoint and protocol?", ErrDown, tried.Round(time.Second), a.message)
	}
	return fmt.Errorf("%w for %v: %s", ErrDown, tried.Round(time.Second), a.message)
}
