package throughput

import (
	"bytes"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/delivery"
	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/spantest"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const (
	total    = 200_000 // spans, in each round
	perBatch = 2048
	inFlight = 4
)

// archived are the spans of 100 MB of realistic sessions.
var archived = sync.OnceValue(func() []*projection.Span {
	rec := &spantest.Recorder{}
	for n := range uint64(50) {
		var file bytes.Buffer
		if _, err := sessiontest.Realistic(&file, rand.New(rand.NewPCG(n, 0)), 2e6); err != nil {
			panic(err)
		}
		rd, err := source.NewReader(&file, source.Options{})
		if err != nil {
			panic(err)
		}
		p := projection.New(projection.Options{}, rec)
		for err == nil {
			err = rd.Read(p.Feed, func(d *format.DamageError) { panic(d) })
		}
		if err != io.EOF {
			panic(err)
		}
		rd.Close()
		p.Finish()
	}
	return rec.Ended
})

// BenchmarkSender sends the spans of sessions, which are in memory, again and again to a backend that throws them away: as a
// replay does; as ptraceotlp does when its messages are made of the same spans; and with messages that are ready, which is what
// network and client take alone.
func BenchmarkSender(b *testing.B) {
	spans := archived()
	run := func(protocol delivery.Protocol, name string, round func(b *testing.B, address string)) {
		b.Run(string(protocol)+"/"+name, func(b *testing.B) {
			address := discarding(b, protocol)
			b.ReportAllocs()
			for b.Loop() {
				round(b, address)
			}
			b.ReportMetric(float64(b.N*total)/b.Elapsed().Seconds(), "spans/s")
		})
	}
	for _, protocol := range []delivery.Protocol{delivery.GRPC, delivery.HTTPProtobuf} {
		run(protocol, "sender", func(b *testing.B, address string) {
			s := delivery.New(b.Context(), clientOf(b, address, protocol), delivery.Options{MaxSpans: perBatch, InFlight: inFlight})
			for i := range total {
				s.End(spans[i%len(spans)])
			}
			if r, err := s.Close(); err != nil || r.Sent != total {
				b.Fatalf("%+v, error %v", r, err)
			}
		})
		run(protocol, "ready-batches", func(b *testing.B, address string) {
			c, ready := clientOf(b, address, protocol), otlp.NewBatch(otlp.Config{})
			for _, s := range spans[:perBatch] {
				ready.Add(s)
			}
			inBatches(func(int, int) {
				if err := c.UploadTraces(b.Context(), ready.ResourceSpans()); err != nil {
					b.Error(err)
				}
			})
		})
	}
	run(delivery.GRPC, "ptraceotlp", func(b *testing.B, address string) {
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		client := ptraceotlp.NewGRPCClient(conn)
		var sent atomic.Int64
		inBatches(func(from, to int) {
			batch := newTraces()
			for i := from; i < to; i++ {
				batch.add(spans[i%len(spans)])
			}
			if _, err := client.Export(b.Context(), ptraceotlp.NewExportRequestFromTraces(batch.traces)); err != nil {
				b.Error(err)
			}
			sent.Add(int64(batch.traces.SpanCount()))
		})
		if sent.Load() != total {
			b.Errorf("%d spans were sent", sent.Load())
		}
	})
}

// inBatches calls send for each batch, as many at once as may be in flight.
func inBatches(send func(from, to int)) {
	var workers sync.WaitGroup
	var next atomic.Int64
	for range inFlight {
		workers.Go(func() {
			for {
				from := int(next.Add(perBatch)) - perBatch
				if from >= total {
					return
				}
				send(from, min(from+perBatch, total))
			}
		})
	}
	workers.Wait()
}
