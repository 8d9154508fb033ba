// Package e2e holds the tests that need the real thing: a Jaeger of its own, started for the test on loopback, that is
// sent the sessions of testdata and asked for them again.
//
//	make e2e
//
// builds Jaeger, which takes some minutes the first time, and runs them. Without a Jaeger to run they are skipped;
// [github.com/sessionspan/sessionspan/internal/e2e/jaeger.Variable] names it.
//
// The package is a module of its own, so that what it needs for sending and asking is in nobody else's graph.
package e2e
