package otelwrap_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/store"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// 100 goroutines over 50 sessions: each entry is traced once, in the order of the file.
func TestManyGoroutinesAndSessions(t *testing.T) {
	dir := t.TempDir()
	r := record(t, openFiles(t, dir), nil, nil)
	var wg sync.WaitGroup
	for i := range 50 {
		id := fmt.Sprint("session-", i)
		s := r.create(header(id))
		r.add(id, start("run-1"), user("Go on."))
		top := s.Leaf()
		for g := range 2 {
			wg.Go(func() {
				at := top
				for n := range 10 {
					name := fmt.Sprint(g, "-", n)
					call := asks("resp-"+name, "call-"+name, "bash")
					for _, e := range slices.Concat(call, []format.Entry{handOver("call-" + name), output("call-" + name)}) {
						e.Base().Parent = at // on a branch of its own
						var err error
						if at, err = r.Append(context.Background(), id, e); err != nil {
							t.Error(err)
							return
						}
						r.CallContext(context.Background(), id, "call-"+name)
					}
				}
			})
		}
	}
	wg.Wait()
	r.noErrors()
	equalsReplay(t, r.spans, dir)
}

// held is a processor that lets nobody go who ends a span of that name, as a full queue or an export may.
type held struct {
	exporter
	name    string
	in, out chan struct{}
}

func (h *held) OnEnd(s sdktrace.ReadOnlySpan) {
	if s.Name() == h.name {
		h.in <- struct{}{}
		<-h.out
	}
	h.exporter.OnEnd(s)
}

// While somebody's span is exported, others append to the same session, and get the contexts of their calls.
func TestExportHoldsNobodyElse(t *testing.T) {
	h := &held{name: "chat gpt-5", in: make(chan struct{}), out: make(chan struct{})}
	r := record(t, store.NewMemory(), &exporter{}, []sdktrace.TracerProviderOption{sdktrace.WithSpanProcessor(h)})
	r.create(header("s"))
	r.add("s", start("run-1"))
	r.add("s", asks("resp-1", "call-1", "bash")[0])
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		if _, err := r.Append(context.Background(), "s", answered("resp-1")); err != nil {
			t.Error(err)
		}
	}()
	<-h.in // it is in the middle of an export
	r.add("s", handOver("call-1"))
	if got := r.CallContext(t.Context(), "s", "call-1"); got == t.Context() {
		t.Error("no span for the call")
	}
	r.add("s", output("call-1"))
	if got := r.spans.names(); !slices.Contains(got, "execute_tool bash") {
		t.Errorf("ended: %q", got)
	}
	close(h.out)
	<-finished
	r.noErrors()
}

// slow is a store whose appends take as long as they are let.
type slow struct {
	store.Store
	in, out chan struct{}
}

func (s slow) Append(ctx context.Context, id string, e format.Entry) (string, error) {
	if e.EntryType() == format.TypeInfo {
		s.in <- struct{}{}
		<-s.out
	}
	return s.Store.Append(ctx, id, e)
}

// While the store takes its time over one append, others are traced.
func TestAppendHoldsNobodyElse(t *testing.T) {
	inner := slow{store.NewMemory(), make(chan struct{}), make(chan struct{})}
	r := record(t, inner, nil, nil)
	r.create(header("s"))
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		if _, err := r.Append(context.Background(), "s", format.NewInfo("slow")); err != nil {
			t.Error(err)
		}
	}()
	<-inner.in
	r.add("s", working("run-1", "resp-1", "call-1", "bash")...)
	if got := r.CallContext(t.Context(), "s", "call-1"); got == t.Context() {
		t.Error("no span for the call")
	}
	close(inner.out)
	<-finished
	r.noErrors()
}
