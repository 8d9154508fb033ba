package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/delivery"
	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/terminal"
	"github.com/spf13/cobra"
	"go.opentelemetry.io/otel/trace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// toOTLP is the word of --to for a backend.
const toOTLP = "otlp"

// backend is where spans are sent, as the command line says.
type backend struct {
	endpoint, protocol string
	dryRun             bool
	jobs               int

	client *delivery.Client // nil unless something is sent
}

// addressFlags adds the flags that say where to, of a command that has a flag --to.
func (b *backend) addressFlags(cmd *cobra.Command, to *string) {
	f := cmd.Flags()
	f.StringVar(&b.endpoint, "endpoint", "", "send to the OTLP backend at this `URL`, http://… or https://…; means --to otlp "+
		"(default: OTEL_EXPORTER_OTLP_ENDPOINT, else this machine)")
	var words []string
	for _, p := range delivery.Protocols {
		words = append(words, string(p))
	}
	f.StringVar(&b.protocol, "protocol", "", "send by this `PROTOCOL`: grpc, http/protobuf or http/json "+
		"(default: OTEL_EXPORTER_OTLP_PROTOCOL, else grpc to port 4317, else http/protobuf)")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("protocol", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)))
	check(cmd, func() error {
		if f.Changed("endpoint") && b.endpoint == "" {
			return usage("--endpoint is empty")
		}
		if b.endpoint != "" && !f.Changed("to") {
			*to = toOTLP
		}
		if *to != toOTLP {
			return onlyForOTLP(cmd, *to, "endpoint", "protocol")
		}
		return nil
	})
}

// onlyForOTLP says of flags that they are for a backend.
func onlyForOTLP(cmd *cobra.Command, to string, flags ...string) error {
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			return usage("--%s is for --to otlp, and here is --to %s", name, to)
		}
	}
	return nil
}

// flags adds the flags of a command that has a flag --to, and writes to a file otherwise.
func (b *backend) flags(cmd *cobra.Command, to *string) {
	b.addressFlags(cmd, to)
	f := cmd.Flags()
	f.BoolVar(&b.dryRun, "dry-run", false, "with --to otlp: read and encode everything, say what would be sent, and send nothing")
	number(cmd, &b.jobs, "jobs", "j", 0, 0, "with --to otlp: read this many `TRACES` at once (0, the default: one for each processor)",
		"a number of traces, or 0 for one for each processor")
	check(cmd, func() error {
		if *to != toOTLP {
			return onlyForOTLP(cmd, *to, "dry-run", "jobs")
		}
		if f.Changed("output") {
			return usage("--output is for --to text and otlp-json; --to otlp sends to a backend")
		}
		return nil
	})
}

// atOnce is how many traces are read at once: to anything but a backend they go one after the other.
func (r *replay) atOnce() int {
	if r.to != toOTLP {
		return 1
	}
	return cmp.Or(r.jobs, runtime.GOMAXPROCS(0))
}

// connect makes the client, which makes no connection yet. The error is that an address, a protocol or a variable of the
// environment is not usable.
func (b *backend) connect() (err error) {
	b.client, err = delivery.NewClient(delivery.Protocol(b.protocol), b.endpoint)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	return nil
}

// ended says why sending ended early, with so many files to go.
func ended(why error, left int) error {
	if left > 0 {
		why = fmt.Errorf("%w; %s not read", why, terminal.Plural(left, "file"))
	}
	return &exitError{exitFinding, why}
}

// sending sends spans to a backend, and puts what became of them into a summary. Batches go when they are full, those of one
// trace with those of others, and at the end.
type sending struct {
	archive.Destination
	sender *delivery.Sender
	to     *backend
	sum    *summary
}

// discard takes everything and sends nothing.
type discard struct{}

func (discard) UploadTraces(context.Context, []*tracepb.ResourceSpans) error { return nil }

// newSending begins to send. What feeds it ends when its context is done.
func newSending(ctx context.Context, to *backend, batch otlp.Config, byRun bool, bar *progress, sum *summary) *sending {
	var up delivery.Uploader = to.client
	if to.dryRun {
		up = discard{}
	}
	sender := delivery.New(ctx, up, delivery.Options{
		Batch:    batch,
		Progress: func(r delivery.Result) { bar.say(sendingWords(r)) },
		LargeTrace: func(id trace.TraceID) {
			text := fmt.Sprintf("trace %s is larger than the 5 MB that some backends take", id)
			if !byRun {
				text += "; --group run makes smaller ones"
			}
			sum.note(note("", text))
		},
	})
	return &sending{archive.Into(sender), sender, to, sum}
}

