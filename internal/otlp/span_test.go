package otlp

import (
	"bytes"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
)

func TestSpan(t *testing.T) {
	for _, tc := range []struct {
		name string
		span projection.Span
		want string // beside ids and flags
	}{
		{"nothing", projection.Span{}, ``},
		{"a child", projection.Span{Parent: trace.SpanID{7: 9}}, `parent_span_id: "\x00\x00\x00\x00\x00\x00\x00\t"`},
		{
			"times to the nanosecond",
			projection.Span{Start: time.Unix(1_790_000_000, 123_456_789), End: time.Unix(9_223_372_036, 854_775_806)},
			`start_time_unix_nano: 1790000000123456789 end_time_unix_nano: 9223372036854775806`,
		},
		{
			"times out of range",
			projection.Span{Start: time.Unix(0, -1), End: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)},
			`start_time_unix_nano: 0 end_time_unix_nano: 9223372036854775807`,
		},
		{"an ok", projection.Span{Status: projection.Status{Code: codes.Ok}}, `status { code: STATUS_CODE_OK }`},
		{
			"dropped",
			projection.Span{DroppedAttributes: 1, DroppedEvents: 300, DroppedLinks: math.MaxUint32},
			`dropped_attributes_count: 1 dropped_events_count: 300 dropped_links_count: 4294967295`,
		},
		{
			"values without anything in them",
			projection.Span{Attributes: []attribute.KeyValue{attribute.StringSlice("l", nil), attribute.Map("m"), {Key: "e"}}},
			`attributes { key: "l" value { array_value {} } }
			attributes { key: "m" value { kvlist_value {} } }
			attributes { key: "e" value {} }`,
		},
		{"broken UTF-8 everywhere", projection.Span{
			Name:       "a\xff\xfeb",
			Attributes: []attribute.KeyValue{attribute.StringSlice("k\x80", []string{"v\xc3", "\xed\xa0\x80"})},
			Events:     []projection.Event{{Name: "\xf0", Time: time.Unix(0, 1)}},
			Status:     projection.Status{Code: codes.Error, Description: "\xff!"},
		}, `
			name: "a\uFFFDb"
			attributes { key: "k\uFFFD" value { array_value {
				values { string_value: "v\uFFFD" } values { string_value: "\uFFFD" }
			} } }
			events { time_unix_nano: 1 name: "\uFFFD" }
			status { code: STATUS_CODE_ERROR message: "\uFFFD!" }`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := new(tracepb.Span)
			if err := prototext.Unmarshal([]byte(tc.want), want); err != nil {
				t.Fatal(err)
			}
			want.TraceId, want.SpanId, want.Flags = make([]byte, 16), make([]byte, 8), 0x101
			want.TraceId[15], want.SpanId[7] = 1, 2
			tc.span.TraceID, tc.span.SpanID = trace.TraceID{15: 1}, trace.SpanID{7: 2}
			got, encoded := new(tracepb.Span), AppendSpan(nil, &tc.span)
			if err := proto.Unmarshal(encoded, got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			checkCanonical(t, &tc.span)
		})
	}
}

// checkCanonical holds an encoded span against what the generated code makes of it: the same bytes, and no field that it
// does not know; and against what its size is said to be.
func checkCanonical(t *testing.T, s *projection.Span) {
	t.Helper()
	encoded := AppendSpan(nil, s)
	if got, want := Size(s), 1+protowire.SizeBytes(len(encoded)); got != want {
		t.Errorf("the size is said to be %d, and is %d", got, want)
	}
	span := new(tracepb.Span)
	if err := proto.Unmarshal(encoded, span); err != nil {
		t.Fatal(err)
	}
	want, err := proto.MarshalOptions{Deterministic: true}.Marshal(span)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, encoded) {
		t.Errorf("encoded as\n%x\nwhich the generated code writes as\n%x", encoded, want)
	}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(encoded, span); err != nil || proto.Size(span) != len(encoded) {
		t.Errorf("%d bytes, %d of them in fields that are known; error %v", len(encoded), proto.Size(span), err)
	}
}
