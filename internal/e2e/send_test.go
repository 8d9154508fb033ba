package e2e

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/e2e/jaeger"
	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// replay says what is replayed and how, as the command line does.
type replay struct {
	path  string // below testdata
	group projection.Group
	shift bool
}

// protocol is one of those in which spans are sent, by the name that OpenTelemetry has for it.
type protocol string

const (
	grpc protocol = "grpc"
	http protocol = "http/protobuf"
)

// project returns what a replay sends, in batches of moderate size. All that is open is ended, so that it does not depend
// on when the test runs.
func project(t *testing.T, r replay) [][]*tracepb.ResourceSpans {
	t.Helper()
	found, err := archive.Find(t.Context(), []string{filepath.Join("../../testdata", r.path)})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	o := archive.Options{Projection: projection.Options{Group: r.group}, Finish: true, Now: now}
	if r.shift {
		o.Projection.Salt = now.String()
	}
	ix := archive.NewIndex(t.Context(), found.Files, nil, source.Options{})
	out := &batches{batch: otlp.NewBatch(otlp.Config{
		Resource: resource, ScopeVersion: "development", SchemaURL: projection.SchemaURL(projection.Semconv141),
	})}
	for _, files := range ix.Traces() {
		var sink projection.Sink = out
		shifted := &archive.Shifted{}
		if r.shift {
			sink = shifted
		}
		for _, rep := range ix.ProjectTrace(t.Context(), files, o, sink) {
			if rep.Err != nil {
				t.Fatal(rep.Err)
			}
		}
		shifted.Release(out, now)
	}
	out.cut()
	return out.done
}

// resource is the command's: a session whose harness is not known has the name of its format for one.
func resource(s *projection.Session) []attribute.KeyValue {
	named := *s
	if named.Harness == "" {
		named.Harness = s.Format
	}
	return otlp.Resource(&named)
}

// batches is a sink that keeps what it is given as it is sent.
type batches struct {
	batch *otlp.Batch
	done  [][]*tracepb.ResourceSpans
}

func (*batches) Start(*projection.Span) {}

func (b *batches) End(s *projection.Span) {
	b.batch.Add(s)
	if b.batch.Size() >= 128<<10 {
		b.cut()
	}
}

// cut ends a batch, which is kept as whoever receives it will see it.
func (b *batches) cut() {
	if b.batch.Len() == 0 {
		return
	}
	wire, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: b.batch.ResourceSpans()})
	if err != nil {
		panic(err)
	}
	var data tracepb.TracesData
	if err := proto.Unmarshal(wire, &data); err != nil {
		panic(err)
	}
	b.done = append(b.done, data.ResourceSpans)
	b.batch.Reset()
}

// send replays to the server, and returns when everything has been acknowledged.
func send(t *testing.T, to *jaeger.Server, by protocol, r replay) {
	t.Helper()
	var client otlptrace.Client
	if by == grpc {
		client = otlptracegrpc.NewClient(otlptracegrpc.WithEndpoint(to.OTLPGRPC()), otlptracegrpc.WithInsecure())
	} else {
		client = otlptracehttp.NewClient(otlptracehttp.WithEndpoint(to.OTLPHTTP()), otlptracehttp.WithInsecure())
	}
	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := client.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	for _, batch := range project(t, r) {
		if err := client.UploadTraces(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
}
