package collector

import (
	"fmt"
	"testing"

	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
)

// What Prometheus gets are the tokens and the runs of the files, also of what is appended later.
func TestMetricsAreThoseOfTheFiles(t *testing.T) {
	home, sessions := Home(t)
	ports := FreePorts(t, 2)
	Start(t, Options{
		Config: Example("metrics.yaml"),
		Env:    map[string]string{"HOME": home, "SESSIONSPAN_HEALTH": ports[0], "SESSIONSPAN_PROMETHEUS": ports[1]},
		Health: ports[0],
	})
	for _, part := range []func([]byte) []byte{Half, Whole} {
		CopySessions(t, sessions, part)
		spans := Replayed(t, sessions)
		want := map[string]float64{
			"input":  total(spans, "gen_ai.usage.input_tokens"),
			"output": total(spans, "gen_ai.usage.output_tokens"),
		}
		Eventually(t, func() string {
			have := Scrape(t, ports[1])
			for kind, tokens := range want {
				if n := have.Sum("gen_ai_client_token_usage_sum", fmt.Sprintf("gen_ai_token_type=%q", kind)); n != tokens {
					return fmt.Sprintf("%v %s tokens, want %v", n, kind, tokens)
				}
			}
			if n, calls := have.Sum("agentsession_calls_total"), number(spans, projection.TypeTool); n != calls {
				return fmt.Sprintf("%v calls, want %v", n, calls)
			}
			return ""
		})
		have := Scrape(t, ports[1])
		if have.Sum("gen_ai_client_operation_duration_seconds_count", `gen_ai_operation_name="chat"`) == 0 {
			t.Error("no model call has a duration")
		}
		if have.Sum("agentsession_runs_total") == 0 {
			t.Error("no run is counted")
		}
	}
}

// total adds up an attribute of the model calls.
func total(spans []*projection.Span, key attribute.Key) float64 {
	var sum int64
	for _, s := range spans {
		if s.Type == projection.TypeChat {
			sum += s.Attribute(key).AsInt64()
		}
	}
	return float64(sum)
}

func number(spans []*projection.Span, of projection.Type) float64 {
	n := 0
	for _, s := range spans {
		if s.Type == of {
			n++
		}
	}
	return float64(n)
}
