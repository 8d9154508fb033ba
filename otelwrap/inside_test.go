package otelwrap_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/store"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// calling is a processor that does something as a span of that name starts, or ends.
type calling struct {
	exporter
	name       string
	start, end func(context.Context)
}

func (c *calling) OnStart(ctx context.Context, s sdktrace.ReadWriteSpan) {
	if f := c.start; f != nil && s.Name() == c.name {
		c.start = nil
		f(ctx)
	}
}

func (c *calling) OnEnd(s sdktrace.ReadOnlySpan) {
	if f := c.end; f != nil && s.Name() == c.name {
		c.end = nil
		f(context.Background())
	}
	c.exporter.OnEnd(s)
}

// A processor may use the store that it traces: it waits for nobody, and what it appends is traced.
func TestProcessorsThatCallBack(t *testing.T) {
	for name, f := range map[string]func(context.Context, *recording) error{
		"context": func(ctx context.Context, r *recording) error {
			if r.CallContext(ctx, "s", "call-1"); r.RunContext(ctx, "s") == nil {
				return errors.New("no context")
			}
			return nil
		},
		"append": func(ctx context.Context, r *recording) error {
			_, err := r.Append(ctx, "s", format.NewInfo("by a processor"))
			return err
		},
		"create": func(ctx context.Context, r *recording) error {
			_, err := r.Create(ctx, header("another"))
			return err
		},
		"open": func(ctx context.Context, r *recording) error {
			_, err := r.Open(ctx, "s")
			return err
		},
		"close another":  func(ctx context.Context, r *recording) error { return r.Close(ctx, "other") },
		"delete another": func(ctx context.Context, r *recording) error { return r.Delete(ctx, "other") },
	} {
		for _, when := range []string{"start", "end"} {
			t.Run(name+" at the "+when, func(t *testing.T) {
				c := &calling{name: "invoke_agent coder"}
				r := record(t, store.NewMemory(), &c.exporter, nil)
				r = record(t, r.Unwrap(), &exporter{}, []sdktrace.TracerProviderOption{sdktrace.WithSpanProcessor(c)})
				call := func(ctx context.Context) {
					if err := f(ctx, r); err != nil {
						t.Error(err)
					}
				}
				if when == "start" {
					c.start = call
				} else {
					c.end = call
				}
				s := r.create(header("s"))
				r.create(header("other"))
				r.add("s", start("run-1"), done("run-1"), start("run-2"), done("run-2"))
				r.noErrors()
				want := 3
				if name == "append" {
					if s.Len() != 5 {
						t.Errorf("%d entries", s.Len())
					}
					if when == "end" {
						want = 4 // outside of runs it is a span
					}
				}
				if got := len(c.all()); got != want {
					t.Errorf("%d spans, want %d: %q", got, want, c.names())
				}
			})
		}
	}
}

// A session that is closed, or everything that is shut down, by a processor at work in it, leaves when that is done.
func TestProcessorsThatClose(t *testing.T) {
	for name, f := range map[string]func(context.Context, *recording) error{
		"close":    func(ctx context.Context, r *recording) error { return r.Close(ctx, "s") },
		"shutdown": func(ctx context.Context, r *recording) error { return r.Shutdown(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			c := &calling{name: "invoke_agent coder"}
			r := record(t, store.NewMemory(), nil, []sdktrace.TracerProviderOption{sdktrace.WithSpanProcessor(c)})
			c.start = func(ctx context.Context) {
				if err := f(ctx, r); err != nil {
					t.Error(err)
				}
			}
			r.create(header("s"))
			r.create(header("other"))
			r.add("s", start("run-1"))
			if r.RunContext(t.Context(), "s") != t.Context() {
				t.Error("it is still known")
			}
			r.noErrors()
		})
	}
}

// A goroutine that a processor ends leaves nothing locked.
func TestGoroutineThatIsEnded(t *testing.T) {
	c := &calling{name: "invoke_agent coder", start: func(context.Context) { runtime.Goexit() }}
	r := record(t, store.NewMemory(), nil, []sdktrace.TracerProviderOption{sdktrace.WithSpanProcessor(c)})
	s := r.create(header("s"))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.add("s", start("run-1"))
	}()
	<-ended
	r.add("s", done("run-1"))
	if s.Len() != 2 {
		t.Errorf("%d entries", s.Len())
	}
}

// A tool adds to the span of its call what there is room for, and sets nothing that the session does.
func TestToolThatAddsTooMuch(t *testing.T) {
	dir := t.TempDir()
	r := record(t, openFiles(t, dir), nil, nil)
	r.create(header("s"))
	r.add("s", working("run-1", "resp-1", "call-1", "bash")...)
	for range 3 {
		span := trace.SpanFromContext(r.CallContext(t.Context(), "s", "call-1"))
		for i := range 100 {
			span.SetAttributes(attribute.Int(fmt.Sprint("mine.", i), i))
			span.AddEvent("mine")
			span.RecordError(errors.New("mine"))
			span.AddLink(trace.LinkFromContext(callerContext(t, "")))
		}
		span.SetAttributes(attribute.String("session.id", "mine"), attribute.String("gen_ai.tool.name", "mine"),
			attribute.String("error.type", "mine"), attribute.String("agentsession.call.state", "mine"))
	}
	r.add("s", output("call-1"))
	tool := r.span("execute_tool bash")
	all := texts(tool.Attributes())
	for _, want := range []string{
		`agentsession.call.state=STRING "completed"`, `session.id=STRING "s"`, `gen_ai.tool.name=STRING "bash"`, `mine.31=INT64 "31"`,
	} {
		if !slices.Contains(all, want) {
			t.Errorf("%s is not among %q", want, all)
		}
	}
	if len(all) > 64 || len(tool.Events()) > 32 || len(tool.Links()) > 33 {
		t.Errorf("%d attributes, %d events, %d links", len(all), len(tool.Events()), len(tool.Links()))
	}
}

// An entry that was brought in by somebody else's call has that one's caller for nothing.
func TestCallerOfAnotherGoroutine(t *testing.T) {
	in := &meddling{Store: store.NewMemory()}
	r := record(t, in, nil, nil)
	r.create(header("s"))
	in.then = func() { r.RunContext(callerContext(t, ""), "s") }
	r.add("s", start("run-1"), done("run-1"))
	for _, s := range r.spans.all() {
		if len(s.Links()) != 0 {
			t.Errorf("%s links to %v", s.Name(), s.Links())
		}
	}
}
