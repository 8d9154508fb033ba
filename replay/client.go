package replay

import (
	"context"
	"errors"
	"fmt"

	"github.com/sessionspan/sessionspan/internal/delivery"
	"github.com/sessionspan/sessionspan/internal/otlp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Uploader sends one request to an OTLP backend and returns once that has answered, or ctx is done: a [Client], or another one such
// as those of otlptracegrpc and otlptracehttp, started, which do better without retries of their own
// (WithRetry(RetryConfig{Enabled: false})). It is called by several goroutines.
//
// Nil says that the backend has accepted all of it. A gRPC status, the errors of those two packages, and a partial success as
// they report it are read by the rules of OTLP. Any other error is taken for trouble on the way, and the request is made again.
type Uploader interface {
	UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error
}

// Client sends to an OTLP backend. It is the fastest [Uploader] for [Files], since it does not look into the messages.
type Client struct{ client *delivery.Client }

// NewClient returns a client for a backend, which makes no connection yet; the caller closes it. The protocol is "grpc",
// "http/protobuf" or "http/json", the endpoint a URL such as http://127.0.0.1:4317. Where one of them is "" it is what
// OTEL_EXPORTER_OTLP_PROTOCOL and _ENDPOINT say, or their forms for traces; else the protocol is that of the endpoint's port if
// that is 4317, which is gRPC, else http/protobuf, and the endpoint this machine. Headers, TLS, compression and timeout are those
// of the environment as well. The error is that one of these cannot be used.
func NewClient(protocol, endpoint string) (*Client, error) {
	c, err := delivery.NewClient(delivery.Protocol(protocol), endpoint)
	if err != nil {
		return nil, err
	}
	return &Client{c}, nil
}

// UploadTraces sends one request.
func (c *Client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	return c.client.UploadTraces(ctx, spans)
}

// Close closes the connections. It is called when no request is under way any more.
func (c *Client) Close() error { return c.client.Close() }

// String returns the endpoint and the protocol.
func (c *Client) String() string { return c.client.String() }

// readable gives an uploader messages with everything in its place: those that are made for sending have spans already encoded.
type readable struct{ Uploader }

// String names the uploader in errors.
func (r readable) String() string {
	if named, ok := r.Uploader.(fmt.Stringer); ok {
		return named.String()
	}
	return "the backend"
}

func (r readable) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	data, err := otlp.Decode(spans)
	if err != nil {
		return err
	}
	return r.Uploader.UploadTraces(ctx, data.GetResourceSpans())
}

// uploader returns what requests are sent by.
func uploader(up Uploader) (delivery.Uploader, error) {
	switch up := up.(type) {
	case nil:
		return nil, errors.New("there is no uploader")
	case *Client:
		if up == nil || up.client == nil {
			return nil, errors.New("the client is none: NewClient makes one")
		}
		return up.client, nil
	}
	return readable{up}, nil
}
