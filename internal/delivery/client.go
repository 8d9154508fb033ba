package delivery

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/internal/otlp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// Client is one of OpenTelemetry's OTLP clients, without its own retries. It is an [Uploader], for several requests at once.
type Client struct {
	target  target
	otel    otelClient
	idle    func() // closes connections that are not in use
	secrets []string
}

// otelClient is what is used of otlptrace.Client.
type otelClient interface {
	Uploader
	Start(context.Context) error
	Stop(context.Context) error
}

// NewClient returns a client for an endpoint, of a protocol. Either may be "": see the package comment for what counts then.
// It makes no connection yet. The error is that one of them, or an OTEL_EXPORTER_OTLP_ variable, is not usable. The caller
// closes it.
func NewClient(protocol Protocol, endpoint string) (*Client, error) {
	t, err := resolve(protocol, endpoint)
	if err != nil {
		return nil, err
	}
	secrets, err := checkEnvironment()
	if err != nil {
		return nil, err
	}
	config, err := tlsConfig() // gRPC's client reads it by itself, but goes on without a file that it cannot read
	if err != nil {
		return nil, err
	}
	if config != nil && strings.HasPrefix(t.url, "http:") {
		return nil, fmt.Errorf("endpoint %s: it has no TLS, but OTEL_EXPORTER_OTLP_CERTIFICATE or CLIENT_CERTIFICATE asks for it", t.shown)
	}
	c := &Client{target: t, secrets: secrets}
	if t.protocol == GRPC {
		c.otel, c.idle = otlptracegrpc.NewClient(t.grpcOptions()...), func() {}
	} else {
		client := httpClient(config)
		options := append(t.httpOptions(), otlptracehttp.WithHTTPClient(client))
		c.otel, c.idle = otlptracehttp.NewClient(options...), client.CloseIdleConnections
	}
	if err := c.otel.Start(context.Background()); err != nil {
		return nil, fmt.Errorf("%s: %w", c, err)
	}
	return c, nil
}

// UploadTraces sends one request.
func (c *Client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	if c.target.protocol == HTTPJSON { // made from the messages, in which everything has to be in its place
		data, err := otlp.Decode(spans)
		if err != nil {
			return err
		}
		spans = data.GetResourceSpans()
	}
	return c.otel.UploadTraces(ctx, spans)
}

// Hide takes the values of headers out of a text: a backend may give back what it was sent.
func (c *Client) Hide(text string) string { return hide(text, c.secrets) }

// Close closes the connections. It is called when no request is under way any more.
func (c *Client) Close() error {
	defer c.idle()
	return c.otel.Stop(context.Background())
}

// String returns the endpoint and the protocol.
func (c *Client) String() string { return fmt.Sprintf("%s (%s)", c.target.shown, c.target.protocol) }

func (t target) grpcOptions() []otlptracegrpc.Option {
	// By itself, a connection that failed is tried again after up to two minutes, and requests fail at once until then.
	again := backoff.Config{BaseDelay: firstWait / 2, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second}
	options := []otlptracegrpc.Option{
		otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{Enabled: false}),
		otlptracegrpc.WithDialOption(grpc.WithConnectParams(grpc.ConnectParams{Backoff: again, MinConnectTimeout: 10 * time.Second})),
	}
	switch {
	case t.url == "":
	case t.isSocket:
		options = append(options, otlptracegrpc.WithEndpoint(t.url), otlptracegrpc.WithInsecure())
	default:
		options = append(options, otlptracegrpc.WithEndpointURL(t.url))
	}
	return options
}

func (t target) httpOptions() []otlptracehttp.Option {
	// The encoding is always given: the client takes it from the environment otherwise, also where a flag says another.
	encoding := otlptracehttp.EncodingProtobuf
	if t.protocol == HTTPJSON {
		encoding = otlptracehttp.EncodingJSON
	}
	options := []otlptracehttp.Option{
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: false}),
		otlptracehttp.WithEncoding(encoding),
	}
	if t.url != "" {
		options = append(options, otlptracehttp.WithEndpointURL(t.url))
	}
	return options
}
