package otelwrap_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/replaytest"
	"github.com/sessionspan/sessionspan/otelwrap"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// flat is everything that a live span and a replayed one have in common.
type flat struct {
	Trace, ID, Parent, Name, Kind string
	Remote                        bool // the parent, or a link, is said to be another process's
	Start, End                    int64
	Attributes                    []string
	Events, Links                 []string
	Status                        string
}

func flatReplayed(s *projection.Span) flat {
	f := flat{
		Trace: s.TraceID.String(), ID: s.SpanID.String(), Parent: s.Parent.String(), Name: s.Name, Kind: s.Kind.String(),
		Start: s.Start.UnixNano(), End: s.End.UnixNano(), Attributes: texts(s.Attributes),
		Status: fmt.Sprint(s.Status.Code, " ", s.Status.Description),
	}
	for _, e := range s.Events {
		f.Events = append(f.Events, fmt.Sprint(e.Name, " ", e.Time.UnixNano(), " ", texts(e.Attributes)))
	}
	for _, l := range s.Links {
		f.Links = append(f.Links, fmt.Sprint(l.TraceID, " ", l.SpanID, " ", texts(l.Attributes)))
	}
	return f
}

func flatLive(s sdktrace.ReadOnlySpan) flat {
	f := flat{
		Trace: s.SpanContext().TraceID().String(), ID: s.SpanContext().SpanID().String(), Parent: s.Parent().SpanID().String(),
		Name: s.Name(), Kind: s.SpanKind().String(),
		Start: s.StartTime().UnixNano(), End: s.EndTime().UnixNano(), Attributes: texts(s.Attributes()),
		Status: fmt.Sprint(s.Status().Code, " ", s.Status().Description), Remote: s.Parent().IsRemote(),
	}
	for _, e := range s.Events() {
		f.Events = append(f.Events, fmt.Sprint(e.Name, " ", e.Time.UnixNano(), " ", texts(e.Attributes)))
	}
	for _, l := range s.Links() {
		if !isCallerLink(l) {
			f.Remote = f.Remote || l.SpanContext.IsRemote()
			f.Links = append(f.Links, fmt.Sprint(l.SpanContext.TraceID(), " ", l.SpanContext.SpanID(), " ", texts(l.Attributes)))
		}
	}
	return f
}

func isCallerLink(l sdktrace.Link) bool {
	return slices.Contains(l.Attributes, names.Link.String(names.LinkCaller))
}

func texts(list []attribute.KeyValue) []string {
	var all []string
	for _, kv := range list {
		all = append(all, fmt.Sprintf("%s=%s %q", kv.Key, kv.Value.Type(), kv.Value.String()))
	}
	slices.Sort(all)
	return all
}

// replayed are the spans that the files of a folder give, by id.
func replayed(t testing.TB, o projection.Options, dir string) map[string]flat {
	t.Helper()
	all := map[string]flat{}
	for _, s := range replaytest.Spans(t, o, dir, time.Unix(1, 0)) {
		all[s.SpanID.String()] = flatReplayed(s)
	}
	return all
}

// exporter is a span processor that keeps what ended, of all providers that it is given to.
type exporter struct {
	mu    sync.Mutex
	spans []sdktrace.ReadOnlySpan
}

func (e *exporter) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (e *exporter) Shutdown(context.Context) error                  { return nil }
func (e *exporter) ForceFlush(context.Context) error                { return nil }

func (e *exporter) OnEnd(s sdktrace.ReadOnlySpan) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.spans = append(e.spans, s)
}

// all returns what ended so far, in that order.
func (e *exporter) all() []sdktrace.ReadOnlySpan {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.spans)
}

// byID returns what ended by id; that a span ended twice fails the test.
func (e *exporter) byID(t testing.TB) map[string]flat {
	t.Helper()
	all := map[string]flat{}
	for _, s := range e.all() {
		f := flatLive(s)
		if _, twice := all[f.ID]; twice {
			t.Errorf("%s %s was sent twice", f.Name, f.ID)
		}
		all[f.ID] = f
	}
	return all
}

// provider returns a tracer provider with our ids that exports to e.
func provider(e *exporter, opts ...sdktrace.TracerProviderOption) *sdktrace.TracerProvider {
	return sdktrace.NewTracerProvider(append([]sdktrace.TracerProviderOption{
		sdktrace.WithIDGenerator(otelwrap.IDGenerator()), sdktrace.WithSpanProcessor(e),
	}, opts...)...)
}

// errorList keeps what an error handler is told.
type errorList struct {
	mu   sync.Mutex
	list []error
}

func (l *errorList) add(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, err)
}

func (l *errorList) all() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list)
}
