package otelwrap_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/otelwrap"
	"github.com/sessionspan/sessionspan/store"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// lines is an exporter that writes a line for each span: take one of OpenTelemetry's, to a backend.
type lines struct{}

func (lines) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	for _, s := range spans {
		fmt.Println("-", s.Name())
	}
	return nil
}

func (lines) Shutdown(context.Context) error { return nil }

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// The three lines that a harness adds to have its sessions traced: what is appended goes out as spans.
func Example() {
	ctx := context.Background()
	inner := store.NewMemory() // or jsonl.Open(dir), or a store of one's own

	tracers := sdktrace.NewTracerProvider(sdktrace.WithSyncer(lines{}), sdktrace.WithIDGenerator(otelwrap.IDGenerator()))
	sessions := otelwrap.Wrap(inner, otelwrap.WithTracerProvider(tracers), otelwrap.WithAgentName("coder", "1.0"))
	defer tracers.Shutdown(ctx)
	defer sessions.Shutdown(ctx)

	s := must(sessions.Create(ctx, format.Header{ID: "s"}))
	for _, e := range []format.Entry{
		format.NewRunStart("run-1", format.SourceInput, ""),
		format.NewItem(openresponses.UserText("What is 2+2?")),
		format.NewOutput(openresponses.AssistantText("4"), "resp_1"),
		format.NewResponse("resp_1", "gpt-5", "completed"),
		format.NewRunEnd("run-1", format.ReasonDone, "", nil),
	} {
		must(sessions.Append(ctx, s.ID(), e))
	}
	// Output:
	// - agentsession.session
	// - chat gpt-5
	// - invoke_agent coder
}

// What a tool does under the context of its call hangs from the call's span; a process finds it in its environment.
func ExampleStore_CallContext() {
	ctx := context.Background()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithIDGenerator(otelwrap.IDGenerator()))
	sessions := otelwrap.Wrap(store.NewMemory(), otelwrap.WithTracerProvider(tracers))
	must(sessions.Create(ctx, format.Header{ID: "s"}))

	item := must(sessions.Append(ctx, "s", format.NewItem(openresponses.NewFunctionCall("call_1", "fetch", "{}"))))
	must(sessions.Append(ctx, "s", format.NewDispatch("call_1", item)))

	tool := sessions.CallContext(ctx, "s", "call_1") // for the tool's HTTP client, and for
	env := otelwrap.Environ(tool)                    // exec.Cmd.Env
	fmt.Println(len(env), strings.HasPrefix(env[0], "TRACEPARENT="))
	// Output: 2 true
}

// A process that goes on with a session ends what the one before has left open.
func ExampleStore_Open() {
	ctx := context.Background()
	inner := store.NewMemory() // what is kept
	process := func() *otelwrap.Store {
		tracers := sdktrace.NewTracerProvider(sdktrace.WithSyncer(lines{}), sdktrace.WithIDGenerator(otelwrap.IDGenerator()))
		return otelwrap.Wrap(inner, otelwrap.WithTracerProvider(tracers))
	}

	first := process()
	must(first.Create(ctx, format.Header{ID: "s"}))
	item := must(first.Append(ctx, "s", format.NewItem(openresponses.NewFunctionCall("call_1", "bash", "{}"))))
	must(first.Append(ctx, "s", format.NewDispatch("call_1", item)))
	fmt.Println("the process is killed")

	second := process()
	s := must(second.Open(ctx, "s"))
	for _, c := range must(s.PendingCalls(s.Leaf())) {
		must(second.Append(ctx, "s", format.NewItem(openresponses.NewFunctionCallOutput(c.ID(), "done"))))
	}
	// Output:
	// - agentsession.session
	// the process is killed
	// - execute_tool bash
}

// A harness with a store of its own tells a recorder what it has appended.
func ExampleRecorder() {
	ctx := context.Background()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSyncer(lines{}), sdktrace.WithIDGenerator(otelwrap.IDGenerator()))
	recorder := otelwrap.NewRecorder(otelwrap.WithTracerProvider(tracers))
	defer recorder.Shutdown(ctx)

	header := &format.Header{ID: "s", Format: format.DefaultFormat, CreatedAt: time.Now(), Harness: &format.Harness{Name: "coder"}}
	recorder.Begin(ctx, header)
	parent := ""
	for i, e := range []format.Entry{
		format.NewRunStart("run-1", format.SourceInput, ""),
		format.NewRunEnd("run-1", format.ReasonDone, "", nil),
	} {
		*e.Base() = format.Envelope{ID: fmt.Sprint("e", i), Parent: parent, Time: time.Now()} // as it is kept
		parent = e.Base().ID
		if err := recorder.Record(ctx, header.ID, e); err != nil {
			log.Print(err)
		}
	}
	// Output:
	// - agentsession.session
	// - invoke_agent coder
}

// A host with a generator of its own keeps it for all other spans.
func ExampleWrapIDGenerator() {
	tracers := sdktrace.NewTracerProvider(sdktrace.WithIDGenerator(otelwrap.WrapIDGenerator(&counting{})))
	_, span := tracers.Tracer("mine").Start(context.Background(), "mine")
	fmt.Println(span.SpanContext().SpanID())
	// Output: 0900000000000001
}
