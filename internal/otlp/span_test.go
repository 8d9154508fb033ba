package otlp

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
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
)

var inf, nan = math.Inf(1), math.NaN()

func TestSpan(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	for _, tc := range []struct {
		name string
		span projection.Span
	}{
		{"nothing but ids", projection.Span{}},
		{"a child", projection.Span{Parent: trace.SpanID{9}}},
		{"times to the nanosecond", projection.Span{Start: at, End: at.Add(1)}},
		{"a client", projection.Span{Name: "chat m", Kind: trace.SpanKindClient}},
		{"an error", projection.Span{Status: projection.Status{Code: codes.Error, Description: "no"}}},
		{"an error without words", projection.Span{Status: projection.Status{Code: codes.Error}}},
		{"an ok", projection.Span{Status: projection.Status{Code: codes.Ok}}},
		{"dropped", projection.Span{DroppedAttributes: 1, DroppedEvents: 300, DroppedLinks: math.MaxUint32}},
		{"every attribute type", projection.Span{Attributes: []attribute.KeyValue{
			attribute.String("string", "s"),
			attribute.String("empty string", ""),
			attribute.Int64("int", math.MinInt64),
			attribute.Int64("zero", 0),
			attribute.Float64("double", -0.5),
			attribute.Float64("zero double", 0),
			attribute.Bool("true", true),
			attribute.Bool("false", false),
			attribute.StringSlice("strings", []string{"a", "", "b"}),
			attribute.StringSlice("no strings", nil),
			attribute.Int64Slice("ints", []int64{1, -1, 0}),
			attribute.BoolSlice("bools", []bool{true, false}),
			attribute.Float64Slice("doubles", []float64{1, inf, nan}),
			attribute.ByteSlice("bytes", []byte{0, 255}),
			attribute.Slice("values", attribute.IntValue(1), attribute.StringValue("x"), attribute.Value{}),
			attribute.Map("map", attribute.Int("a", 1), attribute.Map("b")),
			{Key: "empty"},
		}}},
		{"events", projection.Span{Events: []projection.Event{
			{Name: "a", Time: at, Attributes: []attribute.KeyValue{attribute.Int("n", 1)}},
			{Time: at},
		}}},
		{"links", projection.Span{Links: []projection.Link{
			{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, Attributes: []attribute.KeyValue{attribute.Int("n", 1)}},
			{TraceID: trace.TraceID{3}, SpanID: trace.SpanID{4}},
		}}},
		{"broken UTF-8 everywhere", projection.Span{
			Name:       "a\xff\xfeb",
			Attributes: []attribute.KeyValue{attribute.String("k\x80", "v\xc3"), attribute.StringSlice("l", []string{"\xed\xa0\x80"})},
			Events:     []projection.Event{{Name: "\xf0", Time: at}},
			Status:     projection.Status{Code: codes.Error, Description: "\xff!"},
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &tc.span
			s.TraceID, s.SpanID = trace.TraceID{15: 1}, trace.SpanID{7: 1}
			if s.Start.IsZero() {
				s.Start, s.End = time.Unix(0, 0), time.Unix(0, 0)
			}
			equal(t, structSpan(s), Span(s))
			sameBytes(t, s)
		})
	}
}

func TestUnixNano(t *testing.T) {
	for _, tc := range []struct {
		name string
		time time.Time
		want uint64
	}{
		{"the zero time", time.Time{}, 0},
		{"just before 1970", time.Unix(0, -1), 0},
		{"1970", time.Unix(0, 0), 0},
		{"the first nanosecond", time.Unix(0, 1), 1},
		{"today", time.Unix(1_790_000_000, 123_456_789), 1_790_000_000_123_456_789},
		{"the last whole second", time.Unix(9_223_372_035, 999_999_999), 9_223_372_035_999_999_999},
		{"2262", time.Unix(9_223_372_037, 0), math.MaxInt64},
		{"year 9999", time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), math.MaxInt64},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := unixNano(tc.time); got != tc.want {
				t.Errorf("unixNano(%v) = %d, want %d", tc.time, got, tc.want)
			}
		})
	}
}

