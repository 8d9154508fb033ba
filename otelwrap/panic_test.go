package otelwrap_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/otelwrap"
	"github.com/sessionspan/sessionspan/store"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
)

// faulty panics where it is told to, for spans of that name.
type faulty struct {
	exporter
	start, end string
}

var errFaulty = errors.New("a fault of the host")

func (f *faulty) OnStart(_ context.Context, s sdktrace.ReadWriteSpan) {
	if s.Name() == f.start {
		panic(errFaulty)
	}
}

func (f *faulty) OnEnd(s sdktrace.ReadOnlySpan) {
	if s.Name() == f.end {
		panic(errFaulty)
	}
	f.exporter.OnEnd(s)
}

// A panic in tracing is reported once; that session goes on untraced, and all others as they were (promise P9).
func TestPanicInTracing(t *testing.T) {
	for name, f := range map[string]*faulty{
		"as a span starts": {start: "execute_tool bash"},
		"as a span ends":   {end: "execute_tool bash"},
		"at the mark":      {start: "agentsession.session"},
	} {
		t.Run(name, func(t *testing.T) {
			r := record(t, store.NewMemory(), &exporter{}, []sdktrace.TracerProviderOption{sdktrace.WithSpanProcessor(f)})
			s := r.create(header("s"))
			r.add("s", working("run-1", "resp-1", "call-1", "bash")...)
			r.add("s", output("call-1"), answered("resp-2"), done("run-1"))
			if s.Len() != 8 {
				t.Errorf("%d entries", s.Len())
			}
			errs := r.errs.all()
			var panicked *otelwrap.PanicError
			if len(errs) != 1 || !errors.As(errs[0], &panicked) || !errors.Is(errs[0], errFaulty) {
				t.Fatalf("reported: %v", errs)
			}
			if panicked.Session != "s" || !strings.Contains(string(panicked.Stack), "faulty") {
				t.Errorf("session %q, stack\n%s", panicked.Session, panicked.Stack)
			}
			if n := len(r.spans.all()); n > 3 {
				t.Errorf("%d spans: it is still traced", n)
			}
			if got := r.CallContext(t.Context(), "s", "call-1"); got != t.Context() {
				t.Error("a span of an untraced session")
			}
			if err := r.Close(t.Context(), "s"); err != nil { // and it stays so
				t.Error(err)
			}
			r.add("s", working("run-2", "resp-3", "call-2", "bash")...)
			r.add("s", output("call-2"), done("run-2"))
			if n := len(r.errs.all()); n != 1 {
				t.Errorf("%d reports", n)
			}
			if f.start == "agentsession.session" {
				return
			}
			r.create(header("other"))
			r.add("other", start("run-1"), done("run-1"))
			r.span("invoke_agent coder")
			if err := errors.Join(r.Close(t.Context(), "s"), r.Shutdown(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
}

// Providers that panic, or know no better, keep nobody from working.
func TestPanicOfProviders(t *testing.T) {
	for name, opts := range map[string][]otelwrap.Option{
		"the tracer provider": {otelwrap.WithTracerProvider(panickingTracers{})},
		"the meter provider":  {otelwrap.WithMeterProvider(panickingMeters{})},
		"its error handler":   {otelwrap.WithTracerProvider(panickingTracers{}), otelwrap.WithErrorHandler(func(error) { panic(errFaulty) })},
	} {
		t.Run(name, func(t *testing.T) {
			r := record(t, store.NewMemory(), nil, nil, opts...)
			r.create(header("s"))
			r.add("s", start("run-1"), done("run-1"))
			if name != "its error handler" && len(r.errs.all()) != 1 {
				t.Errorf("reported: %v", r.errs.all())
			}
			if err := r.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A meter that cannot be used, or panics, leaves the session traced.
func TestMetersThatFail(t *testing.T) {
	for name, meters := range map[string]metric.MeterProvider{"no instrument": brokenMeters{}, "one that panics": brokenMeters{panics: true}} {
		t.Run(name, func(t *testing.T) {
			r := record(t, store.NewMemory(), nil, nil, otelwrap.WithMeterProvider(meters))
			r.create(header("s"))
			r.add("s", start("run-1"), done("run-1"), start("run-2"), done("run-2"))
			if errs := r.errs.all(); len(errs) != 1 || !errors.Is(errs[0], errFaulty) {
				t.Errorf("reported: %v", errs)
			}
			if n := len(r.spans.all()); n != 3 {
				t.Errorf("%d spans, want 3", n)
			}
		})
	}
}

type brokenMeters struct {
	metricnoop.MeterProvider
	panics bool
}

func (b brokenMeters) Meter(string, ...metric.MeterOption) metric.Meter {
	return brokenMeter{panics: b.panics}
}

type brokenMeter struct {
	metricnoop.Meter
	panics bool
}

func (b brokenMeter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	if b.panics {
		return brokenCounter{}, nil
	}
	return nil, errFaulty
}

type brokenCounter struct{ metricnoop.Int64Counter }

func (brokenCounter) Add(context.Context, int64, ...metric.AddOption) { panic(errFaulty) }

type panickingTracers struct{ tracenoop.TracerProvider }

func (panickingTracers) Tracer(string, ...trace.TracerOption) trace.Tracer { panic(errFaulty) }

type panickingMeters struct{ metricnoop.MeterProvider }

func (panickingMeters) Meter(string, ...metric.MeterOption) metric.Meter { panic(errFaulty) }
