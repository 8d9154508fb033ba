package otelwrap

import (
	"context"
	"errors"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/scope"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// instruments are the metrics of a recorder. Of the fields for one text of the conventions those of the other are nil.
type instruments struct {
	chats metric.Float64Histogram
	tools metric.Float64Histogram
	runs  metric.Int64Counter
	calls metric.Int64Counter

	tokens metric.Int64Histogram // to 1.41

	counts           []tokenCount // after it
	inputs, outputs  metric.Int64Histogram
	operationOnTools bool // the name of the metric does not say it
}

// tokenCount counts what one attribute of a chat says.
type tokenCount struct {
	of      attribute.Key
	counter metric.Int64Counter
}

// Buckets as the conventions have them.
func durationBuckets() metric.HistogramOption {
	return metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
}

func tokenBuckets() metric.HistogramOption {
	return metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)
}

func newInstruments(p metric.MeterProvider, semconv projection.Semconv) (*instruments, error) {
	meter := p.Meter(scope.Name, metric.WithInstrumentationVersion(scope.Version()), metric.WithSchemaURL(projection.SchemaURL(semconv)))
	var errs []error
	duration := func(name, what string) metric.Float64Histogram {
		h, err := meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what), durationBuckets())
		errs = append(errs, err)
		return h
	}
	histogram := func(name, what string) metric.Int64Histogram {
		h, err := meter.Int64Histogram(name, metric.WithUnit("{token}"), metric.WithDescription(what), tokenBuckets())
		errs = append(errs, err)
		return h
	}
	counter := func(name, unit, what string) metric.Int64Counter {
		c, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(what))
		errs = append(errs, err)
		return c
	}
	m := &instruments{
		runs:  counter(names.MetricRuns, "{run}", "Runs that ended, by reason."),
		calls: counter(names.MetricCalls, "{call}", "Tool calls that came to an end, each hand-off by itself, by state."),
	}
	if semconv != projection.SemconvLatest {
		m.tokens = histogram(names.MetricTokenUsage, "Tokens of a model call.")
		m.chats = duration(names.MetricOperationDuration, "How long a model call or a tool took.")
		m.tools, m.operationOnTools = m.chats, true
		return m, errors.Join(errs...)
	}
	m.chats = duration(names.MetricInferenceDuration, "How long a model call took.")
	m.tools = duration(names.MetricToolDuration, "How long a tool took.")
	m.inputs = histogram(names.MetricOperationInput, "Input tokens of a model call.")
	m.outputs = histogram(names.MetricOperationOutput, "Output tokens of a model call.")
	for _, c := range []struct {
		of         attribute.Key
		name, what string
	}{
		{names.InputTokens, names.MetricInputTokens, "Input tokens, cached ones included."},
		{names.OutputTokens, names.MetricOutputTokens, "Output tokens, reasoning included."},
		{names.CacheReadTokens, names.MetricCacheReadTokens, "Input tokens that were read from a cache."},
		{names.CacheWriteTokens, names.MetricCacheWriteTokens, "Input tokens that were written to a cache."},
		{names.ReasoningTokens, names.MetricReasoningTokens, "Output tokens of reasoning."},
	} {
		m.counts = append(m.counts, tokenCount{c.of, counter(c.name, "{token}", c.what)})
	}
	return m, errors.Join(errs...)
}

// record counts a span that has ended.
func (m *instruments) record(span trace.Span, s *projection.Span) {
	ctx := trace.ContextWithSpan(context.Background(), span) // for exemplars
	switch s.Type {
	case projection.TypeChat:
		m.chat(ctx, s)
	case projection.TypeTool:
		m.tool(ctx, s)
	case projection.TypeRun:
		if s.Attribute(names.RunCutBy).AsString() == names.CutByBranch {
			return // it was left, and may go on
		}
		m.runs.Add(ctx, 1, with(s, names.RunReason, names.RunCutBy, names.AgentName))
	}
}

func (m *instruments) chat(ctx context.Context, s *projection.Span) {
	if known(s) {
		m.chats.Record(ctx, seconds(s), with(s, names.Operation, names.Provider, names.RequestModel, names.ResponseModel, names.ErrorType))
	}
	common := pick(s, names.Operation, names.Provider, names.RequestModel, names.ResponseModel)
	if m.tokens != nil {
		for _, of := range []struct {
			key  attribute.Key
			kind string
		}{{names.InputTokens, names.TokensInput}, {names.OutputTokens, names.TokensOutput}} {
			if n, ok := count(s, of.key); ok {
				m.tokens.Record(ctx, n, metric.WithAttributeSet(attribute.NewSet(append(common[:len(common):len(common)], names.TokenType.String(of.kind))...)))
			}
		}
		return
	}
	set := metric.WithAttributeSet(attribute.NewSet(append(common, names.TokenModality.String(names.ModalityUnknown))...))
	failed := s.Attribute(names.ErrorType).Type() != attribute.EMPTY
	for _, c := range m.counts {
		if n, ok := count(s, c.of); ok || failed && (c.of == names.InputTokens || c.of == names.OutputTokens) { // which counts as none
			c.counter.Add(ctx, n, set)
		}
	}
	if n, ok := count(s, names.InputTokens); ok {
		m.inputs.Record(ctx, n, set)
	}
	if n, ok := count(s, names.OutputTokens); ok {
		m.outputs.Record(ctx, n, set)
	}
}

func (m *instruments) tool(ctx context.Context, s *projection.Span) {
	m.calls.Add(ctx, 1, with(s, names.CallState, names.ToolName, names.AgentName))
	switch {
	case s.Attribute(names.CallState).AsString() != names.StateCompleted || !known(s):
		return // the end is not that of the tool
	case s.Attribute(names.Timing).AsString() != string(activity.Measured) && s.Attribute(names.ApprovalWait).Type() != attribute.EMPTY:
		return // nothing says when it was handed over, and a person was waited for
	}
	keys := []attribute.Key{names.ToolName, names.ToolType, names.AgentName, names.ErrorType}
	if m.operationOnTools {
		keys = append(keys, names.Operation)
	}
	m.tools.Record(ctx, seconds(s), with(s, keys...))
}

// known reports whether the times of a span are more than derived from what stands around it.
func known(s *projection.Span) bool {
	return s.Attribute(names.Timing).AsString() != string(activity.Inferred)
}

func seconds(s *projection.Span) float64 { return s.End.Sub(s.Start).Seconds() }

func count(s *projection.Span, key attribute.Key) (n int64, ok bool) {
	v := s.Attribute(key)
	return v.AsInt64(), v.Type() == attribute.INT64
}

// pick returns those attributes of a span that it has.
func pick(s *projection.Span, keys ...attribute.Key) []attribute.KeyValue {
	list := make([]attribute.KeyValue, 0, len(keys)+1)
	for _, k := range keys {
		if v := s.Attribute(k); v.Type() != attribute.EMPTY {
			list = append(list, attribute.KeyValue{Key: k, Value: v})
		}
	}
	return list
}

func with(s *projection.Span, keys ...attribute.Key) metric.MeasurementOption {
	return metric.WithAttributeSet(attribute.NewSet(pick(s, keys...)...))
}
