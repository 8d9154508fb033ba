package projection

import (
	"unicode/utf8"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
	"go.opentelemetry.io/otel/attribute"
)

// Limits of a span. OpenTelemetry's SDK has the same counts by default; the lengths keep a hostile name from becoming a
// span that no backend takes.
const (
	maxPerSpan = 128
	maxValue   = 4096 // bytes of a string value
	maxName    = 256  // bytes of a span name
)

// attributes collects attributes up to the limit and counts the rest. Values that are empty are left out: what the file
// does not say is absent, never zero.
type attributes struct {
	kv        []attribute.KeyValue
	dropped   uint32
	truncated int
}

func (a *attributes) add(kv attribute.KeyValue) {
	if len(a.kv) >= maxPerSpan-1 { // one place is kept for the count of cut values
		a.dropped++
		return
	}
	a.kv = append(a.kv, kv)
}

func (a *attributes) string(key attribute.Key, v string) {
	if v == "" {
		return
	}
	if len(v) > maxValue {
		v = cut(v, maxValue)
		a.truncated++
	}
	a.add(key.String(v))
}

func (a *attributes) strings(key attribute.Key, v []string) {
	if len(v) == 0 {
		return
	}
	if len(v) > maxPerSpan {
		v = v[:maxPerSpan]
		a.truncated++
	}
	size := 0
	for i := range v {
		size += len(v[i])
	}
	if size > maxValue {
		a.truncated++
		short := make([]string, len(v))
		for i := range v {
			short[i] = cut(v[i], maxValue/len(v))
		}
		v = short
	}
	a.add(key.StringSlice(v))
}

func (a *attributes) count(key attribute.Key, v *int64) {
	if v != nil {
		a.add(key.Int64(*v))
	}
}

func (a *attributes) positive(key attribute.Key, v int64) {
	if v > 0 {
		a.add(key.Int64(v))
	}
}

func (a *attributes) number(key attribute.Key, v *float64) {
	if v != nil {
		a.add(key.Float64(*v))
	}
}

func (a *attributes) flag(key attribute.Key, v bool) {
	if v {
		a.add(key.Bool(true))
	}
}

// all adds what a source brings, in the project's namespace.
func (a *attributes) all(list []activity.Attribute) {
	for _, at := range list {
		key := attribute.Key(names.Namespace + cut(at.Name, maxName))
		switch v := at.Value.(type) {
		case string:
			a.string(key, v)
		case bool:
			a.add(key.Bool(v))
		case int64:
			a.add(key.Int64(v))
		case float64:
			a.add(key.Float64(v))
		case []string:
			a.strings(key, v)
		}
	}
}

// list returns the attributes, with the count of values that were cut.
func (a *attributes) list() []attribute.KeyValue {
	if a.truncated > 0 {
		a.kv = append(a.kv, names.Truncated.Int(a.truncated))
	}
	return a.kv
}

// cut shortens a string to at most n bytes on a rune boundary and marks that it did.
func cut(s string, n int) string {
	const mark = "…"
	if len(s) <= n {
		return s
	}
	n = max(n-len(mark), 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + mark
}

// add gives a span attributes that were not known when it started.
func (s *Span) add(fill func(*attributes)) {
	a := &s.filling
	*a = attributes{kv: s.Attributes}
	if n := len(a.kv); n > 0 && a.kv[n-1].Key == names.Truncated {
		a.truncated = int(a.kv[n-1].Value.AsInt64())
		a.kv = a.kv[:n-1]
	}
	fill(a)
	s.Attributes = a.list()
	s.DroppedAttributes += a.dropped
	a.kv = nil
}

func (s *Span) addEvent(e Event) {
	if len(s.Events) >= maxPerSpan {
		s.DroppedEvents++
		return
	}
	s.Events = append(s.Events, e)
}

func (s *Span) addLink(l Link) {
	for _, have := range s.Links {
		if have.SpanID == l.SpanID && have.TraceID == l.TraceID {
			return
		}
	}
	if len(s.Links) >= maxPerSpan {
		s.DroppedLinks++
		return
	}
	s.Links = append(s.Links, l)
}

// fail gives the span the status error. The type is of low cardinality; the description is for people.
func (s *Span) fail(errorType, description string) {
	s.Status = failed(cut(description, maxName))
	s.add(func(a *attributes) { a.string(names.ErrorType, cut(errorType, maxName)) })
}
