package archive

import (
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/spantest"
)

func TestShifted(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 1, 1, 0, 0, s, 0, time.UTC) }
	full := make([]attribute.KeyValue, 128)
	session := &projection.Session{ID: "s"}
	run := &projection.Span{
		Name: "run", Session: session, Start: at(1), End: at(10), Attributes: full,
		Events: []projection.Event{{Name: "e", Time: at(5)}},
	}
	open := &projection.Span{Name: "open", Session: session, Start: at(12)}
	s := &shifted{}
	s.Start(run)
	s.Start(open)
	s.End(run)
	rec := &spantest.Recorder{}
	now := at(100)
	s.release(rec, now)

	if !open.Start.Equal(now) || !open.End.IsZero() {
		t.Errorf("the open span is at %v to %v, want from %v", open.Start, open.End, now)
	}
	if !run.Start.Equal(at(89)) || !run.End.Equal(at(98)) || !run.Events[0].Time.Equal(at(93)) {
		t.Errorf("the run is at %v to %v with an event at %v", run.Start, run.End, run.Events[0].Time)
	}
	if got := spantest.Attribute(run, "agentsession.original.end").AsString(); got != "2026-01-01T00:00:10Z" {
		t.Errorf("the original end is %q", got)
	}
	if len(run.Attributes) != 128 || run.DroppedAttributes != 2 {
		t.Errorf("the run has %d attributes and dropped %d", len(run.Attributes), run.DroppedAttributes)
	}
	if len(rec.Started) != 2 || len(rec.Ended) != 1 {
		t.Errorf("%d started and %d ended, want 2 and 1", len(rec.Started), len(rec.Ended))
	}
}
