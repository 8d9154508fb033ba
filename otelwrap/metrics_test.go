package otelwrap_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/otelwrap"
	"github.com/sessionspan/sessionspan/store"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// measured are the points of all metrics as text, one a line.
func measured(t *testing.T, reader sdkmetric.Reader) []string {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			say := func(set attribute.Set, value any) {
				all = append(all, fmt.Sprintf("%s %s {%s} %v", m.Name, m.Unit, set.Encoded(attribute.DefaultEncoder()), value))
			}
			switch d := m.Data.(type) {
			case metricdata.Histogram[int64]:
				for _, p := range d.DataPoints {
					say(p.Attributes, fmt.Sprint(p.Count, " ", p.Sum))
				}
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					say(p.Attributes, fmt.Sprintf("%d %.3f", p.Count, p.Sum))
				}
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					say(p.Attributes, p.Value)
				}
			default:
				t.Fatalf("%s is a %T", m.Name, d)
			}
		}
	}
	slices.Sort(all)
	return all
}

// timed gives entries times of their own, half a second apart.
func timed(entries []format.Entry) []format.Entry {
	for i, e := range entries {
		e.Base().Time = created.Add(halfSecond(i + 1))
	}
	return entries
}

// What is recorded live is measured; what a resumed session has in its past is not.
func TestMetrics(t *testing.T) {
	want := map[string][]string{
		"1.41": {
			"agentsession.calls {call} {agentsession.call.state=completed,gen_ai.agent.name=coder,gen_ai.tool.name=bash} 1",
			"agentsession.calls {call} {agentsession.call.state=rejected,gen_ai.agent.name=coder,gen_ai.tool.name=rm} 1",
			"agentsession.runs {run} {agentsession.run.reason=done,gen_ai.agent.name=coder} 1",
			"gen_ai.client.operation.duration s {error.type=overloaded,gen_ai.operation.name=chat,gen_ai.provider.name=openai,gen_ai.response.model=gpt-5} 1 0.250",
			"gen_ai.client.operation.duration s {gen_ai.agent.name=coder,gen_ai.operation.name=execute_tool,gen_ai.tool.name=bash,gen_ai.tool.type=function} 1 0.500",
			"gen_ai.client.operation.duration s {gen_ai.operation.name=chat,gen_ai.provider.name=openai,gen_ai.response.model=gpt-5} 2 2.000",
			"gen_ai.client.token.usage {token} {gen_ai.operation.name=chat,gen_ai.provider.name=openai,gen_ai.response.model=gpt-5,gen_ai.token.type=input} 2 200",
			"gen_ai.client.token.usage {token} {gen_ai.operation.name=chat,gen_ai.provider.name=openai,gen_ai.response.model=gpt-5,gen_ai.token.type=output} 2 14",
		},
		"latest": {
			"agentsession.calls {call} {agentsession.call.state=completed,gen_ai.agent.name=coder,gen_ai.tool.name=bash} 1",
			"agentsession.calls {call} {agentsession.call.state=rejected,gen_ai.agent.name=coder,gen_ai.tool.name=rm} 1",
			"agentsession.runs {run} {agentsession.run.reason=done,gen_ai.agent.name=coder} 1",
			"gen_ai.client.inference.duration s {error.type=overloaded,gen_ai.operation.name=chat,gen_ai.provider.name=openai,gen_ai.response.model=gpt-5} 1 0.250",
			"gen_ai.client.inference.duration s {gen_ai.operation.name=chat,gen_ai.provider.name=openai,gen_ai.response.model=gpt-5} 2 2.000",
			"gen_ai.client.inference.operation.input_tokens {token} {gen_ai.operation.name=chat,gen_ai.provider.name=openai,gen_ai.response.model=gpt-5,gen_ai.token.modality=unknown} 2 200",
			"gen_ai.client.inference.operation.output_tokens {token} {gen_ai.operation.name=chat,gen_ai.provider.name=openai,gen_ai.response.model=gpt-5,gen_ai.token.modality=unknown} 2 14",
			"gen_ai.client.inference.usage.input_tokens {token} {gen_ai.operation.name=chat,gen_ai.provider.name=openai,gen_ai.response.model=gpt-5,gen_ai.token.modality=unknown} 200",
			"gen_ai.client.inference.usage.output_tokens {token} {gen_ai.operation.name=chat,gen_ai.provider.name=openai,gen_ai.response.model=gpt-5,gen_ai.token.modality=unknown} 14",
			"gen_ai.execute_tool.duration s {gen_ai.agent.name=coder,gen_ai.tool.name=bash,gen_ai.tool.type=function} 1 0.500",
		},
	}
	for _, semconv := range slices.Sorted(maps.Keys(want)) {
		t.Run(semconv, func(t *testing.T) {
			inner := store.NewMemory()
			h := header("s")
			h.CreatedAt = created
			if _, err := inner.Create(t.Context(), h); err != nil {
				t.Fatal(err)
			}
			quarter := int64(250)
			failed := answered("resp-3").(*format.ResponseEntry)
			failed.Status, failed.Usage, failed.LatencyMS = "failed", nil, &quarter
			failed.Error = &format.ResponseError{Code: "overloaded", Message: "Try again."}
			rejection := format.NewDecision("call-2", "item-call-2", format.VerdictReject, "")
			rejection.Reason = "No."
			all := timed(slices.Concat(
				[]format.Entry{start("run-0"), user("Before."), answered("resp-0"), done("run-0")},
				working("run-1", "resp-1", "call-1", "bash"), []format.Entry{output("call-1")},
				asks("resp-2", "call-2", "rm"), []format.Entry{rejection, output("call-2"), failed, done("run-1")}))
			for _, e := range all[:4] { // by a process before
				if _, err := inner.Append(t.Context(), "s", e); err != nil {
					t.Fatal(err)
				}
			}
			reader := sdkmetric.NewManualReader()
			r := record(t, inner, nil, nil, otelwrap.WithSemconv(semconv), otelwrap.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
			r.add("s", all[4:]...)
			r.noErrors()
			if diff := cmp.Diff(want[semconv], measured(t, reader)); diff != "" {
				t.Errorf("-want +measured:\n%s", diff)
			}
		})
	}
}

// Sampling decides which spans are sent, and nothing of what is measured.
func TestMetricsOfWhatIsNotSampled(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	r := record(t, store.NewMemory(), nil, neverSample, otelwrap.WithMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))))
	r.create(header("s"))
	r.add("s", start("run-1"), done("run-1"))
	if got := strings.Join(measured(t, reader), "\n"); !strings.HasPrefix(got, "agentsession.runs") || len(r.spans.all()) != 0 {
		t.Errorf("measured %q; %d spans", got, len(r.spans.all()))
	}
}
