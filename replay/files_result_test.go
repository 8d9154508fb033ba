package replay_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/replay"
)

// folder writes files and returns where.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func textOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// All that a result says, of a folder in which everything is that it can say something of.
func TestResult(t *testing.T) {
	quick := textOf(t, quickstart)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte(strings.ReplaceAll(quick, "019cdc2c-b006-7000-8000-000000000001", "zipped"))); err != nil {
		t.Fatal(err)
	}
	z.Close()
	today := time.Now().UTC().Format("2006-01-02T")
	open := strings.Join(strings.SplitAfter(quick, "\n")[:12], "")
	open = strings.NewReplacer("2026-03-11T", today, "019cdc2c-b006-7000-8000-000000000001", "open").Replace(open)
	dir := folder(t, map[string]string{
		"a.jsonl":    quick,
		"b.jsonl.gz": zipped.String()[:zipped.Len()-700],
		"c.jsonl":    open,
		"d.jsonl":    "nothing of the kind\n",
		"e.txt":      "not a session",
		"f.jsonl":    strings.Replace(strings.ReplaceAll(quick, "019cdc2c-b006-7000-8000-000000000001", "damaged"), "\n", "\n{\"type\":\n", 1),
	})
	b := &backend{}
	var reports []replay.FileReport
	var problems []string
	run := func(opts ...replay.FilesOption) (replay.Result, error) {
		reports, problems, *b = nil, nil, backend{}
		return replay.Files(t.Context(), b, []string{dir}, append(opts,
			replay.WithReports(func(r replay.FileReport) { reports = append(reports, r) }),
			replay.WithProblems(func(p *replay.Problem) { problems = append(problems, p.Error()) }))...)
	}
	got, err := run()
	if !errors.Is(err, replay.ErrUnread) || !strings.HasSuffix(err.Error(), "files: 2, lines: 1") {
		t.Errorf("error %v", err)
	}
	var spans, openSpans, entries int
	for _, r := range reports {
		spans, openSpans, entries = spans+r.Spans, openSpans+r.Open, entries+r.Entries
		if broke := strings.HasSuffix(r.Path, ".gz"); broke != (r.Err != nil) {
			t.Errorf("%s: error %v", r.Path, r.Err)
		}
		if isOpen := strings.HasSuffix(r.Path, "c.jsonl"); isOpen != (r.Open > 0) && !strings.HasSuffix(r.Path, ".gz") {
			t.Errorf("%s: %d open", r.Path, r.Open)
		}
	}
	want := replay.Result{
		Files: 4, Sessions: 4, Entries: entries, Bytes: got.Bytes, Damaged: 1, Unread: 2, Open: openSpans,
		Delivery: replay.Delivery{Spans: int64(spans), Batches: 1, Requests: 1, Sent: int64(spans), Bytes: got.Delivery.Bytes},
	}
	if diff := cmp.Diff(want, got); diff != "" || spans != len(b.spans) || openSpans == 0 {
		t.Errorf("%d spans came, %d are open (-want +got)\n%s", len(b.spans), openSpans, diff)
	}
	if least := int64(len(quick) + len(open)); got.Bytes < least || got.Bytes > 4*least {
		t.Errorf("%d bytes", got.Bytes)
	}
	all := strings.Join(problems, "\n")
	for _, says := range []string{"b.jsonl.gz: read up to entry", "d.jsonl: ", "f.jsonl: line ", "1 file (1 .txt) is not read"} {
		if !strings.Contains(all, says) {
			t.Errorf("no problem says %q:\n%s", says, all)
		}
	}
	finished, err := run(replay.WithFinish())
	if !errors.Is(err, replay.ErrUnread) || finished.Open >= got.Open || finished.Delivery.Sent <= got.Delivery.Sent {
		t.Errorf("finished: error %v, %+v", err, finished)
	}
	since := time.Now().Add(-48 * time.Hour)
	recent, err := run(replay.WithPeriod(since, time.Time{}), replay.WithFinish())
	if recent.Sessions >= finished.Sessions || recent.Delivery.Sent == 0 || recent.Delivery.Sent >= finished.Delivery.Sent {
		t.Errorf("of the last two days: error %v, %+v", err, recent)
	}
	if run(replay.WithNaming("agentsession")); !strings.Contains(strings.Join(b.spans, "\n"), "agentsession.run ") {
		t.Errorf("no span is named as asked:\n%s", strings.Join(b.spans, "\n"))
	}
}

// A batch that is lost while others are not is an error as well.
func TestFilesThatLoseABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := map[string]string{}
		for n := range 300 {
			id := fmt.Sprint("session-", n)
			files[id+".jsonl"] = strings.ReplaceAll(textOf(t, quickstart), "019cdc2c-b006-7000-8000-000000000001", id)
		}
		result, err := replay.Files(t.Context(), &losing{Uploader: &backend{}}, []string{folder(t, files)}, replay.WithFinish())
		d := result.Delivery
		if !errors.Is(err, replay.ErrUndelivered) || d.Lost == 0 || d.Sent == 0 || d.Refused != 0 || d.Spans != d.Sent+d.Lost {
			t.Errorf("error %v, %+v", err, d)
		}
		if d.Retries == 0 || d.Requests <= d.Batches || len(d.Messages) == 0 || d.OtherMessages == 0 {
			t.Errorf("%+v", d)
		}
	})
}

