// Command sessionspan turns the sessions of AI coding agents into OpenTelemetry traces.
//
//	sessionspan replay session.jsonl
//
// reads a stored session and draws its trace in the terminal. See sessionspan --help.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
)

// garbage is how much memory may be garbage, in percent of what is in use. Files stream through: little of what is allocated
// lives on, and to look for the rest twice as often as Go does by itself costs little.
const garbage = 50

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal asks, a second one ends the process wherever it waits
	os.Exit(run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}
