// Package replay gives stored sessions to OpenTelemetry.
//
// [Session] replays a session into any tracer, with the times of its entries:
//
//	s, err := format.ReadSession(file)
//	spans, err := replay.Session(ctx, tracer, s)
//	run, ok := spans.Entry("e2") // the context of the span that an entry stands behind
//
// The spans are those that docs/trace.md describes. Their ids are the tracer's own.
package replay
