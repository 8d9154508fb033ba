package archive_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/spantest"
)

// several is a destination for several goroutines, with a recorder for each trace.
type several struct {
	flush func(trace int) error // nil: nothing fails

	mu     sync.Mutex
	traces []*spantest.Recorder
	ended  int
}

func (s *several) Trace() projection.Sink {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.traces = append(s.traces, &spantest.Recorder{})
	return s.traces[len(s.traces)-1]
}

func (s *several) Flush(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended++
	if s.flush == nil {
		return nil
	}
	return s.flush(s.ended)
}

func (s *several) spans() (n int) {
	for _, t := range s.traces {
		n += len(t.Ended)
	}
	return n
}

// However many traces are read at once, all come, and the reports are in the order of the files.
func TestReplayReportsInOrder(t *testing.T) {
	found, err := archive.Find(t.Context(), []string{testdata})
	if err != nil {
		t.Fatal(err)
	}
	ix := archive.NewIndex(t.Context(), found.Files, nil, source.Options{})
	var want []string
	for _, files := range ix.Traces() {
		for _, f := range files {
			want = append(want, f.Path)
		}
	}
	spans := 0
	for _, jobs := range []int{0, 1, 3, 1000} {
		to := &several{}
		var got []string
		if err := ix.Replay(t.Context(), ix.Traces(), archive.Options{Finish: true, Jobs: jobs}, to, func(r archive.Report) {
			got = append(got, r.File.Path)
		}); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d jobs: reports (-want +got)\n%s", jobs, diff)
		}
		if n := to.spans(); spans != 0 && n != spans || n == 0 {
			t.Errorf("%d jobs: %d spans, before %d", jobs, n, spans)
		}
		spans = to.spans()
		if to.ended != len(ix.Traces()) {
			t.Errorf("%d jobs: %d traces of %d have ended", jobs, to.ended, len(ix.Traces()))
		}
	}
}

// A destination that fails ends a replay, and the error says with which file and how many are left.
func TestReplayEndsWithItsDestination(t *testing.T) {
	full := errors.New("the disk is full")
	paths := []string{testdata + "/quickstart.jsonl", testdata + "/retries.jsonl", testdata + "/parallel.jsonl"}
	ix := archive.NewIndex(t.Context(), paths, nil, source.Options{})
	to := &several{flush: func(trace int) error {
		if trace == 2 {
			return full
		}
		return nil
	}}
	err := ix.Replay(t.Context(), ix.Traces(), archive.Options{}, to, nil)
	h, ok := errors.AsType[*archive.Halt](err)
	if !ok || !errors.Is(err, full) || h.While != "" || h.Path != paths[1] || h.Left != 1 || to.ended != 2 {
		t.Errorf("error %v, %d traces have ended", err, to.ended)
	}
	if want := "files not reached: 1"; !strings.Contains(err.Error(), want) {
		t.Errorf("%q does not say %q", err, want)
	}
}

// Once the context is done no other trace is begun, and the error has its cause.
func TestNoTraceIsBegunOnceTheContextIsDone(t *testing.T) {
	cause := errors.New("no more is wanted")
	ctx, cancel := context.WithCancelCause(t.Context())
	paths := []string{testdata + "/quickstart.jsonl", testdata + "/retries.jsonl", testdata + "/parallel.jsonl"}
	ix := archive.NewIndex(t.Context(), paths, nil, source.Options{})
	to := &several{flush: func(int) error { cancel(cause); return nil }}
	err := ix.Replay(ctx, ix.Traces(), archive.Options{}, to, nil)
	h, ok := errors.AsType[*archive.Halt](err)
	if !ok || !errors.Is(err, cause) || h.While != archive.Writing || h.Path != paths[0] || h.Left != 2 {
		t.Errorf("error %v", err)
	}
}
