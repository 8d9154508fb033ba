package jsonl

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
)

// Each policy syncs what it says, before the append is acknowledged.
func TestPolicies(t *testing.T) {
	entries := []format.Entry{
		format.NewConfig("gpt-5"),
		format.NewRunStart("r", format.SourceInput, ""), // the header promises runs
		format.NewItem(openresponses.UserText("Hello.")),
		format.NewItem(openresponses.NewFunctionCall("c", "f", "{}")),
		format.NewDispatch("c", ""),
		format.NewItem(openresponses.NewFunctionCallOutput("c", "done")),
		format.NewResponse("resp", "gpt-5", openresponses.StatusCompleted),
		format.NewInfo("Name"),
	}
	for policy, want := range map[Sync]string{
		Always:     "config run item item dispatch item response info",
		Group:      "config run item item dispatch item response info",
		OnResponse: "run item response",
		Never:      "",
	} {
		t.Run(policy.String(), func(t *testing.T) {
			syncs := 0
			disk := &failing{sync: func() { syncs++ }}
			s, err := Open(t.TempDir(), WithSync(policy), withFiles(disk))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			session, err := s.Create(t.Context(), format.Header{ID: "s", Records: []string{format.TypeRun}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range entries {
				if d, ok := e.(*format.DispatchEntry); ok {
					d = format.NewDispatch(d.CallID, session.Leaf())
					e = d
				}
				before := syncs
				if _, err := s.Append(t.Context(), "s", e); err != nil {
					t.Fatal(err)
				}
				if syncs > before {
					got = append(got, e.EntryType())
				}
			}
			if list := strings.Join(got, " "); list != want {
				t.Errorf("synced were %q, want %q", list, want)
			}
		})
	}
}

// Appends that come while a sync is under way wait for the next one, which is for all of them.
func TestGroupSharesASync(t *testing.T) {
	const others = 10
	began, goOn := make(chan int, 10), make(chan struct{})
	n := 0
	disk := &failing{}
	s, err := Open(t.TempDir(), WithSync(Group), withFiles(disk))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	session, err := s.Create(t.Context(), format.Header{ID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	disk.sync = func() { // one at a time
		n++
		began <- n
		<-goOn
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	acked := 0
	add := func(i int) {
		wg.Go(func() {
			if _, err := s.Append(t.Context(), "s", format.NewInfo(fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			acked++
		})
	}
	add(0)
	<-began
	for i := range others {
		add(i + 1)
	}
	for session.Len() < 1+others { // all are in the file
		for range session.Since(0) {
			continue
		}
	}
	mu.Lock()
	if acked != 0 {
		t.Errorf("%d were acknowledged before a sync had ended", acked)
	}
	mu.Unlock()
	goOn <- struct{}{}
	<-began
	goOn <- struct{}{}
	wg.Wait()
	if n != 2 || acked != 1+others {
		t.Errorf("%d syncs for %d appends", n, acked)
	}
}
