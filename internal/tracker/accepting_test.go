package tracker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/tracker"
)

// An end for silence that the backend did not take before the process was killed comes from the next one.
func TestSilenceThatIsNotAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		to := newCollector(t)
		tr := track(t, dir, tracker.Options{Checkpoints: kept}, to)
		s := newSession(t, dir, "s")
		s.add(s.open("1")...)
		passes(t, tr, time.Minute)
		to.refuse = func([]*projection.Span) error { return errAway }
		time.Sleep(25 * time.Hour)
		passes(t, tr, time.Minute)
		shut(t, tr) // killed
		to.refuse = nil
		tr = track(t, dir, tracker.Options{Checkpoints: kept}, to)
		defer tr.Close()
		passes(t, tr, time.Minute)
		time.Sleep(50 * time.Hour)
		passes(t, tr, time.Minute)
		if got := fmt.Sprint(to.names()); got != "map[chat:1 run:1 session:1 tool:1]" {
			t.Errorf("delivered: %s", got)
		}
	})
}

// A compressed file of which a part was accepted is read again, since nobody can go on in its middle.
func TestKilledInTheMiddleOfACompressedFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		data := sessionOf(t, "s", 8000)
		put(t, filepath.Join(dir, "s.jsonl.gz"), packed(t, data))
		to := newCollector(t)
		n := 0
		ctx, stop := context.WithCancel(t.Context())
		to.refuse = func([]*projection.Span) error {
			if n++; n == 1 {
				stop() // SIGTERM during the first batch, which is accepted
				return nil
			}
			return errAway
		}
		tr := track(t, dir, tracker.Options{Checkpoints: kept, BatchBytes: 1}, to)
		for range 5 {
			time.Sleep(time.Second)
			if err := tr.Step(ctx); err != nil {
				t.Fatal(err)
			}
		}
		shut(t, tr)
		to.refuse = nil
		tr = track(t, dir, tracker.Options{Checkpoints: kept}, to)
		defer tr.Close()
		passes(t, tr, time.Minute)
		if got := to.names()["run"]; got != 8000 {
			t.Errorf("%d of 8000 runs", got)
		}
	})
}

// What was sent of a file is not sent again of what it was compressed to.
func TestCompressedTwinAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		to := newCollector(t)
		p := filepath.Join(dir, "s.jsonl")
		data := sessionOf(t, "old", 5)
		put(t, p, data)
		tr := track(t, dir, tracker.Options{Checkpoints: kept}, to)
		passes(t, tr, 10*time.Second)
		put(t, p+".gz", packed(t, data))
		passes(t, tr, 10*time.Second)
		remove(t, p)
		passes(t, tr, 10*time.Second)
		before := to.times
		if err := tr.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		shut(t, tr)
		tr = track(t, dir, tracker.Options{Checkpoints: kept}, to)
		defer tr.Close()
		passes(t, tr, 10*time.Second)
		if to.times != before {
			t.Errorf("%d again", to.times-before)
		}
	})
}

// What was not accepted of a file before it was compressed comes.
func TestCompressedTwinOfWhatWasNotAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		to := newCollector(t)
		p := filepath.Join(dir, "s.jsonl")
		data := sessionOf(t, "old", 5)
		half := bytes.LastIndexByte(data[:len(data)/2], '\n') + 1
		put(t, p, data[:half])
		to.refuse = func([]*projection.Span) error { return errAway }
		tr := track(t, dir, tracker.Options{Checkpoints: kept, Retry: tracker.Retry{First: time.Hour, Most: time.Hour}}, to)
		passes(t, tr, 10*time.Second)
		put(t, p+".gz", packed(t, data))
		remove(t, p)
		to.refuse = nil
		passes(t, tr, 60*time.Second)
		shut(t, tr) // killed
		tr = track(t, dir, tracker.Options{Checkpoints: kept}, to)
		defer tr.Close()
		passes(t, tr, time.Minute)
		if to.names()["run"] != 5 {
			t.Errorf("%v", to.names())
		}
	})
}

