package collectorreceiver

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/collectorreceiver/internal/metadata"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// logged returns settings with a log that a test can look into.
func logged() (set receiver.Settings, seen *observer.ObservedLogs) {
	core, seen := observer.New(zap.InfoLevel)
	set = receivertest.NewNopSettings(metadata.Type)
	set.Logger = zap.New(core)
	return set, seen
}

// Patterns that mean no file are told, and looked for again.
func TestPatternThatMeansNoFile(t *testing.T) {
	dir := t.TempDir()
	c := quick(filepath.Join(dir, "later"))
	c.Include = append(c.Include, filepath.Join(dir, "never", "**", "*.jsonl"))
	set, seen := logged()
	to := newSink()
	startWith(t, set, c, newHost(), to)
	eventually(t, "the warnings", func() bool { return seen.FilterMessage("A pattern means no file yet").Len() == 2 })
	put(t, filepath.Join(dir, "later", "s.jsonl"), session(t, "s"))
	to.waitFor(t, sessionSpans)
	if n := seen.FilterMessage("A pattern means no file yet").Len(); n != 2 {
		t.Errorf("told %d times", n)
	}
}

// Sessions of pi are received as they grow, like any others.
func TestSessionsOfPi(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "testdata", "pi", "plain.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "pi.jsonl")
	put(t, path, data[:len(data)/2])
	to := newSink()
	start(t, quick(dir), newHost(), to)
	to.wait(t, "the first spans", func() bool { return len(to.spans) > 0 })
	put(t, path, data)
	to.waitFor(t, 15)
}

// A session of Claude Code is received with its agents, whatever is found first.
func TestSessionsOfClaudeCode(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "testdata", "claude-code", "agents"))); err != nil {
		t.Fatal(err)
	}
	to := newSink()
	start(t, quick(dir), newHost(), to)
	to.waitFor(t, 32)
}

func TestWithoutStorage(t *testing.T) {
	set, seen := logged()
	startWith(t, set, quick(t.TempDir()), newHost(), newSink())
	if n := seen.FilterMessageSnippet("There is no storage").Len(); n != 1 {
		t.Errorf("told %d times", n)
	}
}

// What is no session, or cannot be read, is told once and keeps nothing else from being read; a file that may be read later is.
func TestFilesThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "notes.jsonl"), []byte("{\"a\":1}\n{\"b\":2}\n"))
	put(t, filepath.Join(dir, "empty.jsonl"), nil)
	put(t, filepath.Join(dir, "good.jsonl"), session(t, "good"))
	if err := os.Symlink(filepath.Join(dir, "nowhere"), filepath.Join(dir, "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(dir, "closed.jsonl")
	put(t, closed, session(t, "closed"))
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	set, seen := logged()
	to := newSink()
	startWith(t, set, quick(dir), newHost(), to)
	to.waitFor(t, sessionSpans)
	for _, name := range []string{"notes.jsonl", "link.jsonl"} {
		eventually(t, "what is wrong with "+name, func() bool { return seen.FilterField(zap.String("path", filepath.Join(dir, name))).Len() == 1 })
	}
	if err := os.Chmod(closed, 0o600); err != nil {
		t.Fatal(err)
	}
	to.waitFor(t, 2*sessionSpans)
}

// A next component that does not return is not waited for longer than the shutdown may take, and is told that it ends.
func TestShutdownWhileTheNextComponentHangs(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "s.jsonl"), session(t, "s"))
	entered, told, leave := make(chan struct{}, 10), make(chan struct{}, 10), make(chan struct{})
	next, err := consumer.NewTraces(func(ctx context.Context, _ ptrace.Traces) error {
		entered <- struct{}{}
		<-ctx.Done()
		told <- struct{}{}
		<-leave
		return ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	set, _ := logged()
	r, err := NewFactory().CreateTraces(t.Context(), set, quick(dir), next)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context(), newHost()); err != nil {
		t.Fatal(err)
	}
	<-entered
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := r.Shutdown(ctx); err == nil {
		t.Error("it ends before the next component returns")
	}
	<-told
	close(leave)
	<-r.(*sessionReceiver).ended
	if err := r.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}
