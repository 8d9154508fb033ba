// Command sessionspan-collector is an OpenTelemetry Collector with the receiver of sessionspan, and with what it takes to bring
// what that receives to any backend.
//
//	sessionspan-collector
//
// prints the spans of the sessions that the AI coding agents of this machine have stored, and of those that they go on to store.
// With --config it is a Collector as any other; configurations for one machine, for agents with a gateway, and for metrics are in
// examples/collector. builder-config.yaml makes the same with the Collector Builder.
package main
