package otlp

import (
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// The field numbers of the messages written here, from opentelemetry/proto/{trace,common,resource}/v1.
const (
	resourceAttributes protowire.Number = 1

	scopeSpansSpans protowire.Number = 2

	spanTraceID           protowire.Number = 1
	spanSpanID            protowire.Number = 2
	spanParentSpanID      protowire.Number = 4
	spanName              protowire.Number = 5
	spanKind              protowire.Number = 6
	spanStart             protowire.Number = 7
	spanEnd               protowire.Number = 8
	spanAttributes        protowire.Number = 9
	spanDroppedAttributes protowire.Number = 10
	spanEvents            protowire.Number = 11
	spanDroppedEvents     protowire.Number = 12
	spanLinks             protowire.Number = 13
	spanDroppedLinks      protowire.Number = 14
	spanStatus            protowire.Number = 15
	spanFlags             protowire.Number = 16

	eventTime       protowire.Number = 1
	eventName       protowire.Number = 2
	eventAttributes protowire.Number = 3

	linkTraceID    protowire.Number = 1
	linkSpanID     protowire.Number = 2
	linkAttributes protowire.Number = 4
	linkFlags      protowire.Number = 6

	statusMessage protowire.Number = 2
	statusCode    protowire.Number = 3

	keyValueKey   protowire.Number = 1
	keyValueValue protowire.Number = 2

	anyString protowire.Number = 1
	anyBool   protowire.Number = 2
	anyInt    protowire.Number = 3
	anyDouble protowire.Number = 4
	anyArray  protowire.Number = 5
	anyKvlist protowire.Number = 6
	anyBytes  protowire.Number = 7

	listValues protowire.Number = 1 // of ArrayValue and of KeyValueList
)

// open begins a nested message. The length before it is not known yet, so one byte is left for it, which is enough for
// most; shut fills it in and makes room where it is not. That is cheaper than to measure every message first.
func open(b []byte, n protowire.Number) (_ []byte, start int) {
	b = append(protowire.AppendTag(b, n, protowire.BytesType), 0)
	return b, len(b)
}

// shut ends the message that begins at start.
func shut(b []byte, start int) []byte {
	size := len(b) - start
	if size < 1<<7 {
		b[start-1] = byte(size)
		return b
	}
	wider := protowire.SizeVarint(uint64(size)) - 1
	for range wider {
		b = append(b, 0)
	}
	copy(b[start+wider:], b[start:start+size])
	protowire.AppendVarint(b[:start-1], uint64(size))
	return b
}

// The fields of a message, each left out when it is zero, as proto3 has it.

func appendString(b []byte, n protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), Text(s))
}

func appendVarint(b []byte, n protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
}

func appendFixed64(b []byte, n protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendFixed64(protowire.AppendTag(b, n, protowire.Fixed64Type), v)
}

// appendID appends a trace or span id, which is left out by nobody but the caller.
func appendID(b []byte, n protowire.Number, id []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), id)
}

func appendFlags(b []byte, n protowire.Number) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(b, n, protowire.Fixed32Type), Flags)
}

// Text returns s as it can stand in a message: in valid UTF-8.
func Text(s string) string {
	if utf8.ValidString(s) { // several times as fast as the next
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
