package otlp

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/spantest"
	"go.opentelemetry.io/otel/attribute"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
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
	before := messages(t, b)
	if got, want := spanNames(before), [][]string{{"a", "c"}, {"b"}}; !cmp.Equal(want, got) || b.Len() != 3 {
		t.Errorf("%d spans %q, want %q", b.Len(), got, want)
	}
	for _, r := range before {
		kvs := r.GetResource().GetAttributes()
		if len(kvs) != 1 || kvs[0].GetKey() != "service.name" || kvs[0].GetValue().GetStringValue() != "h" {
			t.Errorf("resource %v, want service.name h", kvs)
		}
	}
	b.Reset()
	if b.Len() != 0 || b.Size() != 0 || len(b.ResourceSpans()) != 0 {
		t.Errorf("after Reset: %d spans, %d bytes, %d resources", b.Len(), b.Size(), len(b.ResourceSpans()))
	}
	add("d", other)
	if got, want := spanNames(messages(t, b)), [][]string{{"d"}}; !cmp.Equal(want, got) {
		t.Errorf("after Reset: %q, want %q", got, want)
	}
	if got, want := spanNames(before), [][]string{{"a", "c"}, {"b"}}; !cmp.Equal(want, got) {
		t.Errorf("what was handed out before Reset became %q", got)
	}
}

func messages(t *testing.T, b *Batch) []*tracepb.ResourceSpans {
	t.Helper()
	data, err := b.Messages()
	if err != nil {
		t.Fatal(err)
	}
	return data.GetResourceSpans()
}

func spanNames(resources []*tracepb.ResourceSpans) (out [][]string) {
	for _, r := range resources {
		var of []string
		for _, s := range r.GetScopeSpans()[0].GetSpans() {
			of = append(of, s.GetName())
		}
		out = append(out, of)
	}
	return out
}

func TestBatchSize(t *testing.T) {
	b := NewBatch(testConfig)
	if b.Size() != 0 {
		t.Errorf("Size() of an empty batch = %d", b.Size())
	}
	for i, s := range spantest.Chats(1024) {
		b.Add(s)
		s.Session = new(projection.Session)
		b.Add(s)
		if i&(i+1) != 0 {
			continue
		}
		exact := proto.Size(&tracepb.TracesData{ResourceSpans: b.ResourceSpans()})
		if b.Size() != exact {
			t.Errorf("Size() after %d spans = %d, but they have %d bytes", b.Len(), b.Size(), exact)
		}
	}
}

func TestAddWithin(t *testing.T) {
	one, other := &projection.Session{Harness: "h"}, &projection.Session{Harness: "h"}
	b := NewBatch(Config{})
	if !b.AddWithin(1, &projection.Span{Name: "a", Session: one}) {
		t.Error("an empty batch does not take a span that is over the limit alone")
	}
	size := b.Size()
	for _, s := range []*projection.Session{one, other} {
		if b.AddWithin(size+10, &projection.Span{Name: "b", Session: s}) || b.Len() != 1 || b.Size() != size {
			t.Errorf("a batch of %d bytes with room for ten more has %d spans, %d bytes", size, b.Len(), b.Size())
		}
	}
	for _, s := range []*projection.Session{other, one} {
		if !b.AddWithin(size+1000, &projection.Span{Name: "c", Session: s}) {
			t.Error("does not take what there is room for")
		}
	}
	if got, want := spanNames(messages(t, b)), [][]string{{"a", "c"}, {"c"}}; !cmp.Equal(want, got) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestHalves(t *testing.T) {
	sessions := []*projection.Session{{Harness: "x"}, {Harness: "y"}, {Harness: "z"}}
	b := NewBatch(testConfig)
	for i := range 9 {
		b.Add(&projection.Span{Name: string(rune('a' + i)), Session: sessions[i/3]})
	}
	var leaves string
	var walk func(b *Batch)
	walk = func(b *Batch) {
		if exact := proto.Size(&tracepb.TracesData{ResourceSpans: b.ResourceSpans()}); exact != b.Size() {
			t.Errorf("Size() of %d spans = %d, but they have %d bytes", b.Len(), b.Size(), exact)
		}
		if b.Len() == 1 {
			r := messages(t, b)[0]
			leaves += r.GetResource().GetAttributes()[1].GetValue().GetStringValue() + r.GetScopeSpans()[0].GetSpans()[0].GetName()
			return
		}
		first, second := b.Halves()
		if d := second.Len() - first.Len(); d != 0 && d != 1 {
			t.Errorf("halves of %d spans: %d and %d", b.Len(), first.Len(), second.Len())
		}
		walk(first)
		walk(second)
	}
	walk(b)
	if want := "xaxbxcydyeyfzgzhzi"; leaves != want {
		t.Errorf("halved down to %q, want %q", leaves, want)
	}
}

// What a batch keeps for the next one does not add up, whatever came to stand where.
func TestResetMemory(t *testing.T) {
	b := NewBatch(Config{})
	long := strings.Repeat("x", 1<<20)
	for big := range 100 {
		for i := range 100 {
			s := &projection.Span{Name: "s", Session: new(projection.Session)}
			if i == big {
				s.Name = long
			}
			b.Add(s)
		}
		b.Reset()
	}
	kept := 0
	for _, g := range b.groups {
		kept += cap(g.spans)
	}
	if kept > maxKept {
		t.Errorf("an empty batch keeps %d bytes", kept)
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
		{"a session that does not name its harness", projection.Session{Format: "agentsession"}, "", "service.name=agentsession"},
		{"a session that says nothing", projection.Session{}, "", "service.name=unknown_service"},
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
