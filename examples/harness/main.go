// Command harness is a small agent whose work becomes OpenTelemetry spans while it is done: a loop with a model behind HTTP, tools,
// one of which a person has to allow, and a sub-agent.
//
//	go run ./examples/harness                                    # into this terminal
//	go run ./examples/harness -endpoint http://127.0.0.1:4317    # into Jaeger
//	go run ./examples/harness -dir DIR -session ID               # go on after it was killed
//
// The model is a script behind an HTTP server on loopback, which this program starts: no key is needed, and nothing leaves the
// machine. All else is what a harness does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/otelwrap"
	"github.com/sessionspan/sessionspan/store/jsonl"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

const task = "Write the release notes of version 1.4 into NOTES.md, with the issues that it closes."

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := start(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "harness:", err)
		os.Exit(1)
	}
}

// options are what the flags say.
type options struct {
	dir, endpoint, session, hang string
	yes                          bool
	pace                         time.Duration
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("harness", flag.ContinueOnError)
	flags.StringVar(&o.dir, "dir", "", "`folder` for the sessions, and for the files that the agent writes; a new one unless given")
	flags.StringVar(&o.endpoint, "endpoint", "", "`URL` that takes spans by OTLP over gRPC; without it they are drawn here as they end")
	flags.StringVar(&o.session, "session", "", "`id` of a session in the folder to go on with")
	flags.BoolVar(&o.yes, "yes", false, "allow what a person would be asked about")
	flags.DurationVar(&o.pace, "pace", 20*time.Millisecond, "how long the model takes for a word")
	flags.StringVar(&o.hang, "hang", "", "`path` that the site never answers, so that there is time to kill this program in a call")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("%q is no flag", flags.Arg(0))
	case o.session != "" && o.dir == "":
		return o, errors.New("-session wants the -dir that it is in")
	case o.dir == "":
		o.dir, err = os.MkdirTemp("", "harness-")
	default:
		o.dir, err = filepath.Abs(o.dir)
	}
	return o, err
}

// start makes what sends or draws the spans, and runs the agent.
func start(ctx context.Context, args []string) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	to, err := newProcessor(ctx, o.endpoint, os.Stdout)
	if err != nil {
		return err
	}
	provider := newProvider(to) // the first of three things that have an agent traced
	defer func() { err = errors.Join(err, provider.Shutdown(context.WithoutCancel(ctx))) }()
	return run(ctx, o, provider, os.Stdin, os.Stdout)
}

// run does the task.
func run(ctx context.Context, o options, provider trace.TracerProvider, in io.Reader, out io.Writer) (err error) {
	work := filepath.Join(o.dir, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		return err
	}
	world, err := startServer(o.pace, o.hang)
	if err != nil {
		return err
	}
	defer world.Close()

	files, err := jsonl.Open(filepath.Join(o.dir, "sessions"))
	if err != nil {
		return err
	}
	sessions := otelwrap.Wrap(files, otelwrap.WithTracerProvider(provider)) // the second: whoever appends does so as before
	defer func() { err = errors.Join(err, sessions.Shutdown(context.WithoutCancel(ctx)), files.Close()) }()
	// The third: a tool gets the context of its call, and a request that of its run. See agent.handOver and agent.callModel.

	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	traced := &http.Client{Transport: otelhttp.NewTransport(transport,
		otelhttp.WithTracerProvider(provider), otelhttp.WithPropagators(propagation.TraceContext{}))}
	a := &agent{
		sessions: sessions, model: &client{http: traced, url: world.url + "/v1/responses", out: out},
		header:       format.Header{Harness: harness, Records: records, CWD: work},
		instructions: "You write release notes.",
		allowed:      newPerson(in, out, o).allows, out: out,
	}
	page := fetch(traced, world.url)
	a.tools = []tool{page, writeFile(work), a.delegate(page)}

	var s *format.Session
	if o.session == "" {
		s, err = sessions.Create(ctx, a.header)
	} else {
		s, err = sessions.Open(ctx, o.session)
	}
	if err != nil {
		return err
	}
	answer, err := a.work(ctx, s, task)
	if err != nil {
		return fmt.Errorf("%w; to go on: -dir %s -session %s", err, o.dir, s.ID())
	}
	fmt.Fprintf(out, "answer: %s\nthe same trace, from the files: sessionspan replay %s\n",
		printable(answer), filepath.Join(o.dir, "sessions"))
	return nil
}
