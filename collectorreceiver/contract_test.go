package collectorreceiver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/replaytest"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

// The Collector's own suite for what a receiver owes to its next component.
func TestConsumeContract(t *testing.T) {
	dir := t.TempDir()
	receivertest.CheckConsumeContract(receivertest.CheckConsumeContractParams{
		T: t, Factory: labelled(), Signal: pipeline.SignalTraces, Config: quick(dir),
		Generator: &writer{t: t, dir: dir}, GenerateCount: 60,
	})
}

// labelled is the receiver with its spans' ids where the suite looks for them.
func labelled() receiver.Factory {
	return receiver.NewFactory(NewFactory().Type(), createDefaultConfig, receiver.WithTraces(
		func(ctx context.Context, set receiver.Settings, cfg component.Config, next consumer.Traces) (receiver.Traces, error) {
			to, err := consumer.NewTraces(func(ctx context.Context, td ptrace.Traces) error {
				for span := range spansOf(td) {
					span.Attributes().PutStr(receivertest.UniqueIDAttrName, label(span.TraceID().String(), span.SpanID().String()))
				}
				return next.ConsumeTraces(ctx, td)
			}, consumer.WithCapabilities(consumer.Capabilities{MutatesData: true}))
			if err != nil {
				return nil, err
			}
			return createTraces(ctx, set, cfg, to)
		}, component.StabilityLevelAlpha))
}

func label(trace, span string) string { return trace + " " + span }

// writer is an agent that writes one session after the other. A new scenario begins with an empty folder.
type writer struct {
	t       *testing.T
	dir     string
	written atomic.Int64
}

func (w *writer) Start() {}

func (w *writer) Stop() {
	files, err := filepath.Glob(filepath.Join(w.dir, "*.jsonl"))
	if err != nil {
		w.t.Error(err)
	}
	for _, path := range files {
		if err := os.Remove(path); err != nil {
			w.t.Error(err)
		}
	}
}

// Generate writes a session, and returns its spans.
func (w *writer) Generate() []receivertest.UniqueIDAttrVal {
	apart := w.t.TempDir()
	name := fmt.Sprintf("%d.jsonl", w.written.Add(1))
	put(w.t, filepath.Join(apart, name), session(w.t, name))
	var ids []receivertest.UniqueIDAttrVal
	for _, s := range replaytest.Spans(w.t, projection.Options{}, apart, time.Now()) {
		ids = append(ids, receivertest.UniqueIDAttrVal(label(s.TraceID.String(), s.SpanID.String())))
	}
	if err := os.Rename(filepath.Join(apart, name), filepath.Join(w.dir, name)); err != nil {
		w.t.Error(err)
	}
	return ids
}
