package collectorreceiver

import (
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/pdatatest/ptracetest"
	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/replaytest"
	"github.com/sessionspan/sessionspan/internal/scope"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/proto"
)

// sent are spans as a replay sends them.
func sent(t *testing.T, o otlp.Config, spans []*projection.Span) ptrace.Traces {
	t.Helper()
	b := otlp.NewBatch(o)
	for _, s := range spans {
		b.Add(s)
	}
	messages, err := b.Messages()
	if err != nil {
		t.Fatal(err)
	}
	wire, err := proto.Marshal(messages)
	if err != nil {
		t.Fatal(err)
	}
	traces, err := new(ptrace.ProtoUnmarshaler).UnmarshalTraces(wire)
	if err != nil {
		t.Fatal(err)
	}
	return traces
}

// bySession is what came, of each session by itself.
func bySession(all ...ptrace.Traces) map[string]ptrace.Traces {
	sessions := map[string]ptrace.Traces{}
	for _, td := range all {
		for span, r := range spansOf(td) {
			id, _ := span.Attributes().Get("agentsession.session.id")
			one, known := sessions[id.AsString()]
			if !known {
				one = ptrace.NewTraces()
				sessions[id.AsString()] = one
				resource := one.ResourceSpans().AppendEmpty()
				r.Resource().CopyTo(resource.Resource())
				scoped := resource.ScopeSpans().AppendEmpty()
				r.ScopeSpans().At(0).Scope().CopyTo(scoped.Scope())
				scoped.SetSchemaUrl(r.ScopeSpans().At(0).SchemaUrl())
			}
			span.CopyTo(one.ResourceSpans().At(0).ScopeSpans().At(0).Spans().AppendEmpty())
		}
	}
	return sessions
}

// What the receiver gives is what a replay sends (promise P5).
func TestReceivedEqualsReplayed(t *testing.T) {
	for _, o := range []projection.Options{
		{Group: projection.GroupSession, Naming: projection.NamingGenAI, Semconv: projection.Semconv141},
		{Group: projection.GroupRun, Naming: projection.NamingAgentsession, Semconv: projection.SemconvLatest},
	} {
		t.Run(string(o.Group), func(t *testing.T) {
			dir := t.TempDir()
			copySessions(t, dir)
			spans := replaytest.Spans(t, o, dir, time.Now())
			c := quick(dir)
			c.Group, c.Naming, c.Semconv = string(o.Group), string(o.Naming), string(o.Semconv)
			to := newSink()
			r := start(t, c, componenttest.NewNopHost(), to)
			to.waitFor(t, len(spans))
			stop(t, r)
			want := bySession(sent(t, otlp.Config{ScopeVersion: scope.Version(), SchemaURL: projection.SchemaURL(o.Semconv)}, spans))
			got := bySession(to.all...)
			if len(got) != len(want) {
				t.Errorf("%d sessions, want %d", len(got), len(want))
			}
			for id, one := range want {
				if err := ptracetest.CompareTraces(one, got[id], ptracetest.IgnoreSpansOrder()); err != nil {
					t.Errorf("session %s: %v", id, err)
				}
			}
			for id, times := range to.spans {
				if times != 1 {
					t.Errorf("span %v came %d times", id, times)
				}
			}
		})
	}
}

// Whatever stands in a span comes out as a replay writes it.
func TestBuild(t *testing.T) {
	session := &projection.Session{ID: "s", Harness: "h", Version: "1"}
	values := []attribute.KeyValue{
		attribute.String("text", "a"), attribute.String("bro\xffken", "\xc3"), attribute.Int("int", -1), attribute.Bool("bool", false),
		attribute.Float64("float", 0), attribute.StringSlice("texts", []string{"", "b\x80"}), attribute.IntSlice("ints", []int{0, 1}),
		attribute.BoolSlice("bools", []bool{true}), attribute.Float64Slice("floats", nil), attribute.ByteSlice("bytes", []byte{0, 1}),
		attribute.Map("map", attribute.String("a", "b")), attribute.Slice("any", attribute.IntValue(1), attribute.StringValue("x")),
		{Key: "empty"},
	}
	spans := []*projection.Span{
		{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, Name: "n\xff", Kind: trace.SpanKindClient, Attributes: values, Session: session},
		{
			TraceID: trace.TraceID{1}, SpanID: trace.SpanID{3}, Parent: trace.SpanID{2}, Kind: trace.SpanKindInternal, Session: session,
			Events:            []projection.Event{{Name: "e\xff", Attributes: values}},
			Links:             []projection.Link{{TraceID: trace.TraceID{4}, SpanID: trace.SpanID{5}, Attributes: values}},
			Status:            projection.Status{Code: codes.Error, Description: "bad\xff"},
			DroppedAttributes: 1, DroppedEvents: 2, DroppedLinks: 3,
		},
		{TraceID: trace.TraceID{6}, SpanID: trace.SpanID{7}, Status: projection.Status{Code: codes.Ok}, Session: &projection.Session{ID: "t"}},
	}
	c := createDefaultConfig().(*Config)
	c.ServiceName = "mine"
	got := newTracesBuilder(c).build(spans)
	want := sent(t, otlp.Config{
		ScopeVersion: scope.Version(), SchemaURL: projection.SchemaURL(projection.Semconv141),
		Resource: func(s *projection.Session) []attribute.KeyValue {
			return otlp.Resource(s, attribute.String("service.name", "mine"))
		},
	}, spans)
	if err := ptracetest.CompareTraces(want, got); err != nil {
		t.Error(err)
	}
	marshal := new(ptrace.ProtoMarshaler)
	a, err := marshal.MarshalTraces(want)
	if err != nil {
		t.Fatal(err)
	}
	b, err := marshal.MarshalTraces(got)
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Errorf("written differently:\n%x\n%x", a, b)
	}
}
