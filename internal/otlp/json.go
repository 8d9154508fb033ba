package otlp

import (
	"encoding/base64"
	"encoding/hex"
	"io"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
)

// WriteJSON writes b to w as one TracesData object in OTLP/JSON and a line feed, in a single call of Write. An empty
// batch writes nothing. The error is that of w.
func WriteJSON(w io.Writer, b *Batch) error {
	if b.len == 0 {
		return nil
	}
	b.line = b.appendJSON(b.line[:0])
	_, err := w.Write(b.line)
	return err
}

func (b *Batch) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"resourceSpans":`...)
	dst = appendList(dst, b.groups[:b.used], b.appendGroupJSON)
	return append(dst, "}\n"...)
}

func (b *Batch) appendGroupJSON(dst []byte, g *group) []byte {
	dst = append(dst, `{"resource":{"attributes":`...)
	dst = appendList(dst, g.attributes, appendKeyValueJSON)
	dst = append(dst, `},"scopeSpans":[{"scope":{"name":`...)
	dst = appendQuote(dst, ScopeName)
	if b.config.ScopeVersion != "" {
		dst = appendQuote(append(dst, `,"version":`...), b.config.ScopeVersion)
	}
	dst = append(dst, `},"spans":`...)
	dst = appendList(dst, g.spans, appendSpanJSON)
	if b.config.SchemaURL != "" {
		dst = appendQuote(append(dst, `,"schemaUrl":`...), b.config.SchemaURL)
	}
	return append(dst, `}]}`...)
}

func appendSpanJSON(b []byte, s *projection.Span) []byte {
	b = appendHex(append(b, `{"traceId":`...), s.TraceID[:])
	b = appendHex(append(b, `,"spanId":`...), s.SpanID[:])
	if s.Parent.IsValid() {
		b = appendHex(append(b, `,"parentSpanId":`...), s.Parent[:])
	}
	b = appendQuote(append(b, `,"name":`...), s.Name)
	b = strconv.AppendUint(append(b, `,"kind":`...), kind(s), 10)
	b = appendNanos(append(b, `,"startTimeUnixNano":`...), unixNano(s.Start))
	b = appendNanos(append(b, `,"endTimeUnixNano":`...), unixNano(s.End))
	b = appendAttributesJSON(b, s.Attributes)
	b = appendCountJSON(b, `,"droppedAttributesCount":`, s.DroppedAttributes)
	if len(s.Events) > 0 {
		b = appendList(append(b, `,"events":`...), s.Events, appendEventJSON)
	}
	b = appendCountJSON(b, `,"droppedEventsCount":`, s.DroppedEvents)
	if len(s.Links) > 0 {
		b = appendList(append(b, `,"links":`...), s.Links, appendLinkJSON)
	}
	b = appendCountJSON(b, `,"droppedLinksCount":`, s.DroppedLinks)
	b = appendStatusJSON(b, s.Status)
	b = strconv.AppendUint(append(b, `,"flags":`...), uint64(Flags), 10)
	return append(b, '}')
}

func appendEventJSON(b []byte, e projection.Event) []byte {
	b = appendNanos(append(b, `{"timeUnixNano":`...), unixNano(e.Time))
	b = appendQuote(append(b, `,"name":`...), e.Name)
	return append(appendAttributesJSON(b, e.Attributes), '}')
}

func appendLinkJSON(b []byte, l projection.Link) []byte {
	b = appendHex(append(b, `{"traceId":`...), l.TraceID[:])
	b = appendHex(append(b, `,"spanId":`...), l.SpanID[:])
	b = appendAttributesJSON(b, l.Attributes)
	b = strconv.AppendUint(append(b, `,"flags":`...), uint64(Flags), 10)
	return append(b, '}')
}

func appendStatusJSON(b []byte, s projection.Status) []byte {
	if s == (projection.Status{}) {
		return b
	}
	b = append(b, `,"status":{`...)
	if s.Description != "" {
		b = append(appendQuote(append(b, `"message":`...), s.Description), ',')
	}
	b = strconv.AppendUint(append(b, `"code":`...), uint64(code(s)), 10)
	return append(b, '}')
}

func appendAttributesJSON(b []byte, kvs []attribute.KeyValue) []byte {
	if len(kvs) == 0 {
		return b
	}
	return appendList(append(b, `,"attributes":`...), kvs, appendKeyValueJSON)
}

func appendKeyValueJSON(b []byte, kv attribute.KeyValue) []byte {
	b = appendQuote(append(b, `{"key":`...), string(kv.Key))
	b = appendValueJSON(append(b, `,"value":`...), kv.Value)
	return append(b, '}')
}

// appendValueJSON appends an AnyValue.
func appendValueJSON(b []byte, v attribute.Value) []byte {
	b = append(b, '{')
	switch v.Type() {
	case attribute.STRING:
		b = appendQuote(append(b, `"stringValue":`...), v.AsString())
	case attribute.INT64:
		b = strconv.AppendInt(append(b, `"intValue":"`...), v.AsInt64(), 10)
		b = append(b, '"')
	case attribute.BOOL:
		b = strconv.AppendBool(append(b, `"boolValue":`...), v.AsBool())
	case attribute.FLOAT64:
		b = appendDouble(append(b, `"doubleValue":`...), v.AsFloat64())
	case attribute.STRINGSLICE:
		b = appendArrayJSON(b, v.AsStringSlice(), attribute.StringValue)
	case attribute.INT64SLICE:
		b = appendArrayJSON(b, v.AsInt64Slice(), attribute.Int64Value)
	case attribute.BOOLSLICE:
		b = appendArrayJSON(b, v.AsBoolSlice(), attribute.BoolValue)
	case attribute.FLOAT64SLICE:
		b = appendArrayJSON(b, v.AsFloat64Slice(), attribute.Float64Value)
	case attribute.BYTESLICE:
		b = base64.StdEncoding.AppendEncode(append(b, `"bytesValue":"`...), v.AsByteSlice())
		b = append(b, '"')
	case attribute.SLICE:
		b = appendArrayJSON(b, v.AsSlice(), itself)
	case attribute.MAP:
		b = appendList(append(b, `"kvlistValue":{"values":`...), v.AsMap(), appendKeyValueJSON)
		b = append(b, '}')
	}
	return append(b, '}')
}

func appendArrayJSON[T any](b []byte, elements []T, value func(T) attribute.Value) []byte {
	b = append(b, `"arrayValue":{"values":`...)
	b = appendList(b, elements, func(b []byte, e T) []byte { return appendValueJSON(b, value(e)) })
	return append(b, '}')
}

func appendList[T any](b []byte, elements []T, element func([]byte, T) []byte) []byte {
	b = append(b, '[')
	for i, e := range elements {
		if i > 0 {
			b = append(b, ',')
		}
		b = element(b, e)
	}
	return append(b, ']')
}

func appendCountJSON(b []byte, member string, count uint32) []byte {
	if count == 0 {
		return b
	}
	return strconv.AppendUint(append(b, member...), uint64(count), 10)
}

func appendHex(b, id []byte) []byte {
	return append(hex.AppendEncode(append(b, '"'), id), '"')
}

func appendNanos(b []byte, ns uint64) []byte {
	return append(strconv.AppendUint(append(b, '"'), ns, 10), '"')
}

func appendDouble(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(b, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(b, `"-Infinity"`...)
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}

func appendQuote(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, valid(s)) // fails for nothing but invalid UTF-8
	return b
}
