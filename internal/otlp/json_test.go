package otlp

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/spantest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// The example stands for the rules of OTLP/JSON: the specification gives no test vectors.
func TestWriteJSON(t *testing.T) {
	id := trace.TraceID{0x5b, 0x8e, 0xff, 0xf7, 0x98, 0x03, 0x81, 0x03, 0xd2, 0x69, 0xb6, 0x33, 0x81, 0x3f, 0xc6, 0x0c}
	b := NewBatch(testConfig)
	b.Add(&projection.Span{
		TraceID: id,
		SpanID:  trace.SpanID{0xee, 0xe1, 0x9b, 0x7e, 0xc3, 0xc1, 0xb1, 0x74},
		Parent:  trace.SpanID{0xee, 0xe1, 0x9b, 0x7e, 0xc3, 0xc1, 0xb1, 0x73},
		Name:    `say "<hi>"`,
		Kind:    trace.SpanKindClient,
		Start:   time.Unix(1544712660, 0),
		End:     time.Unix(1544712661, 7),
		Attributes: []attribute.KeyValue{
			attribute.String("traceId", "spanId"),
			attribute.Int64("i", 9007199254740993),
			attribute.Float64("n", math.NaN()),
			attribute.ByteSlice("y", []byte{1, 2, 3, 4}),
		},
		DroppedAttributes: 2,
		Events:            []projection.Event{{Name: "mark", Time: time.Unix(1544712660, 1)}},
		Links:             []projection.Link{{TraceID: id, SpanID: trace.SpanID{7: 1}}},
		Status:            projection.Status{Code: codes.Error, Description: "line\nend"},
		Session:           &projection.Session{Harness: "pi", Version: "3"},
	})
	want := strings.NewReplacer("\n", "", "\t", "").Replace(`{"resourceSpans":[{
		"resource":{"attributes":[
			{"key":"host.name","value":{"stringValue":"box"}},
			{"key":"service.name","value":{"stringValue":"pi"}},
			{"key":"service.version","value":{"stringValue":"3"}}
		]},
		"scopeSpans":[{
			"scope":{"name":"github.com/sessionspan/sessionspan","version":"1.2.3"},
			"spans":[{
				"traceId":"5b8efff798038103d269b633813fc60c",
				"spanId":"eee19b7ec3c1b174",
				"parentSpanId":"eee19b7ec3c1b173",
				"flags":257,"name":"say \"<hi>\"","kind":3,
				"startTimeUnixNano":"1544712660000000000","endTimeUnixNano":"1544712661000000007",
				"attributes":[
					{"key":"traceId","value":{"stringValue":"spanId"}},
					{"key":"i","value":{"intValue":"9007199254740993"}},
					{"key":"n","value":{"doubleValue":"NaN"}},
					{"key":"y","value":{"bytesValue":"AQIDBA=="}}
				],
				"droppedAttributesCount":2,
				"events":[{"timeUnixNano":"1544712660000000001","name":"mark"}],
				"links":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"0000000000000001","flags":257}],
				"status":{"message":"line\nend","code":2}
			}],
			"schemaUrl":"https://opentelemetry.io/schemas/1.41.0"
		}]
	}]}`) + "\n"
	if diff := cmp.Diff(want, jsonLine(t, b)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWriteJSONError(t *testing.T) {
	b := NewBatch(testConfig)
	full := errors.New("disk full")
	r, w := io.Pipe()
	_ = r.CloseWithError(full)
	if err := WriteJSON(w, b); err != nil {
		t.Errorf("an empty batch writes: %v", err)
	}
	b.Add(spantest.Chats(1)[0])
	if err := WriteJSON(w, b); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
	deep := attribute.IntValue(1)
	for range 4000 {
		deep = attribute.SliceValue(deep)
	}
	b.Add(&projection.Span{Session: new(projection.Session), Attributes: []attribute.KeyValue{{Key: "deep", Value: deep}}})
	var out bytes.Buffer
	if err := WriteJSON(&out, b); err == nil || out.Len() != 0 {
		t.Errorf("values nested too deep: error %v, %d bytes", err, out.Len())
	}
}

func jsonLine(t *testing.T, b *Batch) string {
	t.Helper()
	var out bytes.Buffer
	if err := WriteJSON(&out, b); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
