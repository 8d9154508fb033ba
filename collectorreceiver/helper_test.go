package collectorreceiver

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/collectorreceiver/internal/metadata"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

// sink is a next component that keeps what it accepts.
type sink struct {
	mu      sync.Mutex
	spans   map[spanID]int // how often each came
	all     []ptrace.Traces
	answer  func(ptrace.Traces) error // before it accepts; nil for yes
	changed chan struct{}
}

func newSink() *sink { return &sink{spans: map[spanID]int{}, changed: make(chan struct{}, 1)} }

func (s *sink) Capabilities() consumer.Capabilities { return consumer.Capabilities{MutatesData: true} }

func (s *sink) ConsumeTraces(_ context.Context, td ptrace.Traces) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		select {
		case s.changed <- struct{}{}:
		default:
		}
	}()
	if s.answer != nil {
		if err := s.answer(td); err != nil {
			return err
		}
	}
	s.accept(td)
	return nil
}

func (s *sink) accept(td ptrace.Traces) {
	for span := range spansOf(td) {
		s.spans[spanID{span.TraceID(), span.SpanID()}]++
	}
	s.all = append(s.all, td)
}

// spansOf are the spans of traces, with their session's resource.
func spansOf(td ptrace.Traces) func(func(ptrace.Span, ptrace.ResourceSpans) bool) {
	return func(yield func(ptrace.Span, ptrace.ResourceSpans) bool) {
		for _, r := range td.ResourceSpans().All() {
			for _, sc := range r.ScopeSpans().All() {
				for _, span := range sc.Spans().All() {
					if !yield(span, r) {
						return
					}
				}
			}
		}
	}
}

// patience is how long is waited for what is to come at once.
const patience = 20 * time.Second

// wait waits until something holds.
func (s *sink) wait(t *testing.T, what string, holds func() bool) {
	t.Helper()
	late := time.After(patience)
	for {
		s.mu.Lock()
		done := holds()
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-s.changed:
		case <-late:
			s.mu.Lock()
			defer s.mu.Unlock()
			t.Fatalf("waited in vain for %s; %d spans are there", what, len(s.spans))
		}
	}
}

// eventually waits until something holds that nobody tells of.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// waitFor waits until so many spans have come.
func (s *sink) waitFor(t *testing.T, n int) {
	t.Helper()
	s.wait(t, "spans", func() bool { return len(s.spans) >= n })
}

// host has extensions, and takes what components report.
type host struct {
	component.Host
	extensions map[component.ID]component.Component
	mu         sync.Mutex
	events     []*componentstatus.Event
}

func newHost() *host { return &host{Host: componenttest.NewNopHost()} }

func (h *host) GetExtensions() map[component.ID]component.Component { return h.extensions }

func (h *host) Report(e *componentstatus.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

// statuses are what was reported.
func (h *host) statuses() (all []componentstatus.Status) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.events {
		all = append(all, e.Status())
	}
	return all
}

// quick is a configuration for a folder that does not wait for anything.
func quick(dir string) *Config {
	c := createDefaultConfig().(*Config)
	c.Include = []string{dir}
	c.PollInterval = 10 * time.Millisecond
	c.Batch.FlushTimeout = 5 * time.Millisecond
	c.RetryOnFailure.InitialInterval, c.RetryOnFailure.MaxInterval = time.Millisecond, 5*time.Millisecond
	return c
}

// start starts a receiver, which is shut down with the test if not before.
func start(t *testing.T, c *Config, h component.Host, to consumer.Traces) receiver.Traces {
	t.Helper()
	return startWith(t, receivertest.NewNopSettings(metadata.Type), c, h, to)
}

func startWith(t *testing.T, set receiver.Settings, c *Config, h component.Host, to consumer.Traces) receiver.Traces {
	t.Helper()
	r, err := NewFactory().CreateTraces(t.Context(), set, c, to)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, r) })
	return r
}

func stop(t *testing.T, r receiver.Traces) {
	t.Helper()
	if err := r.Shutdown(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
}

// copySessions copies the session files of the repository into a folder, but for damaged ones.
func copySessions(t *testing.T, to string) {
	t.Helper()
	from := filepath.Join("..", "testdata", "agentsession")
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err == nil && d.IsDir() && d.Name() == "damaged":
			return fs.SkipDir
		case err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl":
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		put(t, filepath.Join(to, rel), data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// session is a session with a run, a few model calls and tool calls, under an id.
func session(t testing.TB, id string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "agentsession", "quickstart.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(data, []byte("019cdc2c-b006-7000-8000-000000000001"), []byte(id))
}
