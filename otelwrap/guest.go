package otelwrap

import (
	"strings"
	"sync/atomic"

	"github.com/sessionspan/sessionspan/internal/names"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// What others may add to a span of ours: so many attributes, events and links, since a span has room for 128 of each, and those of the
// session come last.
const maxGuests = 32

// guest counts what others have added to a span.
type guest struct{ attributes, events, links atomic.Int32 }

// handed is a span of ours in the hands of somebody else.
type handed struct {
	trace.Span
	guest *guest
}

func (handed) End(...trace.SpanEndOption)   {}
func (handed) SetName(string)               {}
func (handed) SetStatus(codes.Code, string) {}

// SetAttributes adds attributes that are not ours to set.
func (h handed) SetAttributes(list ...attribute.KeyValue) {
	for _, kv := range list {
		if !isOurs(kv.Key) && h.guest.attributes.Add(1) <= maxGuests {
			h.Span.SetAttributes(kv)
		}
	}
}

func (h handed) AddEvent(name string, options ...trace.EventOption) {
	if h.guest.events.Add(1) <= maxGuests {
		h.Span.AddEvent(name, options...)
	}
}

func (h handed) RecordError(err error, options ...trace.EventOption) {
	if h.guest.events.Add(1) <= maxGuests {
		h.Span.RecordError(err, options...)
	}
}

func (h handed) AddLink(l trace.Link) {
	if h.guest.links.Add(1) <= maxGuests {
		h.Span.AddLink(l)
	}
}

// isOurs reports whether an attribute is one that the session sets.
func isOurs(key attribute.Key) bool {
	return key == names.SessionID || key == names.ErrorType || strings.HasPrefix(string(key), names.Namespace) || strings.HasPrefix(string(key), "gen_ai.")
}
