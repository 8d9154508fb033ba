package otlp

import (
	"math"
	"time"

	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/codes"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
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
	b = appendFixed64(b, spanStart, UnixNano(s.Start))
	b = appendFixed64(b, spanEnd, UnixNano(s.End))
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

func appendEvent(b []byte, e *projection.Event) []byte {
	b, start := open(b, spanEvents)
	b = appendFixed64(b, eventTime, UnixNano(e.Time))
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

// UnixNano returns t in nanoseconds since 1970, or the nearest that can be said so.
func UnixNano(t time.Time) uint64 {
	switch {
	case t.Before(time.Unix(0, 0)):
		return 0
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return uint64(t.UnixNano())
}
