package otelwrap_test

import (
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/otelwrap"
	"github.com/sessionspan/sessionspan/store"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recording is a store that is traced, with what came out of it.
type recording struct {
	*testing.T
	*otelwrap.Store
	spans *exporter
	errs  *errorList
}

// record wraps a store. The provider's options stand behind ours.
func record(t *testing.T, inner store.Store, spans *exporter, provide []sdktrace.TracerProviderOption, opts ...otelwrap.Option) *recording {
	t.Helper()
	r := &recording{T: t, spans: spans, errs: &errorList{}}
	if spans == nil {
		r.spans = &exporter{}
	}
	r.Store = otelwrap.Wrap(inner, append([]otelwrap.Option{
		otelwrap.WithTracerProvider(provider(r.spans, provide...)), otelwrap.WithErrorHandler(r.errs.add),
	}, opts...)...)
	return r
}

// add appends entries.
func (r *recording) add(id string, entries ...format.Entry) {
	r.Helper()
	for _, e := range entries {
		if _, err := r.Append(r.Context(), id, e); err != nil {
			r.Fatal(err)
		}
	}
}

// create creates a session.
func (r *recording) create(h format.Header) *format.Session {
	r.Helper()
	s, err := r.Create(r.Context(), h)
	if err != nil {
		r.Fatal(err)
	}
	return s
}

// noErrors fails the test if anything was reported.
func (r *recording) noErrors() {
	r.Helper()
	for _, err := range r.errs.all() {
		r.Error(err)
	}
}

// span returns the ended span with that name.
func (r *recording) span(name string) sdktrace.ReadOnlySpan {
	r.Helper()
	return spanNamed(r.T, r.spans, name)
}

func spanNamed(t *testing.T, spans *exporter, name string) sdktrace.ReadOnlySpan {
	t.Helper()
	for _, s := range spans.all() {
		if s.Name() == name {
			return s
		}
	}
	t.Fatalf("no span %q has ended", name)
	return nil
}

// names returns the names of what ended.
func (e *exporter) names() []string {
	var all []string
	for _, s := range e.all() {
		all = append(all, s.Name())
	}
	return all
}

// header is that of a session whose every record is promised.
func header(id string) format.Header {
	return format.Header{ID: id, Harness: &format.Harness{Name: "coder"}, Records: format.AllRecords()}
}

func user(text string) format.Entry { return format.NewItem(openresponses.UserText(text)) }

func start(run string) format.Entry { return format.NewRunStart(run, format.SourceInput, "") }

func done(run string) format.Entry { return format.NewRunEnd(run, format.ReasonDone, "", nil) }

// asks is a model call that asks for a tool call.
func asks(response, call, tool string) []format.Entry {
	item := format.NewOutput(openresponses.NewFunctionCall(call, tool, "{}"), response)
	item.ID = "item-" + call
	return []format.Entry{item, answered(response)}
}

// answered is the end of a model call.
func answered(response string) format.Entry {
	input, output := int64(100), int64(7)
	e := format.NewResponse(response, "gpt-5", "completed")
	e.Usage = &format.Usage{InputTokens: &input, OutputTokens: &output}
	return e
}

func handOver(call string) format.Entry { return format.NewDispatch(call, "item-"+call) }

func output(call string) format.Entry {
	return format.NewItem(openresponses.NewFunctionCallOutput(call, "done"))
}

// working is a session in which a call is with its tool.
func working(run, response, call, tool string) []format.Entry {
	return append(append([]format.Entry{start(run), user("Go on.")}, asks(response, call, tool)...), handOver(call))
}

// created is when sessions are created whose times matter.
var created = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func halfSecond(n int) time.Duration { return time.Duration(n) * 500 * time.Millisecond }

var neverSample = []sdktrace.TracerProviderOption{sdktrace.WithSampler(sdktrace.NeverSample())}
