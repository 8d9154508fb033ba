package slots

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

func TestMap(t *testing.T) {
	var m Map[int]
	var wg sync.WaitGroup
	counts := [3]int{}
	for i := range 300 {
		wg.Go(func() {
			id := fmt.Sprint(i % 3)
			at, ok, err := m.Enter(t.Context(), id)
			if !ok || err != nil {
				t.Error(ok, err)
				return
			}
			defer m.Leave(id, at)
			if at.Open == nil {
				at.Open = new(int)
			}
			*at.Open++
			counts[i%3]++ // one at a time, says the race detector
		})
	}
	wg.Wait()
	if counts != [3]int{100, 100, 100} || *m.Peek("1") != 100 || m.Peek("x") != nil {
		t.Errorf("%v, %v", counts, m.Peek("1"))
	}
	at, _, _ := m.Enter(t.Context(), "empty")
	if m.Peek("empty") != nil {
		t.Error("something was seen in a place that is taken")
	}
	m.Leave("empty", at)
	if len(m.slots) != 3 {
		t.Errorf("%d places are left", len(m.slots))
	}
	closed := 0
	for range 2 {
		if err := m.Remove("0", func(n *int) error { closed += *n; return nil }); err != nil || closed != 100 {
			t.Error(closed, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok, err := m.Enter(ctx, "1"); ok || !errors.Is(err, context.Canceled) {
		t.Error(ok, err)
	}
	if open := m.Close(); len(open) != 2 || len(m.Close()) != 0 {
		t.Errorf("%d were open", len(open))
	}
	if _, ok, err := m.Enter(t.Context(), "1"); ok || err != nil {
		t.Error(ok, err)
	}
}

// What one goroutine has opened is there for the next, however they come and go.
func TestLeaveKeepsWhatIsOpen(t *testing.T) {
	for range 20_000 {
		var m Map[int]
		var wg sync.WaitGroup
		for _, opens := range []bool{false, true} {
			wg.Go(func() {
				at, _, _ := m.Enter(context.Background(), "s")
				if opens {
					at.Open = new(int)
				}
				m.Leave("s", at)
			})
		}
		wg.Wait()
		if m.Peek("s") == nil {
			t.Fatal("what was opened is lost")
		}
	}
}

// Whoever comes while the map is closed opens nothing that stays.
func TestNothingIsOpenedBehindClose(t *testing.T) {
	for range 20_000 {
		var m Map[int]
		at, _, _ := m.Enter(context.Background(), "s")
		at.Open = new(int)
		m.Leave("s", at)
		opened := make(chan bool)
		go func() {
			at, ok, _ := m.Enter(context.Background(), "s")
			if ok {
				if at.Open == nil {
					at.Open = new(int)
				}
				m.Leave("s", at)
			}
			opened <- ok
		}()
		n := len(m.Close())
		ok := <-opened
		if n != 1 || ok && at.Open != nil {
			t.Fatalf("%d were closed, and one was opened behind it: %t", n, ok)
		}
	}
}
