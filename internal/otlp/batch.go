package otlp

import (
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
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
	kvs := make([]attribute.KeyValue, 0, 2+len(extra))
	if s.Harness == "" {
		kvs = append(kvs, attribute.String("service.name", "unknown_service"))
	} else {
		kvs = append(kvs, attribute.String("service.name", s.Harness))
	}
	if s.Version != "" {
		kvs = append(kvs, attribute.String("service.version", s.Version))
	}
	set := attribute.NewSet(append(kvs, extra...)...)
	return set.ToSlice()
}

// Batch is a set of finished spans on their way out. It is for one goroutine at a time, and keeps its memory from one
// [Batch.Reset] to the next.
type Batch struct {
	config Config
	index  map[*projection.Session]*group
	groups []*group // the groups in use, in the order in which their sessions came, then those to use again
	used   int
	len    int
	size   int
	scope  int    // the size of what stands in every ScopeSpans beside the spans
	line   []byte // for WriteJSON
}

// group is what one session has in a batch.
type group struct {
	attributes []attribute.KeyValue
	spans      []*projection.Span
	resource   []byte // a Resource, encoded
	encoded    []byte // the spans, each as a field of a ScopeSpans
}

// NewBatch returns an empty batch.
func NewBatch(c Config) *Batch {
	if c.Resource == nil {
		c.Resource = func(s *projection.Session) []attribute.KeyValue { return Resource(s) }
	}
	b := &Batch{config: c, index: make(map[*projection.Session]*group)}
	b.scope = proto.Size(b.scopeSpans())
	return b
}

// Add encodes s into the batch and keeps it until the next [Batch.Reset]. Nobody may change s any more.
func (b *Batch) Add(s *projection.Span) {
	g := b.index[s.Session]
	if g == nil {
		g = b.open(s.Session)
	} else {
		b.size -= b.groupSize(g)
	}
	g.spans = append(g.spans, s)
	var start int
	g.encoded, start = open(g.encoded, scopeSpansSpans)
	g.encoded = shut(AppendSpan(g.encoded, s), start)
	b.len++
	b.size += b.groupSize(g)
}

// Len returns the number of spans in the batch.
func (b *Batch) Len() int { return b.len }

// Size returns the number of bytes that the batch has as a TracesData or ExportTraceServiceRequest in protobuf, before
// compression.
func (b *Batch) Size() int { return b.size }

// ResourceSpans returns the batch as the clients of package otlptrace take it. The spans and the resources are in the
// messages in encoded form, as unknown fields: marshalling writes them where they belong, but getters do not see them.
// The messages share the batch's memory and are valid until the next call of [Batch.Add] or [Batch.Reset].
func (b *Batch) ResourceSpans() []*tracepb.ResourceSpans {
	out := make([]*tracepb.ResourceSpans, b.used)
	for i, g := range b.groups[:b.used] {
		resource, scopeSpans := new(resourcepb.Resource), b.scopeSpans()
		resource.ProtoReflect().SetUnknown(g.resource)
		scopeSpans.ProtoReflect().SetUnknown(g.encoded)
		out[i] = &tracepb.ResourceSpans{Resource: resource, ScopeSpans: []*tracepb.ScopeSpans{scopeSpans}}
	}
	return out
}

// Reset empties the batch.
func (b *Batch) Reset() {
	clear(b.index)
	for _, g := range b.groups[:b.used] {
		clear(g.spans) // the spans are garbage now
		g.attributes, g.spans, g.resource, g.encoded = nil, g.spans[:0], g.resource[:0], g.encoded[:0]
	}
	b.used, b.len, b.size = 0, 0, 0
}

// open returns a group for a session that is new to the batch.
func (b *Batch) open(s *projection.Session) *group {
	if b.used == len(b.groups) {
		b.groups = append(b.groups, new(group))
	}
	g := b.groups[b.used]
	b.used++
	b.index[s] = g
	g.attributes = b.config.Resource(s)
	g.resource = appendAttributes(g.resource, resourceAttributes, g.attributes)
	return g
}

// groupSize returns the number of bytes of the field that holds g's ResourceSpans.
func (b *Batch) groupSize(g *group) int {
	const tag = 1 // of every field here
	size := tag + protowire.SizeBytes(len(g.resource)) + tag + protowire.SizeBytes(b.scope+len(g.encoded))
	return tag + protowire.SizeBytes(size)
}

// scopeSpans returns the message around the spans of a session, without the spans.
func (b *Batch) scopeSpans() *tracepb.ScopeSpans {
	return &tracepb.ScopeSpans{
		Scope:     &commonpb.InstrumentationScope{Name: ScopeName, Version: b.config.ScopeVersion},
		SchemaUrl: b.config.SchemaURL,
	}
}
