package otelwrap_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/sessionspan/sessionspan/otelwrap"
	"github.com/sessionspan/sessionspan/store"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// The generator is one that the SDK takes.
var _ sdktrace.IDGenerator = otelwrap.IDGenerator()

// counting is a host's own generator.
type counting struct{ n byte }

func (c *counting) NewIDs(context.Context) (trace.TraceID, trace.SpanID) {
	c.n++
	return trace.TraceID{9, 15: c.n}, trace.SpanID{9, 7: c.n}
}

func (c *counting) NewSpanID(context.Context, trace.TraceID) trace.SpanID {
	c.n++
	return trace.SpanID{9, 7: c.n}
}

func TestWrapIDGenerator(t *testing.T) {
	spans := &exporter{}
	tracers := sdktrace.NewTracerProvider(sdktrace.WithIDGenerator(otelwrap.WrapIDGenerator(&counting{})), sdktrace.WithSpanProcessor(spans))
	r := record(t, store.NewMemory(), spans, nil, otelwrap.WithTracerProvider(tracers))
	r.create(header("01995b2a-0000-7000-8000-000000000005"))
	r.add("01995b2a-0000-7000-8000-000000000005", start("run-1"))
	ctx, other := tracers.Tracer("other").Start(r.RunContext(t.Context(), "01995b2a-0000-7000-8000-000000000005"), "child")
	if got := other.SpanContext(); got.SpanID() != (trace.SpanID{9, 7: 1}) || got.TraceID().String() != "20ecaec77f90a88811b3e6c02e88df97" {
		t.Errorf("a child of ours is %v", got)
	}
	_, other = tracers.Tracer("other").Start(ctx, "root", trace.WithNewRoot())
	if got := other.SpanContext(); got.TraceID() != (trace.TraceID{9, 15: 2}) {
		t.Errorf("a root is %v", got)
	}
	if got := r.span("agentsession.session").SpanContext().SpanID().String(); got != "1802830edf6852a3" {
		t.Errorf("the session is %s", got)
	}
	if got := otelwrap.TraceID("01995b2a-0000-7000-8000-000000000005").String(); got != "20ecaec77f90a88811b3e6c02e88df97" {
		t.Errorf("the trace is %s", got)
	}
	if otelwrap.WrapIDGenerator(nil) != otelwrap.IDGenerator() {
		t.Error("nothing is wrapped, and it is not the usual one")
	}
}

// Without the generator ids are random and the trace of the process is right all the same; it is said once.
func TestWithoutIDGenerator(t *testing.T) {
	for _, parent := range []otelwrap.Parent{otelwrap.ParentLink, otelwrap.ParentCaller} {
		t.Run(string(parent), func(t *testing.T) {
			spans := &exporter{}
			tracers := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))
			r := record(t, store.NewMemory(), spans, nil, otelwrap.WithTracerProvider(tracers), otelwrap.WithParent(parent))
			for _, id := range []string{"a", "b"} {
				r.create(header(id))
				r.add(id, working("run-1", "resp-1", "call-1", "delegate")...)
			}
			child := header("child")
			child.ParentSession, child.SpawnedBy = "a", "call-1"
			r.create(child)
			r.add("child", start("run-1"), done("run-1"))
			for _, id := range []string{"a", "b"} {
				r.add(id, output("call-1"), answered("resp-2"), done("run-1"))
			}
			late := header("late") // its call has ended
			late.ParentSession, late.SpawnedBy = "a", "call-1"
			r.create(late)
			r.add("late", start("run-1"), done("run-1"))
			if err := r.Close(t.Context(), "a"); err != nil { // its next piece has a root of its own
				t.Error(err)
			}
			r.add("a", start("run-9"), done("run-9"))
			lone := header("lone") // nobody here knows who spawned it
			lone.ParentSession, lone.SpawnedBy = "none", "call-1"
			r.create(lone)
			r.add("lone", start("run-1"), done("run-1"))

			if errs := r.errs.all(); len(errs) != 1 || !errors.Is(errs[0], otelwrap.ErrNoIDGenerator) {
				t.Errorf("reported: %v", errs)
			}
			contexts, ofSession := map[trace.SpanID]trace.SpanContext{}, map[string]map[trace.TraceID]bool{}
			for _, s := range spans.all() {
				contexts[s.SpanContext().SpanID()] = s.SpanContext()
			}
			for _, s := range spans.all() {
				if up := s.Parent(); up.IsValid() && contexts[up.SpanID()].TraceID() != s.SpanContext().TraceID() {
					t.Errorf("%s is an orphan", s.Name())
				}
				for _, l := range s.Links() {
					if got := contexts[l.SpanContext.SpanID()]; got.TraceID() != l.SpanContext.TraceID() {
						t.Errorf("%s links to nothing: %v", s.Name(), l)
					}
				}
				for _, kv := range s.Attributes() {
					if kv.Key == "session.id" {
						id := kv.Value.AsString()
						if ofSession[id] == nil {
							ofSession[id] = map[trace.TraceID]bool{}
						}
						ofSession[id][s.SpanContext().TraceID()] = true
					}
				}
			}
			for id, traces := range ofSession {
				if len(traces) != 1 && id != "a" {
					t.Errorf("session %s is in %d traces", id, len(traces))
				}
			}
		})
	}
}

// A tenth of the traces is a tenth of the sessions, each whole, also when another process goes on with it.
func TestSampling(t *testing.T) {
	for _, tc := range []struct {
		name     string
		sampler  sdktrace.Sampler
		sessions int
	}{
		{"by the parent", sdktrace.ParentBased(sdktrace.TraceIDRatioBased(0.1)), 10_000},
		{"by the trace", sdktrace.TraceIDRatioBased(0.1), 2000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			inner, spans := store.NewMemory(), &exporter{}
			begin := func() *recording {
				return record(t, inner, spans, []sdktrace.TracerProviderOption{sdktrace.WithSampler(tc.sampler)})
			}
			first, second := begin(), begin()
			for i := range tc.sessions {
				id := fmt.Sprint("session ", i)
				first.create(header(id))
				first.add(id, working("run-1", "resp-1", "call-1", "delegate")...)
				child := header(id + " child")
				child.ParentSession, child.SpawnedBy = id, "call-1"
				by := first
				if i%2 == 1 {
					by = second // another process does the work of the call, and then goes on with the session
				}
				by.create(child)
				by.add(child.ID, start("run-1"), done("run-1"))
				by.add(id, output("call-1"), answered("resp-2"), done("run-1"))
			}
			first.noErrors()
			second.noErrors()
			whole := map[string]int{}
			for _, s := range spans.all() {
				for _, kv := range s.Attributes() {
					if kv.Key == "session.id" {
						whole[kv.Value.AsString()]++
					}
				}
			}
			for id, n := range whole {
				if n != 7 {
					t.Fatalf("%d spans of %s, want all 7 or none", n, id)
				}
			}
			if share := float64(len(whole)) / float64(tc.sessions); share < 0.08 || share > 0.12 {
				t.Errorf("%d of %d sessions are kept", len(whole), tc.sessions)
			}
		})
	}
}
