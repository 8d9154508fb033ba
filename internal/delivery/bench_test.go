package delivery

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
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

// chats returns spans as the projector makes them, with 16 attributes.
func chats(n int) []*projection.Span {
	session := &projection.Session{ID: "01983f6e-3b7c-7c3e-b0d4-6a2f8e5d1c90", Harness: "pi", Version: "0.52.9"}
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	out := make([]*projection.Span, n)
	for i := range out {
		out[i] = &projection.Span{
			TraceID: trace.TraceID{1, byte(i >> 6), 15: 16}, SpanID: trace.SpanID{byte(i >> 8), byte(i), 7: 8},
			Parent: trace.SpanID{1, 7: 8}, Name: "chat claude-sonnet-4-5", Kind: trace.SpanKindClient,
			Start: at.Add(time.Duration(i) * time.Second), End: at.Add(time.Duration(i)*time.Second + 730*time.Millisecond),
			Attributes: []attribute.KeyValue{
				attribute.String("session.id", session.ID), attribute.String("gen_ai.conversation.id", session.ID),
				attribute.String("agentsession.session.id", session.ID), attribute.String("agentsession.span.type", "chat"),
				attribute.String("agentsession.entry.id", fmt.Sprintf("e%07d", i)),
				attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.provider.name", "anthropic"),
				attribute.String("gen_ai.request.model", "claude-sonnet-4-5"),
				attribute.String("gen_ai.response.model", "claude-sonnet-4-5-20250929"),
				attribute.String("gen_ai.response.id", fmt.Sprintf("msg_01%022d", i)),
				attribute.StringSlice("gen_ai.response.finish_reasons", []string{"tool_call"}),
				attribute.Int("gen_ai.usage.input_tokens", 48213), attribute.Int("gen_ai.usage.output_tokens", 911),
				attribute.Int("gen_ai.usage.cache_read.input_tokens", 47000),
				attribute.Float64("gen_ai.usage.cost", 0.0421), attribute.String("agentsession.timing", "bounded"),
			},
			Session: session,
		}
	}
	return out
}

// BenchmarkSender sends 200,000 spans to a server in the same process that throws them away, beside the same client called
// with one batch that is ready, again and again, by as many goroutines: what the network and the client cost alone.
func BenchmarkSender(b *testing.B) {
	const total = 200_000
	spans := chats(4096)
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
