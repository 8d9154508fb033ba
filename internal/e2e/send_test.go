package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/e2e/command"
	"github.com/sessionspan/sessionspan/internal/e2e/jaeger"
	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
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
	ix := archive.NewIndex(t.Context(), found.Files, nil, source.Options{})
	out := &batches{batch: otlp.NewBatch(otlp.Config{
		ScopeVersion: "development", SchemaURL: projection.SchemaURL(projection.Semconv141),
	})}
	o := archive.Options{Projection: projection.Options{Group: r.group}, Finish: true, Shift: r.shift}
	err = ix.Replay(t.Context(), ix.Traces(), o, archive.Into(out), func(rep archive.Report) {
		if rep.Err != nil {
			t.Error(rep.Err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	out.cut()
	return out.done
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

func TestMain(m *testing.M) {
	code := m.Run()
	command.Remove()
	os.Exit(code)
}

// send has the command replay to the server, and looks at what it says has become of the spans.
func send(t *testing.T, to *jaeger.Server, by protocol, r replay) {
	t.Helper()
	path, err := command.Path()
	if err != nil {
		t.Fatal(err)
	}
	endpoint := "http://" + to.OTLPHTTP()
	if by == grpc {
		endpoint = "http://" + to.OTLPGRPC()
	}
	args := []string{"replay", "--json", "--finish", "--endpoint", endpoint, "--protocol", string(by)}
	if r.group != "" {
		args = append(args, "--group", string(r.group))
	}
	if r.shift {
		args = append(args, "--shift-to-now")
	}
	cmd := exec.CommandContext(t.Context(), path, append(args, filepath.Join("../../testdata", r.path))...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = os.Stderr, &log
	err = cmd.Run() // there are damaged files, for which it ends with 1
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 1) {
		t.Fatalf("%v: %v\n%s", cmd, err, &log)
	}
	var sum struct {
		Error    *string
		Delivery struct{ Spans, Sent, Refused, Lost, Retries int }
	}
	if err := json.Unmarshal(log.Bytes(), &sum); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, &log)
	}
	n := 0
	for _, batch := range project(t, r) {
		for _, resource := range batch {
			for _, scope := range resource.ScopeSpans {
				n += len(scope.Spans)
			}
		}
	}
	if d := sum.Delivery; sum.Error != nil || d.Spans != n || d.Sent != n || d.Refused+d.Lost+d.Retries > 0 {
		t.Fatalf("%v: %d spans should have been sent:\n%s", cmd, n, &log)
	}
}