// A nested message whose length needs one byte more than the one before must not lose or keep a byte too many.
func TestShut(t *testing.T) {
	for _, size := range []int{0, 1, 127, 128, 129, 16383, 16384, 2097151, 2097152} {
		t.Run(fmt.Sprint(size, " bytes"), func(t *testing.T) {
			payload := bytes.Repeat([]byte("abc"), size/3+1)[:size]
			b, start := open([]byte("before"), 3)
			got := append(shut(append(b, payload...), start), "after"...)
			want := append(protowire.AppendBytes(append([]byte("before"), 0x1a), payload), "after"...)
			if !bytes.Equal(got, want) {
				t.Errorf("%d bytes became %d, want %d", size, len(got), len(want))
			}
		})
	}
}

func TestAppendSpanKeepsWhatIsThere(t *testing.T) {
	s := random{rand.New(rand.NewPCG(1, 1))}.span(nil)
	got := AppendSpan([]byte("before"), s)
	if want := append([]byte("before"), AppendSpan(nil, s)...); !bytes.Equal(got, want) {
		t.Error("AppendSpan gives other bytes after some that were there")
	}
}

// FuzzSpan holds both encodings of random spans against the generated structs.
func FuzzSpan(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint8(1+seed%3), uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, sessions, n uint8) {
		spans := random{rand.New(rand.NewPCG(seed, 0))}.spans(int(sessions%8)+1, int(n%8))
		for _, s := range spans {
			sameBytes(t, s)
		}
		want := structTraces(spans)
		b := batch(spans)
		equal(t, want, marshalled(t, b))
		if got, want := b.Size(), proto.Size(want); got != want {
			t.Errorf("Size() = %d, want %d", got, want)
		}
		if len(spans) == 0 {
			return
		}
		line := jsonLine(t, b)
		equal(t, want, fromJSON(t, line))
		wantPlain, gotPlain := plainTraces(spans), decodeJSON(t, line)
		if len(wantPlain) != len(gotPlain) {
			t.Fatalf("%d spans in the JSON, want %d", len(gotPlain), len(wantPlain))
		}
		for i := range wantPlain {
			if diff := cmp.Diff(wantPlain[i], gotPlain[i], sameNumbers); diff != "" {
				t.Fatalf("span %d of the JSON, read by the names of its members (-want +got):\n%s", i, diff)
			}
		}
	})
}

func sameBytes(t *testing.T, s *projection.Span) {
	t.Helper()
	want, err := proto.MarshalOptions{Deterministic: true}.Marshal(structSpan(s))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(AppendSpan(nil, s), want) {
		t.Errorf("AppendSpan gives other bytes than the generated code for %v", structSpan(s))
	}
}

// equal compares messages and shows where they part. It does not use cmp.Diff, which takes minutes over large ones.
func equal(t *testing.T, want, got proto.Message) {
	t.Helper()
	if proto.Equal(want, got) {
		return
	}
	w, g := prototext.Format(want), prototext.Format(got)
	at := 0
	for at < min(len(w), len(g)) && w[at] == g[at] {
		at++
	}
	around := func(s string) string { return s[max(0, at-200):min(len(s), at+200)] }
	t.Errorf("want …%s…\n got …%s…", around(w), around(g))
}

func batch(spans []*projection.Span) *Batch {
	b := NewBatch(testConfig)
	for _, s := range spans {
		b.Add(s)
	}
	return b
}

// marshalled returns what a receiver of the batch has.
func marshalled(t *testing.T, b *Batch) *tracepb.TracesData {
	t.Helper()
	wire, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: b.ResourceSpans()})
	if err != nil {
		t.Fatal(err)
	}
	if len(wire) != b.Size() {
		t.Errorf("Size() = %d, but the batch has %d bytes", b.Size(), len(wire))
	}
	got := new(tracepb.TracesData)
	if err := proto.Unmarshal(wire, got); err != nil {
		t.Fatal(err)
	}
	return got
}
