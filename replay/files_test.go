package replay_test

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessionspan/sessionspan/internal/scope"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/spantest"
	"github.com/sessionspan/sessionspan/replay"
)

// backend is an uploader that looks into what it gets.
type backend struct {
	// answer is asked before spans are taken; nil takes all.
	answer func(ctx context.Context, request int) error

	mu       sync.Mutex
	requests int
	spans    []string // names with ids
	services map[string]bool
	schemas  map[string]bool
}

func (b *backend) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	b.mu.Lock()
	b.requests++
	n := b.requests
	b.mu.Unlock()
	if b.answer != nil {
		if err := b.answer(ctx, n); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.take(spans)
	return nil
}

func (b *backend) take(spans []*tracepb.ResourceSpans) {
	if b.services == nil {
		b.services, b.schemas = map[string]bool{}, map[string]bool{}
	}
	for _, r := range spans {
		for _, kv := range r.GetResource().GetAttributes() {
			if kv.GetKey() == "service.name" {
				b.services[kv.GetValue().GetStringValue()] = true
			}
		}
		for _, scope := range r.ScopeSpans {
			b.schemas[scope.SchemaUrl] = true
			for _, s := range scope.Spans {
				b.spans = append(b.spans, fmt.Sprintf("%s %x %x", s.Name, s.TraceId, s.SpanId))
			}
		}
	}
}

