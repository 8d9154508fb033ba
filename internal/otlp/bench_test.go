package otlp

import (
	"io"
	"testing"

	"github.com/sessionspan/sessionspan/internal/spantest"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// BenchmarkMarshal is the way of a span from the projector to protobuf, ready to be sent.
func BenchmarkMarshal(b *testing.B) {
	measure(b, func(batch *Batch) error {
		_, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: batch.ResourceSpans()})
		return err
	})
}

// BenchmarkJSON is the way of a span from the projector to a line of OTLP/JSON.
func BenchmarkJSON(b *testing.B) {
	measure(b, func(batch *Batch) error { return WriteJSON(io.Discard, batch) })
}

func measure(b *testing.B, encode func(*Batch) error) {
	spans, batch := spantest.Chats(512), NewBatch(testConfig)
	b.ReportAllocs()
	for b.Loop() {
		batch.Reset()
		for _, s := range spans {
			batch.Add(s)
		}
		if err := encode(batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(spans))/b.Elapsed().Seconds(), "spans/s")
}
