package collectorreceiver

import (
	"context"
	"errors"
	"fmt"

	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/tracker"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
)

// downstream gives spans to the next component.
type downstream struct {
	of       *sessionReceiver
	next     consumer.Traces
	traces   *tracesBuilder
	observed *receiverhelper.ObsReport
}

func newDownstream(r *sessionReceiver) (*downstream, error) {
	observed, err := receiverhelper.NewObsReport(receiverhelper.ObsReportSettings{
		ReceiverID: r.settings.ID, Transport: "file", ReceiverCreateSettings: r.settings,
	})
	return &downstream{of: r, next: r.next, traces: newTracesBuilder(r.config), observed: observed}, err
}

// Consume implements [tracker.Consumer].
func (d *downstream) Consume(ctx context.Context, spans []*projection.Span) error {
	operation := d.observed.StartTracesOp(ctx)
	err := d.next.ConsumeTraces(operation, d.traces.build(spans))
	d.observed.EndTracesOp(operation, d.of.config.Format, len(spans), err)
	var rest consumererror.Traces
	switch {
	case err == nil:
		d.of.counts.accepted(spans)
		d.of.health.set(&d.of.health.downstream, nil)
		return nil
	case consumererror.IsPermanent(err):
		d.of.health.set(&d.of.health.downstream, nil) // it answers, and that is all that can be said to it
		return &tracker.Refusal{Spans: len(spans), Err: err, Known: true}
	case ctx.Err() == nil:
		d.of.health.set(&d.of.health.downstream, fmt.Errorf("spans were not accepted, and are tried again: %w", err))
	}
	if !errors.As(err, &rest) {
		return err
	}
	accepted, left := partition(spans, rest.Data())
	if len(left) == 0 { // what is left are none that it was given
		return err
	}
	d.of.counts.accepted(accepted)
	return &tracker.Rest{Spans: left, Err: err}
}

// spanID is what a span is known by.
type spanID struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

// partition tells those of the spans that are in data from the others.
func partition(spans []*projection.Span, data ptrace.Traces) (others, in []*projection.Span) {
	ids := map[spanID]bool{}
	for _, resource := range data.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, s := range scope.Spans().All() {
				ids[spanID{s.TraceID(), s.SpanID()}] = true
			}
		}
	}
	for _, s := range spans {
		if ids[spanID{pcommon.TraceID(s.TraceID), pcommon.SpanID(s.SpanID)}] {
			in = append(in, s)
		} else {
			others = append(others, s)
		}
	}
	return others, in
}
