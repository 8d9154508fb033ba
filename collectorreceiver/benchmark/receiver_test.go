package benchmark

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/receiver/filelogreceiver"
	"github.com/sessionspan/sessionspan/collectorreceiver"
	"github.com/sessionspan/sessionspan/internal/benchtest"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/replaytest"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

// archiveSize is how many bytes of sessions there are, in one file or in many.
const archiveSize = 200e6

// BenchmarkReceivers reads sessions from their files to a consumer that throws away what it gets: to spans, and, beside that, the same
// files to a log record for each line.
func BenchmarkReceivers(b *testing.B) {
	for _, files := range []int{1, 1000} {
		dir := b.TempDir()
		paths, err := sessiontest.Archive(dir, rand.New(rand.NewPCG(1, 0)), files, archiveSize)
		if err != nil {
			b.Fatal(err)
		}
		var size, lines int64
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				b.Fatal(err)
			}
			size += int64(len(data))
			lines += int64(bytes.Count(data, []byte("\n")))
		}
		// What ends because nothing happened for a day is looked for once a second, and not waited for.
		spans := int64(len(replaytest.Spans(b, projection.Options{}, dir, time.Unix(1, 0))))
		b.Run(fmt.Sprintf("agentsession/files=%d", files), func(b *testing.B) {
			f := collectorreceiver.NewFactory()
			c := configured(b, f, map[string]any{
				"include": []any{dir}, "poll_interval": "20ms", "batch": map[string]any{"flush_timeout": "100ms"}, // as the other one's
			})
			measure(b, size, spans, func(n *counter) (component.Component, error) {
				return f.CreateTraces(b.Context(), receivertest.NewNopSettings(f.Type()), c, n)
			})
		})
		b.Run(fmt.Sprintf("filelog/files=%d", files), func(b *testing.B) {
			f := filelogreceiver.NewFactory()
			c := configured(b, f, map[string]any{
				"include": []any{filepath.Join(dir, "**", "*.jsonl")}, "start_at": "beginning", "max_log_size": "64MiB", "poll_interval": "20ms",
			})
			measure(b, size, lines, func(n *counter) (component.Component, error) {
				return f.CreateLogs(b.Context(), receivertest.NewNopSettings(f.Type()), c, n)
			})
		})
	}
}

func configured(b *testing.B, f component.Factory, options map[string]any) component.Config {
	b.Helper()
	c := f.CreateDefaultConfig()
	if err := confmap.NewFromStringMap(options).Unmarshal(c); err != nil {
		b.Fatal(err)
	}
	return c
}

// measure runs a receiver of files of so many bytes until it has given so many items.
func measure(b *testing.B, size, items int64, create func(*counter) (component.Component, error)) {
	b.SetBytes(size)
	heap := watchHeap()
	cpu := benchtest.CPUTime(b)
	for b.Loop() {
		n := &counter{want: items, done: make(chan struct{})}
		r, err := create(n)
		if err != nil {
			b.Fatal(err)
		}
		if err := r.Start(b.Context(), componenttest.NewNopHost()); err != nil {
			b.Fatal(err)
		}
		select {
		case <-n.done:
		case <-time.After(2 * time.Minute):
			b.Fatalf("%d items of %d", n.have.Load(), items)
		}
		if err := r.Shutdown(context.WithoutCancel(b.Context())); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric((benchtest.CPUTime(b)-cpu).Seconds()/float64(b.N)/(float64(size)/1e9), "cpu-s/GB")
	b.ReportMetric(float64(items)*float64(b.N)/b.Elapsed().Seconds(), "items/s")
	b.ReportMetric(float64(heap())/1e6, "peak-heap-MB")
}

// counter is a consumer that throws away what it is given.
type counter struct {
	want int64
	have atomic.Int64
	done chan struct{} // closed when it has all
}

func (c *counter) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (c *counter) ConsumeTraces(_ context.Context, td ptrace.Traces) error {
	return c.count(td.SpanCount())
}

func (c *counter) ConsumeLogs(_ context.Context, ld plog.Logs) error {
	return c.count(ld.LogRecordCount())
}

func (c *counter) count(n int) error {
	if have := c.have.Add(int64(n)); have >= c.want && have-int64(n) < c.want {
		close(c.done)
	}
	return nil
}