// projected are the spans of files, as the backend writes them.
func projected(t *testing.T, paths ...string) (list []string) {
	t.Helper()
	found, err := archive.Find(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	ix := archive.NewIndex(t.Context(), found.Files, nil, source.Options{})
	rec := &spantest.Recorder{}
	if err := ix.Replay(t.Context(), ix.Traces(), archive.Options{Finish: true}, archive.Into(rec), nil); err != nil {
		t.Fatal(err)
	}
	for _, s := range rec.Ended {
		list = append(list, fmt.Sprintf("%s %s %s", s.Name, s.TraceID, s.SpanID))
	}
	slices.Sort(list)
	return list
}

func TestFiles(t *testing.T) {
	whole := []string{filepath.Join(sessions, "quickstart.jsonl"), filepath.Join(sessions, "subsession"), filepath.Join(sessions, "{parallel,retries}.jsonl")}
	want := projected(t, whole...)
	for _, jobs := range []int{0, 1, 8} {
		t.Run(fmt.Sprint(jobs, " jobs"), func(t *testing.T) {
			b := &backend{}
			var reports []replay.FileReport
			var last replay.Progress
			result, err := replay.Files(t.Context(), b, whole, replay.WithFinish(), replay.WithJobs(jobs),
				replay.WithProblems(func(p *replay.Problem) { t.Error(p) }),
				replay.WithReports(func(r replay.FileReport) { reports = append(reports, r) }),
				replay.WithProgress(func(p replay.Progress) {
					if p.BytesRead < last.BytesRead || p.Sent < last.Sent || p.FilesRead < last.FilesRead {
						t.Errorf("%+v comes after %+v", p, last)
					}
					last = p
				}))
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(b.spans)
			if diff := cmp.Diff(want, b.spans); diff != "" {
				t.Errorf("(-files +backend)\n%s", diff)
			}
			if n := int64(len(want)); result.Delivery.Sent != n || result.Delivery.Spans != n || last.Sent != n {
				t.Errorf("%+v; progress %+v; want %d spans", result, last, n)
			}
			if last.FilesRead != last.Files || last.Files != len(reports) || last.Files != result.Files || last.Bytes == 0 || last.BytesRead != last.Bytes {
				t.Errorf("%d reports, progress %+v, %+v", len(reports), last, result)
			}
			spans, entries := 0, 0
			for _, r := range reports {
				spans, entries = spans+r.Spans, entries+r.Entries
				if r.Err != nil || r.Session == "" || len(r.Trace) != 32 {
					t.Errorf("%+v", r)
				}
			}
			if spans != len(want) || entries != result.Entries || result.Sessions != len(reports) || reports[0].Path != whole[0] {
				t.Errorf("the reports have %d spans and %d entries: %+v; %+v", spans, entries, reports, result)
			}
		})
	}
}

// What a backend can do ends in true counts and in an error.
func TestFilesWithTroubles(t *testing.T) {
	unavailable := status.Error(codes.Unavailable, "busy")
	for _, tc := range []struct {
		name    string
		answer  func(request int) error
		paths   []string
		want    replay.Delivery // but for Bytes and Messages
		unread  int
		damaged bool
		err     error
		says    string
	}{
		{name: "all is well", want: replay.Delivery{Spans: 36, Batches: 1, Requests: 1, Sent: 36}},
		{
			name: "busy at first", answer: func(n int) error {
				if n == 1 {
					return unavailable
				}
				return nil
			},
			want: replay.Delivery{Spans: 36, Batches: 1, Requests: 2, Sent: 36, Retries: 1},
		},
		{
			name: "refused", answer: func(int) error { return status.Error(codes.InvalidArgument, "no such tenant") },
			want: replay.Delivery{Spans: 36, Batches: 1, Requests: 1, Refused: 36}, err: replay.ErrUndelivered, says: "36 were refused and 0 lost: InvalidArgument: no such tenant",
		},
		{
			name: "denied", answer: func(int) error { return status.Error(codes.Unauthenticated, "who are you") },
			want: replay.Delivery{Spans: 36, Batches: 1, Requests: 1, Refused: 36}, err: replay.ErrDenied, says: "who are you",
		},
		{
			name: "never there", answer: func(int) error { return unavailable },
			want: replay.Delivery{Spans: 36, Batches: 1, Lost: 36}, err: replay.ErrDown, says: "nothing was accepted for 15s",
		},
		{
			name: "one file is not there", paths: []string{quickstart, "testdata/nowhere.jsonl"},
			want: replay.Delivery{Spans: 36, Batches: 1, Requests: 1, Sent: 36}, unread: 1, err: replay.ErrUnread, says: "files: 1",
		},
		{
			name: "one file is no session", paths: []string{quickstart, "testdata/decisions.txt"},
			want: replay.Delivery{Spans: 36, Batches: 1, Requests: 1, Sent: 36}, unread: 1, err: replay.ErrUnread, says: "files: 1",
		},
		{
			name: "a line is broken, and the backend does not want it", paths: []string{filepath.Join(sessions, "damaged/broken-middle.jsonl")},
			answer:  func(int) error { return status.Error(codes.InvalidArgument, "no") },
			damaged: true, err: replay.ErrUndelivered, says: "; not everything could be read: lines: 3",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &backend{answer: func(_ context.Context, n int) error {
					if tc.answer == nil {
						return nil
					}
					return tc.answer(n)
				}}
				paths, problems := tc.paths, 0
				if paths == nil {
					paths = []string{quickstart}
				}
				result, err := replay.Files(t.Context(), b, paths, replay.WithFinish(), replay.WithProblems(func(p *replay.Problem) {
					problems++
					if p.Path == "" || strings.Count(p.Error(), p.Path) != 1 {
						t.Errorf("the problem is %q", p)
					}
					if d, ok := errors.AsType[*format.DamageError](p.Err); ok && (d.Line != p.Line || p.Line == 0) {
						t.Errorf("%+v is in line %d", p, d.Line)
					}
				}))
				if !errors.Is(err, tc.err) || err != nil && !strings.Contains(err.Error(), tc.says) {
					t.Errorf("error %v, want %v with %q", err, tc.err, tc.says)
				}
				if want := tc.unread; !tc.damaged && problems != want || result.Unread != want || tc.damaged != (result.Damaged > 0) {
					t.Errorf("%d problems, %+v", problems, result)
				}
				d := result.Delivery
				if d.Spans != d.Sent+d.Refused+d.Lost || d.Sent != int64(len(b.spans)) || (d.Sent > 0) != (d.Bytes > 0) {
					t.Errorf("%+v, the backend has %d spans", d, len(b.spans))
				}
				d.Bytes, d.Messages = 0, nil
				if d.Lost > 0 { // the waits before them are drawn at random
					d.Retries, d.Requests = 0, 0
				}
				if diff := cmp.Diff(tc.want, d); diff != "" && !tc.damaged {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		})
	}
}

// What was read before an interrupt is sent.
func TestFilesInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	b := &backend{}
	result, err := replay.Files(ctx, b, []string{sessions}, replay.WithJobs(1), replay.WithFinish(),
		replay.WithReports(func(replay.FileReport) { interrupt() }))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if d := result.Delivery; d.Sent == 0 || d.Sent != int64(len(b.spans)) || d.Sent != d.Spans || result.Files != 1 {
		t.Errorf("%+v; the backend has %d spans", result, len(b.spans))
	}
	if result, err = replay.Files(ctx, b, []string{sessions}); !errors.Is(err, context.Canceled) || result.Files > 0 {
		t.Errorf("error %v, %+v", err, result)
	}
}

