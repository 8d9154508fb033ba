package otlp

import (
	"fmt"
	"math"
	"time"

	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Flags is the flags field of every span and link: sampled, since whatever is written here was chosen to be kept, and
// known not to have a remote parent. It is what the OpenTelemetry SDK writes for a span it has recorded under a local
// parent. The W3C "random" flag stays unset, as the SDK leaves it.
const Flags = uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK) | 1

// AppendSpan appends s to b as an encoded opentelemetry.proto.trace.v1.Span, the bytes that the generated code would
// write.
func AppendSpan(b []byte, s *projection.Span) []byte {
	b = appendID(b, spanTraceID, s.TraceID[:])
	b = appendID(b, spanSpanID, s.SpanID[:])
	if s.Parent.IsValid() {
		b = appendID(b, spanParentSpanID, s.Parent[:])
	}
	b = appendString(b, spanName, s.Name)
	b = appendVarint(b, spanKind, kind(s))
	b = appendFixed64(b, spanStart, unixNano(s.Start))
	b = appendFixed64(b, spanEnd, unixNano(s.End))
	b = appendAttributes(b, spanAttributes, s.Attributes)
	b = appendVarint(b, spanDroppedAttributes, uint64(s.DroppedAttributes))
	for i := range s.Events {
		b = appendEvent(b, &s.Events[i])
	}
	b = appendVarint(b, spanDroppedEvents, uint64(s.DroppedEvents))
	for i := range s.Links {
		b = appendLink(b, &s.Links[i])
	}
	b = appendVarint(b, spanDroppedLinks, uint64(s.DroppedLinks))
	b = appendStatus(b, s.Status)
	return appendFlags(b, spanFlags)
}

// Span returns s as the generated struct, for whoever wants to look into it. It shares no memory with s.
func Span(s *projection.Span) *tracepb.Span {
	p := new(tracepb.Span)
	if err := proto.Unmarshal(AppendSpan(nil, s), p); err != nil {
		panic(fmt.Sprintf("otlp: own encoding does not decode: %v", err))
	}
	return p
}

func appendEvent(b []byte, e *projection.Event) []byte {
	b, start := open(b, spanEvents)
	b = appendFixed64(b, eventTime, unixNano(e.Time))
	b = appendString(b, eventName, e.Name)
	b = appendAttributes(b, eventAttributes, e.Attributes)
	return shut(b, start)
}

func appendLink(b []byte, l *projection.Link) []byte {
	b, start := open(b, spanLinks)
	b = appendID(b, linkTraceID, l.TraceID[:])
	b = appendID(b, linkSpanID, l.SpanID[:])
	b = appendAttributes(b, linkAttributes, l.Attributes)
	b = appendFlags(b, linkFlags)
	return shut(b, start)
}

func appendStatus(b []byte, s projection.Status) []byte {
	if s == (projection.Status{}) {
		return b
	}
	b, start := open(b, spanStatus)
	b = appendString(b, statusMessage, s.Description)
	b = appendVarint(b, statusCode, uint64(code(s)))
	return shut(b, start)
}

func appendAttributes(b []byte, n protowire.Number, kvs []attribute.KeyValue) []byte {
	for i := range kvs {
		var start, value int
		b, start = open(b, n)
		b = appendString(b, keyValueKey, string(kvs[i].Key))
		b, value = open(b, keyValueValue)
		b = appendValue(b, kvs[i].Value)
		b = shut(shut(b, value), start)
	}
	return b
}

// appendValue appends what stands inside an AnyValue: one member, also when it is zero, and nothing for the empty value.
func appendValue(b []byte, v attribute.Value) []byte {
	switch v.Type() {
	case attribute.STRING:
		return protowire.AppendString(appendTag(b, anyString, protowire.BytesType), valid(v.AsString()))
	case attribute.INT64:
		return protowire.AppendVarint(appendTag(b, anyInt, protowire.VarintType), uint64(v.AsInt64()))
	case attribute.BOOL:
		bit := protowire.EncodeBool(v.AsBool())
		return protowire.AppendVarint(appendTag(b, anyBool, protowire.VarintType), bit)
	case attribute.FLOAT64:
		bits := math.Float64bits(v.AsFloat64())
		return protowire.AppendFixed64(appendTag(b, anyDouble, protowire.Fixed64Type), bits)
	case attribute.STRINGSLICE:
		return appendArray(b, v.AsStringSlice(), attribute.StringValue)
	case attribute.INT64SLICE:
		return appendArray(b, v.AsInt64Slice(), attribute.Int64Value)
	case attribute.BOOLSLICE:
		return appendArray(b, v.AsBoolSlice(), attribute.BoolValue)
	case attribute.FLOAT64SLICE:
		return appendArray(b, v.AsFloat64Slice(), attribute.Float64Value)
	case attribute.BYTESLICE:
		return protowire.AppendBytes(appendTag(b, anyBytes, protowire.BytesType), v.AsByteSlice())
	case attribute.SLICE:
		return appendArray(b, v.AsSlice(), itself)
	case attribute.MAP:
		b, start := open(b, anyKvlist)
		b = appendAttributes(b, listValues, v.AsMap())
		return shut(b, start)
	}
	return b
}

func appendArray[T any](b []byte, elements []T, value func(T) attribute.Value) []byte {
	b, start := open(b, anyArray)
	for _, e := range elements {
		var element int
		b, element = open(b, listValues)
		b = shut(appendValue(b, value(e)), element)
	}
	return shut(b, start)
}

func itself(v attribute.Value) attribute.Value { return v }

// kind returns the kind of s, whose numbers are the same in the API and in the protocol.
func kind(s *projection.Span) uint64 {
	return uint64(max(s.Kind, 0))
}

// code returns the status code, whose numbers are not.
func code(s projection.Status) tracepb.Status_StatusCode {
	switch s.Code {
	case codes.Ok:
		return tracepb.Status_STATUS_CODE_OK
	case codes.Error:
		return tracepb.Status_STATUS_CODE_ERROR
	}
	return tracepb.Status_STATUS_CODE_UNSET
}

// unixNano returns t in nanoseconds since 1970, kept within what they can say.
func unixNano(t time.Time) uint64 {
	switch sec := t.Unix(); {
	case sec < 0:
		return 0
	case sec >= math.MaxInt64/int64(time.Second):
		return math.MaxInt64
	}
	return uint64(t.UnixNano())
}
