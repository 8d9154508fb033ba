package otlp

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	"google.golang.org/protobuf/proto"
)

func TestBatchGroups(t *testing.T) {
	spans := random{rand.New(rand.NewPCG(7, 7))}.spans(5, 200)
	b := batch(spans)
	if b.Len() != 200 {
		t.Errorf("Len() = %d, want 200", b.Len())
	}
	if n := len(b.ResourceSpans()); n != 5 {
		t.Errorf("%d resources for 5 sessions", n)
	}
	equal(t, structTraces(spans), marshalled(t, b))
}

// Two sessions that say the same of themselves stay apart.
func TestBatchOneResourceForEachSession(t *testing.T) {
	r := random{rand.New(rand.NewPCG(8, 8))}
	one, other := projection.Session{ID: "s", Harness: "h"}, projection.Session{ID: "s", Harness: "h"}
	spans := []*projection.Span{r.span(&one), r.span(&other), r.span(&one)}
	b := batch(spans)
	equal(t, structTraces(spans), marshalled(t, b))
	if n := len(b.ResourceSpans()); n != 2 {
		t.Errorf("%d resources, want 2", n)
	}
}

func TestBatchSize(t *testing.T) {
	spans := random{rand.New(rand.NewPCG(9, 9))}.spans(3, 40)
	b := NewBatch(testConfig)
	if b.Size() != 0 {
		t.Errorf("Size() of an empty batch = %d", b.Size())
	}
	for i, s := range spans {
		b.Add(s)
		if got, want := b.Size(), proto.Size(structTraces(spans[:i+1])); got != want {
			t.Fatalf("Size() after %d spans = %d, want %d", i+1, got, want)
		}
	}
}

// A batch that was reset gives what a new one gives, whatever it held before.
func TestBatchReset(t *testing.T) {
	r := random{rand.New(rand.NewPCG(10, 10))}
	b := NewBatch(testConfig)
	for _, sessions := range []int{4, 1, 2, 6} {
		spans := r.spans(sessions, 10*sessions)
		for _, s := range spans {
			b.Add(s)
		}
		equal(t, structTraces(spans), marshalled(t, b))
		if diff := cmp.Diff(jsonLine(t, batch(spans)), jsonLine(t, b)); diff != "" {
			t.Errorf("JSON of %d sessions (-new +reused):\n%s", sessions, diff)
		}
		b.Reset()
		if b.Len() != 0 || b.Size() != 0 || len(b.ResourceSpans()) != 0 {
			t.Errorf("after Reset: %d spans, %d bytes, %d resources", b.Len(), b.Size(), len(b.ResourceSpans()))
		}
	}
}

func TestBatchAllocatesNothingForASpan(t *testing.T) {
	s := benchSpans(1)[0]
	s.Attributes = s.Attributes[:10] // the API hands out slices only as copies
	b := NewBatch(testConfig)
	add := func() {
		b.Reset()
		for range 100 {
			b.Add(s)
		}
	}
	add()
	// What is left is for the resource, and does not grow with the spans.
	if n := testing.AllocsPerRun(20, add); n > 50 {
		t.Errorf("%v allocations for 100 spans", n)
	}
}

func TestBatchWithoutConfig(t *testing.T) {
	s := random{rand.New(rand.NewPCG(11, 11))}.span(&projection.Session{Harness: "h", Version: "v"})
	b := NewBatch(Config{})
	b.Add(s)
	want := structTraces([]*projection.Span{s})
	want.ResourceSpans[0].Resource.Attributes = structAttributes(Resource(s.Session))
	want.ResourceSpans[0].ScopeSpans[0].Scope.Version = ""
	want.ResourceSpans[0].ScopeSpans[0].SchemaUrl = ""
	equal(t, want, marshalled(t, b))
	equal(t, want, fromJSON(t, jsonLine(t, b)))
}

func TestResource(t *testing.T) {
	for _, tc := range []struct {
		name    string
		session projection.Session
		extra   []attribute.KeyValue
		want    []attribute.KeyValue
	}{
		{
			name:    "harness and version",
			session: projection.Session{Harness: "pi", Version: "1.0"},
			want:    []attribute.KeyValue{attribute.String("service.name", "pi"), attribute.String("service.version", "1.0")},
		},
		{
			name: "a session that does not name its harness",
			want: []attribute.KeyValue{attribute.String("service.name", "unknown_service")},
		},
		{
			name:    "extra ones, sorted in",
			session: projection.Session{Harness: "pi"},
			extra:   []attribute.KeyValue{attribute.String("zone", "z"), attribute.String("host.name", "box")},
			want: []attribute.KeyValue{
				attribute.String("host.name", "box"), attribute.String("service.name", "pi"), attribute.String("zone", "z"),
			},
		},
		{
			name:    "an extra one instead of ours",
			session: projection.Session{Harness: "pi"},
			extra:   []attribute.KeyValue{attribute.String("service.name", "mine")},
			want:    []attribute.KeyValue{attribute.String("service.name", "mine")},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			extra := slices.Clone(tc.extra)
			got := Resource(&tc.session, tc.extra...)
			if diff := cmp.Diff(plainAttributes(tc.want), plainAttributes(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(plainAttributes(extra), plainAttributes(tc.extra)); diff != "" {
				t.Errorf("the caller's attributes were changed (-before +after):\n%s", diff)
			}
		})
	}
}
