package otlp

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
)

var testConfig = Config{
	Resource: func(s *projection.Session) []attribute.KeyValue {
		return Resource(s, attribute.String("host.name", "box"))
	},
	ScopeVersion: "1.2.3",
	SchemaURL:    "https://opentelemetry.io/schemas/1.41.0",
}

func TestBatch(t *testing.T) {
	one, other := &projection.Session{Harness: "h"}, &projection.Session{Harness: "h"} // alike, but two
	b := NewBatch(Config{})
	add := func(name string, s *projection.Session) { b.Add(&projection.Span{Name: name, Session: s}) }
	add("a", one)
	add("b", other)
	add("c", one)
	before := b.ResourceSpans()
	if got, want := names(before), [][]string{{"a", "c"}, {"b"}}; !cmp.Equal(want, got) || b.Len() != 3 {
		t.Errorf("%d spans %q, want %q", b.Len(), got, want)
	}
	for _, r := range before {
		got := r.GetResource().GetAttributes()
		want := keyValues([]attribute.KeyValue{attribute.String("service.name", "h")})
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Errorf("resource (-want +got):\n%s", diff)
		}
	}
	b.Reset()
	if b.Len() != 0 || b.Size() != 0 || len(b.ResourceSpans()) != 0 {
		t.Errorf("after Reset: %d spans, %d bytes, %d resources", b.Len(), b.Size(), len(b.ResourceSpans()))
	}
	add("d", other)
	if got, want := names(b.ResourceSpans()), [][]string{{"d"}}; !cmp.Equal(want, got) {
		t.Errorf("after Reset: %q, want %q", got, want)
	}
	if got, want := names(before), [][]string{{"a", "c"}, {"b"}}; !cmp.Equal(want, got) {
		t.Errorf("what was handed out before Reset became %q", got)
	}
}

func names(resources []*tracepb.ResourceSpans) (names [][]string) {
	for _, r := range resources {
		var of []string
		for _, s := range r.GetScopeSpans()[0].GetSpans() {
			of = append(of, s.GetName())
		}
		names = append(names, of)
	}
	return names
}

func TestBatchSize(t *testing.T) {
	b := NewBatch(testConfig)
	if b.Size() != 0 {
		t.Errorf("Size() of an empty batch = %d", b.Size())
	}
	for i, s := range benchSpans(1024) {
		b.Add(s)
		s.Session = new(projection.Session)
		b.Add(s)
		if i&(i+1) != 0 {
			continue
		}
		exact := proto.Size(&tracepb.TracesData{ResourceSpans: b.ResourceSpans()})
		if over := b.Size() - exact; over < 0 || over > 8*len(b.ResourceSpans()) {
			t.Errorf("Size() after %d spans = %d, which is %d more than the %d bytes", b.Len(), b.Size(), over, exact)
		}
	}
}

func TestResource(t *testing.T) {
	for _, tc := range []struct {
		name    string
		session projection.Session
		extra   string // a key, if any
		want    string
	}{
		{"harness and version", projection.Session{Harness: "pi", Version: "1"}, "", "service.name=pi service.version=1"},
		{"a session that does not name its harness", projection.Session{}, "", "service.name=unknown_service"},
		{"an extra one, sorted in", projection.Session{Harness: "pi"}, "host.name", "host.name=x service.name=pi"},
		{"an extra one instead of ours", projection.Session{Harness: "pi"}, "service.name", "service.name=x"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var extra []attribute.KeyValue
			if tc.extra != "" {
				extra = append(extra, attribute.String(tc.extra, "x"))
			}
			var got []string
			for _, kv := range Resource(&tc.session, extra...) {
				got = append(got, string(kv.Key)+"="+kv.Value.AsString())
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
