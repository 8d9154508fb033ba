package otelwrap_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/otelwrap"
	"github.com/sessionspan/sessionspan/store"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// What a tool does under the context of its call hangs from the call's span.
func TestCallContext(t *testing.T) {
	spans := &exporter{}
	tracers := provider(spans)
	s := otelwrap.Wrap(store.NewMemory(), otelwrap.WithTracerProvider(tracers), otelwrap.WithErrorHandler(func(err error) { t.Error(err) }))
	r := &recording{T: t, Store: s, spans: spans, errs: &errorList{}}
	r.create(header("s"))
	var none context.Context
	r.RunContext(none, "s")
	for _, unknown := range []context.Context{
		s.CallContext(t.Context(), "s", "call-1"), s.CallContext(t.Context(), "none", "call-1"), s.RunContext(t.Context(), "s"),
	} {
		if unknown != t.Context() {
			t.Error("a context carries a span that there is not")
		}
	}
	r.add("s", working("run-1", "resp-1", "call-1", "bash")...)
	r.add("s", asks("resp-2", "call-2", "fetch")...)
	r.add("s", handOver("call-2"))

	ctx := s.CallContext(t.Context(), "s", "call-1")
	_, inside := tracers.Tracer("tool").Start(ctx, "GET")
	inside.End()
	_, beside := tracers.Tracer("tool").Start(s.RunContext(t.Context(), "s"), "think")
	beside.End()
	mine := trace.SpanFromContext(ctx)
	mine.SetAttributes(attribute.String("tool.version", "3"))
	mine.AddEvent("tool.progress")
	mine.SetName("mine") // none of these is the tool's to say
	mine.SetStatus(codes.Error, "mine")
	mine.End()

	r.add("s", output("call-1"), output("call-2"), done("run-1"))
	tool, run := r.span("execute_tool bash"), r.span("invoke_agent coder")
	if got := r.span("GET").Parent(); got.SpanID() != tool.SpanContext().SpanID() || got.TraceID() != tool.SpanContext().TraceID() {
		t.Errorf("what the tool did hangs from %v, want %v", got, tool.SpanContext())
	}
	if got := r.span("think").Parent().SpanID(); got != run.SpanContext().SpanID() {
		t.Errorf("what the run did hangs from %v, want %v", got, run.SpanContext())
	}
	if !slices.Contains(tool.Attributes(), attribute.String("tool.version", "3")) || len(tool.Events()) != 1 {
		t.Errorf("the span has not what the tool added: %v %v", tool.Attributes(), tool.Events())
	}
	if tool.Status().Code != codes.Unset || !slices.Contains(tool.Attributes(), attribute.String("agentsession.call.state", "completed")) {
		t.Errorf("the span was ended by the tool: %v %v", tool.Status(), tool.Attributes())
	}
}

// A host without an SDK keeps its own context.
func TestCallContextWithoutAnSDK(t *testing.T) {
	s := otelwrap.Wrap(store.NewMemory(), otelwrap.WithTracerProvider(noop.NewTracerProvider()),
		otelwrap.WithErrorHandler(func(err error) { t.Error(err) }))
	r := &recording{T: t, Store: s, spans: &exporter{}, errs: &errorList{}}
	caller := callerContext(t, "")
	if _, err := s.Create(caller, header("s")); err != nil {
		t.Fatal(err)
	}
	for _, e := range working("run-1", "resp-1", "call-1", "bash") {
		if _, err := s.Append(caller, "s", e); err != nil {
			t.Fatal(err)
		}
	}
	r.add("s", asks("resp-2", "call-2", "bash")...)
	if got := trace.SpanContextFromContext(s.CallContext(caller, "s", "call-1")); !got.Equal(trace.SpanContextFromContext(caller)) {
		t.Errorf("the caller's span is gone: %v", got)
	}
}

// callerContext is one with the span of a host: of a request, say.
func callerContext(t *testing.T, state string) context.Context {
	t.Helper()
	parsed, err := trace.ParseTraceState(state)
	if err != nil {
		t.Fatal(err)
	}
	return trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{1, 15: 1}, SpanID: trace.SpanID{2, 7: 2}, TraceFlags: trace.FlagsSampled, TraceState: parsed,
	}))
}

