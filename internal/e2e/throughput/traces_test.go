package throughput

import (
	"testing"

	"github.com/sessionspan/sessionspan/internal/scope"

	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// traces are spans as the Collector has them.
type traces struct {
	traces   ptrace.Traces
	sessions map[*projection.Session]ptrace.SpanSlice
}

func newTraces() *traces {
	return &traces{ptrace.NewTraces(), map[*projection.Session]ptrace.SpanSlice{}}
}

func (t *traces) add(s *projection.Span) {
	list, ok := t.sessions[s.Session]
	if !ok {
		resource := t.traces.ResourceSpans().AppendEmpty()
		put(resource.Resource().Attributes(), otlp.Resource(s.Session))
		spans := resource.ScopeSpans().AppendEmpty()
		spans.Scope().SetName(scope.Name)
		list = spans.Spans()
		t.sessions[s.Session] = list
	}
	to := list.AppendEmpty()
	to.SetTraceID(pcommon.TraceID(s.TraceID))
	to.SetSpanID(pcommon.SpanID(s.SpanID))
	to.SetParentSpanID(pcommon.SpanID(s.Parent))
	to.SetFlags(otlp.Flags)
	to.SetName(s.Name)
	to.SetKind(ptrace.SpanKind(s.Kind))
	to.SetStartTimestamp(pcommon.NewTimestampFromTime(s.Start))
	to.SetEndTimestamp(pcommon.NewTimestampFromTime(s.End))
	put(to.Attributes(), s.Attributes)
	for _, e := range s.Events {
		event := to.Events().AppendEmpty()
		event.SetName(e.Name)
		event.SetTimestamp(pcommon.NewTimestampFromTime(e.Time))
		put(event.Attributes(), e.Attributes)
	}
	for _, l := range s.Links {
		link := to.Links().AppendEmpty()
		link.SetTraceID(pcommon.TraceID(l.TraceID))
		link.SetSpanID(pcommon.SpanID(l.SpanID))
		link.SetFlags(otlp.Flags)
		put(link.Attributes(), l.Attributes)
	}
	if s.Status.Code != 0 || s.Status.Description != "" {
		to.Status().SetMessage(s.Status.Description)
		to.Status().SetCode(statusCodes[s.Status.Code])
	}
}

// statusCodes are those of OTLP by those of the API.
var statusCodes = [...]ptrace.StatusCode{ptrace.StatusCodeUnset, ptrace.StatusCodeError, ptrace.StatusCodeOk}

func put(m pcommon.Map, list []attribute.KeyValue) {
	m.EnsureCapacity(len(list))
	for _, kv := range list {
		v := m.PutEmpty(string(kv.Key))
		switch kv.Value.Type() {
		case attribute.BOOL:
			v.SetBool(kv.Value.AsBool())
		case attribute.INT64:
			v.SetInt(kv.Value.AsInt64())
		case attribute.FLOAT64:
			v.SetDouble(kv.Value.AsFloat64())
		case attribute.STRING:
			v.SetStr(kv.Value.AsString())
		case attribute.STRINGSLICE:
			list := v.SetEmptySlice()
			for _, s := range kv.Value.AsStringSlice() {
				list.AppendEmpty().SetStr(s)
			}
		default:
			panic("an attribute of type " + kv.Value.Type().String())
		}
	}
}

// What is compared are the same spans: both ways lead to the same messages.
func TestTracesAreThoseOfABatch(t *testing.T) {
	spans, batch, pdata := archived(), otlp.NewBatch(otlp.Config{}), newTraces()
	for _, s := range spans {
		batch.Add(s)
		pdata.add(s)
	}
	want, err := batch.Messages()
	if err != nil {
		t.Fatal(err)
	}
	wire, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(pdata.traces)
	if err != nil {
		t.Fatal(err)
	}
	got := new(tracepb.TracesData)
	if err := proto.Unmarshal(wire, got); err != nil {
		t.Fatal(err)
	}
	if len(spans) < 1000 || pdata.traces.SpanCount() != len(spans) {
		t.Errorf("%d spans, of which pdata has %d", len(spans), pdata.traces.SpanCount())
	}
	for i, resource := range want.ResourceSpans {
		for j, want := range resource.ScopeSpans[0].Spans {
			got := got.ResourceSpans[i].ScopeSpans[0].Spans[j]
			if proto.Equal(got.Status, &tracepb.Status{}) {
				got.Status = nil // pdata writes it empty
			}
			if !proto.Equal(want, got) {
				t.Fatalf("batch: %s\n\npdata: %s", protojson.Format(want), protojson.Format(got))
			}
		}
	}
}
