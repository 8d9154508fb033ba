// Package throughput measures replays by their whole way: the command as a process of its own, from files to a backend that
// throws away what it is sent, with time and memory; and what sends the spans beside OpenTelemetry's ptraceotlp with the same
// spans. docs/results.md has figures, and the commands that give them.
package throughput
