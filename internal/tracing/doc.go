// Package tracing gives the spans of a projection to a tracer of OpenTelemetry, with their own times.
package tracing
