// Package collectorreceiver is the agentsession receiver of the OpenTelemetry Collector: it follows the session files of AI coding agents
// as they are written, and gives the next component the traces of what happens in them.
//
// What it does is said for operators in README.md. For whoever builds a Collector it is a component like any other: [NewFactory] for
// one that is put together by hand, or a line in the configuration of the Collector's builder:
//
//	receivers:
//	  - gomod: github.com/sessionspan/sessionspan/collectorreceiver v0.1.0
//
// Every span is given to the next component until that accepts it, or refuses it for good; how far each file has come is stored after
// that and never before, so that what comes again after a crash has the same ids and is the same.
package collectorreceiver
