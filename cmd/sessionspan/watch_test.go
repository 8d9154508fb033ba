package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/internal/checkpoint"
)

// safeBuffer is written by one goroutine and read by another.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// copied copies the quickstart session into a folder, up to a number of bytes.
func copied(t *testing.T, dir string, most int) (path string, all []byte) {
	t.Helper()
	all, err := os.ReadFile(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "s.jsonl")
	if err := os.WriteFile(path, all[:min(most, len(all))], 0o600); err != nil {
		t.Fatal(err)
	}
	return path, all
}

func watchOnce(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr safeBuffer
	code = run(t.Context(), append([]string{"watch", "--once"}, args...), streams{in: strings.NewReader(""), out: &stdout, err: &stderr})
	return code, stdout.String(), stderr.String()
}

// What is sent once is not sent again by the next watch of the same backend, what is new is; another file for the progress knows nothing.
func TestWatchGoesOn(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	path, all := copied(t, dir, 10697) // to the end of its first run: with that nothing is open
	r := newReceiver(t, func(int) reply { return reply{} })
	args := []string{"--from-start", "--endpoint", r.URL, dir}
	if code, _, errs := watchOnce(t, args...); code != 0 || !strings.Contains(errs, "spans sent to") {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	first := len(r.spans)
	if code, _, errs := watchOnce(t, args...); code != 0 || !strings.Contains(errs, "0 spans sent") {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	if err := os.WriteFile(path, all, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := watchOnce(t, args...); code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	if first == 0 || first >= 36 || len(r.spans) != 36 {
		t.Errorf("%d spans first, %d in the end, of 36", first, len(r.spans))
	}
	for id, times := range r.spans {
		if times != 1 {
			t.Errorf("span %x came %d times", id, times)
		}
	}
	other := filepath.Join(t.TempDir(), "progress.db")
	if code, _, errs := watchOnce(t, append(args, "--state", other)...); code != 0 || !strings.Contains(errs, "36 spans sent") {
		t.Errorf("exit code %d\n%s", code, errs)
	}
}

// Two watches do not use one file for their progress.
func TestWatchThatIsAtWorkAlready(t *testing.T) {
	state := filepath.Join(t.TempDir(), "progress.db")
	kept, err := checkpoint.Open(state)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	code, _, errs := watchOnce(t, "--endpoint", "http://127.0.0.1:1", "--state", state, t.TempDir())
	if code != 1 || !strings.Contains(errs, "a watch of this backend is at work") {
		t.Errorf("exit code %d\n%s", code, errs)
	}
}

// What the backend does not take for now is sent later, what it refuses is counted.
func TestWatchOfABackendThatRefuses(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	copied(t, dir, 1<<20)
	r := newReceiver(t, func(int) reply { return reply{rejected: 3, text: "too old"} })
	code, _, errs := watchOnce(t, "--from-start", "--endpoint", r.URL, dir)
	if code != 1 || !strings.Contains(errs, "3 refused") || !strings.Contains(errs, "too old") {
		t.Errorf("exit code %d\n%s", code, errs)
	}
}

// A span is shown within moments of the line that ends it, without anybody asking; an interrupt ends the watch.
func TestWatchShowsWhatHappens(t *testing.T) {
	dir := t.TempDir()
	path, all := copied(t, dir, 0)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out, errs safeBuffer
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"watch", "--interval", "20ms", dir}, streams{in: strings.NewReader(""), out: &out, err: &errs})
	}()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	waitFor(t, "it to begin", func() bool { return strings.Contains(errs.String(), "watching") })
	for i, line := range bytes.SplitAfter(all, []byte("\n")) {
		if _, err := file.Write(line); err != nil {
			t.Fatal(err)
		}
		if i == 12 {
			waitFor(t, "the first model call", func() bool { return strings.Contains(out.String(), "chat gpt-5") })
			if strings.Contains(out.String(), "invoke_agent") {
				t.Error("a run has ended too soon")
			}
		}
	}
	waitFor(t, "the last run", func() bool { return strings.Count(out.String(), "invoke_agent") == 3 })
	stop()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d\n%s", code, errs.String())
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("a pipe gets escape sequences")
	}
}

// waitFor waits until something is the case, or for so long that it never will be.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); !is(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
