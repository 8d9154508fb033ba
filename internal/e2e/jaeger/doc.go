// Package jaeger runs a Jaeger for a test, and asks it what it has.
//
//	server := jaeger.Start(t, jaeger.Memory())
//	send(server.OTLP(grpc), …)
//	spans, err := server.Trace(ctx, id)
//
// Every port it opens is on 127.0.0.1 and free when it starts. It does not trace itself, it leaves no process behind, and
// its log is in that of a test which fails.
//
// There is no queue between its receiver and its storage, so that what it has acknowledged can be read at once.
package jaeger
