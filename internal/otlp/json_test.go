package otlp

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

// The example stands for the rules of OTLP/JSON: the spec gives no test vectors.
func TestWriteJSON(t *testing.T) {
	id := trace.TraceID{0x5b, 0x8e, 0xff, 0xf7, 0x98, 0x03, 0x81, 0x03, 0xd2, 0x69, 0xb6, 0x33, 0x81, 0x3f, 0xc6, 0x0c}
	b := batch([]*projection.Span{{
		TraceID: id,
		SpanID:  trace.SpanID{0xee, 0xe1, 0x9b, 0x7e, 0xc3, 0xc1, 0xb1, 0x74},
		Parent:  trace.SpanID{0xee, 0xe1, 0x9b, 0x7e, 0xc3, 0xc1, 0xb1, 0x73},
		Name:    `say "<hi>"`,
		Kind:    trace.SpanKindClient,
		Start:   time.Unix(1544712660, 0),
		End:     time.Unix(1544712661, 7),
		Attributes: []attribute.KeyValue{
			attribute.String("s", "line\nend"),
			attribute.Int64("i", 9007199254740993),
			attribute.Float64("d", 0.5),
			attribute.Float64("n", math.NaN()),
			attribute.Bool("b", false),
			attribute.ByteSlice("y", []byte{1, 2, 3, 4}),
			attribute.StringSlice("l", []string{"stop"}),
			attribute.Map("m", attribute.Int("k", 1)),
			{Key: "e"},
		},
		DroppedAttributes: 2,
		Events:            []projection.Event{{Name: "mark", Time: time.Unix(1544712660, 1)}},
		Links:             []projection.Link{{TraceID: id, SpanID: trace.SpanID{7: 1}}},
		Status:            projection.Status{Code: codes.Error, Description: "failed"},
		Session:           &projection.Session{Harness: "pi", Version: "3"},
	}})
	want := strings.NewReplacer("\n", "", "\t", "").Replace(`{"resourceSpans":[{
		"resource":{"attributes":[
			{"key":"host.name","value":{"stringValue":"box"}},
			{"key":"process.pid","value":{"intValue":"42"}},
			{"key":"service.name","value":{"stringValue":"pi"}},
			{"key":"service.version","value":{"stringValue":"3"}}
		]},
		"scopeSpans":[{
			"scope":{"name":"github.com/sessionspan/sessionspan","version":"1.2.3"},
			"spans":[{
				"traceId":"5b8efff798038103d269b633813fc60c",
				"spanId":"eee19b7ec3c1b174",
				"parentSpanId":"eee19b7ec3c1b173",
				"name":"say \"<hi>\"",
				"kind":3,
				"startTimeUnixNano":"1544712660000000000",
				"endTimeUnixNano":"1544712661000000007",
				"attributes":[
					{"key":"s","value":{"stringValue":"line\nend"}},
					{"key":"i","value":{"intValue":"9007199254740993"}},
					{"key":"d","value":{"doubleValue":0.5}},
					{"key":"n","value":{"doubleValue":"NaN"}},
					{"key":"b","value":{"boolValue":false}},
					{"key":"y","value":{"bytesValue":"AQIDBA=="}},
					{"key":"l","value":{"arrayValue":{"values":[{"stringValue":"stop"}]}}},
					{"key":"m","value":{"kvlistValue":{"values":[{"key":"k","value":{"intValue":"1"}}]}}},
					{"key":"e","value":{}}
				],
				"droppedAttributesCount":2,
				"events":[{"timeUnixNano":"1544712660000000001","name":"mark"}],
				"links":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"0000000000000001","flags":257}],
				"status":{"message":"failed","code":2},
				"flags":257
			}],
			"schemaUrl":"https://opentelemetry.io/schemas/1.41.0"
		}]
	}]}`) + "\n"
	if diff := cmp.Diff(want, jsonLine(t, b)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWriteJSONOneLine(t *testing.T) {
	spans := random{rand.New(rand.NewPCG(3, 3))}.spans(3, 60)
	b := batch(spans)
	line := jsonLine(t, b)
	if n := strings.Count(line, "\n"); n != 1 || !strings.HasSuffix(line, "\n") {
		t.Errorf("%d line feeds, want one at the end", n)
	}
	if again := jsonLine(t, b); again != line {
		t.Error("the same batch gives other bytes the second time")
	}
	if other := jsonLine(t, batch(spans)); other != line {
		t.Error("another batch of the same spans gives other bytes")
	}
}

func TestWriteJSONEmpty(t *testing.T) {
	if got := jsonLine(t, NewBatch(testConfig)); got != "" {
		t.Errorf("an empty batch writes %q", got)
	}
}

func TestWriteJSONError(t *testing.T) {
	full := errors.New("disk full")
	if err := WriteJSON(writer(func([]byte) (int, error) { return 0, full }), batch(benchSpans(1))); !errors.Is(err, full) {
		t.Errorf("error %v, want %v", err, full)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func jsonLine(t *testing.T, b *Batch) string {
	t.Helper()
	var out bytes.Buffer
	if err := WriteJSON(&out, b); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// fromJSON reads a line with protojson, to which the ids have to be base64.
func fromJSON(t *testing.T, line string) *tracepb.TracesData {
	t.Helper()
	ids := regexp.MustCompile(`"(traceId|spanId|parentSpanId)":"([0-9a-f]+)"`)
	line = ids.ReplaceAllStringFunc(line, func(member string) string {
		m := ids.FindStringSubmatch(member)
		id, err := hex.DecodeString(m[2])
		if err != nil {
			t.Fatal(err)
		}
		return `"` + m[1] + `":"` + base64.StdEncoding.EncodeToString(id) + `"`
	})
	got := new(tracepb.TracesData)
	if err := protojson.Unmarshal([]byte(line), got); err != nil {
		t.Fatalf("%v\n%s", err, line)
	}
	return got
}

// The field names of the OTLP specification, for decodeJSON.
type (
	jsonTraces struct {
		ResourceSpans []struct {
			Resource struct {
				Attributes []jsonKeyValue `json:"attributes"`
			} `json:"resource"`
			ScopeSpans []struct {
				Scope struct {
					Name    string `json:"name"`
					Version string `json:"version"`
				} `json:"scope"`
				Spans     []jsonSpan `json:"spans"`
				SchemaURL string     `json:"schemaUrl"`
			} `json:"scopeSpans"`
		} `json:"resourceSpans"`
	}
	jsonSpan struct {
		TraceID                string         `json:"traceId"`
		SpanID                 string         `json:"spanId"`
		ParentSpanID           string         `json:"parentSpanId"`
		Name                   string         `json:"name"`
		Kind                   int            `json:"kind"`
		StartTimeUnixNano      string         `json:"startTimeUnixNano"`
		EndTimeUnixNano        string         `json:"endTimeUnixNano"`
		Attributes             []jsonKeyValue `json:"attributes"`
		DroppedAttributesCount uint32         `json:"droppedAttributesCount"`
		Events                 []struct {
			TimeUnixNano string         `json:"timeUnixNano"`
			Name         string         `json:"name"`
			Attributes   []jsonKeyValue `json:"attributes"`
		} `json:"events"`
		DroppedEventsCount uint32 `json:"droppedEventsCount"`
		Links              []struct {
			TraceID    string         `json:"traceId"`
			SpanID     string         `json:"spanId"`
			Attributes []jsonKeyValue `json:"attributes"`
			Flags      uint32         `json:"flags"`
		} `json:"links"`
		DroppedLinksCount uint32 `json:"droppedLinksCount"`
		Status            struct {
			Message string `json:"message"`
			Code    int    `json:"code"`
		} `json:"status"`
		Flags uint32 `json:"flags"`
	}
	jsonKeyValue struct {
		Key   string                     `json:"key"`
		Value map[string]json.RawMessage `json:"value"`
	}
)

// plain types, to which both the spans and the JSON are brought to be compared.
type (
	plainSpan struct {
		Resource                                   []plainKeyValue
		TraceID, SpanID, Parent, Name, Description string
		Kind, Code                                 int
		Start, End                                 string
		Attributes                                 []plainKeyValue
		Marks                                      []plainMark
		Dropped                                    [3]uint32
	}
	// plainMark is an event or a link.
	plainMark struct {
		A, B       string
		Attributes []plainKeyValue
	}
	plainKeyValue struct {
		Key   string
		Value any
	}
	plainBytes string
)

var sameNumbers = cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateEmpty()}

func plainTraces(spans []*projection.Span) []plainSpan {
	var out []plainSpan
	for _, group := range structTraces(spans).ResourceSpans {
		for _, p := range group.ScopeSpans[0].Spans {
			for _, s := range spans { // in the order of the groups
				if bytes.Equal(s.SpanID[:], p.SpanId) {
					out = append(out, plain(s))
				}
			}
		}
	}
	return out
}

func plain(s *projection.Span) plainSpan {
	nanos := func(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
	p := plainSpan{
		Resource:    plainAttributes(testConfig.Resource(s.Session)),
		TraceID:     s.TraceID.String(),
		SpanID:      s.SpanID.String(),
		Name:        clean(s.Name),
		Description: clean(s.Status.Description),
		Kind:        int(s.Kind),
		Code:        map[codes.Code]int{codes.Unset: 0, codes.Ok: 1, codes.Error: 2}[s.Status.Code],
		Start:       nanos(s.Start),
		End:         nanos(s.End),
		Attributes:  plainAttributes(s.Attributes),
		Dropped:     [3]uint32{s.DroppedAttributes, s.DroppedEvents, s.DroppedLinks},
	}
	if s.Parent.IsValid() {
		p.Parent = s.Parent.String()
	}
	for _, e := range s.Events {
		p.Marks = append(p.Marks, plainMark{nanos(e.Time), clean(e.Name), plainAttributes(e.Attributes)})
	}
	for _, l := range s.Links {
		p.Marks = append(p.Marks, plainMark{l.TraceID.String(), l.SpanID.String(), plainAttributes(l.Attributes)})
	}
	return p
}

func plainAttributes(kvs []attribute.KeyValue) []plainKeyValue {
	var out []plainKeyValue
	for _, kv := range kvs {
		out = append(out, plainKeyValue{clean(string(kv.Key)), plainValue(kv.Value)})
	}
	return out
}

func plainValue(v attribute.Value) any {
	switch v := v.AsInterface().(type) {
	case string:
		return clean(v)
	case []string:
		return plainList(v, attribute.StringValue)
	case []int64:
		return plainList(v, attribute.Int64Value)
	case []bool:
		return plainList(v, attribute.BoolValue)
	case []float64:
		return plainList(v, attribute.Float64Value)
	case []attribute.Value:
		return plainList(v, func(v attribute.Value) attribute.Value { return v })
	case []attribute.KeyValue:
		return plainAttributes(v)
	case []byte:
		return plainBytes(v)
	default: // nil, bool, int64, float64
		return v
	}
}

func plainList[T any](elements []T, value func(T) attribute.Value) any {
	var out []any
	for _, e := range elements {
		out = append(out, plainValue(value(e)))
	}
	return out
}

// decodeJSON reads a line by the names that the specification gives its members, and takes no other.
func decodeJSON(t *testing.T, line string) []plainSpan {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	var traces jsonTraces
	if err := d.Decode(&traces); err != nil {
		t.Fatalf("%v\n%s", err, line)
	}
	var out []plainSpan
	for _, group := range traces.ResourceSpans {
		for _, scope := range group.ScopeSpans {
			if scope.Scope.Name != ScopeName || scope.Scope.Version != testConfig.ScopeVersion ||
				scope.SchemaURL != testConfig.SchemaURL {
				t.Errorf("scope %+v with schema %q", scope.Scope, scope.SchemaURL)
			}
			for _, s := range scope.Spans {
				if s.Flags != Flags {
					t.Errorf("flags %#x, want %#x", s.Flags, Flags)
				}
				p := plainSpan{
					Resource: decodeAttributes(t, group.Resource.Attributes),
					TraceID:  s.TraceID, SpanID: s.SpanID, Parent: s.ParentSpanID,
					Name: s.Name, Description: s.Status.Message, Kind: s.Kind, Code: s.Status.Code,
					Start: s.StartTimeUnixNano, End: s.EndTimeUnixNano,
					Attributes: decodeAttributes(t, s.Attributes),
					Dropped:    [3]uint32{s.DroppedAttributesCount, s.DroppedEventsCount, s.DroppedLinksCount},
				}
				for _, e := range s.Events {
					p.Marks = append(p.Marks, plainMark{e.TimeUnixNano, e.Name, decodeAttributes(t, e.Attributes)})
				}
				for _, l := range s.Links {
					p.Marks = append(p.Marks, plainMark{l.TraceID, l.SpanID, decodeAttributes(t, l.Attributes)})
				}
				out = append(out, p)
			}
		}
	}
	return out
}

func decodeAttributes(t *testing.T, kvs []jsonKeyValue) []plainKeyValue {
	t.Helper()
	var out []plainKeyValue
	for _, kv := range kvs {
		out = append(out, plainKeyValue{kv.Key, decodeValue(t, kv.Value)})
	}
	return out
}

func decodeValue(t *testing.T, v map[string]json.RawMessage) any {
	t.Helper()
	if len(v) > 1 {
		t.Errorf("a value with %d members", len(v))
	}
	for member, raw := range v {
		switch member {
		case "stringValue":
			return decode[string](t, raw)
		case "boolValue":
			return decode[bool](t, raw)
		case "intValue":
			n, err := strconv.ParseInt(decode[string](t, raw), 10, 64)
			if err != nil {
				t.Error(err)
			}
			return n
		case "doubleValue":
			if raw[0] != '"' {
				return decode[float64](t, raw)
			}
			return map[string]float64{"NaN": nan, "Infinity": inf, "-Infinity": -inf}[decode[string](t, raw)]
		case "bytesValue":
			return plainBytes(decode[[]byte](t, raw))
		case "arrayValue":
			var out []any
			for _, e := range decode[struct{ Values []map[string]json.RawMessage }](t, raw).Values {
				out = append(out, decodeValue(t, e))
			}
			return out
		case "kvlistValue":
			return decodeAttributes(t, decode[struct{ Values []jsonKeyValue }](t, raw).Values)
		default:
			t.Errorf("a value with the member %q", member)
		}
	}
	return nil
}

func decode[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Errorf("%v in %s", err, raw)
	}
	return v
}
