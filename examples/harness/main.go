package main

import (
	_ "github.com/sessionspan/sessionspan/otelwrap"
	_ "github.com/sessionspan/sessionspan/store/jsonl"
	_ "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	_ "go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	_ "go.opentelemetry.io/otel/sdk/trace"
)

func main() {}
