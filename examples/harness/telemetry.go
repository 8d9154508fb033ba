package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/sessionspan/sessionspan/otelwrap"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// newProcessor returns what takes the spans: it sends them to an endpoint, or draws them.
func newProcessor(ctx context.Context, endpoint string, out io.Writer) (sdktrace.SpanProcessor, error) {
	if endpoint == "" {
		return newTerminal(out), nil
	}
	exporter, err := otlptracegrpc.New(ctx, otlptracegrpc.WithEndpointURL(endpoint))
	if err != nil {
		return nil, fmt.Errorf("endpoint %q: %w", endpoint, err)
	}
	// A process that is killed flushes nothing: what has ended should not wait for the five seconds of the default.
	return sdktrace.NewBatchSpanProcessor(exporter, sdktrace.WithBatchTimeout(200*time.Millisecond)), nil
}

// newProvider returns a provider with the generator of ids: the spans of sessions get those that they have in every process and in
// a replay, all others random ones.
func newProvider(to sdktrace.SpanProcessor) *sdktrace.TracerProvider {
	return sdktrace.NewTracerProvider(
		sdktrace.WithIDGenerator(otelwrap.IDGenerator()),
		sdktrace.WithSpanProcessor(to),
		sdktrace.WithResource(resource.NewSchemaless(semconv.ServiceName(harness.Name), semconv.ServiceVersion(harness.Version))),
	)
}
