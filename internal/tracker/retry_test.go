package tracker_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/tracker"
)

// Only what was not accepted is given again.
func TestRestIsGivenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		to := newCollector(t)
		var given []int
		consumer := consume(func(spans []*projection.Span) error {
			given = append(given, len(spans))
			half := len(spans) / 2
			to.take(spans[:half])
			if len(given) < 3 {
				return &tracker.Rest{Spans: spans[half:], Err: errAway}
			}
			to.take(spans[half:])
			return nil
		})
		put(t, filepath.Join(dir, "a.jsonl"), sessionOf(t, "a", 8))
		put(t, filepath.Join(dir, "b.jsonl"), sessionOf(t, "b", 8))
		tr := track(t, dir, tracker.Options{Checkpoints: kept}, consumer)
		defer tr.Close()
		passes(t, tr, 5*time.Minute)
		all := replayed(t, projection.Options{}, dir)
		to.equals(t, all)
		if to.times != len(all) || given[1] != given[0]-given[0]/2 {
			t.Errorf("%d spans came %d times, of these so many at once: %v", len(all), to.times, given)
		}
		if s := tr.Stats(); s.Sent != int64(len(all)) || s.Retrying != 0 || !s.Unsaved.IsZero() {
			t.Errorf("%+v", s)
		}
	})
}

// What is not to be tried again, or was for long enough, is told and passed.
func TestGivingUp(t *testing.T) {
	for _, tc := range []struct {
		name  string
		retry tracker.Retry
		err   error
		tries int
	}{
		{"refused for good, all of it", tracker.Retry{}, &tracker.Refusal{Spans: 1 << 20, Err: errAway, Known: true}, 1},
		{"never to be tried again", tracker.Retry{Never: true}, errAway, 1},
		{"after two seconds", tracker.Retry{For: 2 * time.Second}, errAway, 2 + 1 + 1}, // twice, and then each file by itself
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, kept := t.TempDir(), memory{}
				tries, told := 0, 0
				consumer := consume(func(spans []*projection.Span) error {
					tries++
					if r, ok := errors.AsType[*tracker.Refusal](tc.err); ok {
						return &tracker.Refusal{Spans: len(spans), Err: r.Err, Known: r.Known}
					}
					return tc.err
				})
				put(t, filepath.Join(dir, "a.jsonl"), sessionOf(t, "a", 2))
				put(t, filepath.Join(dir, "b.jsonl"), sessionOf(t, "b", 2))
				all := len(replayed(t, projection.Options{}, dir))
				problem := func(path string, err error, note bool) {
					if !note {
						told++
					}
				}
				tr := track(t, dir, tracker.Options{Checkpoints: kept, Retry: tc.retry, Problem: problem}, consumer)
				passes(t, tr, time.Minute)
				if s := tr.Stats(); s.Refused != int64(all) || s.Retrying != 0 || told != 2 {
					t.Errorf("%d spans: %+v, %d told", all, s, told)
				}
				shut(t, tr)
				if tc.retry.For == 0 && tries != tc.tries {
					t.Errorf("tried %d times, want %d", tries, tc.tries)
				}
				to := newCollector(t)
				tr = track(t, dir, tracker.Options{Checkpoints: kept}, to)
				defer tr.Close()
				passes(t, tr, time.Minute)
				if to.times != 0 {
					t.Errorf("%d spans came with the next", to.times)
				}
			})
		})
	}
}

// full is a place for checkpoints in which there is no room.
type full struct {
	memory
	is *bool
}

func (f full) Put(records map[string][]byte) error {
	if *f.is {
		return fmt.Errorf("writing: %w", os.ErrInvalid)
	}
	return f.memory.Put(records)
}

// While progress cannot be stored all goes on, and it is stored when that is possible again.
func TestCheckpointsThatCannotBeStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, kept, is := t.TempDir(), memory{}, false
		to := newCollector(t)
		told, over := 0, 0
		o := tracker.Options{Checkpoints: full{kept, &is}, Unsaved: func(err error) {
			if err == nil {
				over++
			} else {
				told++
			}
		}}
		tr := track(t, dir, o, to)
		is = true
		put(t, filepath.Join(dir, "a.jsonl"), sessionOf(t, "a", 2))
		passes(t, tr, time.Minute)
		put(t, filepath.Join(dir, "b.jsonl"), sessionOf(t, "b", 2))
		passes(t, tr, time.Minute)
		all := replayed(t, projection.Options{}, dir)
		to.equals(t, all)
		if s := tr.Stats(); told == 0 || over != 0 || len(kept) != 1 || time.Since(s.Unsaved) < time.Minute {
			t.Errorf("told %d times, %d records, %+v", told, len(kept), s)
		}
		is = false
		passes(t, tr, 5*time.Second)
		if s := tr.Stats(); over != 1 || len(kept) != 3 || !s.Unsaved.IsZero() {
			t.Errorf("told %d times that it was over, %d records, %+v", over, len(kept), s)
		}
		shut(t, tr)
		tr = track(t, dir, tracker.Options{Checkpoints: kept}, to)
		defer tr.Close()
		passes(t, tr, time.Minute)
		if to.times != len(all) {
			t.Errorf("%d spans came %d times", len(all), to.times)
		}
	})
}

// While nothing is accepted no more is held than is allowed, however many files there are.
func TestHeldWhileNothingIsAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		var whole [60][]byte
		write := func(part int) {
			for i, data := range whole {
				put(t, filepath.Join(dir, fmt.Sprintf("%d.jsonl", i)), data[:len(data)/part])
			}
		}
		for i := range whole {
			whole[i] = sessionOf(t, fmt.Sprint(i), 40)
		}
		write(8)
		to := newCollector(t)
		to.refuse = func([]*projection.Span) error { return errAway }
		o := tracker.Options{BatchBytes: 20_000, Retries: 4, Problem: func(string, error, bool) {}}
		tr := track(t, dir, o, to)
		defer tr.Close()
		passes(t, tr, time.Minute)
		write(1)
		passes(t, tr, 10*time.Minute)
		if n, most := tr.Held(), 2*o.Retries*o.BatchBytes; n > most || n == 0 {
			t.Errorf("%d bytes are held, of %d", n, most)
		}
		to.refuse = nil
		passes(t, tr, 10*time.Minute)
		to.equals(t, replayed(t, projection.Options{}, dir))
		if n := tr.Held(); n != 0 {
			t.Errorf("%d bytes are held in the end", n)
		}
	})
}
