package otlp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// structSpan fills the generated struct field by field: what the encoders of this package are held against.
func structSpan(s *projection.Span) *tracepb.Span {
	p := &tracepb.Span{
		TraceId:                s.TraceID[:],
		SpanId:                 s.SpanID[:],
		Flags:                  0x101,
		Name:                   clean(s.Name),
		Kind:                   tracepb.Span_SpanKind(s.Kind),
		StartTimeUnixNano:      uint64(s.Start.UnixNano()),
		EndTimeUnixNano:        uint64(s.End.UnixNano()),
		Attributes:             structAttributes(s.Attributes),
		DroppedAttributesCount: s.DroppedAttributes,
		DroppedEventsCount:     s.DroppedEvents,
		DroppedLinksCount:      s.DroppedLinks,
	}
	if s.Parent != (trace.SpanID{}) {
		p.ParentSpanId = s.Parent[:]
	}
	for i := range s.Events {
		p.Events = append(p.Events, &tracepb.Span_Event{
			TimeUnixNano: uint64(s.Events[i].Time.UnixNano()),
			Name:         clean(s.Events[i].Name),
			Attributes:   structAttributes(s.Events[i].Attributes),
		})
	}
	for i := range s.Links {
		p.Links = append(p.Links, &tracepb.Span_Link{
			TraceId:    s.Links[i].TraceID[:],
			SpanId:     s.Links[i].SpanID[:],
			Flags:      0x101,
			Attributes: structAttributes(s.Links[i].Attributes),
		})
	}
	switch s.Status.Code {
	case codes.Error:
		p.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: clean(s.Status.Description)}
	case codes.Ok:
		p.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_OK}
	}
	return p
}

func structAttributes(kvs []attribute.KeyValue) []*commonpb.KeyValue {
	out := make([]*commonpb.KeyValue, 0, len(kvs))
	for _, kv := range kvs {
		out = append(out, &commonpb.KeyValue{Key: clean(string(kv.Key)), Value: structValue(kv.Value)})
	}
	return out
}

func structValue(v attribute.Value) *commonpb.AnyValue {
	switch v := v.AsInterface().(type) {
	case string:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: clean(v)}}
	case int64:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: v}}
	case bool:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: v}}
	case float64:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: v}}
	case []byte:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BytesValue{BytesValue: v}}
	case []string:
		return structArray(v, attribute.StringValue)
	case []int64:
		return structArray(v, attribute.Int64Value)
	case []bool:
		return structArray(v, attribute.BoolValue)
	case []float64:
		return structArray(v, attribute.Float64Value)
	case []attribute.Value:
		return structArray(v, func(v attribute.Value) attribute.Value { return v })
	case []attribute.KeyValue:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{
			KvlistValue: &commonpb.KeyValueList{Values: structAttributes(v)},
		}}
	case nil:
		return &commonpb.AnyValue{}
	default:
		panic(fmt.Sprintf("an attribute of type %T", v))
	}
}

func structArray[T any](elements []T, value func(T) attribute.Value) *commonpb.AnyValue {
	array := &commonpb.ArrayValue{}
	for _, e := range elements {
		array.Values = append(array.Values, structValue(value(e)))
	}
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: array}}
}

// structTraces groups spans as a Batch with [testConfig] does.
func structTraces(spans []*projection.Span) *tracepb.TracesData {
	data := new(tracepb.TracesData)
	scopes := make(map[*projection.Session]*tracepb.ScopeSpans)
	for _, s := range spans {
		scope := scopes[s.Session]
		if scope == nil {
			scope = &tracepb.ScopeSpans{
				Scope:     &commonpb.InstrumentationScope{Name: ScopeName, Version: testConfig.ScopeVersion},
				SchemaUrl: testConfig.SchemaURL,
			}
			scopes[s.Session] = scope
			data.ResourceSpans = append(data.ResourceSpans, &tracepb.ResourceSpans{
				Resource:   &resourcepb.Resource{Attributes: structAttributes(testConfig.Resource(s.Session))},
				ScopeSpans: []*tracepb.ScopeSpans{scope},
			})
		}
		scope.Spans = append(scope.Spans, structSpan(s))
	}
	return data
}

var testConfig = Config{
	Resource: func(s *projection.Session) []attribute.KeyValue {
		return Resource(s, attribute.String("host.name", "box"), attribute.Int("process.pid", 42))
	},
	ScopeVersion: "1.2.3",
	SchemaURL:    "https://opentelemetry.io/schemas/1.41.0",
}

// clean is valid, said in another way.
func clean(s string) string {
	var b strings.Builder
	damaged := false
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		bad := r == utf8.RuneError && n == 1
		if !bad || !damaged {
			b.WriteRune(r)
		}
		damaged, s = bad, s[n:]
	}
	return b.String()
}

