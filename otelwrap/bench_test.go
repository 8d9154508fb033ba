package otelwrap_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/otelwrap"
	"github.com/sessionspan/sessionspan/store"
	"github.com/sessionspan/sessionspan/store/jsonl"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// sdks are what spans are given to.
var sdks = []struct {
	name string
	make func() (trace.TracerProvider, func())
}{
	{"noop", func() (trace.TracerProvider, func()) { return noop.NewTracerProvider(), func() {} }},
	{"never", func() (trace.TracerProvider, func()) { return sdk(sdktrace.WithSampler(sdktrace.NeverSample())) }},
	{"exporting", func() (trace.TracerProvider, func()) { return sdk(sdktrace.WithBatcher(discard{})) }},
}

func sdk(opts ...sdktrace.TracerProviderOption) (trace.TracerProvider, func()) {
	p := sdktrace.NewTracerProvider(append(opts, sdktrace.WithIDGenerator(otelwrap.IDGenerator()))...)
	return p, func() { p.Shutdown(context.Background()) }
}

// discard is an exporter without a backend.
type discard struct{}

func (discard) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error { return nil }
func (discard) Shutdown(context.Context) error                             { return nil }

// BenchmarkAppend appends the entries of a realistic session, again and again: to a bare store, to one that is traced, and to one beside
// which the same spans are made by hand. What tracing adds is the difference to bare.
func BenchmarkAppend(b *testing.B) {
	session := realistic(b)
	steps := byHand(session)
	for _, kind := range []struct {
		name string
		open func(b *testing.B) store.Store
	}{
		{"memory", func(*testing.B) store.Store { return store.NewMemory() }},
		{"never", func(b *testing.B) store.Store { return benchFiles(b, jsonl.Never) }},
		{"response", func(b *testing.B) store.Store { return benchFiles(b, jsonl.OnResponse) }},
	} {
		b.Run(kind.name+"/bare", func(b *testing.B) {
			s := kind.open(b)
			benchAppend(b, session, s, func(string) func(int) { return func(int) {} })
		})
		for _, to := range sdks {
			b.Run(kind.name+"/wrapped/"+to.name, func(b *testing.B) {
				tracers, end := to.make()
				defer end()
				s := otelwrap.Wrap(kind.open(b), otelwrap.WithTracerProvider(tracers))
				benchAppend(b, session, s, func(string) func(int) { return func(int) {} })
			})
			b.Run(kind.name+"/byhand/"+to.name, func(b *testing.B) {
				tracers, end := to.make()
				defer end()
				benchAppend(b, session, kind.open(b), func(string) func(int) { return steps.begin(tracers.Tracer("hand")) })
			})
		}
	}
}