// 2,000 goroutines start spans of their own under the contexts that are handed out: their ids are random, and no two the same.
func TestSpansOfOthersKeepRandomIDs(t *testing.T) {
	spans := &exporter{}
	tracers := provider(spans)
	r := record(t, store.NewMemory(), spans, nil, otelwrap.WithTracerProvider(tracers))
	r.create(header("s"))
	r.add("s", working("run-1", "resp-1", "call-1", "bash")...)
	call, run := r.CallContext(t.Context(), "s", "call-1"), r.RunContext(t.Context(), "s")
	var wg sync.WaitGroup
	for i := range 2000 {
		wg.Go(func() {
			ctx := call
			if i%2 == 1 {
				ctx = run
			}
			ctx, outer := tracers.Tracer("other").Start(ctx, "outer")
			_, inner := tracers.Tracer("other").Start(ctx, "inner")
			_, root := tracers.Tracer("other").Start(ctx, "root", trace.WithNewRoot())
			root.End()
			inner.End()
			outer.End()
		})
	}
	wg.Wait()
	r.add("s", output("call-1"), done("run-1"))
	ids, traces := map[trace.SpanID]string{}, map[trace.TraceID]int{}
	for _, s := range spans.all() {
		if other := ids[s.SpanContext().SpanID()]; other != "" {
			t.Errorf("%s has the id of %s", s.Name(), other)
		}
		ids[s.SpanContext().SpanID()] = s.Name()
		traces[s.SpanContext().TraceID()]++
	}
	ours := r.span("agentsession.session").SpanContext().TraceID()
	if len(traces) != 2001 || traces[ours] != 4000+4 {
		t.Errorf("%d traces, %d spans in that of the session", len(traces), traces[ours])
	}
	r.noErrors()
}

// nosy is a processor that starts a span of its own whenever one of ours starts, under the context that it is given.
type nosy struct {
	exporter
	tracers *sdktrace.TracerProvider
	ids     []trace.SpanID
}

func (n *nosy) OnStart(ctx context.Context, s sdktrace.ReadWriteSpan) {
	if s.InstrumentationScope().Name != "nosy" {
		_, mine := n.tracers.Tracer("nosy").Start(ctx, "noticed")
		n.ids = append(n.ids, mine.SpanContext().SpanID(), s.SpanContext().SpanID())
	}
}

func TestSpansOfProcessorsKeepRandomIDs(t *testing.T) {
	n := &nosy{}
	n.tracers = provider(&n.exporter, sdktrace.WithSpanProcessor(n))
	r := record(t, store.NewMemory(), &n.exporter, nil, otelwrap.WithTracerProvider(n.tracers))
	r.create(header("s"))
	r.add("s", start("run-1"), done("run-1"))
	slices.SortFunc(n.ids, func(a, b trace.SpanID) int { return strings.Compare(a.String(), b.String()) })
	if all := len(n.ids); all != 4 || len(slices.Compact(n.ids)) != all {
		t.Errorf("ids %v", n.ids)
	}
}

// A process that is started under a call finds it in its environment, and what it records hangs from it.
func TestEnviron(t *testing.T) {
	r := record(t, store.NewMemory(), nil, nil)
	r.create(header("parent"))
	r.add("parent", working("run-1", "resp-1", "call-1", "delegate")...)
	ctx := r.CallContext(t.Context(), "parent", "call-1")
	env := otelwrap.Environ(ctx)
	if len(env) != 2 || !strings.HasPrefix(env[0], "TRACEPARENT=00-") || env[1] != "TRACESTATE=" { // another trace's may be there
		t.Fatalf("environment %q", env)
	}
	if none := otelwrap.Environ(t.Context()); none != nil {
		t.Errorf("environment %q without a span", none)
	}
	if otelwrap.FromEnviron(t.Context()) != t.Context() {
		t.Error("a span out of nothing")
	}

	name, value, _ := strings.Cut(env[0], "=")
	t.Setenv(name, value)
	there := otelwrap.FromEnviron(t.Context())
	if got := trace.SpanContextFromContext(there); got.SpanID() != trace.SpanContextFromContext(ctx).SpanID() || !got.IsRemote() {
		t.Errorf("the process finds %v", got)
	}
	child := record(t, store.NewMemory(), nil, nil)
	h := header("child")
	h.ParentSession, h.SpawnedBy = "parent", "call-1"
	if _, err := child.Create(there, h); err != nil {
		t.Fatal(err)
	}
	if _, err := child.Append(there, "child", start("run-1")); err != nil {
		t.Fatal(err)
	}
	mark := child.span("agentsession.session")
	if mark.Parent().SpanID() != trace.SpanContextFromContext(ctx).SpanID() || len(mark.Links()) != 0 {
		t.Errorf("the sub-agent hangs from %v and links to %v", mark.Parent(), mark.Links())
	}
}

