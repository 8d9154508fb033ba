package delivery

import "go.opentelemetry.io/otel/trace"

// maxTraces is how many traces are counted at once, at least.
const maxTraces = 4096

// traceSizes counts the bytes of each trace. Traces come one after the other, more or less, so that to forget those that
// have not been seen for a while loses nothing: when there are maxTraces recent ones, they become the older ones, and what
// was older still is forgotten.
type traceSizes struct {
	limit         int64
	recent, older map[trace.TraceID]int64
}

// add counts n bytes and reports whether the trace has come to the limit by them.
func (t *traceSizes) add(id trace.TraceID, n int) bool {
	before, ok := t.recent[id]
	if !ok {
		before = t.older[id]
		if len(t.recent) >= maxTraces || t.recent == nil {
			t.recent, t.older = make(map[trace.TraceID]int64), t.recent
		}
	}
	t.recent[id] = before + int64(n)
	return before < t.limit && before+int64(n) >= t.limit
}
