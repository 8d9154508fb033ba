package spantest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Dump writes spans as text: one paragraph each, in the order in which they started, so that a change of the projection
// reads as what has changed in the trace. Spans refer to each other by their number; one that is not among them stands
// with its id.
func Dump(spans []*projection.Span) string {
	spans = slices.Clone(spans)
	slices.SortStableFunc(spans, func(a, b *projection.Span) int {
		if a.Session != b.Session {
			return 0
		}
		return int(a.Seq) - int(b.Seq)
	})
	number := map[trace.SpanID]string{}
	for i, s := range spans {
		number[s.SpanID] = fmt.Sprintf("#%d", i+1)
	}
	name := func(id trace.SpanID) string {
		if n, ok := number[id]; ok {
			return n
		}
		return id.String()
	}
	var b strings.Builder
	var last trace.TraceID
	for i, s := range spans {
		if s.TraceID != last {
			last = s.TraceID
			fmt.Fprintf(&b, "trace %s\n\n", s.TraceID)
		}
		fmt.Fprintf(&b, "#%d %s %s (%s)", i+1, s.Type, quoteIfOdd(s.Name), s.SpanID)
		if s.Parent.IsValid() {
			fmt.Fprintf(&b, " in %s", name(s.Parent))
		}
		if s.Kind != trace.SpanKindInternal {
			fmt.Fprintf(&b, ", %s", s.Kind)
		}
		b.WriteByte('\n')
		dumpTimes(&b, s)
		if s.Status.Code != codes.Unset {
			fmt.Fprintf(&b, "  status %s %q\n", s.Status.Code, s.Status.Description)
		}
		dumpAttributes(&b, "  ", s.Attributes)
		for _, e := range s.Events {
			fmt.Fprintf(&b, "  event %s at %s\n", e.Name, clock(e.Time))
			dumpAttributes(&b, "    ", e.Attributes)
		}
		for _, l := range s.Links {
			fmt.Fprintf(&b, "  link %s", name(l.SpanID))
			if l.TraceID != s.TraceID {
				fmt.Fprintf(&b, " in trace %s", l.TraceID)
			}
			for _, kv := range l.Attributes {
				fmt.Fprintf(&b, " %s=%s", kv.Key, kv.Value.String())
			}
			b.WriteByte('\n')
		}
		if s.DroppedAttributes+s.DroppedEvents+s.DroppedLinks > 0 {
			fmt.Fprintf(&b, "  dropped %d attributes, %d events, %d links\n", s.DroppedAttributes, s.DroppedEvents, s.DroppedLinks)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func dumpTimes(b *strings.Builder, s *projection.Span) {
	if s.End.IsZero() {
		fmt.Fprintf(b, "  %s – open\n", clock(s.Start))
		return
	}
	fmt.Fprintf(b, "  %s – %s (%s)\n", clock(s.Start), clock(s.End), s.End.Sub(s.Start))
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000000") }

func dumpAttributes(b *strings.Builder, indent string, list []attribute.KeyValue) {
	for _, kv := range list {
		fmt.Fprintf(b, "%s%s = %s\n", indent, kv.Key, quoteIfOdd(kv.Value.String()))
	}
}

// quoteIfOdd quotes text that would not stand on one line as it is.
func quoteIfOdd(s string) string {
	if q := fmt.Sprintf("%q", s); q != `"`+s+`"` {
		return q
	}
	return s
}
