package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/store"
)

// Whoever reads the session while it is written sees what is there, in one order, and each entry once.
func (s *suite) concurrent() {
	const writers, each = 8, 25
	session := s.new(format.Header{ID: "a"})
	var wg sync.WaitGroup
	ids := make([][]string, writers)
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				id, err := s.store.Append(s.Context(), "a", message(fmt.Sprint(w, " ", i)))
				if err != nil {
					s.Error(err)
					return
				}
				ids[w] = append(ids[w], id)
			}
		})
	}
	var seen []string
	for len(seen) < writers*each && !s.Failed() {
		for _, e := range session.Since(len(seen)) {
			seen = append(seen, e.Base().ID)
		}
	}
	wg.Wait()
	if s.Failed() {
		return
	}
	order := func(session *format.Session) (list []string) {
		for _, e := range session.Entries() {
			list = append(list, e.Base().ID)
		}
		return list
	}
	if !slices.Equal(seen, order(session)) {
		s.Error("what was seen while it was written is not what is there")
	}
	for w, list := range ids {
		at := -1
		for _, id := range list {
			i := slices.Index(seen, id)
			if i <= at {
				s.Errorf("writer %d appended %s, which stands at %d, after what stands at %d", w, id, i, at)
			}
			at = i
		}
	}
	text := content(s, session)
	s.reopen()
	if again := s.get("a"); content(s, again) != text || !slices.Equal(order(again), seen) {
		s.Error("opened again the order is another one")
	}
}

// The documented way to work on several branches: every append names its parent.
func (s *suite) branches() {
	const writers, each = 6, 20
	session := s.new(format.Header{ID: "a"})
	root := s.say("a", "Root.")
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			parent := root
			for i := range each {
				id, err := s.store.Append(s.Context(), "a", at(parent, fmt.Sprint(w, " ", i)))
				if err != nil {
					s.Error(err)
					return
				}
				parent = id
			}
			path, err := session.Path(parent)
			if err != nil || len(path) != each+1 {
				s.Errorf("writer %d has a path of %d entries, error %v", w, len(path), err)
			}
		})
	}
	wg.Wait()
	if n := len(session.Children(root)); n != writers || session.Len() != 1+writers*each {
		s.Errorf("%d branches, %d entries", n, session.Len())
	}
}

func (s *suite) many() {
	const sessions, each = 20, 5
	var wg sync.WaitGroup
	for i := range sessions {
		wg.Go(func() {
			id := fmt.Sprint("s", i)
			if _, err := s.store.Create(s.Context(), format.Header{ID: id, Format: s.o.Format, CWD: fmt.Sprint("/p", i%3)}); err != nil {
				s.Error(err)
				return
			}
			for n := range each {
				if _, err := s.store.Append(s.Context(), id, message(fmt.Sprint(n))); err != nil {
					s.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if list := s.listed(store.ListFilter{}); len(list) != sessions {
		s.Errorf("%d sessions are listed", len(list))
	}
	for i := range sessions {
		if n := s.get(fmt.Sprint("s", i)).Len(); n != each {
			s.Errorf("session %d has %d entries", i, n)
		}
	}
}

// Whenever the context ends, as far as the store looks, an append that fails has added nothing, and one that does not is there.
func (s *suite) cancelledAtAnyMoment() {
	session := s.new(format.Header{ID: "a"})
	acked := 0
	for looks := range int64(12) {
		ctx := endsAfter(s.Context(), looks)
		before := session.Len()
		_, err := s.store.Append(ctx, "a", message(fmt.Sprint(looks)))
		ctx.cancel()
		added := session.Len() - before
		if (err == nil) != (added == 1) {
			s.Errorf("the context ends after the store has looked at it %d times: error %v, and %d entries were added", looks, err, added)
		}
		acked += added
	}
	if acked == 0 {
		s.Error("no append went well")
	}
	s.reopen()
	if n := s.get("a").Len(); n != acked {
		s.Errorf("%d entries are there, %d were acknowledged", n, acked)
	}
}

// ending is a context that is done once it has been looked at so many times.
type ending struct {
	context.Context
	cancel context.CancelFunc
	left   *atomic.Int64
}

func endsAfter(parent context.Context, looks int64) ending {
	ctx, cancel := context.WithCancel(parent)
	e := ending{ctx, cancel, new(atomic.Int64)}
	e.left.Store(looks)
	return e
}

func (e ending) Err() error {
	if e.left.Add(-1) < 0 {
		e.cancel()
	}
	return e.Context.Err()
}

// Whoever opens a session has the one that all others have.
func (s *suite) openedAtOnce() {
	s.new(format.Header{ID: "a"})
	s.say("a", "Hello.")
	s.reopen()
	got := make([]*format.Session, 16)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			var err error
			if got[i], err = s.store.Open(s.Context(), "a"); err != nil {
				s.Error(err)
			}
		})
	}
	wg.Wait()
	for _, one := range got {
		if one != got[0] {
			s.Fatal("two goroutines have two sessions of one id")
		}
	}
}