// under returns a context with the span of a request.
func under(n byte) context.Context {
	return trace.ContextWithSpanContext(context.Background(), trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID{n}, SpanID: trace.SpanID{n}, TraceFlags: trace.FlagsSampled,
	}))
}

// What a span in the caller's context is to a session: the session is in one trace, through closings and later processes, whoever calls, and
// nothing hangs from or links to what there is not.
func TestParent(t *testing.T) {
	for _, parent := range []otelwrap.Parent{"", otelwrap.ParentLink, otelwrap.ParentCaller, otelwrap.ParentNone} {
		for _, group := range []string{"session", "run"} {
			for later, ctx := range map[string]context.Context{"the same caller": under(1), "another caller": under(3), "no caller": context.Background()} {
				t.Run(string(parent)+" "+group+" "+later, func(t *testing.T) {
					inner, spans := store.NewMemory(), &exporter{}
					begin := func() *recording {
						opts := []otelwrap.Option{otelwrap.WithGroup(group)}
						if parent != "" {
							opts = append(opts, otelwrap.WithParent(parent))
						}
						return record(t, inner, spans, nil, opts...)
					}
					r := begin()
					put := func(ctx context.Context, id string, entries ...format.Entry) {
						t.Helper()
						for _, e := range entries {
							if _, err := r.Append(ctx, id, e); err != nil {
								t.Fatal(err)
							}
						}
					}
					if _, err := r.Create(under(1), header("s")); err != nil {
						t.Fatal(err)
					}
					put(under(1), "s", working("run-1", "resp-1", "call-1", "delegate")...)
					if _, err := r.Create(under(1), spawned("child", "s", "call-1")); err != nil { // not under the call's context
						t.Fatal(err)
					}
					put(under(1), "child", start("run-1"), done("run-1"))
					put(under(1), "s", output("call-1"), done("run-1"))
					put(under(2), "s", working("run-2", "resp-2", "call-2", "bash")...) // the next request
					r = begin()                                                         // a later process
					put(ctx, "s", output("call-2"), answered("resp-3"), done("run-2"))
					if err := r.Close(t.Context(), "s"); err != nil {
						t.Fatal(err)
					}
					put(ctx, "s", start("run-3"), answered("resp-4"), done("run-3"))
					r.noErrors()
					checkParent(t, spans, parent, group)
				})
			}
		}
	}
}

func checkParent(t *testing.T, spans *exporter, parent otelwrap.Parent, group string) {
	type key struct {
		trace trace.TraceID
		span  trace.SpanID
	}
	keyOf := func(s trace.SpanContext) key { return key{s.TraceID(), s.SpanID()} }
	there := map[key]string{}
	for _, s := range spans.all() {
		if is := keyOf(s.SpanContext()); there[is] != "" {
			t.Errorf("%s was sent twice", s.Name())
		}
		there[keyOf(s.SpanContext())] = s.Name()
	}
	caller := func(s trace.SpanContext) bool { return s.TraceID() == (trace.TraceID{byte(s.SpanID()[0])}) }
	for _, s := range spans.all() {
		if within := s.SpanContext().TraceID() == (trace.TraceID{1}); within != (parent == otelwrap.ParentCaller && (group == "session" || s.Name() == "agentsession.session")) {
			t.Errorf("%s is in the trace %s", s.Name(), s.SpanContext().TraceID())
		}
		up := s.Parent()
		switch {
		case !up.IsValid():
		case caller(up) && parent == otelwrap.ParentCaller && s.Name() == "agentsession.session":
		case there[keyOf(up)] == "":
			t.Errorf("%s is an orphan", s.Name())
		}
		callers := 0
		for _, l := range s.Links() {
			switch {
			case isCallerLink(l) && caller(l.SpanContext):
				callers++
			case there[keyOf(l.SpanContext)] == "":
				t.Errorf("%s links to nothing: %v", s.Name(), l)
			}
		}
		first := s.Name() == "agentsession.session" || s.Name() == "invoke_agent coder"
		if callers > 0 && !(first && (parent == "" || parent == otelwrap.ParentLink)) || callers > 1 {
			t.Errorf("%s has %d links to a caller", s.Name(), callers)
		}
	}
	if parent == otelwrap.ParentCaller && group == "session" {
		for _, s := range spans.all() {
			if s.Name() == "agentsession.session" && slices.Contains(texts(s.Attributes()), `gen_ai.conversation.id=STRING "child"`) && there[keyOf(s.Parent())] != "execute_tool delegate" {
				t.Errorf("the subsession hangs from %v, and not from its call", s.Parent())
			}
		}
	}
}
