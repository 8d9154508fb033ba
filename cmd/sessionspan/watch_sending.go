package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sessionspan/sessionspan/internal/delivery"
	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/scope"
	"github.com/sessionspan/sessionspan/internal/terminal"
	"github.com/sessionspan/sessionspan/internal/tracker"
	"go.opentelemetry.io/otel/attribute"
)

// patience is how long a backend is asked for one batch before the files that it is of are left for later.
const patience = 5 * time.Second

// accepting sends batches, and accepts what the backend has acknowledged.
type accepting struct {
	client  delivery.Uploader
	name    string
	options delivery.Options
	total   delivery.Result
}

func newAccepting(w *watch, resource []attribute.KeyValue) *accepting {
	return &accepting{
		client: w.client, name: w.client.String(),
		options: delivery.Options{
			Batch: otlp.Config{
				Resource:     func(s *projection.Session) []attribute.KeyValue { return otlp.Resource(s, resource...) },
				ScopeVersion: scope.Version(),
				SchemaURL:    projection.SchemaURL(projection.Semconv(w.semconv)),
			},
			MaxElapsed: patience, Patience: patience,
		},
	}
}

// Consume implements [tracker.Consumer].
func (a *accepting) Consume(ctx context.Context, spans []*projection.Span) error {
	s := delivery.New(ctx, a.client, a.options)
	for _, span := range spans {
		s.End(span)
	}
	r, err := s.Close()
	said := ""
	if len(r.Messages) > 0 {
		said = ": " + r.Messages[0].Text
	}
	switch {
	case err != nil:
		return err
	case r.Lost > 0:
		return errors.New("the backend did not answer" + said)
	}
	a.total.Sent += r.Sent
	a.total.Requests += r.Requests
	a.total.Bytes += r.Bytes
	if r.Refused > 0 {
		return &tracker.Refusal{Spans: int(r.Refused), Err: errors.New("by the backend" + said)}
	}
	return nil
}

// summary says what was sent.
func (a *accepting) summary(refused int64) string {
	line := fmt.Sprintf("%s sent to %s in %s, %s", terminal.Plural(a.total.Sent, "span"), forPeople(a.name),
		terminal.Plural(a.total.Requests, "request"), terminal.Size(a.total.Bytes))
	if refused > 0 {
		line += fmt.Sprintf("; %d refused", refused)
	}
	return line
}
