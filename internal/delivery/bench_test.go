package delivery

import (
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"testing"

	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/spantest"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
)

// unread is a codec for a server that does not look into what it receives.
type unread struct{}

func (unread) Name() string                         { return "proto" }
func (unread) Marshal(any) (mem.BufferSlice, error) { return nil, nil }
func (unread) Unmarshal(mem.BufferSlice, any) error { return nil }

func discard(context.Context, any, *grpc.UnaryServerInfo, grpc.UnaryHandler) (any, error) {
	return nil, nil
}

// discarding starts a server that throws away what it is sent, and returns a client of it.
func discarding(b *testing.B, protocol Protocol) *Client {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	if protocol == GRPC {
		s := grpc.NewServer(grpc.ForceServerCodecV2(unread{}), grpc.UnaryInterceptor(discard))
		coltracepb.RegisterTraceServiceServer(s, coltracepb.UnimplementedTraceServiceServer{})
		go func() {
			defer close(done)
			_ = s.Serve(l)
		}()
		b.Cleanup(func() { s.Stop(); <-done })
	} else {
		s := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
		})}
		go func() {
			defer close(done)
			_ = s.Serve(l)
		}()
		b.Cleanup(func() { _ = s.Close(); <-done })
	}
	return (&backend{endpoint: "http://" + l.Addr().String()}).client(b, protocol)
}

// BenchmarkSender sends 200,000 spans to a server in the same process that throws them away, beside the same client called
// with one batch that is ready, again and again, by as many goroutines: what the network and the client cost alone.
func BenchmarkSender(b *testing.B) {
	const total = 200_000
	spans := spantest.Chats(4096)
	measure := func(b *testing.B, work func(c *Client) (bytes int64), protocol Protocol) {
		c := discarding(b, protocol)
		b.ReportAllocs()
		var bytes int64
		for b.Loop() {
			bytes = work(c)
		}
		b.SetBytes(bytes)
		b.ReportMetric(float64(b.N*total)/b.Elapsed().Seconds(), "spans/s")
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapSys)/(1<<20), "heap-MB")
	}
	for _, protocol := range []Protocol{GRPC, HTTPProtobuf} {
		b.Run(string(protocol)+"/ready-batches", func(b *testing.B) {
			ready := otlp.NewBatch(otlp.Config{})
			for _, s := range spans[:2048] {
				ready.Add(s)
			}
			measure(b, func(c *Client) (bytes int64) {
				var wg sync.WaitGroup
				left := make(chan struct{}, total/2048+1)
				for range cap(left) {
					left <- struct{}{}
				}
				close(left)
				for range 4 {
					wg.Go(func() {
						for range left {
							if err := c.UploadTraces(b.Context(), ready.ResourceSpans()); err != nil {
								b.Error(err)
							}
						}
					})
				}
				wg.Wait()
				return int64(cap(left) * ready.Size())
			}, protocol)
		})
		b.Run(string(protocol)+"/sender", func(b *testing.B) {
			measure(b, func(c *Client) (bytes int64) {
				s := New(b.Context(), c, Options{})
				for i := range total {
					s.End(spans[i%len(spans)])
				}
				r, err := s.Close()
				if err != nil || r.Sent != total {
					b.Fatalf("%+v, error %v", r, err)
				}
				return r.Bytes
			}, protocol)
		})
	}
}
