package delivery

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reply is what a backend does with a request.
type reply struct {
	err      error // gRPC: returned; HTTP: see code
	rejected int64 // a partial success, with or without a message
	message  string
	lose     bool // the spans are taken, and the connection is closed instead of an answer
	reset    bool // the same, but the spans are not taken
	hang     bool // no answer until the client gives up

	// HTTP only.
	code        int // 200 unless there is one
	header      map[string]string
	body        []byte
	contentType string
}

// backend is an OTLP receiver on loopback, over gRPC or HTTP.
type backend struct {
	endpoint string
	answer   func(request int, spans []*tracepb.Span) reply // nil: it accepts everything
	limit    int64                                          // of a message

	mu       sync.Mutex
	requests int
	spans    map[string]int // how many times each span has come, by name
	headers  []string       // of the last request
	conns    []net.Conn

	compression string
	closed      chan struct{} // unless nil, told of every connection that the other side has closed
}

// receive takes a request.
func (b *backend) receive(r *coltracepb.ExportTraceServiceRequest) reply {
	var spans []*tracepb.Span
	for _, resource := range r.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			spans = append(spans, scope.GetSpans()...)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests++
	var a reply
	if b.answer != nil {
		a = b.answer(b.requests, spans)
	}
	if a.err == nil && !a.reset && !a.hang && a.code < 300 {
		for i, s := range spans {
			if int64(i) >= a.rejected {
				b.spans[s.GetName()]++
			}
		}
	}
	if a.lose || a.reset {
		for _, c := range b.conns {
			_ = c.Close()
		}
		b.conns = nil
	}
	return a
}

// listener keeps the connections, to be able to break them.
type listener struct {
	net.Listener
	b *backend
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.b.mu.Lock()
		defer l.b.mu.Unlock()
		l.b.conns = append(l.b.conns, c)
		if l.b.closed != nil {
			c = watched{c, l.b.closed}
		}
	}
	return c, err
}

// watched is a connection that tells when the other side has closed it.
type watched struct {
	net.Conn
	closed chan struct{}
}

func (w watched) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if errors.Is(err, io.EOF) {
		select {
		case w.closed <- struct{}{}:
		default:
		}
	}
	return n, err
}

func (b *backend) listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return listener{l, b}
}

// start starts a backend that speaks a protocol, with TLS if there is a configuration.
func (b *backend) start(t testing.TB, protocol Protocol, config *tls.Config) *backend {
	t.Helper()
	b.spans = make(map[string]int)
	l := b.listen(t)
	b.endpoint = "http://" + l.Addr().String()
	if config != nil {
		b.endpoint = "https://" + l.Addr().String()
	}
	if protocol == GRPC {
		options := []grpc.ServerOption{grpc.StatsHandler(compressions{b})}
		if b.limit > 0 {
			options = append(options, grpc.MaxRecvMsgSize(int(b.limit)))
		}
		if config != nil {
			options = append(options, grpc.Creds(credentials.NewTLS(config)))
		}
		s := grpc.NewServer(options...)
		coltracepb.RegisterTraceServiceServer(s, grpcBackend{b: b})
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = s.Serve(l)
		}()
		t.Cleanup(func() {
			s.Stop()
			<-done
		})
		return b
	}
	s := &http.Server{Handler: b}
	if config != nil {
		l = tls.NewListener(l, config)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	return b
}

// compressions notes the compression of requests, which handlers in gRPC are not told.
type compressions struct{ b *backend }

func (compressions) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

func (compressions) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (compressions) HandleConn(context.Context, stats.ConnStats)                       {}

func (c compressions) HandleRPC(_ context.Context, s stats.RPCStats) {
	if h, ok := s.(*stats.InHeader); ok {
		c.b.mu.Lock()
		defer c.b.mu.Unlock()
		c.b.compression = h.Compression
	}
}

type grpcBackend struct {
	coltracepb.UnimplementedTraceServiceServer
	b *backend
}

func (g grpcBackend) Export(ctx context.Context, r *coltracepb.ExportTraceServiceRequest) (*coltracepb.ExportTraceServiceResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	g.b.sawHeader(md.Get("x-key")...)
	a := g.b.receive(r)
	if a.hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if a.err != nil {
		return nil, a.err
	}
	return response(a), nil
}

func (b *backend) sawHeader(values ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.headers = values
	if b.compression != "" {
		b.headers = append(b.headers, b.compression)
	}
}

func response(a reply) *coltracepb.ExportTraceServiceResponse {
	if a.rejected == 0 && a.message == "" {
		return new(coltracepb.ExportTraceServiceResponse)
	}
	return &coltracepb.ExportTraceServiceResponse{
		PartialSuccess: &coltracepb.ExportTracePartialSuccess{RejectedSpans: a.rejected, ErrorMessage: a.message},
	}
}

// ServeHTTP is the HTTP side, with the answers of the Collector.
func (b *backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.sawHeader(r.Header.Get("x-key"), r.Header.Get("content-encoding"), r.URL.Path)
	request, err := b.read(w, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a := b.receive(request)
	if a.hang {
		<-r.Context().Done()
		return
	}
	contentType := r.Header.Get("Content-Type")
	body, err := proto.Marshal(response(a))
	if contentType == "application/json" {
		body, err = protojson.Marshal(response(a))
	}
	if a.err != nil {
		body, err = proto.Marshal(&spb.Status{Message: a.err.Error()})
	}
	if err != nil {
		panic(err)
	}
	if a.contentType != "" {
		contentType, body = a.contentType, a.body
	}
	w.Header().Set("Content-Type", contentType)
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	if a.code != 0 {
		w.WriteHeader(a.code)
	}
	_, _ = w.Write(body)
}

func (b *backend) read(w http.ResponseWriter, r *http.Request) (*coltracepb.ExportTraceServiceRequest, error) {
	var body io.Reader = r.Body
	if b.limit > 0 {
		body = http.MaxBytesReader(w, r.Body, b.limit)
	}
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(body)
		if err != nil {
			return nil, err
		}
		body = unzipped
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	request := new(coltracepb.ExportTraceServiceRequest)
	switch r.Header.Get("Content-Type") {
	case "application/json":
		// Ids are in hexadecimal there, which is not what protojson reads; the tests look at names.
		return request, protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(text, request)
	case "application/x-protobuf":
		return request, proto.Unmarshal(text, request)
	}
	return nil, errors.New("what is this?")
}

// client returns a client of the backend.
func (b *backend) client(t testing.TB, protocol Protocol) *Client {
	t.Helper()
	c, err := NewClient(protocol, b.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// counts says how many spans the backend has, and how many of them more than once.
func (b *backend) counts() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	again := 0
	for _, n := range b.spans {
		if n > 1 {
			again++
		}
	}
	return fmt.Sprintf("%d spans, %d of them again", len(b.spans), again)
}