// sendingWords say how far sending has come.
func sendingWords(r delivery.Result) string {
	words := terminal.Plural(int(r.Sent), "span") + " sent"
	for _, n := range []struct {
		n    int64
		what string
	}{{r.Refused + r.Lost, "not accepted"}, {r.Retries, "repeated"}} {
		if n.n > 0 {
			words += fmt.Sprintf(", %d %s", n.n, n.what)
		}
	}
	return words
}

func (s *sending) close() error {
	r, err := s.sender.Close()
	cerr := s.to.client.Close()
	s.sum.Delivery = newDeliveryCounts(s.to, r)
	switch {
	case delivery.IsEnd(err):
		s.sum.Delivery.ended = err.Error()
		return ended(err, 0)
	case err != nil && s.sum.Interrupted == nil: // else it is said already
		return s.sum.interrupt("sending the last spans", "", 0)
	}
	return cerr
}

// deliveryCounts are what became of the spans that were sent.
type deliveryCounts struct {
	// To is the endpoint, with the protocol.
	To string `json:"to"`
	// DryRun: nothing was sent. The counts are those of a backend that takes everything.
	DryRun   bool            `json:"dry_run"`
	Spans    int64           `json:"spans"`
	Batches  int64           `json:"batches"`
	Requests int64           `json:"requests"`
	Sent     int64           `json:"sent"`
	Refused  int64           `json:"refused"`
	Lost     int64           `json:"lost"`
	Retries  int64           `json:"retries"`
	Cut      int64           `json:"cut"`
	Bytes    int64           `json:"bytes"`
	Messages []serverMessage `json:"messages"`
	Others   int64           `json:"other_messages"`

	ended string // why sending ended early, which is said by itself
}

// serverMessage is what a backend said beside acknowledgements.
type serverMessage struct {
	Text  string `json:"text"`
	Times int64  `json:"times"`
}

func newDeliveryCounts(to *backend, r delivery.Result) *deliveryCounts {
	c := &deliveryCounts{
		To: to.client.String(), DryRun: to.dryRun,
		Spans: r.Spans, Batches: r.Batches, Requests: r.Requests, Sent: r.Sent, Refused: r.Refused, Lost: r.Lost, Retries: r.Retries, Cut: r.Cut, Bytes: r.Bytes,
		Messages: []serverMessage{}, Others: r.Others,
	}
	for _, m := range r.Messages {
		c.Messages = append(c.Messages, serverMessage(m))
	}
	return c
}

// failed says that not all has arrived.
func (c *deliveryCounts) failed() bool { return c != nil && c.Refused+c.Lost > 0 }

// lines say it to people.
func (c *deliveryCounts) lines() []string {
	var lines []string
	for _, m := range c.Messages {
		if strings.Contains(c.ended, m.Text) {
			continue
		}
		line := "backend: " + forPeople(m.Text)
		if m.Times > 1 {
			line += fmt.Sprintf(" (%d times)", m.Times)
		}
		lines = append(lines, line)
	}
	if c.Others > 0 {
		lines = append(lines, fmt.Sprintf("backend: and %d others", c.Others))
	}
	verb := "sent"
	if c.DryRun {
		verb = "would be sent"
	}
	line := fmt.Sprintf("%s %s to %s in %s, %s", terminal.Plural(int(c.Sent), "span"), verb, forPeople(c.To),
		terminal.Plural(int(c.Requests), "request"), terminal.Size(c.Bytes))
	for _, n := range []struct {
		n    int64
		what string
	}{{c.Refused, "refused"}, {c.Lost, "lost"}, {c.Cut, "cut short"}} {
		if n.n > 0 {
			line += fmt.Sprintf("; %d %s", n.n, n.what)
		}
	}
	if c.Retries > 0 {
		line += "; " + terminal.Plural(int(c.Retries), "request") + " repeated"
	}
	return append(lines, line)
}
