package collectorreceiver

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/collectorreceiver/internal/metadata"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

var errAway = errors.New("the backend is away")

// sessionSpans is how many spans the session of the tests has.
const sessionSpans = 36

// Only what an error says is left is sent again.
func TestErrorWithWhatIsLeft(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "s.jsonl"), session(t, "s"))
	to := newSink()
	first := true
	to.answer = func(td ptrace.Traces) error {
		if !first {
			return nil
		}
		first = false
		rest := ptrace.NewTraces()
		td.CopyTo(rest)
		spans := rest.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
		n := 0
		spans.RemoveIf(func(ptrace.Span) bool { n++; return n%2 == 0 })
		accepted := ptrace.NewTraces()
		td.CopyTo(accepted)
		n = 0
		accepted.ResourceSpans().At(0).ScopeSpans().At(0).Spans().RemoveIf(func(ptrace.Span) bool { n++; return n%2 == 1 })
		to.accept(accepted)
		return consumererror.NewTraces(errAway, rest)
	}
	start(t, quick(dir), newHost(), to)
	to.waitFor(t, sessionSpans)
	for id, times := range to.spans {
		if times != 1 {
			t.Errorf("%v came %d times", id, times)
		}
	}
}

// An error whose rest is of other spans has all be sent again.
func TestErrorWithSomethingElse(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "s.jsonl"), session(t, "s"))
	to := newSink()
	first := true
	to.answer = func(ptrace.Traces) error {
		if !first {
			return nil
		}
		first = false
		other := ptrace.NewTraces()
		other.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		return consumererror.NewTraces(errAway, other)
	}
	start(t, quick(dir), newHost(), to)
	to.waitFor(t, sessionSpans)
}

// What is refused for good is counted, logged and passed, and what comes later is sent.
func TestPermanentError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	put(t, path, session(t, "a"))
	to := newSink()
	refused := 0
	to.answer = func(td ptrace.Traces) error {
		for span := range spansOf(td) {
			if id, _ := span.Attributes().Get("agentsession.session.id"); id.AsString() == "a" {
				refused += td.SpanCount()
				return consumererror.NewPermanent(errAway)
			}
		}
		return nil
	}
	logs, seen := observer.New(zap.WarnLevel)
	tel := componenttest.NewTelemetry()
	defer shutdown(t, tel)
	set := receivertest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = tel.NewTelemetrySettings()
	set.Logger = zap.New(logs)
	h := newHost()
	r := startWith(t, set, quick(dir), h, to)
	to.wait(t, "the refusal", func() bool { return refused > 0 })
	put(t, filepath.Join(dir, "b.jsonl"), session(t, "b"))
	to.waitFor(t, sessionSpans)
	stop(t, r)
	if refused != sessionSpans {
		t.Errorf("%d refused", refused)
	}
	told := seen.FilterField(zap.String("path", path)).All()
	if len(told) != 1 || told[0].ContextMap()["error"] != "36 spans were refused, of 36 in bytes 0 to 21264: Permanent error: the backend is away" {
		t.Errorf("%v", told)
	}
	if got := h.statuses(); len(got) != 0 {
		t.Errorf("statuses %v", got)
	}
}

func shutdown(t *testing.T, tel *componenttest.Telemetry) {
	t.Helper()
	if err := tel.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// While the next component does not accept, the receiver says so, and that it is over when it is.
func TestStatus(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "s.jsonl"), session(t, "s"))
	to := newSink()
	tries := 0
	to.answer = func(ptrace.Traces) error {
		if tries++; tries < 4 {
			return errAway
		}
		return nil
	}
	h := newHost()
	r := start(t, quick(dir), h, to)
	to.waitFor(t, sessionSpans)
	stop(t, r)
	want := []componentstatus.Status{componentstatus.StatusRecoverableError, componentstatus.StatusOK}
	if diff := cmp.Diff(want, h.statuses()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Without retry_on_failure what is not accepted is passed.
func TestRetryTurnedOff(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a.jsonl"), session(t, "a"))
	to := newSink()
	tries := 0
	to.answer = func(ptrace.Traces) error {
		if tries++; tries == 1 {
			return errAway
		}
		return nil
	}
	c := quick(dir)
	c.RetryOnFailure.Enabled = false
	start(t, c, newHost(), to)
	to.wait(t, "the first try", func() bool { return tries == 1 })
	put(t, filepath.Join(dir, "b.jsonl"), session(t, "b"))
	to.waitFor(t, sessionSpans)
	if tries != 2 || len(to.spans) != sessionSpans {
		t.Errorf("%d tries, %d spans", tries, len(to.spans))
	}
}

// The receiver's own metrics, and those that all receivers have.
func TestMetrics(t *testing.T) {
	dir := t.TempDir()
	with := func(id, line string) {
		header, rest, _ := bytes.Cut(session(t, id), []byte("\n"))
		put(t, filepath.Join(dir, id+".jsonl"), fmt.Appendf(nil, "%s\n%s\n%s", header, line, rest))
	}
	with("s", "{broken}")
	with("t", strings.Repeat(" ", 70<<10))
	to := newSink()
	tel := componenttest.NewTelemetry()
	defer shutdown(t, tel)
	set := receivertest.NewNopSettings(metadata.Type)
	set.ID = component.NewIDWithName(metadata.Type, "x")
	set.TelemetrySettings = tel.NewTelemetrySettings()
	c := quick(dir)
	c.MaxLineSize, c.MaxLineMemory = 64<<10, 64<<10
	startWith(t, set, c, newHost(), to)
	to.waitFor(t, 2*sessionSpans)
	eventually(t, "the counts of the last look", func() bool {
		for name, want := range map[string]float64{"lines_read": 2 * 82, "spans": 2 * sessionSpans, "checkpoint_age": 0} {
			if got, err := measured(tel, name); err != nil || got != want { // spans have no count before the first one
				return false
			}
		}
		return true
	})
	for name, want := range map[string]float64{
		"files": 2, "lines_broken": 1, "lines_skipped": 1, "spans": 2 * sessionSpans, "spans_refused": 0, "generations": 0, "checkpoint_age": 0,
		"spans_retrying": 0, "bytes_reread": 0, "sessions_open": 0,
	} {
		if got := value(t, tel, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if m, err := tel.GetMetric("otelcol_receiver_accepted_spans"); err != nil || total(m.Data) != 2*sessionSpans {
		t.Errorf("accepted spans: %v, %v", m, err)
	}
}

// value is that of one of the receiver's own metrics, whatever its attributes.
func value(t *testing.T, tel *componenttest.Telemetry, name string) float64 {
	t.Helper()
	got, err := measured(tel, name)
	if err != nil {
		t.Error(err)
	}
	return got
}

func measured(tel *componenttest.Telemetry, name string) (float64, error) {
	m, err := tel.GetMetric("otelcol_receiver_agentsession_" + name)
	return total(m.Data), err
}

func total(data metricdata.Aggregation) (sum float64) {
	switch d := data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range d.DataPoints {
			sum += float64(p.Value)
		}
	case metricdata.Gauge[int64]:
		for _, p := range d.DataPoints {
			sum += float64(p.Value)
		}
	case metricdata.Gauge[float64]:
		for _, p := range d.DataPoints {
			sum += p.Value
		}
	}
	return sum
}
