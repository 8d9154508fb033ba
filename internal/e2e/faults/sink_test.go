package faults

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // exporters compress
	"google.golang.org/grpc/status"
)

// mode is what a sink does with spans.
type mode string

const (
	accept  mode = "accept"
	slow    mode = "slow"    // accepts, and takes its time before and after
	refuse  mode = "refuse"  // says that it is not there
	lose    mode = "lose"    // takes them, and says so to nobody: it answers with an error, or ends all connections
	partial mode = "partial" // takes them, and says of some that it never will: those are not to be sent again, and nobody can tell which they are
	stall   mode = "stall"   // does not answer
)

// sink is a backend for traces that counts and does not keep them.
type sink struct {
	coltracepb.UnimplementedTraceServiceServer
	came        *ledger
	connections *connections

	mu      sync.Mutex
	mode    mode
	changed chan struct{} // closed when the mode is another one
	failed  atomic.Int64  // answers that were not that all is well
}

// sinkVariable has the test binary be a sink.
const sinkVariable = "SESSIONSPAN_FAULTS_SINK"

// runSink is a sink until its standard input ends. It prints where it listens: for spans, and for who tells it what to do.
func runSink() error {
	spans, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	control, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &sink{came: newLedger(), mode: accept, changed: make(chan struct{})}
	s.connections = &connections{Listener: spans, open: map[net.Conn]bool{}}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(64 << 20))
	coltracepb.RegisterTraceServiceServer(server, s)
	ended := make(chan error, 3)
	go func() { ended <- server.Serve(s.connections) }()
	go func() { ended <- http.Serve(control, s.control()) }()
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin) // the end of it is that of the test
		ended <- err
	}()
	fmt.Println(spans.Addr(), control.Addr())
	return <-ended
}

// Export implements [coltracepb.TraceServiceServer].
func (s *sink) Export(ctx context.Context, req *coltracepb.ExportTraceServiceRequest) (*coltracepb.ExportTraceServiceResponse, error) {
	s.mu.Lock()
	mode, changed := s.mode, s.changed
	s.mu.Unlock()
	failed := int64(0)
	if mode != accept && mode != slow {
		failed = s.failed.Add(1)
	}
	away := status.Error(codes.Unavailable, "the sink is away")
	switch mode {
	case refuse:
		return nil, away
	case slow:
		if err := pause(ctx); err != nil {
			return nil, err // nobody waits for it any more, and it has not begun
		}
		defer pause(ctx)
	case stall:
		select {
		case <-changed:
			return nil, away
		case <-ctx.Done():
			return nil, status.FromContextError(ctx.Err()).Err()
		}
	}
	spans, err := s.came.add(req.ResourceSpans)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	resp := &coltracepb.ExportTraceServiceResponse{}
	switch mode {
	case lose:
		if failed%2 == 0 {
			s.connections.end()
		}
		return nil, away
	case partial:
		resp.PartialSuccess = &coltracepb.ExportTracePartialSuccess{
			RejectedSpans: 1 + rand.Int64N(int64(spans)), ErrorMessage: "these are not wanted",
		}
	}
	return resp, nil
}

// pause takes a moment, as a backend far away does.
func pause(ctx context.Context) error {
	timer := time.NewTimer(rand.N(100 * time.Millisecond))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}

// control is what tells a sink what to do, and asks what came.
func (s *sink) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /mode/{mode}", func(_ http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.mode = mode(r.PathValue("mode"))
		close(s.changed)
		s.changed = make(chan struct{})
	})
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, s.came.len(), s.failed.Load()) })
	mux.HandleFunc("GET /spans", func(w http.ResponseWriter, _ *http.Request) { _ = s.came.write(w) })
	return mux
}

// connections is a listener that can end what it has accepted.
type connections struct {
	net.Listener
	mu   sync.Mutex
	open map[net.Conn]bool
}

// Accept implements [net.Listener].
func (c *connections) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[conn] = true
	return conn, nil
}

// end ends all connections.
func (c *connections) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		_ = conn.Close() // it may have ended by itself
	}
	clear(c.open)
}
