package delivery

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
)

// Whoever took the port of the other protocol, or the wrong one of http:// and https://, is told so at once.
func TestOtherProtocolIsDenied(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	webHost := strings.TrimPrefix(web.URL, "http://")

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, done := grpc.NewServer(), make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l)
	}()
	t.Cleanup(func() { server.Stop(); <-done })
	grpcHost := l.Addr().String()

	for _, tc := range []struct {
		name     string
		protocol Protocol
		endpoint string
		want     string
	}{
		{"gRPC to HTTP", GRPC, "http://" + webHost, "use protocol http/protobuf"},
		{"HTTP to gRPC", HTTPProtobuf, "http://" + grpcHost, "use protocol grpc"},
		{"HTTP with TLS to one without", HTTPProtobuf, "https://" + webHost, "write http:// instead of https://"},
		{"gRPC with TLS to one without", GRPC, "https://" + grpcHost, "write http:// instead of https://"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			client, err := NewClient(tc.protocol, tc.endpoint)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			var a answer
			for range 50 { // now and then the connection is gone before net/http has read what it was told
				err = client.UploadTraces(t.Context(), nil)
				if a = classify(err); a.verdict != retry {
					break
				}
			}
			if a.verdict != denied || !strings.Contains(a.message, tc.want) {
				t.Errorf("%v is %+v, want it denied with %q", err, a, tc.want)
			}
			s := New(t.Context(), client, Options{firstWait: time.Millisecond})
			feed(s, 1)
			if _, err := s.Close(); err == nil || !strings.HasSuffix(err.Error(), tc.want) {
				t.Errorf("the sender says %v, want it to end with %q", err, tc.want)
			}
		})
	}
}
