package waterfall

import (
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/trace"
)

// Collector keeps what is drawn of spans, some hundred bytes of each. It is a [projection.Sink]. The zero value is ready; it
// is not safe for concurrent use, and since open spans still belong to the projector, neither is drawing while the projector
// works.
type Collector struct {
	spans []*span // in the order in which they started
	index map[spanKey]int
}

type spanKey struct {
	trace trace.TraceID
	span  trace.SpanID
}

// Start keeps a span. A span that comes again, as history does that two files share, is kept once; the copy that has
// ended wins.
func (c *Collector) Start(s *projection.Span) { c.keep(s) }

// End notes that a span is complete.
func (c *Collector) End(s *projection.Span) { c.keep(s) }

func (c *Collector) keep(s *projection.Span) {
	if c.index == nil {
		c.index = make(map[spanKey]int)
	}
	key := spanKey{s.TraceID, s.SpanID}
	i, have := c.index[key]
	switch {
	case !have:
		c.index[key] = len(c.spans)
		c.spans = append(c.spans, newSpan(s))
	case c.spans[i].End.IsZero():
		c.spans[i] = newSpan(s)
	}
}

// Len returns how many spans there are, and how many of them are open.
func (c *Collector) Len() (all, open int) {
	for _, s := range c.spans {
		if s.End.IsZero() {
			open++
		}
	}
	return len(c.spans), open
}

// traces returns the spans of each trace, in the order in which the traces started, with what open ones say by now.
func (c *Collector) traces() [][]*span {
	var list [][]*span
	at := make(map[trace.TraceID]int)
	for n, s := range c.spans {
		if s.live != nil {
			s = newSpan(s.live)
			c.spans[n] = s
		}
		i, have := at[s.TraceID]
		if !have {
			i = len(list)
			at[s.TraceID] = i
			list = append(list, nil)
		}
		list[i] = append(list[i], s)
	}
	return list
}
