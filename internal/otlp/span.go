package otlp

import (
	"math"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/codes"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Flags is the flags field of every span and link: sampled, since whatever is written here was chosen to be kept, and
// known not to have a remote parent. It is what the OpenTelemetry SDK writes for a span it has recorded under a local
// parent. The W3C "random" flag stays unset, as the SDK leaves it.
const Flags = uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK) | 1

// Span returns s as the message of the protocol. The two share memory, so that nobody may change s any more.
func Span(s *projection.Span) *tracepb.Span {
	p := &tracepb.Span{
		TraceId:                s.TraceID[:],
		SpanId:                 s.SpanID[:],
		Flags:                  Flags,
		Name:                   valid(s.Name),
		Kind:                   tracepb.Span_SpanKind(s.Kind), // the numbers are the same
		StartTimeUnixNano:      unixNano(s.Start),
		EndTimeUnixNano:        unixNano(s.End),
		Attributes:             keyValues(s.Attributes),
		DroppedAttributesCount: s.DroppedAttributes,
		DroppedEventsCount:     s.DroppedEvents,
		DroppedLinksCount:      s.DroppedLinks,
		Status:                 status(s.Status),
	}
	if s.Parent.IsValid() {
		p.ParentSpanId = s.Parent[:]
	}
	for _, e := range s.Events {
		p.Events = append(p.Events, &tracepb.Span_Event{
			TimeUnixNano: unixNano(e.Time),
			Name:         valid(e.Name),
			Attributes:   keyValues(e.Attributes),
		})
	}
	for _, l := range s.Links {
		p.Links = append(p.Links, &tracepb.Span_Link{
			TraceId:    l.TraceID[:],
			SpanId:     l.SpanID[:],
			Attributes: keyValues(l.Attributes),
			Flags:      Flags,
		})
	}
	return p
}

// status returns nil for an unset status without a description.
func status(s projection.Status) *tracepb.Status {
	if s == (projection.Status{}) {
		return nil
	}
	p := &tracepb.Status{Message: valid(s.Description)}
	switch s.Code { // the numbers are not those of the protocol
	case codes.Ok:
		p.Code = tracepb.Status_STATUS_CODE_OK
	case codes.Error:
		p.Code = tracepb.Status_STATUS_CODE_ERROR
	}
	return p
}

// unixNano returns t in nanoseconds since 1970, or the nearest that can be said so.
func unixNano(t time.Time) uint64 {
	switch {
	case t.Before(time.Unix(0, 0)):
		return 0
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return uint64(t.UnixNano())
}

// valid returns s as a string that a protobuf message may hold.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
