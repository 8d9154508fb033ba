package replay

import (
	"context"

	"github.com/sessionspan/sessionspan/internal/delivery"
	"github.com/sessionspan/sessionspan/internal/otlp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Uploader sends one request to an OTLP backend and returns once that has answered: a [Client], or another one such as those of
// otlptracegrpc and otlptracehttp, started. It is called by several goroutines.
type Uploader interface {
	UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error
}

// Client sends to an OTLP backend. It is the fastest [Uploader] for [Files], since it does not look into the messages.
type Client struct{ client *delivery.Client }

// NewClient returns a client for a backend, which makes no connection yet; the caller closes it. The protocol is "grpc",
// "http/protobuf" or "http/json", the endpoint a URL such as http://127.0.0.1:4317. Where one of them is "" it is what
// OTEL_EXPORTER_OTLP_PROTOCOL and _ENDPOINT say, or their forms for traces, else this machine. Headers, TLS, compression and
// timeout are those of the environment as well. The error is that one of these cannot be used.
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

func (r readable) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	data, err := otlp.Decode(spans)
	if err != nil {
		return err
	}
	return r.Uploader.UploadTraces(ctx, data.GetResourceSpans())
}

// uploader returns what requests are sent by.
func uploader(up Uploader) delivery.Uploader {
	if c, ok := up.(*Client); ok {
		return c.client
	}
	return readable{up}
}