func TestFilesOptions(t *testing.T) {
	b := &backend{}
	run := func(opts ...replay.FilesOption) replay.Result {
		t.Helper()
		*b = backend{}
		result, err := replay.Files(t.Context(), b, []string{quickstart}, append(opts, replay.WithFinish())...)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	run()
	plain := b.spans
	if !b.services["acme-coder"] || !b.schemas["https://opentelemetry.io/schemas/1.41.0"] || len(b.schemas) > 1 {
		t.Errorf("services %v, schemas %v", b.services, b.schemas)
	}
	if run(replay.WithResource(attribute.String("service.name", "mine"))); !b.services["mine"] || len(b.services) > 1 {
		t.Errorf("services %v", b.services)
	}
	for name, opts := range map[string][]replay.FilesOption{
		"salt":  {replay.WithIDSalt("other")},
		"shift": {replay.WithShiftToNow()},
		"group": {replay.WithGroup("run")},
	} {
		if run(opts...); len(b.spans) < len(plain) || slices.Equal(b.spans, plain) {
			t.Errorf("%s: the spans are\n%s", name, strings.Join(b.spans, "\n"))
		}
	}
	until := time.Date(2026, 3, 11, 9, 16, 0, 0, time.UTC)
	if run(replay.WithPeriod(time.Time{}, until)); len(b.spans) == 0 || len(b.spans) >= len(plain) {
		t.Errorf("%d spans before %s", len(b.spans), until)
	}
	if r := run(replay.WithPeriod(time.Time{}, time.Unix(0, 0))); len(b.spans) > 0 || r.Sessions > 0 || r.Files != 1 {
		t.Errorf("%d spans in 1970, %+v", len(b.spans), r)
	}
	for _, err := range []error{
		errOf(replay.Files(t.Context(), b, []string{quickstart}, replay.WithGroup("week"))),
		errOf(replay.Files(t.Context(), b, []string{"testdata/nowhere"})),
		errOf(replay.Files(t.Context(), b, []string{"-"})),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "replay: ") {
			t.Errorf("error %v", err)
		}
	}
}

func errOf(_ replay.Result, err error) error { return err }

// A session in two files is given once, and that is said.
func TestFilesSaysWhatIsThereTwice(t *testing.T) {
	data, err := os.ReadFile(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(t.TempDir(), "copy.jsonl")
	if err := os.WriteFile(second, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var notes []string
	b := &backend{}
	result, err := replay.Files(t.Context(), b, []string{quickstart, second}, replay.WithFinish(),
		replay.WithProblems(func(p *replay.Problem) { notes = append(notes, p.Error()) }))
	if err != nil || result.Sessions != 1 || result.Files != 2 || len(b.spans) != 36 {
		t.Errorf("error %v, %+v, %d spans", err, result, len(b.spans))
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "is in several files") {
		t.Errorf("notes %q", notes)
	}
}

// Over real connections: our client and OpenTelemetry's bring the same.
func TestClients(t *testing.T) {
	got := map[string][]string{}
	for _, name := range []string{"http/protobuf", "http/json", "otlptracehttp"} {
		b := &backend{}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var data coltracepb.ExportTraceServiceRequest
			body, err := io.ReadAll(unzipped(t, r))
			if err != nil {
				t.Error(err)
			}
			if r.Header.Get("Content-Type") == "application/json" {
				if want := `"name":"agentsession.session"`; !strings.Contains(string(body), want) {
					t.Errorf("%s is not in %.200s", want, body)
				}
				return
			}
			if err := proto.Unmarshal(body, &data); err != nil {
				t.Error(err)
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			b.take(data.ResourceSpans)
		}))
		defer server.Close()
		var up replay.Uploader
		if name == "otlptracehttp" {
			client := otlptracehttp.NewClient(otlptracehttp.WithEndpointURL(server.URL), otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
			if err := client.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = client.Stop(context.WithoutCancel(t.Context())) }()
			up = client
		} else {
			client, err := replay.NewClient(name, server.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if want := server.URL + " (" + name + ")"; client.String() != want {
				t.Errorf("the client is %q, want %q", client, want)
			}
			up = client
		}
		result, err := replay.Files(t.Context(), up, []string{quickstart}, replay.WithFinish())
		if err != nil || result.Delivery.Sent != 36 {
			t.Errorf("%s: error %v, %+v", name, err, result)
		}
		slices.Sort(b.spans)
		got[name] = b.spans
	}
	if diff := cmp.Diff(got["http/protobuf"], got["otlptracehttp"]); diff != "" || len(got["http/protobuf"]) != 36 {
		t.Error(diff)
	}
	if _, err := replay.NewClient("smoke", ""); err == nil {
		t.Error("there is a protocol smoke")
	}
}

func unzipped(t *testing.T, r *http.Request) io.Reader {
	if r.Header.Get("Content-Encoding") != "gzip" {
		return r.Body
	}
	z, err := gzip.NewReader(r.Body)
	if err != nil {
		t.Error(err)
	}
	return z
}

// The scope has the version of the module that makes the spans.
func TestScopeVersion(t *testing.T) {
	if v := scope.Version(); v != "development" {
		t.Errorf("%q", v)
	}
}

// printing is an uploader that shows what it gets.
type printing struct{}

func (printing) UploadTraces(_ context.Context, spans []*tracepb.ResourceSpans) error {
	for _, resource := range spans {
		for _, scope := range resource.ScopeSpans {
			fmt.Println(len(scope.Spans), "spans, the first:", scope.Spans[0].Name)
		}
	}
	return nil
}

func ExampleFiles() {
	// In place of printing{}: client, err := replay.NewClient("", "http://127.0.0.1:4317")
	result, err := replay.Files(context.Background(), printing{}, []string{sessions + "/quickstart.jsonl"},
		replay.WithProblems(func(p *replay.Problem) { log.Print(p) }))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Sessions, "session,", result.Delivery.Sent, "spans sent")
	// Output:
	// 36 spans, the first: agentsession.session
	// 1 session, 36 spans sent
}
