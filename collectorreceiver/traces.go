package collectorreceiver

import (
	"time"

	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/scope"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
)

// tracesBuilder makes of spans what the Collector's components take: the same as a replay sends.
type tracesBuilder struct {
	resource  []attribute.KeyValue // of all sessions
	version   string
	schemaURL string
}

func newTracesBuilder(c *Config) *tracesBuilder {
	b := &tracesBuilder{version: scope.Version(), schemaURL: projection.SchemaURL(projection.Semconv(c.Semconv))}
	if c.ServiceName != "" {
		b.resource = []attribute.KeyValue{attribute.String("service.name", c.ServiceName)}
	}
	return b
}

// build returns spans as traces, by session in the order in which these come.
func (b *tracesBuilder) build(spans []*projection.Span) ptrace.Traces {
	traces := ptrace.NewTraces()
	type group struct {
		to   ptrace.SpanSlice
		size int
	}
	groups := map[*projection.Session]*group{}
	for _, s := range spans {
		if g := groups[s.Session]; g != nil {
			g.size++
			continue
		}
		resource := traces.ResourceSpans().AppendEmpty()
		putAttributes(resource.Resource().Attributes(), otlp.Resource(s.Session, b.resource...))
		scoped := resource.ScopeSpans().AppendEmpty()
		scoped.Scope().SetName(scope.Name)
		scoped.Scope().SetVersion(b.version)
		scoped.SetSchemaUrl(b.schemaURL)
		groups[s.Session] = &group{scoped.Spans(), 1}
	}
	for _, g := range groups {
		g.to.EnsureCapacity(g.size)
	}
	for _, s := range spans {
		putSpan(groups[s.Session].to.AppendEmpty(), s)
	}
	return traces
}

func putSpan(to ptrace.Span, s *projection.Span) {
	to.SetTraceID(pcommon.TraceID(s.TraceID))
	to.SetSpanID(pcommon.SpanID(s.SpanID))
	if s.Parent.IsValid() {
		to.SetParentSpanID(pcommon.SpanID(s.Parent))
	}
	to.SetName(otlp.Text(s.Name))
	to.SetKind(ptrace.SpanKind(s.Kind)) // whose numbers are the same
	to.SetFlags(otlp.Flags)
	to.SetStartTimestamp(timestamp(s.Start))
	to.SetEndTimestamp(timestamp(s.End))
	putAttributes(to.Attributes(), s.Attributes)
	to.SetDroppedAttributesCount(s.DroppedAttributes)
	to.SetDroppedEventsCount(s.DroppedEvents)
	to.SetDroppedLinksCount(s.DroppedLinks)
	if len(s.Events) > 0 {
		to.Events().EnsureCapacity(len(s.Events))
	}
	for _, e := range s.Events {
		event := to.Events().AppendEmpty()
		event.SetName(otlp.Text(e.Name))
		event.SetTimestamp(timestamp(e.Time))
		putAttributes(event.Attributes(), e.Attributes)
	}
	if len(s.Links) > 0 {
		to.Links().EnsureCapacity(len(s.Links))
	}
	for _, l := range s.Links {
		link := to.Links().AppendEmpty()
		link.SetTraceID(pcommon.TraceID(l.TraceID))
		link.SetSpanID(pcommon.SpanID(l.SpanID))
		link.SetFlags(otlp.Flags)
		putAttributes(link.Attributes(), l.Attributes)
	}
	switch s.Status.Code {
	case codes.Error:
		to.Status().SetCode(ptrace.StatusCodeError)
	case codes.Ok:
		to.Status().SetCode(ptrace.StatusCodeOk)
	}
	to.Status().SetMessage(otlp.Text(s.Status.Description))
}

func timestamp(t time.Time) pcommon.Timestamp { return pcommon.Timestamp(otlp.UnixNano(t)) }

func putAttributes(to pcommon.Map, kvs []attribute.KeyValue) {
	to.EnsureCapacity(len(kvs))
	for _, kv := range kvs {
		putValue(to.PutEmpty(otlp.Text(string(kv.Key))), kv.Value)
	}
}

func putValue(to pcommon.Value, v attribute.Value) {
	switch v.Type() {
	case attribute.STRING:
		to.SetStr(otlp.Text(v.AsString()))
	case attribute.INT64:
		to.SetInt(v.AsInt64())
	case attribute.BOOL:
		to.SetBool(v.AsBool())
	case attribute.FLOAT64:
		to.SetDouble(v.AsFloat64())
	case attribute.BYTESLICE:
		to.SetEmptyBytes().FromRaw(v.AsByteSlice())
	case attribute.MAP:
		putAttributes(to.SetEmptyMap(), v.AsMap())
	case attribute.SLICE:
		putList(to, v.AsSlice(), func(v attribute.Value) attribute.Value { return v })
	case attribute.STRINGSLICE:
		putList(to, v.AsStringSlice(), attribute.StringValue)
	case attribute.INT64SLICE:
		putList(to, v.AsInt64Slice(), attribute.Int64Value)
	case attribute.BOOLSLICE:
		putList(to, v.AsBoolSlice(), attribute.BoolValue)
	case attribute.FLOAT64SLICE:
		putList(to, v.AsFloat64Slice(), attribute.Float64Value)
	}
}

func putList[T any](to pcommon.Value, list []T, value func(T) attribute.Value) {
	s := to.SetEmptySlice()
	s.EnsureCapacity(len(list))
	for _, e := range list {
		putValue(s.AppendEmpty(), value(e))
	}
}
