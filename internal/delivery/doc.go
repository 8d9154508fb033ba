// Package delivery sends spans to any backend that speaks OTLP, and says what became of each.
//
//	client, err := delivery.NewClient("", endpoint)
//	sender := delivery.New(ctx, client, delivery.Options{Batch: config})
//	err = index.Replay(sender.Context(), traces, options, archive.Into(sender), report)
//	result, err := sender.Close()
//	// result.Spans == result.Sent + result.Refused + result.Lost
//
// A [Sender] is a sink. It encodes spans as they end, in batches bounded in bytes and in spans, sends several at once, in no
// particular order, and waits for every answer. Whoever gives it spans waits while enough batches are on their way, so that
// its memory is that of [Options.InFlight] batches and one, and of the client's copies of those that are on their way.
//
// # What becomes of a span
//
// Every span is counted once: sent, refused or lost. One function reads all that a client can return. An acknowledgement is
// sent, but for what a partial success rejects. What OTLP says is worth a retry is tried again, after waits that double and
// are drawn at random around that, or as long as the backend asks for. A batch that is too large goes in halves, and those
// that follow are made smaller; a single span that is too large has its longest texts cut ([otlp.Batch.Cut]). An
// acknowledgement that never arrived is a failure like others: the batch is sent again, and the backend sees the same ids
// twice.
//
// # When to stop
//
// A backend that has accepted nothing yet gets 15 seconds, unless it asks for more, since most likely the address is wrong.
// One that turns the first request away for who asks or where (401, 403, 404, a redirect, a web page) is believed,
// and so is a connection that shows another protocol. One that has accepted something and then accepts nothing for five
// minutes is taken to be down. Each of these ends the whole, with an error that says so: what is in flight and what comes
// after is lost, and counted. A single batch that cannot be sent for five minutes while others can is lost by itself.
//
// When the context is done, what was given before is sent all the same, once, within a grace of five seconds.
//
// # Where to
//
// [NewClient] makes one of OpenTelemetry's own clients, so that headers, TLS, compression, timeout (of one request, 10
// seconds) and proxies follow OTEL_EXPORTER_OTLP_* and its relatives for traces alone, as people know them.
//
// The protocol is the one given, else OTEL_EXPORTER_OTLP_TRACES_PROTOCOL, else OTEL_EXPORTER_OTLP_PROTOCOL, else that of the
// endpoint's port if it is 4317 (gRPC), else http/protobuf, which is OpenTelemetry's default.
//
// The endpoint is the one given, else OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, else OTEL_EXPORTER_OTLP_ENDPOINT, else this machine
// at the protocol's port without TLS. http:// means without TLS, https:// with it. A host and port alone are not enough, unless
// OTEL_EXPORTER_OTLP_INSECURE says which of the two is meant. Over HTTP, /v1/traces is added to an endpoint that does not end
// so. For gRPC it may be a Unix socket (unix:///path).
//
// Redirects are not followed, since they could take headers with keys in them, and sessions, to another host.
package delivery