// losing never takes the spans of the first request that it sees, however often they come, and says something else each time.
type losing struct {
	replay.Uploader

	mu    sync.Mutex
	times int
	lost  string // its first trace
}

func (l *losing) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	first := string(spans[0].ScopeSpans[0].Spans[0].TraceId)
	l.mu.Lock()
	if l.lost == "" {
		l.lost = first
	}
	loses := first == l.lost
	if loses {
		l.times++
	}
	times := l.times
	l.mu.Unlock()
	if loses {
		return status.Error(codes.Unavailable, fmt.Sprint("busy ", times))
	}
	return l.Uploader.UploadTraces(ctx, spans)
}

func TestFilesRefusesWhatCannotBe(t *testing.T) {
	paths := []string{quickstart}
	b := &backend{}
	var none *replay.Client
	now := time.Now()
	for name, tc := range map[string]struct {
		up    replay.Uploader
		paths []string
		opts  []replay.FilesOption
	}{
		"no uploader":             {nil, paths, nil},
		"no client":               {none, paths, nil},
		"a client that is none":   {&replay.Client{}, paths, nil},
		"no paths":                {b, nil, nil},
		"standard input":          {b, []string{"-"}, nil},
		"a path to nowhere":       {b, []string{"testdata/nowhere"}, nil},
		"a period from its end":   {b, paths, []replay.FilesOption{replay.WithPeriod(now, now.Add(-time.Hour))}},
		"less than no jobs":       {b, paths, []replay.FilesOption{replay.WithJobs(-1)}},
		"a grouping of its own":   {b, paths, []replay.FilesOption{replay.WithGroup("week")}},
		"conventions of tomorrow": {b, paths, []replay.FilesOption{replay.WithSemconv("2.0")}},
	} {
		result, err := replay.Files(t.Context(), tc.up, tc.paths, tc.opts...)
		if err == nil || !strings.HasPrefix(err.Error(), "replay: ") || result.Files > 0 || b.requests > 0 {
			t.Errorf("%s: error %v, %+v", name, err, result)
		}
	}
	// What says nothing changes nothing.
	if result, err := replay.Files(t.Context(), b, paths, nil, replay.WithProgress(nil), replay.WithReports(nil), replay.WithProblems(nil)); err != nil || result.Delivery.Sent != 36 {
		t.Errorf("error %v, %+v", err, result)
	}
}

// Whoever interrupts finds their reason in the error, at whatever point it came.
func TestFilesInterruptedForAReason(t *testing.T) {
	why := errors.New("lunch")
	for name, begin := range map[string]func(interrupt func()) replay.FilesOption{
		"before": func(interrupt func()) replay.FilesOption { interrupt(); return nil },
		"while reading": func(interrupt func()) replay.FilesOption {
			return replay.WithReports(func(replay.FileReport) { interrupt() })
		},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		_, err := replay.Files(ctx, &backend{}, []string{sessions}, begin(func() { cancel(why) }), replay.WithJobs(1))
		if !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A trace that some backends do not take whole is worth a word, with what helps unless that is done already.
func TestFilesSaysWhatIsLarge(t *testing.T) {
	large := sessiontest.Random(rand.New(rand.NewPCG(1, 0)), sessiontest.Options{Entries: 25_000, Records: true, Decisions: true, TextSize: 10})
	dir := folder(t, map[string]string{"large.jsonl": string(large.Files[0].Data)})
	var notes []string
	note := replay.WithProblems(func(p *replay.Problem) {
		if p.Note && strings.Contains(p.Error(), "5 MB") {
			notes = append(notes, p.Error())
		}
	})
	result, err := replay.Files(t.Context(), &backend{}, []string{dir}, replay.WithFinish(), note)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], `WithGroup("run")`) {
		t.Errorf("error %v, %d bytes, notes %q", err, result.Delivery.Bytes, notes)
	}
}

// Several files are damaged at once, and each of them is told of by itself.
func TestProblemsOfSeveralFilesAtOnce(t *testing.T) {
	var one, eight []string
	for jobs, list := range map[int]*[]string{1: &one, 8: &eight} {
		_, err := replay.Files(t.Context(), &backend{}, []string{filepath.Join(sessions, "damaged")}, replay.WithJobs(jobs),
			replay.WithProblems(func(p *replay.Problem) { *list = append(*list, p.Error()) }))
		if !errors.Is(err, replay.ErrUnread) {
			t.Errorf("error %v", err)
		}
		slices.Sort(*list)
	}
	if diff := cmp.Diff(one, eight); diff != "" || len(one) == 0 {
		t.Errorf("(-one at a time +eight)\n%s", diff)
	}
}
