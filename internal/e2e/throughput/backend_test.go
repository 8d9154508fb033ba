package throughput

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/sessionspan/sessionspan/internal/delivery"
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

// discarding starts a backend in this process that throws away what it is sent, and returns its address.
func discarding(b *testing.B, protocol delivery.Protocol) (address string) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	if protocol == delivery.GRPC {
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
	return l.Addr().String()
}

// clientOf returns a client of a backend that is there.
func clientOf(b *testing.B, address string, protocol delivery.Protocol) *delivery.Client {
	b.Helper()
	c, err := delivery.NewClient(protocol, "http://"+address)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Close(); err != nil {
			b.Error(err)
		}
	})
	return c
}
