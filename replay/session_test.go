package replay_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/spantest"
	"github.com/sessionspan/sessionspan/replay"
)

var update = flag.Bool("update", false, "write the golden files")

const (
	sessions   = "../testdata/agentsession"
	quickstart = sessions + "/quickstart.jsonl"
)

func read(t testing.TB, name string) *format.Session {
	t.Helper()
	f, err := os.Open(filepath.Join(sessions, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := format.ReadSession(f)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func tracer() (trace.Tracer, *tracetest.SpanRecorder) {
	rec := tracetest.NewSpanRecorder()
	return sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(rec)).Tracer("test"), rec
}

func valueOf(s sdktrace.ReadOnlySpan, key string) string {
	for _, a := range s.Attributes() {
		if string(a.Key) == key {
			return a.Value.String()
		}
	}
	return ""
}

// outline lists spans in the order in which they started, each with its parent and links by name.
func outline(spans []sdktrace.ReadOnlySpan) []string {
	names := map[trace.SpanID]string{}
	label := func(s sdktrace.ReadOnlySpan) string {
		return strings.TrimSpace(s.Name() + " " + valueOf(s, "agentsession.entry.id"))
	}
	for _, s := range spans {
		names[s.SpanContext().SpanID()] = label(s)
	}
	var list []string
	for _, s := range spans {
		line := label(s)
		if s.Parent().IsValid() {
			line += " < " + names[s.Parent().SpanID()]
		}
		for _, l := range s.Links() {
			line += " -> " + names[l.SpanContext.SpanID()]
		}
		list = append(list, line)
	}
	return list
}

func TestSession(t *testing.T) {
	tr, rec := tracer()
	spans, err := replay.Session(context.Background(), tr, read(t, "decisions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	started := make([]sdktrace.ReadOnlySpan, 0, len(rec.Started()))
	for _, s := range rec.Started() {
		started = append(started, s)
	}
	got := strings.Join(outline(started), "\n")
	if *update {
		if err := os.WriteFile("testdata/decisions.txt", []byte(got+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile("testdata/decisions.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(golden), got+"\n"); diff != "" {
		t.Error(diff)
	}
	if spans.Ended() != len(rec.Ended()) || spans.Open() != len(rec.Started())-len(rec.Ended()) {
		t.Errorf("%d ended and %d open, the tracer has %d and %d", spans.Ended(), spans.Open(), len(rec.Ended()), len(rec.Started()))
	}
	ids := map[trace.TraceID]bool{}
	for _, s := range rec.Ended() {
		ids[s.SpanContext().TraceID()] = true
		if s.EndTime().Before(s.StartTime()) || s.StartTime().Year() != 2026 {
			t.Errorf("%s from %s to %s", s.Name(), s.StartTime(), s.EndTime())
		}
		c, ok := spans.Entry(valueOf(s, "agentsession.entry.id"))
		if valueOf(s, "agentsession.span.type") == "chat" && (!ok || c.SpanID() != s.SpanContext().SpanID()) {
			t.Errorf("%s is not found by its entry", s.Name())
		}
	}
	if len(ids) != 1 {
		t.Errorf("%d traces", len(ids))
	}
}

// words write all that a span has but ids, which are the tracer's own.
func words(name string, kind trace.SpanKind, start, end time.Time, attributes []attribute.KeyValue, events []projection.Event,
	links []projection.Link, status projection.Status,
) string {
	var b strings.Builder
	put := func(list []attribute.KeyValue) {
		set := attribute.NewSet(list...)
		for _, a := range set.ToSlice() {
			fmt.Fprintf(&b, " %s=%s", a.Key, a.Value.String())
		}
		b.WriteString("\n")
	}
	fmt.Fprint(&b, name, " ", kind, " ", start.UnixNano(), " ", end.UnixNano(), " ", status.Code, " ", status.Description)
	put(attributes)
	for _, e := range events {
		fmt.Fprint(&b, "  event ", e.Name, " ", e.Time.UnixNano())
		put(e.Attributes)
	}
	for _, l := range links {
		fmt.Fprint(&b, "  link")
		put(l.Attributes)
	}
	return b.String()
}

// fromTracer are the words of spans that a tracer has.
func fromTracer(spans []sdktrace.ReadOnlySpan) (all []string) {
	for _, s := range spans {
		var events []projection.Event
		for _, e := range s.Events() {
			events = append(events, projection.Event{Name: e.Name, Time: e.Time, Attributes: e.Attributes})
		}
		var links []projection.Link
		for _, l := range s.Links() {
			links = append(links, projection.Link{Attributes: l.Attributes})
		}
		all = append(all, words(s.Name(), s.SpanKind(), s.StartTime(), s.EndTime(), s.Attributes(), events, links,
			projection.Status{Code: s.Status().Code, Description: s.Status().Description}))
	}
	return all
}

// fromFile are the words of the spans that the command makes of a file.
func fromFile(t *testing.T, name string) (all []string) {
	t.Helper()
	ix := archive.NewIndex(t.Context(), []string{filepath.Join(sessions, name)}, nil, source.Options{})
	rec := &spantest.Recorder{}
	for _, files := range ix.Traces() {
		for _, r := range ix.ProjectTrace(t.Context(), files, archive.Options{Finish: true}, rec) {
			if r.Err != nil {
				t.Fatal(r.Err)
			}
		}
	}
	for _, s := range rec.Ended {
		all = append(all, words(s.Name, s.Kind, s.Start, s.End, s.Attributes, s.Events, s.Links, s.Status))
	}
	return all
}

// The spans are the same as the command's but for their ids.
func TestSessionSaysWhatFilesSay(t *testing.T) {
	for _, name := range []string{"quickstart.jsonl", "decisions.jsonl", "retries.jsonl", "branches-two-deep.jsonl", "aborted.jsonl"} {
		t.Run(name, func(t *testing.T) {
			tr, rec := tracer()
			if _, err := replay.Session(t.Context(), tr, read(t, name), replay.WithFinish()); err != nil {
				t.Fatal(err)
			}
			want := fromFile(t, name)
			if len(want) == 0 {
				t.Fatal("the file has no spans")
			}
			if diff := cmp.Diff(want, fromTracer(rec.Ended())); diff != "" {
				t.Errorf("(-file +tracer)\n%s", diff)
			}
		})
	}
}

// In a session without branches the path to the leaf has all there is.
func TestSessionAlongItsOnlyPath(t *testing.T) {
	s := read(t, "quickstart.jsonl")
	tr, rec := tracer()
	if _, err := replay.Session(t.Context(), tr, s, replay.WithLeaf(s.Leaf()), replay.WithFinish()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fromFile(t, "quickstart.jsonl"), fromTracer(rec.Ended())); diff != "" {
		t.Errorf("(-file +tracer)\n%s", diff)
	}
}

func TestSessionUnderASpan(t *testing.T) {
	tr, rec := tracer()
	ctx, parent := tr.Start(context.Background(), "import")
	if _, err := replay.Session(ctx, tr, read(t, "retries.jsonl"), replay.WithFinish()); err != nil {
		t.Fatal(err)
	}
	for _, s := range rec.Ended() {
		if s.SpanContext().TraceID() != parent.SpanContext().TraceID() {
			t.Errorf("%s is in another trace", s.Name())
		}
		if s.Name() == "agentsession.session" && s.Parent().SpanID() != parent.SpanContext().SpanID() {
			t.Errorf("the parent of the session is %s", s.Parent().SpanID())
		}
	}
}

// One branch after the other: what they have in common is sent once, and the second hangs from it.
func TestSessionBranchByBranch(t *testing.T) {
	s := read(t, "branches-two-deep.jsonl")
	whole, all := tracer()
	if _, err := replay.Session(context.Background(), whole, s, replay.WithFinish()); err != nil {
		t.Fatal(err)
	}
	tr, rec := tracer()
	var known *replay.Spans
	for _, leaf := range s.Leaves() {
		var err error
		if known, err = replay.Session(context.Background(), tr, s, replay.WithLeaf(leaf), replay.WithKnown(known), replay.WithFinish()); err != nil {
			t.Fatal(err)
		}
	}
	want, got := outline(all.Ended()), outline(rec.Ended())
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSubsessionUnderItsCall(t *testing.T) {
	tr, rec := tracer()
	root, err := replay.Session(context.Background(), tr, read(t, "subsession/root.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replay.Session(context.Background(), tr, read(t, "subsession/child.jsonl"), replay.WithKnown(root)); err != nil {
		t.Fatal(err)
	}
	byID := map[trace.SpanID]sdktrace.ReadOnlySpan{}
	for _, s := range rec.Ended() {
		byID[s.SpanContext().SpanID()] = s
	}
	found := false
	for _, s := range rec.Ended() {
		if parent := byID[s.Parent().SpanID()]; s.Name() == "agentsession.session" && parent != nil {
			found = strings.HasPrefix(parent.Name(), "execute_tool")
		}
	}
	if !found {
		t.Error("the subsession does not hang from a call")
	}
}

func TestSessionErrors(t *testing.T) {
	tr, rec := tracer()
	s := read(t, "retries.jsonl")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := replay.Session(ctx, tr, s); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := replay.Session(context.Background(), tr, s, replay.WithLeaf("x")); !errors.Is(err, replay.ErrNoEntry) {
		t.Error(err)
	}
	if _, err := replay.Session(context.Background(), tr, s, replay.WithGroup("week")); err == nil || !strings.Contains(err.Error(), `"week"`) {
		t.Error(err)
	}
	if spans, err := replay.Session(context.Background(), tr, nil); err == nil || spans.Ended() > 0 {
		t.Errorf("error %v", err)
	}
	if spans, err := replay.Session(context.Background(), nil, s); err == nil || spans.Ended() > 0 {
		t.Errorf("error %v", err)
	}
	if len(rec.Started()) > 0 {
		t.Errorf("%d spans were started", len(rec.Started()))
	}
}

func ExampleSession() {
	f, err := os.Open(filepath.Join(sessions, "parallel.jsonl"))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	s, err := format.ReadSession(f)
	if err != nil {
		log.Fatal(err)
	}
	exporter := tracetest.NewInMemoryExporter() // in its place the exporter for a backend
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	spans, err := replay.Session(context.Background(), provider.Tracer("my-tool"), s)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(spans.Ended(), "spans, the last:", exporter.GetSpans()[spans.Ended()-1].Name)
	// Output: 13 spans, the last: invoke_agent acme-coder
}

// cutShort is a session of the first n lines of a file, told a moment ago, so that nothing has been silent for long.
func cutShort(t *testing.T, name string, n int, edit func(string) string) *format.Session {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(sessions, name))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if edit != nil {
		text = edit(text)
	}
	text = strings.ReplaceAll(text, "2026-03-11T", time.Now().UTC().Format("2006-01-02T"))
	lines := strings.SplitAfter(text, "\n")
	s, err := format.ReadSession(strings.NewReader(strings.Join(lines[:min(n, len(lines))], "")))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A session that is replayed as it grows is one trace: what was open is ended by the next replay, and not started again.
func TestSessionAsItGrows(t *testing.T) {
	whole, all := tracer()
	if _, err := replay.Session(t.Context(), whole, cutShort(t, "quickstart.jsonl", 1000, nil), replay.WithFinish()); err != nil {
		t.Fatal(err)
	}
	want := outline(all.Ended())
	slices.Sort(want)
	for cut := 2; cut < 80; cut += 3 {
		tr, rec := tracer()
		first, err := replay.Session(t.Context(), tr, cutShort(t, "quickstart.jsonl", cut, nil))
		if err != nil {
			t.Fatal(err)
		}
		spans, err := replay.Session(t.Context(), tr, cutShort(t, "quickstart.jsonl", 1000, nil), replay.WithKnown(first), replay.WithFinish())
		if err != nil {
			t.Fatal(err)
		}
		got := outline(rec.Ended())
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || spans.Open() != 0 || first.Ended()+spans.Ended() != len(got) {
			t.Fatalf("cut after line %d: %d ended, then %d, %d open (-whole +grown)\n%s", cut, first.Ended(), spans.Ended(), spans.Open(), diff)
		}
		exported := map[trace.SpanID]bool{}
		for _, s := range rec.Ended() {
			exported[s.SpanContext().SpanID()] = true
		}
		for _, id := range []string{"run1", "d1", "r1"} {
			if c, ok := spans.Entry(id); ok && !exported[c.SpanID()] {
				t.Errorf("cut after line %d: entry %s is said to be span %s, which nobody has", cut, id, c.SpanID())
			}
		}
		for _, s := range rec.Ended() {
			if s.Parent().IsValid() && !exported[s.Parent().SpanID()] {
				t.Errorf("cut after line %d: %s hangs from a span that nobody has", cut, s.Name())
			}
		}
	}
}

// A text that is cut short is counted in an attribute that moves to the end: none is lost by that.
func TestSessionWithLongNames(t *testing.T) {
	long := func(text string) string {
		return strings.ReplaceAll(text, `"name":"bash"`, `"name":"bash`+strings.Repeat("x", 5000)+`"`)
	}
	tr, rec := tracer()
	if _, err := replay.Session(t.Context(), tr, cutShort(t, "quickstart.jsonl", 1000, long), replay.WithFinish()); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range rec.Ended() {
		if !strings.HasPrefix(s.Name(), "execute_tool bash") {
			continue
		}
		n++
		if valueOf(s, "agentsession.call.state") == "" || valueOf(s, "agentsession.truncated") == "" {
			t.Errorf("%.40s has the attributes %v", s.Name(), s.Attributes())
		}
	}
	if n == 0 {
		t.Error("no call has the long name")
	}
}
