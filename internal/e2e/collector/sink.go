package collector

import (
	"context"
	"encoding/hex"
	"maps"
	"net"
	"sync"
	"testing"
	"time"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // as the exporter compresses
	"google.golang.org/grpc/status"
)

// SpanID is what a span is known by, both in hexadecimal.
type SpanID struct{ Trace, Span string }

// Sink takes spans by OTLP over gRPC, and remembers which.
type Sink struct {
	Address string // host:port

	collectorpb.UnimplementedTraceServiceServer
	mu      sync.Mutex
	spans   map[SpanID]int
	refuse  bool
	refused int
}

// StartSink starts a sink on loopback and stops it when the test ends.
func StartSink(t testing.TB) *Sink {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Sink{Address: listener.Addr().String(), spans: map[SpanID]int{}}
	server := grpc.NewServer()
	collectorpb.RegisterTraceServiceServer(server, s)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Errorf("sink: %v", err)
		}
	})
	return s
}

// Export implements the service of OTLP.
func (s *Sink) Export(_ context.Context, r *collectorpb.ExportTraceServiceRequest) (*collectorpb.ExportTraceServiceResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse {
		s.refused++
		return nil, status.Error(codes.Unavailable, "not now")
	}
	for _, resource := range r.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				s.spans[SpanID{hex.EncodeToString(span.TraceId), hex.EncodeToString(span.SpanId)}]++
			}
		}
	}
	return &collectorpb.ExportTraceServiceResponse{}, nil
}

// Refuse says whether the sink refuses what comes, in a way that asks to try again. To begin with it does not.
func (s *Sink) Refuse(refuse bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = refuse
}

// Refused is how many requests were refused.
func (s *Sink) Refused() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused
}

// Spans are those that came, and how often.
func (s *Sink) Spans() map[SpanID]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.spans)
}

// Eventually waits until something is as it is to be: until it has nothing more to say.
func Eventually(t testing.TB, missing func() string) {
	t.Helper()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for end := time.Now().Add(arriveTime); ; <-tick.C {
		what := missing()
		if what == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after %v: %s", arriveTime, what)
		}
	}
}