// random makes spans of every shape.
type random struct {
	*rand.Rand
}

func (r random) spans(sessions, n int) []*projection.Span {
	of := make([]*projection.Session, sessions)
	for i := range of {
		of[i] = &projection.Session{ID: fmt.Sprint("s", i), Harness: r.text(), Version: r.text()}
	}
	out := make([]*projection.Span, n)
	for i := range out {
		out[i] = r.span(of[r.IntN(sessions)])
	}
	return out
}

func (r random) span(session *projection.Session) *projection.Span {
	s := &projection.Span{
		Name:       r.text(),
		Kind:       trace.SpanKind(r.IntN(6)),
		Start:      r.time(),
		End:        r.time(),
		Attributes: r.attributes(20, 2),
		Session:    session,
	}
	r.fill(s.TraceID[:])
	r.fill(s.SpanID[:])
	if r.IntN(4) > 0 {
		r.fill(s.Parent[:])
	}
	for range r.IntN(4) {
		s.Events = append(s.Events, projection.Event{Name: r.text(), Time: r.time(), Attributes: r.attributes(4, 1)})
	}
	for range r.IntN(4) {
		l := projection.Link{Attributes: r.attributes(4, 1)}
		r.fill(l.TraceID[:])
		r.fill(l.SpanID[:])
		s.Links = append(s.Links, l)
	}
	switch r.IntN(3) {
	case 0:
		s.Status = projection.Status{Code: codes.Error, Description: r.text()}
	case 1:
		s.Status.Code = codes.Ok
	}
	if r.IntN(4) == 0 {
		s.DroppedAttributes, s.DroppedEvents, s.DroppedLinks = r.Uint32(), r.Uint32(), r.Uint32()
	}
	return s
}

func (r random) attributes(most, depth int) []attribute.KeyValue {
	var out []attribute.KeyValue
	for i := range r.IntN(most + 1) {
		out = append(out, attribute.KeyValue{Key: attribute.Key(fmt.Sprint(r.text(), i)), Value: r.value(depth)})
	}
	return out
}

func (r random) value(depth int) attribute.Value {
	switch r.IntN(10 + min(depth, 1)*2) {
	case 0:
		return attribute.Value{}
	case 1:
		return attribute.BoolValue(r.IntN(2) == 0)
	case 2:
		return attribute.Int64Value(r.int())
	case 3:
		return attribute.Float64Value(r.float())
	case 4:
		return attribute.StringValue(r.text())
	case 5:
		return attribute.BoolSliceValue(several(r, func() bool { return r.IntN(2) == 0 }))
	case 6:
		return attribute.Int64SliceValue(several(r, r.int))
	case 7:
		return attribute.Float64SliceValue(several(r, r.float))
	case 8:
		return attribute.StringSliceValue(several(r, r.text))
	case 9:
		return attribute.ByteSliceValue([]byte(r.text()))
	case 10:
		return attribute.SliceValue(several(r, func() attribute.Value { return r.value(depth - 1) })...)
	default:
		return attribute.MapValue(r.attributes(4, depth-1)...)
	}
}

func several[T any](r random, one func() T) []T {
	var out []T
	for range r.IntN(5) {
		out = append(out, one())
	}
	return out
}

func (r random) int() int64 { return int64(r.Uint64()) >> r.IntN(64) }

func (r random) float() float64 {
	return []float64{0, math.Copysign(0, -1), 0.1, 1e300, -2.5e-9, float64(r.int()), inf, -inf, nan, r.Float64()}[r.IntN(10)]
}

// text returns a string whose encoding needs care now and then: lengths around the widths of a varint, escapes, runes
// of every width, bytes that are no UTF-8.
func (r random) text() string {
	switch r.IntN(200) {
	case 0:
		return strings.Repeat("x", 16300+r.IntN(120))
	case 1, 2, 3, 4, 5, 6, 7, 8, 9:
		return strings.Repeat("y", 100+r.IntN(60))
	case 10, 11, 12, 13, 14, 15, 16, 17, 18, 19:
		return ""
	case 20, 21, 22, 23, 24, 25, 26, 27, 28, 29:
		b := make([]byte, r.IntN(20))
		r.fill(b)
		return string(b)
	}
	const runes = "abc \"\\/\n\t\x00\x1b\x7f<>&é€\u2028\ufffd\U0001f600\U0010ffff"
	all := []rune(runes)
	out := make([]rune, r.IntN(30))
	for i := range out {
		out[i] = all[r.IntN(len(all))]
	}
	return string(out)
}

func (r random) time() time.Time { return time.Unix(r.Int64N(9e9), r.Int64N(1e9)) }

func (r random) fill(b []byte) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}
