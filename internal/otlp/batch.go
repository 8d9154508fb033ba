package otlp

import (
	"cmp"

	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// ScopeName is the name of the instrumentation scope of every span.
const ScopeName = "github.com/sessionspan/sessionspan"

// Config says what a [Batch] writes beside the spans.
type Config struct {
	// Resource gives the attributes of a session's resource, keys unique. Nil means [Resource] with no extra ones.
	Resource func(*projection.Session) []attribute.KeyValue
	// ScopeVersion is the version of the scope [ScopeName], and SchemaURL that of the conventions which the spans follow.
	// Either may be empty. A resource carries no schema URL, since what Resource adds may follow another one.
	ScopeVersion, SchemaURL string
}

// Resource returns the attributes of a resource that stands for the program which wrote s: service.name and
// service.version as far as they are known, and the extra ones. Where a key occurs twice the last one counts. They are
// sorted by key.
func Resource(s *projection.Session, extra ...attribute.KeyValue) []attribute.KeyValue {
	kvs := []attribute.KeyValue{attribute.String("service.name", cmp.Or(s.Harness, "unknown_service"))}
	if s.Version != "" {
		kvs = append(kvs, attribute.String("service.version", s.Version))
	}
	set := attribute.NewSet(append(kvs, extra...)...)
	return set.ToSlice()
}

// Batch is a set of finished spans on their way out. It is for one goroutine at a time.
type Batch struct {
	config    Config
	scope     *commonpb.InstrumentationScope
	resources []*tracepb.ResourceSpans
	scopes    map[*projection.Session]*tracepb.ScopeSpans // each the only one of its resource
	len, size int
}

// NewBatch returns an empty batch.
func NewBatch(c Config) *Batch {
	if c.Resource == nil {
		c.Resource = func(s *projection.Session) []attribute.KeyValue { return Resource(s) }
	}
	return &Batch{
		config: c,
		scope:  &commonpb.InstrumentationScope{Name: ScopeName, Version: valid(c.ScopeVersion)},
		scopes: make(map[*projection.Session]*tracepb.ScopeSpans),
	}
}

// Add adds s to the batch. Nobody may change s any more.
func (b *Batch) Add(s *projection.Span) {
	scope := b.scopes[s.Session]
	if scope == nil {
		scope = b.open(s.Session)
	}
	p := Span(s)
	scope.Spans = append(scope.Spans, p)
	b.len++
	b.size += proto.Size(&tracepb.ScopeSpans{Spans: []*tracepb.Span{p}})
}

// open adds a resource for a session that is new to the batch.
func (b *Batch) open(s *projection.Session) *tracepb.ScopeSpans {
	scope := &tracepb.ScopeSpans{Scope: b.scope, SchemaUrl: valid(b.config.SchemaURL)}
	resource := &tracepb.ResourceSpans{
		Resource:   &resourcepb.Resource{Attributes: keyValues(b.config.Resource(s))},
		ScopeSpans: []*tracepb.ScopeSpans{scope},
	}
	b.scopes[s] = scope
	b.resources = append(b.resources, resource)
	const growth = 4 // of the length before a message that gets its spans only later: from one byte to five
	b.size += proto.Size(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{resource}}) + 2*growth
	return scope
}

// Len returns the number of spans in the batch.
func (b *Batch) Len() int { return b.len }

// Size returns the number of bytes that the batch has as a TracesData or ExportTraceServiceRequest in protobuf, before
// compression, or up to eight more for each session in it. It is counted as spans are added, and costs nothing here.
func (b *Batch) Size() int { return b.size }

// ResourceSpans returns the batch as the clients of package otlptrace take it. [Batch.Add] changes the messages,
// [Batch.Reset] does not.
func (b *Batch) ResourceSpans() []*tracepb.ResourceSpans { return b.resources }

// Reset empties the batch.
func (b *Batch) Reset() {
	clear(b.scopes)
	b.resources, b.len, b.size = nil, 0, 0
}
