package spantest

import (
	"fmt"
	"slices"

	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Check holds the spans of one replay, of all files of a trace, against the rules that every trace keeps:
//
//   - no id is zero, and no span id comes twice;
//   - every parent is among the spans, or among those that are open;
//   - no span ends before it starts, and every parent but the mark of a session and the call that spawned one encloses
//     its children;
//   - links lead to spans that are there, but for those into other sessions;
//   - there are at most 128 attributes, events and links, no attribute comes twice, and events lie within their span;
//   - every span says its session, its conversation and its type.
func Check(r *Recorder) []error {
	c := &checker{byID: map[trace.SpanID]*projection.Span{}, lone: r.Lone, errs: r.Broken}
	for _, s := range r.Started {
		if other := c.byID[s.SpanID]; other != nil {
			c.fail(s, "has the id of %s", other.Name)
		}
		c.byID[s.SpanID] = s
	}
	for _, s := range r.Ended {
		c.span(s)
	}
	return c.errs
}

type checker struct {
	byID map[trace.SpanID]*projection.Span
	lone bool
	errs []error
}

func (c *checker) fail(s *projection.Span, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("span %d %q of session %s: %s", s.Seq, s.Name, s.Session.ID, fmt.Sprintf(format, args...)))
}

func (c *checker) span(s *projection.Span) {
	if !s.TraceID.IsValid() || !s.SpanID.IsValid() {
		c.fail(s, "has a zero id")
	}
	if s.End.Before(s.Start) {
		c.fail(s, "ends at %v, before its start %v", s.End, s.Start)
	}
	c.parent(s)
	for _, l := range s.Links {
		if c.byID[l.SpanID] == nil && l.TraceID == s.TraceID && s.Type != projection.TypeSession && !elsewhere(l) {
			c.fail(s, "links to %s, which is not there", l.SpanID)
		}
	}
	c.attributes(s, s.Attributes)
	for _, e := range s.Events {
		if e.Time.Before(s.Start) || e.Time.After(s.End) {
			c.fail(s, "has event %s at %v, outside of it", e.Name, e.Time)
		}
		c.attributes(s, e.Attributes)
	}
	if len(s.Events) > 128 || len(s.Links) > 128 || len(s.Attributes) > 128 {
		c.fail(s, "is over the limit: %d attributes, %d events, %d links", len(s.Attributes), len(s.Events), len(s.Links))
	}
	for _, key := range []attribute.Key{"session.id", "gen_ai.conversation.id", "agentsession.session.id", "agentsession.span.type"} {
		if Attribute(s, key).Type() == attribute.EMPTY {
			c.fail(s, "does not say %s", key)
		}
	}
}

// elsewhere reports whether a link leads to another session, whose file may not be there.
func elsewhere(l projection.Link) bool {
	return slices.ContainsFunc(l.Attributes, func(kv attribute.KeyValue) bool { return kv.Key == names.LinkSession })
}

func (c *checker) parent(s *projection.Span) {
	if !s.Parent.IsValid() {
		if s.Type != projection.TypeSession && s.Type != projection.TypeRun {
			c.fail(s, "has no parent")
		}
		return
	}
	p := c.byID[s.Parent]
	switch {
	case p == nil && s.Type == projection.TypeSession && c.lone:
	case p == nil:
		c.fail(s, "has the parent %s, which is not there", s.Parent)
	case p.TraceID != s.TraceID:
		c.fail(s, "is in another trace than its parent %s", p.Name)
	case p.Type == projection.TypeSession || s.Type == projection.TypeSession:
	case s.Start.Before(p.Start):
		c.fail(s, "starts at %v, before its parent %s at %v", s.Start, p.Name, p.Start)
	case !p.End.IsZero() && s.End.After(p.End):
		c.fail(s, "ends at %v, after its parent %s at %v", s.End, p.Name, p.End)
	}
}

func (c *checker) attributes(s *projection.Span, list []attribute.KeyValue) {
	seen := map[attribute.Key]bool{}
	for _, kv := range list {
		if seen[kv.Key] {
			c.fail(s, "says %s twice", kv.Key)
		}
		seen[kv.Key] = true
	}
}

// Attribute returns the value of a span's attribute; its type is invalid when there is none.
func Attribute(s *projection.Span, key attribute.Key) attribute.Value {
	for _, kv := range s.Attributes {
		if kv.Key == key {
			return kv.Value
		}
	}
	return attribute.Value{}
}
