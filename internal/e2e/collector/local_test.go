package collector

import (
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/internal/e2e/jaeger"
)

func startLocal(t *testing.T, home, endpoint string) *Process {
	t.Helper()
	health := FreePorts(t, 1)[0]
	return Start(t, Options{
		Config: Example("local.yaml"),
		Env:    map[string]string{"HOME": home, "SESSIONSPAN_OTLP_ENDPOINT": endpoint, "SESSIONSPAN_HEALTH": health},
		Health: health,
	})
}

// What is stored is sent; after a restart what has come to it, and that only.
func TestLocalGoesOnAfterARestart(t *testing.T) {
	home, sessions := Home(t)
	sink := StartSink(t)
	CopySessions(t, sessions, Half)
	process := startLocal(t, home, sink.Address)
	waitForSpans(t, ids(Replayed(t, sessions)), sink.Spans)
	if err := process.Stop(); err != nil {
		t.Fatal(err)
	}
	before := len(sink.Spans())

	CopySessions(t, sessions, Whole)
	startLocal(t, home, sink.Address)
	waitForSpans(t, ids(Replayed(t, sessions)), sink.Spans)
	once(t, sink.Spans())
	if after := len(sink.Spans()); after <= before {
		t.Errorf("%d spans before the restart, %d after it", before, after)
	}
}

// The queue of the exporter is not where spans are safe: nothing is taken to be sent that the backend has not acknowledged.
func TestLocalThatIsKilledHasLostNothing(t *testing.T) {
	home, sessions := Home(t)
	CopySessions(t, sessions, Whole)
	sink := StartSink(t)
	sink.Refuse(true)
	process := startLocal(t, home, sink.Address)
	Eventually(t, func() string {
		if sink.Refused() == 0 {
			return "nothing was sent"
		}
		return ""
	})
	process.Kill()

	sink.Refuse(false)
	startLocal(t, home, sink.Address)
	waitForSpans(t, ids(Replayed(t, sessions)), sink.Spans)
}

func TestLocalIntoJaeger(t *testing.T) {
	server := jaeger.Start(t, jaeger.Badger(t.TempDir()))
	home, sessions := Home(t)
	CopySessions(t, sessions, Whole)
	want := ids(Replayed(t, sessions))
	startLocal(t, home, server.OTLPGRPC())
	waitForSpans(t, want, func() map[SpanID]int {
		stored := map[SpanID]int{}
		for trace := range traces(want) {
			list, _ := server.Trace(t.Context(), trace) // none, as long as it is not there
			for _, resource := range list {
				for _, scope := range resource.ScopeSpans {
					for _, s := range scope.Spans {
						stored[SpanID{hex.EncodeToString(s.TraceId), hex.EncodeToString(s.SpanId)}]++
					}
				}
			}
		}
		return stored
	})
}

// Without a configuration it prints the spans of the sessions of this machine, and logs nothing but what is missing.
func TestWithoutConfigurationItPrintsSpans(t *testing.T) {
	home, sessions := Home(t)
	CopySessions(t, sessions, Whole)
	process := Launch(t, Options{Env: map[string]string{"HOME": home}})
	waitForSpans(t, ids(Replayed(t, sessions)), func() map[SpanID]int { return printed(t, process) })
	for line := range strings.Lines(process.Tail()) {
		if !strings.Contains(line, "\twarn\t") {
			t.Errorf("it logs %q", line)
		}
	}
}

// line is that of a span, as the debug exporter prints it: name, trace, span, attributes.
var line = regexp.MustCompile(`(?m)^.*? ([0-9a-f]{32}) ([0-9a-f]{16})(?: |$)`)

func printed(t *testing.T, process *Process) map[SpanID]int {
	t.Helper()
	text, err := os.ReadFile(process.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	spans := map[SpanID]int{}
	for _, m := range line.FindAllStringSubmatch(string(text), -1) {
		spans[SpanID{m[1], m[2]}]++
	}
	return spans
}
