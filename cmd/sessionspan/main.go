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
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the first signal asks, a second one ends the process wherever it waits
	os.Exit(run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}
