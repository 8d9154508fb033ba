// Package replay gives stored sessions to OpenTelemetry.
//
// [Session] replays a session into any tracer, with the times of its entries:
//
//	s, err := format.ReadSession(file)
//	spans, err := replay.Session(ctx, tracer, s)
//	run, ok := spans.Entry("e2") // the context of the span that an entry stands behind
//
// The spans' ids are the tracer's own, and the way to a backend is that of its provider.
//
// [Files] replays archives to a backend that speaks OTLP, without an SDK on the way:
//
//	client, err := replay.NewClient("", "http://127.0.0.1:4317")
//	defer client.Close()
//	result, err := replay.Files(ctx, client, []string{"/var/lib/agent/sessions"})
//	// result.Delivery.Spans == result.Delivery.Sent + result.Delivery.Refused + result.Delivery.Lost
//
// It reads several traces at once in little memory, sends batches while it reads, repeats what is worth it, and counts what the
// backend said of every span. Ids depend on the files alone, so that it may be called with the same files again: after a
// crash, or each night. Which backends keep one copy of a span that comes twice, and which show both, is in docs/trace.md.
//
// The spans are those that docs/trace.md describes, either way, and the same that the command sessionspan replay makes.
package replay
