// Package faults holds the tests that the Collector with the agentsession receiver loses nothing, whatever goes wrong.
//
// The Collector is a process that is killed and started again. It follows session files that grow in pieces, and to which things
// happen that happen to files. It sends to a sink, which is a process of its own, refuses, and keeps of each span its ids, a sum
// of what it is, and how often it came. In the end the sink has the spans of a replay of the final files, no other ones, and
// all copies of a span were equal: promises P5, P6 and P7.
//
//	go test ./faults
//	go test ./faults -run 'Faults/killed' -faults.size 1GB -faults.kills 600 -timeout 60m
//
// Everything random is drawn from the seed in the name of a test; what comes when still depends on the machine.
package faults
