package otlp

import (
	"time"
	"unicode/utf8"

	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	"google.golang.org/protobuf/encoding/protowire"
)

// tagSize is the size of the tags of fields 1 to 15.
const tagSize = 1

// Size returns the number of bytes that s takes in a message of OTLP, its tag and length included.
func Size(s *projection.Span) int {
	const ids = 2*tagSize + 1 + 16 + 1 + 8
	n := ids + sizeOfTime(s.Start) + sizeOfTime(s.End) + sizeOfString(s.Name) + sizeOfVarint(kind(s)) + sizeOfAttributes(s.Attributes)
	if s.Parent.IsValid() {
		n += tagSize + 1 + 8
	}
	for i := range s.Events {
		e := &s.Events[i]
		n += sizeOfMessage(sizeOfTime(e.Time) + sizeOfString(e.Name) + sizeOfAttributes(e.Attributes))
	}
	for i := range s.Links {
		l := &s.Links[i]
		n += sizeOfMessage(ids + sizeOfAttributes(l.Attributes) + tagSize + 4)
	}
	n += sizeOfVarint(uint64(s.DroppedAttributes)) + sizeOfVarint(uint64(s.DroppedEvents)) + sizeOfVarint(uint64(s.DroppedLinks))
	if s.Status != (projection.Status{}) {
		n += sizeOfMessage(sizeOfString(s.Status.Description) + sizeOfVarint(uint64(code(s.Status))))
	}
	return sizeOfMessage(n + 1 + tagSize + 4) // the tag of the flags takes two bytes
}

// sizeOfMessage returns the size of a field with a message of n bytes.
func sizeOfMessage(n int) int { return tagSize + protowire.SizeBytes(n) }

func sizeOfVarint(v uint64) int {
	if v == 0 {
		return 0
	}
	return tagSize + protowire.SizeVarint(v)
}

func sizeOfTime(t time.Time) int {
	if UnixNano(t) == 0 {
		return 0
	}
	return tagSize + 8
}

// sizeOfString returns the size of a field with a text, 0 for an empty one.
func sizeOfString(s string) int {
	if s == "" {
		return 0
	}
	return sizeOfMessage(validSize(s))
}

// validSize returns the length of Text(s).
func validSize(s string) int {
	if utf8.ValidString(s) {
		return len(s)
	}
	return len(Text(s))
}

func sizeOfAttributes(kvs []attribute.KeyValue) (n int) {
	for i := range kvs {
		n += sizeOfMessage(sizeOfString(string(kvs[i].Key)) + sizeOfMessage(sizeOfValue(kvs[i].Value)))
	}
	return n
}

// sizeOfValue returns the size of what stands inside an AnyValue.
func sizeOfValue(v attribute.Value) int {
	switch v.Type() {
	case attribute.STRING:
		return sizeOfMessage(validSize(v.AsString()))
	case attribute.INT64:
		return tagSize + protowire.SizeVarint(uint64(v.AsInt64()))
	case attribute.BOOL:
		return tagSize + 1
	case attribute.FLOAT64:
		return tagSize + 8
	}
	return len(appendValue(nil, v)) // lists are few
}
