package delivery

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessionspan/sessionspan/internal/projection"
)

// Whatever a backend does and whenever somebody interrupts, every span is counted once, those that count as sent are those
// that the backend has acknowledged, and nothing that was acknowledged is sent again.
func TestEverySpanIsCountedOnce(t *testing.T) {
	const rounds = 100
	for seed := range uint64(rounds) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			var mu sync.Mutex // of r, and of what follows
			acked, twice := int64(0), 0
			has := make(map[string]bool)
			tricks, limit := r.IntN(5), 1+r.IntN(60)
			f := &fake{answer: func(ctx context.Context, _ int, names []string) error {
				mu.Lock()
				what, long := r.IntN(10*(1+r.IntN(8))), time.Duration(r.IntN(4000))*time.Millisecond
				mu.Unlock()
				if err := sleep(ctx, long); err != nil {
					return err
				}
				mu.Lock()
				defer mu.Unlock()
				if len(names) > limit {
					return errBig
				}
				rejected := 0
				if tricks > 0 {
					switch what {
					case 0:
						return errBusy
					case 1:
						return errBad
					case 2:
						rejected = r.IntN(len(names) + 2)
					case 3:
						return errLater(time.Duration(r.IntN(100)) * time.Second)
					case 4:
						mu.Unlock()
						err := sleep(ctx, 10*time.Second)
						mu.Lock()
						return errors.Join(err, errBusy)
					case 5:
						if tricks > 3 {
							return errKey
						}
					}
				}
				for _, name := range names {
					if has[name] {
						twice++
					}
					has[name] = true
				}
				acked += int64(max(len(names)-rejected, 0))
				if rejected > 0 {
					return fmt.Errorf("OTLP partial success: some (%d spans rejected)", rejected)
				}
				return nil
			}}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if r.IntN(3) == 0 {
				timer := time.AfterFunc(time.Duration(r.IntN(60_000))*time.Millisecond, cancel)
				defer timer.Stop()
			}
			s := New(ctx, f, Options{
				MaxSpans: 1 + r.IntN(100), InFlight: 1 + r.IntN(4), MaxElapsed: time.Duration(1+r.IntN(300)) * time.Second,
				Progress: func(r Result) {
					if r.Sent+r.Refused+r.Lost > r.Spans {
						t.Errorf("seed %d: of %d spans more are done with: %+v", seed, r.Spans, r)
					}
				},
			})
			given, counts := int64(0), make([]int, 1+r.IntN(3))
			for i := range counts {
				counts[i] = r.IntN(400)
				given += int64(counts[i])
			}
			var feeders sync.WaitGroup
			for feeder, n := range counts {
				feeders.Go(func() {
					session := new(projection.Session)
					for i := range n {
						// Long enough for a batch that is too large to be tried in parts.
						span := spanOf(fmt.Sprintf("%d-%0200d", feeder, i), 5000)
						span.Session = session
						s.End(span)
					}
				})
			}
			feeders.Wait()
			got, err := s.Close()
			if got.Spans != given || got.Sent+got.Refused+got.Lost != given {
				t.Errorf("seed %d: of %d spans %+v, error %v", seed, given, got, err)
			}
			if got.Sent != acked || twice > 0 {
				t.Errorf("seed %d: %d sent, %d acknowledged; %d sent again after that", seed, got.Sent, acked, twice)
			}
			if got.Lost > 0 && err == nil && len(got.Messages) == 0 {
				t.Errorf("seed %d: lost without a reason: %+v", seed, got)
			}
		})
	}
}
