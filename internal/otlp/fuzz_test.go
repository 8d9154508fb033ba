package otlp

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/proto"
)

// FuzzEncodings reads both encodings back: protobuf with the generated code, JSON by the names and forms that the OTLP
// specification gives its members.
func FuzzEncodings(f *testing.F) {
	f.Add("", uint8(0), int64(0), 0.0, false)
	f.Add("bash: go test ./…", uint8(3), int64(1_790_000_000_123_456_789), -2.5e-9, true)
	f.Add("\x00\x1b\x7f\"\\/<&>\u2028\ufffd\U0001f600", uint8(1), int64(math.MaxInt64), math.Inf(1), true)
	f.Add("broken \xed\xa0\x80\xff", uint8(2), int64(math.MinInt64), math.NaN(), false)
	f.Fuzz(func(t *testing.T, s string, small uint8, n int64, d float64, yes bool) {
		at := time.Unix(0, n)
		span := &projection.Span{
			TraceID: trace.TraceID{0xfb, 0xff, byte(n), 15: 1},
			SpanID:  trace.SpanID{0xfb, small, 7: 1},
			Parent:  trace.SpanID{small},
			Name:    s,
			Kind:    trace.SpanKind(small % 6),
			Start:   at,
			End:     at,
			Attributes: []attribute.KeyValue{
				attribute.String("k"+s, s),
				attribute.Int64("i", n),
				attribute.Float64("d", d),
				attribute.Bool("b", yes),
				attribute.ByteSlice("y", []byte(s)),
				attribute.StringSlice("ss", []string{s, ""}),
				attribute.Int64Slice("is", []int64{n}),
				attribute.Float64Slice("ds", []float64{d}),
				attribute.BoolSlice("bs", []bool{yes}),
				attribute.Slice("l", attribute.StringValue(s), attribute.Value{}),
				attribute.Map("m", attribute.String("k"+s, s)),
			},
			DroppedAttributes: uint32(small),
			Events:            []projection.Event{{Name: s, Time: at, Attributes: []attribute.KeyValue{attribute.Int64("i", n)}}},
			Status:            projection.Status{Code: codes.Error, Description: "e" + s},
			Session:           &projection.Session{Harness: s},
		}
		b := NewBatch(Config{ScopeVersion: s, SchemaURL: s})
		b.Add(span)

		checkCanonical(t, span)
		if data, err := b.Messages(); err != nil || proto.Size(data) != b.Size() {
			t.Errorf("the batch is said to have %d bytes, has %d, error %v:\n%v", b.Size(), proto.Size(data), err, data)
		}

		line := jsonLine(t, b)
		if again := jsonLine(t, b); again != line || strings.Index(line, "\n") != len(line)-1 {
			t.Errorf("not one line, or not the same twice:\n%s%s", line, again)
		}
		clean, nanos := strings.ToValidUTF8(s, "\uFFFD"), strconv.FormatInt(max(n, 0), 10)
		text, integer, double := object{"stringValue": clean}, object{"intValue": strconv.FormatInt(n, 10)}, jsonDouble(d)
		parent := span.Parent.String()
		if n <= 0 {
			nanos = ""
		}
		if small == 0 {
			parent = ""
		}
		want := nonzero(object{
			"traceId": span.TraceID.String(), "spanId": span.SpanID.String(), "parentSpanId": parent, "flags": 257.0,
			"name": clean, "kind": float64(small % 6), "startTimeUnixNano": nanos, "endTimeUnixNano": nanos,
			"attributes": []any{
				object{"key": "k" + clean, "value": text},
				object{"key": "i", "value": integer},
				object{"key": "d", "value": double},
				object{"key": "b", "value": object{"boolValue": yes}},
				object{"key": "y", "value": object{"bytesValue": base64.StdEncoding.EncodeToString([]byte(s))}},
				object{"key": "ss", "value": list("arrayValue", text, object{"stringValue": ""})},
				object{"key": "is", "value": list("arrayValue", integer)},
				object{"key": "ds", "value": list("arrayValue", double)},
				object{"key": "bs", "value": list("arrayValue", object{"boolValue": yes})},
				object{"key": "l", "value": list("arrayValue", text, object{})},
				object{"key": "m", "value": list("kvlistValue", object{"key": "k" + clean, "value": text})},
			},
			"droppedAttributesCount": float64(small),
			"events": []any{nonzero(object{
				"timeUnixNano": nanos, "name": clean, "attributes": []any{object{"key": "i", "value": integer}},
			})},
			"status": object{"code": 2.0, "message": "e" + clean},
		})
		var traces struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []object } }
		}
		if err := json.Unmarshal([]byte(line), &traces); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, traces.ResourceSpans[0].ScopeSpans[0].Spans[0]); diff != "" {
			t.Errorf("the span of the JSON (-want +got):\n%s\n%s", diff, line)
		}
	})
}

// object is a JSON object as package encoding/json reads it.
type object = map[string]any

// nonzero takes out the members that OTLP/JSON need not have.
func nonzero(o object) object {
	maps.DeleteFunc(o, func(_ string, v any) bool { return v == "" || v == 0.0 })
	return o
}

func list(member string, values ...any) object { return object{member: object{"values": values}} }

func jsonDouble(d float64) object {
	switch {
	case math.IsNaN(d):
		return object{"doubleValue": "NaN"}
	case math.IsInf(d, 1):
		return object{"doubleValue": "Infinity"}
	case math.IsInf(d, -1):
		return object{"doubleValue": "-Infinity"}
	}
	return object{"doubleValue": d}
}
