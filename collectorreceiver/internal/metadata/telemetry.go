package metadata

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Counts are what the receiver's own metrics show, as it is when they are read.
type Counts struct {
	Files, OpenSessions                  int64
	BytesRead, BytesReread, BytesBehind  int64
	LinesRead, LinesSkipped, LinesBroken int64
	Spans                                map[string]int64 // accepted, by type
	SpansRefused, SpansRetrying          int64
	CheckpointAge                        float64 // seconds
	Generations                          int64
}

// SpanType is the attribute of the spans metric.
const SpanType = "agentsession.span.type"

// Telemetry is the receiver's own metrics.
type Telemetry struct{ registration metric.Registration }

// Shutdown ends the metrics.
func (t *Telemetry) Shutdown() error { return t.registration.Unregister() }

// instrument is one of the metrics.
type instrument struct {
	name, description, unit string
	value                   func(Counts) int64
}

// sums only grow, gauges do not.
var (
	sums = []instrument{
		{"bytes_read", "Bytes of complete lines that were read.", "By", func(c Counts) int64 { return c.BytesRead }},
		{"bytes_reread", "Bytes that were read once more, to have the state of a session again that was let go of.", "By", func(c Counts) int64 { return c.BytesReread }},
		{"lines_read", "Complete lines that were read.", "{line}", func(c Counts) int64 { return c.LinesRead }},
		{"lines_skipped", "Lines that were longer than max_line_size.", "{line}", func(c Counts) int64 { return c.LinesSkipped }},
		{"lines_broken", "Lines that could not be read otherwise.", "{line}", func(c Counts) int64 { return c.LinesBroken }},
		{"spans_refused", "Spans that the next component refused for good, or that were given up.", "{span}", func(c Counts) int64 { return c.SpansRefused }},
		{"generations", "How often a file was found to hold something else than what was read of it.", "{generation}", func(c Counts) int64 { return c.Generations }},
	}
	gauges = []instrument{
		{"files", "Files that are followed.", "{file}", func(c Counts) int64 { return c.Files }},
		{"sessions_open", "Sessions in which a run, a model call or a tool call has not ended.", "{session}", func(c Counts) int64 { return c.OpenSessions }},
		{"bytes_behind", "Bytes that are there and have not been read.", "By", func(c Counts) int64 { return c.BytesBehind }},
		{"spans_retrying", "Spans that wait to be given to the next component once more.", "{span}", func(c Counts) int64 { return c.SpansRetrying }},
	}
)

const prefix = "otelcol_receiver_agentsession_"

// NewTelemetry begins with the metrics of the receiver of an id. Counts is called whenever they are read, from any goroutine.
func NewTelemetry(settings component.TelemetrySettings, id component.ID, counts func() Counts) (*Telemetry, error) {
	meter := settings.MeterProvider.Meter(ScopeName)
	receiver := attribute.String("receiver", id.String())
	own := metric.WithAttributeSet(attribute.NewSet(receiver))
	var all []metric.Observable
	var observe []func(metric.Observer, Counts)
	for _, i := range sums {
		c, err := meter.Int64ObservableCounter(prefix+i.name, metric.WithDescription(i.description), metric.WithUnit(i.unit))
		if err != nil {
			return nil, err
		}
		all = append(all, c)
		observe = append(observe, func(o metric.Observer, n Counts) { o.ObserveInt64(c, i.value(n), own) })
	}
	for _, i := range gauges {
		g, err := meter.Int64ObservableGauge(prefix+i.name, metric.WithDescription(i.description), metric.WithUnit(i.unit))
		if err != nil {
			return nil, err
		}
		all = append(all, g)
		observe = append(observe, func(o metric.Observer, n Counts) { o.ObserveInt64(g, i.value(n), own) })
	}
	spans, err := meter.Int64ObservableCounter(prefix+"spans",
		metric.WithDescription("Spans that the next component has accepted, by type."), metric.WithUnit("{span}"))
	if err != nil {
		return nil, err
	}
	age, err := meter.Float64ObservableGauge(prefix+"checkpoint_age",
		metric.WithDescription("How long something has been read that is not in the checkpoints."), metric.WithUnit("s"))
	if err != nil {
		return nil, err
	}
	observe = append(observe, func(o metric.Observer, n Counts) {
		for typ, count := range n.Spans {
			o.ObserveInt64(spans, count, metric.WithAttributeSet(attribute.NewSet(receiver, attribute.String(SpanType, typ))))
		}
		o.ObserveFloat64(age, n.CheckpointAge, own)
	})
	r, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		n := counts()
		for _, f := range observe {
			f(o, n)
		}
		return nil
	}, append(all, spans, age)...)
	return &Telemetry{r}, err
}
