package otlp

import (
	"cmp"

	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/scope"
	"go.opentelemetry.io/otel/attribute"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Config says what a [Batch] writes beside the spans.
type Config struct {
	// Resource gives the attributes of a session's resource, keys unique. Nil means [Resource] with no extra ones.
	Resource func(*projection.Session) []attribute.KeyValue
	// ScopeVersion is the version of the scope [scope.Name], and SchemaURL that of the conventions which the spans follow.
	// Either may be empty. A resource carries no schema URL, since what Resource adds may follow another one.
	ScopeVersion, SchemaURL string
}

// Resource returns the attributes of a resource that stands for the program which wrote s: service.name, which is the format
// where the program is not known, service.version as far as it is known, and the extra ones. Where a key occurs twice the
// last one counts. They are sorted by key.
func Resource(s *projection.Session, extra ...attribute.KeyValue) []attribute.KeyValue {
	kvs := []attribute.KeyValue{attribute.String("service.name", cmp.Or(s.Harness, s.Format, "unknown_service"))}
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
	scope  int // the size of what stands in every ScopeSpans beside the spans
}

// group is what one session has in a batch.
type group struct {
	session  *projection.Session
	resource []byte // a Resource, encoded
	spans    []byte // each as a field of a ScopeSpans, encoded
	ends     []int  // where each of them ends
}

// NewBatch returns an empty batch.
func NewBatch(c Config) *Batch {
	if c.Resource == nil {
		c.Resource = func(s *projection.Session) []attribute.KeyValue { return Resource(s) }
	}
	c.ScopeVersion, c.SchemaURL = Text(c.ScopeVersion), Text(c.SchemaURL)
	b := &Batch{config: c, index: make(map[*projection.Session]*group)}
	b.scope = proto.Size(b.scopeSpans())
	return b
}

// Add encodes s into the batch. It keeps the session of s, but not s.
func (b *Batch) Add(s *projection.Span) {
	g := b.open(s.Session)
	b.size -= b.groupSize(g)
	var start int
	g.spans, start = open(g.spans, scopeSpansSpans)
	g.spans = shut(AppendSpan(g.spans, s), start)
	g.ends = append(g.ends, len(g.spans))
	b.len++
	b.size += b.groupSize(g)
}

// AddWithin adds s if the batch has no more than limit bytes then, or was empty, and reports whether it did.
func (b *Batch) AddWithin(limit int, s *projection.Span) bool {
	b.Add(s)
	if b.size <= limit || b.len == 1 {
		return true
	}
	g := b.index[s.Session]
	b.size -= b.groupSize(g)
	b.len--
	if len(g.ends) == 1 { // the group is new, and the last one
		b.used--
		delete(b.index, s.Session)
		return false
	}
	g.ends = g.ends[:len(g.ends)-1]
	g.spans = g.spans[:g.ends[len(g.ends)-1]]
	b.size += b.groupSize(g)
	return false
}

// open returns the group of a session, which may be new to the batch.
func (b *Batch) open(s *projection.Session) *group {
	if g := b.index[s]; g != nil {
		return g
	}
	if b.used == len(b.groups) {
		b.groups = append(b.groups, new(group))
	}
	g := b.groups[b.used]
	b.used++
	b.index[s] = g
	g.session, g.spans, g.ends = s, g.spans[:0], g.ends[:0]
	g.resource = appendAttributes(g.resource[:0], resourceAttributes, b.config.Resource(s))
	return g
}

// Len returns the number of spans in the batch.
func (b *Batch) Len() int { return b.len }

// Size returns the number of bytes that the batch has as a TracesData or ExportTraceServiceRequest in protobuf, before
// compression.
func (b *Batch) Size() int { return b.size }

// groupSize returns the number of bytes of the field that holds g's ResourceSpans, or 0 when g has no spans.
func (b *Batch) groupSize(g *group) int {
	if len(g.ends) == 0 {
		return 0
	}
	const tag = 1 // of every field here
	size := tag + protowire.SizeBytes(len(g.resource)) + tag + protowire.SizeBytes(b.scope+len(g.spans))
	return tag + protowire.SizeBytes(size)
}

// ResourceSpans returns the batch as the clients of package otlptrace take it, to be marshalled to protobuf and for
// nothing else: the spans and the attributes of the resources are there in encoded form, as unknown fields, so that they
// come to stand where they belong, but getters and other encodings do not see them. The messages share the batch's memory,
// and are valid until it is changed.
func (b *Batch) ResourceSpans() []*tracepb.ResourceSpans {
	out := make([]*tracepb.ResourceSpans, b.used)
	for i, g := range b.groups[:b.used] {
		resource, scope := new(resourcepb.Resource), b.scopeSpans()
		resource.ProtoReflect().SetUnknown(g.resource)
		scope.ProtoReflect().SetUnknown(g.spans)
		out[i] = &tracepb.ResourceSpans{Resource: resource, ScopeSpans: []*tracepb.ScopeSpans{scope}}
	}
	return out
}

// scopeSpans returns the message around the spans of a session, without the spans.
func (b *Batch) scopeSpans() *tracepb.ScopeSpans {
	return &tracepb.ScopeSpans{
		Scope:     &commonpb.InstrumentationScope{Name: scope.Name, Version: b.config.ScopeVersion},
		SchemaUrl: b.config.SchemaURL,
	}
}

// Messages returns the batch decoded, for whoever wants to look into it. It shares no memory with the batch. The error is
// that attributes are nested deeper than protobuf takes.
func (b *Batch) Messages() (*tracepb.TracesData, error) { return Decode(b.ResourceSpans()) }

// Decode returns what [Batch.ResourceSpans] has given with everything in its place.
func Decode(encoded []*tracepb.ResourceSpans) (*tracepb.TracesData, error) {
	data := &tracepb.TracesData{ResourceSpans: encoded}
	wire, err := proto.Marshal(data)
	if err != nil {
		return nil, err
	}
	data = new(tracepb.TracesData)
	return data, proto.Unmarshal(wire, data)
}

// Halves returns two batches that have the first and the second half of the spans, and share the memory of b, which must
// not be changed while they are used. Both have spans if b has two or more.
func (b *Batch) Halves() (first, second *Batch) {
	first, second = NewBatch(b.config), NewBatch(b.config)
	n := b.len / 2
	for _, g := range b.groups[:b.used] {
		here := min(n, len(g.ends))
		n -= here
		at := 0
		if here > 0 {
			at = g.ends[here-1]
			first.take(&group{session: g.session, resource: g.resource, spans: g.spans[:at:at], ends: g.ends[:here:here]})
		}
		if here < len(g.ends) {
			rest := make([]int, 0, len(g.ends)-here)
			for _, end := range g.ends[here:] {
				rest = append(rest, end-at)
			}
			second.take(&group{session: g.session, resource: g.resource, spans: g.spans[at:], ends: rest})
		}
	}
	return first, second
}

func (b *Batch) take(g *group) {
	b.groups, b.index[g.session] = append(b.groups, g), g
	b.used++
	b.len += len(g.ends)
	b.size += b.groupSize(g)
}

// maxKept is how many bytes of memory a batch keeps over a Reset. Each group has its own, so that without a bound every one
// of them might come to have as much as a whole batch.
const maxKept = 4 << 20

// Reset empties the batch.
func (b *Batch) Reset() {
	clear(b.index)
	kept := 0
	for i, g := range b.groups {
		if kept += cap(g.spans) + cap(g.resource) + 8*cap(g.ends); kept > maxKept {
			clear(b.groups[i:])
			b.groups = b.groups[:i]
			break
		}
		g.session = nil
	}
	b.used, b.len, b.size = 0, 0, 0
}