// What is accepted of what a file held before says nothing about what it holds now.
func TestAcceptedOfAFileThatWasRewritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		to := newCollector(t)
		p := filepath.Join(dir, "s.jsonl")
		put(t, p, sessionOf(t, "aaa", 5))
		refuse := func([]*projection.Span) error { return errAway }
		to.refuse = refuse
		tr := track(t, dir, tracker.Options{Checkpoints: kept, Retry: tracker.Retry{First: 20 * time.Second}}, to)
		passes(t, tr, 10*time.Second)
		put(t, p, sessionOf(t, "bbb", 5))
		to.refuse = func(s []*projection.Span) error {
			if s[0].Session.ID == "bbb" {
				return errAway
			}
			return nil
		}
		passes(t, tr, 60*time.Second)
		shut(t, tr) // killed
		to.refuse = nil
		tr = track(t, dir, tracker.Options{Checkpoints: kept}, to)
		defer tr.Close()
		passes(t, tr, time.Minute)
		if to.names()["run"] != 10 {
			t.Errorf("%v", to.names())
		}
	})
}

// A file that was restored, with another number, goes on from where it was.
func TestRestoredFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		to := newCollector(t)
		p := filepath.Join(dir, "s.jsonl")
		put(t, p, sessionOf(t, "aaa", 5))
		tr := track(t, dir, tracker.Options{Checkpoints: kept}, to)
		passes(t, tr, 10*time.Second)
		shut(t, tr)
		replace(t, p, read(t, p))
		before := to.times
		tr = track(t, dir, tracker.Options{Checkpoints: kept}, to)
		defer tr.Close()
		passes(t, tr, time.Minute)
		if to.times != before || len(kept) != 2 { // its own, and that it has begun
			t.Errorf("%d again, %d records", to.times-before, len(kept))
		}
	})
}

// An interrupted request is made again before the end.
func TestInterruptWhileTheConsumerIsAtWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "s.jsonl"), sessionOf(t, "aaa", 5))
		to := slow{newCollector(t)}
		tr := track(t, dir, tracker.Options{}, to)
		ctx, stop := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer stop()
		if err := errors.Join(tr.Run(ctx), tr.Flush(t.Context())); err != nil {
			t.Fatal(err)
		}
		if tr.Stats().Retrying > 0 {
			t.Errorf("%+v", tr.Stats())
		}
		shut(t, tr)
	})
}

type slow struct{ *collector }

func (s slow) Consume(ctx context.Context, spans []*projection.Span) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(2 * time.Second):
	}
	return s.collector.Consume(ctx, spans)
}

// A file that is refused as a whole takes no other with it.
func TestRefusalFallsOnWhoseItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		to := newCollector(t)
		to.refuse = func(spans []*projection.Span) error {
			for _, s := range spans {
				if s.Session.ID == "bad" {
					return &tracker.Refusal{Spans: len(spans), Err: errAway}
				}
			}
			return nil
		}
		put(t, filepath.Join(dir, "bad.jsonl"), sessionOf(t, "bad", 2))
		put(t, filepath.Join(dir, "good.jsonl"), sessionOf(t, "good", 2))
		tr := track(t, dir, tracker.Options{}, to)
		defer tr.Close()
		passes(t, tr, time.Minute)
		if to.names()["run"] != 2 {
			t.Errorf("%v", to.names())
		}
	})
}

// A file that is never accepted, of more than may wait, holds up no other.
func TestBigFileThatIsNeverAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		to := newCollector(t)
		to.refuse = func(spans []*projection.Span) error {
			for _, s := range spans {
				if s.Session.ID == "bad" {
					return errAway
				}
			}
			return nil
		}
		put(t, filepath.Join(dir, "bad.jsonl"), sessionOf(t, "bad", 8000))
		tr := track(t, dir, tracker.Options{}, to)
		defer tr.Close()
		passes(t, tr, 10*time.Second)
		put(t, filepath.Join(dir, "good.jsonl"), sessionOf(t, "good", 2))
		passes(t, tr, 10*time.Minute)
		if to.names()["run"] != 2 {
			t.Errorf("%v %+v", to.names(), tr.Stats())
		}
	})
}