// realistic is a session whose entries are as those of real ones.
func realistic(b *testing.B) *format.Session {
	var file bytes.Buffer
	if _, err := sessiontest.Realistic(&file, rand.New(rand.NewPCG(1, 0)), 4e6); err != nil {
		b.Fatal(err)
	}
	s, err := format.ReadSession(&file)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func benchFiles(b *testing.B, sync jsonl.Sync) *jsonl.Store {
	s, err := jsonl.Open(b.TempDir(), jsonl.WithSync(sync))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	return s
}

// benchAppend appends b.N entries, of as many sessions as it takes. Beside makes what is done after each entry of a session.
func benchAppend(b *testing.B, session *format.Session, s store.Store, beside func(id string) func(entry int)) {
	entries := session.Entries()
	took := make([]time.Duration, 0, b.N)
	b.ReportAllocs()
	b.ResetTimer()
	for round := 0; len(took) < b.N; round++ {
		b.StopTimer()
		h := *session.Header()
		h.ID = fmt.Sprintf("%s-%d", h.ID, round)
		if _, err := s.Create(b.Context(), h); err != nil {
			b.Fatal(err)
		}
		also := beside(h.ID)
		b.StartTimer()
		for i, e := range entries[:min(len(entries), b.N-len(took))] {
			start := time.Now()
			if _, err := s.Append(b.Context(), h.ID, e); err != nil {
				b.Fatal(err)
			}
			also(i)
			took = append(took, time.Since(start))
		}
		b.StopTimer()
		if err := s.Delete(b.Context(), h.ID); err != nil { // what is kept would be measured as garbage
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.StopTimer()
	percentiles(b, took)
}

func percentiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
}

// handMade are the spans of a session as somebody would make them who writes them by hand.
type handMade struct {
	spans int
	steps [][]handStep // by entry
}

type handStep struct {
	span   int
	of     *projection.Span // as it is when it starts or has ended
	first  int              // attributes that it starts with
	end    bool
	parent int // -1 for none
	links  []int
}

// byHand finds out which spans start and end with each entry.
func byHand(session *format.Session) *handMade {
	m := &handMade{}
	number := map[trace.SpanID]int{}
	sink := &handSink{m: m, number: number}
	p := projection.New(projection.Options{}, sink)
	decoder, begin := source.NewEntries(session.Header())
	p.Feed(begin)
	for _, e := range session.Entries() {
		m.steps = append(m.steps, nil)
		decoder.Decode(e, p.Feed)
	}
	return m
}

type handSink struct {
	m      *handMade
	number map[trace.SpanID]int
}

func (s *handSink) add(step handStep) {
	last := len(s.m.steps) - 1
	s.m.steps[last] = append(s.m.steps[last], step)
}

func (s *handSink) Start(span *projection.Span) {
	n := s.m.spans
	s.m.spans++
	s.number[span.SpanID] = n
	step := handStep{span: n, of: span, first: len(span.Attributes), parent: -1}
	if up, ok := s.number[span.Parent]; ok {
		step.parent = up
	}
	for _, l := range span.Links {
		if to, ok := s.number[l.SpanID]; ok {
			step.links = append(step.links, to)
		}
	}
	s.add(step)
}

func (s *handSink) End(span *projection.Span) {
	s.add(handStep{span: s.number[span.SpanID], of: span, end: true})
}

// begin returns what makes the spans of one session, entry by entry.
func (m *handMade) begin(tracer trace.Tracer) func(entry int) {
	contexts, first := make([]context.Context, m.spans), make([]int, m.spans)
	return func(entry int) {
		for _, step := range m.steps[entry] {
			s := step.of
			if step.end {
				span := trace.SpanFromContext(contexts[step.span])
				if span.IsRecording() {
					span.SetAttributes(slices.Clone(s.Attributes[first[step.span]:])...)
					for _, e := range s.Events {
						span.AddEvent(e.Name, trace.WithTimestamp(e.Time), trace.WithAttributes(slices.Clone(e.Attributes)...))
					}
					if s.Status.Code != 0 {
						span.SetStatus(s.Status.Code, s.Status.Description)
					}
				}
				span.End(trace.WithTimestamp(s.End))
				continue
			}
			parent := context.Background()
			if step.parent >= 0 {
				parent = contexts[step.parent]
			}
			links := make([]trace.Link, len(step.links))
			for i, to := range step.links {
				links[i] = trace.Link{
					SpanContext: trace.SpanContextFromContext(contexts[to]), Attributes: []attribute.KeyValue{s.Links[i].Attributes[0]},
				}
			}
			first[step.span] = step.first
			contexts[step.span], _ = tracer.Start(parent, s.Name, trace.WithTimestamp(s.Start), trace.WithSpanKind(s.Kind),
				trace.WithAttributes(slices.Clone(s.Attributes[:step.first])...), trace.WithLinks(links...))
		}
	}
}

// BenchmarkGroup has eight tools of one session append at once, each append synced, those at the same time together.
func BenchmarkGroup(b *testing.B) {
	none := func(format.Entry) {}
	b.Run("bare", func(b *testing.B) {
		benchGroup(b, benchFiles(b, jsonl.Group), func() func(format.Entry) { return none })
	})
	for _, to := range sdks {
		b.Run("wrapped/"+to.name, func(b *testing.B) {
			tracers, end := to.make()
			defer end()
			s := otelwrap.Wrap(benchFiles(b, jsonl.Group), otelwrap.WithTracerProvider(tracers))
			benchGroup(b, s, func() func(format.Entry) { return none })
		})
		b.Run("byhand/"+to.name, func(b *testing.B) {
			tracers, end := to.make()
			defer end()
			benchGroup(b, benchFiles(b, jsonl.Group), func() func(format.Entry) { return toolByHand(tracers.Tracer("hand")) })
		})
	}
}

// toolByHand makes a span from the dispatch of each call to its output.
func toolByHand(tracer trace.Tracer) func(format.Entry) {
	var span trace.Span
	return func(e format.Entry) {
		switch e := e.(type) {
		case *format.DispatchEntry:
			_, span = tracer.Start(context.Background(), "execute_tool bash", trace.WithAttributes(
				attribute.String("session.id", "s"), attribute.String("gen_ai.conversation.id", "s"),
				attribute.String("agentsession.session.id", "s"), attribute.String("agentsession.span.type", "tool"),
				attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", "bash"),
				attribute.String("gen_ai.tool.call.id", e.CallID), attribute.String("gen_ai.tool.type", "function"),
				attribute.String("agentsession.timing", "measured"), attribute.Int("agentsession.call.dispatch", 1)))
		case *format.ItemEntry:
			if e.Item.Type == format.ItemFunctionCallOutput {
				span.SetAttributes(attribute.String("agentsession.call.state", "completed"))
				span.End()
			}
		}
	}
}

func benchGroup(b *testing.B, s store.Store, beside func() func(format.Entry)) {
	const writers = 8
	if _, err := s.Create(b.Context(), format.Header{ID: "s", Records: format.AllRecords()}); err != nil {
		b.Fatal(err)
	}
	if _, err := s.Append(b.Context(), "s", format.NewRunStart("run", format.SourceInput, "")); err != nil {
		b.Fatal(err)
	}
	var mu sync.Mutex
	var took []time.Duration
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			var mine []time.Duration
			also := beside()
			for n := 0; left.Add(-3) > -3; n++ {
				call := fmt.Sprint("call-", w, "-", n)
				item := format.NewItem(openresponses.NewFunctionCall(call, "bash", "{}"))
				item.ID = "item-" + call
				for _, e := range []format.Entry{item, format.NewDispatch(call, item.ID), output(call)} {
					start := time.Now()
					if _, err := s.Append(context.Background(), "s", e); err != nil {
						b.Error(err)
						return
					}
					also(e)
					mine = append(mine, time.Since(start))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
		})
	}
	wg.Wait()
	b.StopTimer()
	percentiles(b, took)
}

// BenchmarkRecord is what tracing alone costs for an entry, beside making the same spans by hand.
func BenchmarkRecord(b *testing.B) {
	session := realistic(b)
	entries, steps := session.Entries(), byHand(session)
	for _, to := range sdks {
		b.Run("recorder/"+to.name, func(b *testing.B) {
			tracers, end := to.make()
			defer end()
			r := otelwrap.NewRecorder(otelwrap.WithTracerProvider(tracers))
			b.ReportAllocs()
			for i := range b.N {
				at := i % len(entries)
				if at == 0 {
					r.Begin(b.Context(), session.Header())
				}
				if err := r.Record(b.Context(), session.ID(), entries[at]); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("byhand/"+to.name, func(b *testing.B) {
			tracers, end := to.make()
			defer end()
			b.ReportAllocs()
			var also func(int)
			for i := range b.N {
				at := i % len(entries)
				if at == 0 {
					also = steps.begin(tracers.Tracer("hand"))
				}
				also(at)
			}
		})
	}
}
