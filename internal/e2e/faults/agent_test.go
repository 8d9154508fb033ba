package faults

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/internal/e2e/collector"
)

// agent is a Collector that is started again whenever it has ended, as by whoever looks after the services of a machine.
type agent struct {
	*testing.T
	options collector.Options
	state   string // the folder of its databases
	pid     string // the file that has its number
	queue   bool   // it has a queue on disk
	process *collector.Process
	started time.Time
	ready   bool // since then

	mayEnd  bool // by itself, since its database is damaged
	ended   int  // so often it did, since that was last done to it
	limited bool // how long its files may get

	memory, descriptors []int64 // as they were while it ran
}

// configurations are those of the Collector: one after the other, each over those before it.
var configurations = map[string][]string{
	"agent":  {collector.Example("agent.yaml"), "testdata/quick.yaml"},                         // accepted is what is in its queue on disk
	"local":  {collector.Example("local.yaml"), "testdata/quick.yaml"},                         // what the sink has acknowledged
	"direct": {collector.Example("local.yaml"), "testdata/quick.yaml", "testdata/direct.yaml"}, // the same without any queue
}

// newAgent starts a Collector that follows the sessions below a home.
func newAgent(t *testing.T, configuration, home, sink string) *agent {
	t.Helper()
	binary, err := collector.Binary()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"-c", `echo $$ >"$FAULTS_PID"; exec "$@"`, "sh", binary}
	for _, path := range configurations[configuration] {
		if path, err = filepath.Abs(path); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	dir := t.TempDir()
	a := &agent{T: t, queue: configuration == "agent", state: filepath.Join(dir, "state"), pid: filepath.Join(dir, "pid")}
	health := collector.FreePorts(t, 1)[0]
	a.options = collector.Options{Binary: "/bin/sh", Args: args, Health: health, Env: map[string]string{
		"HOME": home, "PI_CODING_AGENT_DIR": home, "ORB_SESSION_DIR": home, "CLAUDE_CONFIG_DIR": home, "CODEX_HOME": home,
		"SESSIONSPAN_HEALTH": health, "SESSIONSPAN_OTLP_ENDPOINT": sink, "SESSIONSPAN_STATE": a.state,
		"FAULTS_PID": a.pid,
	}}
	a.start()
	return a
}

func (a *agent) start() {
	a.Helper()
	if err := os.Remove(a.pid); err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.Fatal(err)
	}
	a.process, a.started, a.ready, a.limited = collector.Launch(a.T, a.options), time.Now(), false, false
}

// startTime is how long it may take to start. What reads a damaged database may never come to an end.
const startTime = 10 * time.Second

// isReady waits so long for the Collector to be ready, and reports whether it is.
func (a *agent) isReady(wait time.Duration) bool {
	ctx, cancel := context.WithTimeout(a.Context(), wait)
	defer cancel()
	a.ready = a.ready || a.process.Ready(ctx) == nil
	return a.ready
}

// hasEnded reports whether the Collector has ended, and how.
func (a *agent) hasEnded() (ended bool, err error) {
	ctx, cancel := context.WithTimeout(a.Context(), time.Millisecond)
	defer cancel()
	err = a.process.Wait(ctx)
	return !errors.Is(err, context.DeadlineExceeded), err
}

// kill ends the Collector, has something done while it is away, and starts it. A queue on disk is not killed while it starts: what was being
// sent it takes out then, and puts in again in another step, so that it would be lost between the two (exporterhelper v0.165).
func (a *agent) kill(meanwhile func()) {
	a.Helper()
	if a.queue {
		a.isReady(startTime)
	}
	a.process.Kill()
	meanwhile()
	a.ended = 0
	a.start()
}

// tries is how often it may end by itself before somebody removes its checkpoints, which is what is left to do then.
const tries = 3

// look starts the Collector if it has ended, and notes what it takes.
func (a *agent) look() {
	a.Helper()
	ended, err := a.hasEnded()
	if !ended && a.mayEnd && !a.isReady(10*time.Millisecond) && time.Since(a.started) > startTime {
		a.process.Kill()
		ended, err = true, fmt.Errorf("it was not ready within %v", startTime)
	}
	switch {
	case !ended:
		memory, err1 := a.process.Memory()
		descriptors, err2 := a.process.Descriptors()
		if err1 == nil && err2 == nil && memory > 0 && (a.ready || !a.mayEnd) {
			a.memory, a.descriptors = append(a.memory, memory), append(a.descriptors, int64(descriptors))
		}
		return
	case !a.mayEnd:
		a.Fatalf("the Collector has ended by itself: %v\n%s", err, a.process.Tail())
	}
	switch a.ended++; a.ended {
	case tries:
		a.Logf("the Collector does not start (%v), and its checkpoints are removed: %s", err, lastLine(a.process.Tail()))
		a.remove()
	case 2 * tries:
		a.Fatalf("the Collector does not start without checkpoints either:\n%s", a.process.Tail())
	}
	a.start()
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// stop ends the Collector in order, once it is ready.
func (a *agent) stop() {
	a.Helper()
	for !a.isReady(startTime) {
		a.look()
	}
	if err := a.process.Stop(); err != nil {
		a.Error(err)
	}
}

// checkpoints are the databases in which is kept how far files were read.
func (a *agent) checkpoints() []string {
	a.Helper()
	var list []string
	for _, below := range []string{"", "progress"} {
		some, err := filepath.Glob(filepath.Join(a.state, below, "receiver_*"))
		if err != nil {
			a.Fatal(err)
		}
		list = append(list, some...)
	}
	return slices.DeleteFunc(list, func(path string) bool { return strings.HasSuffix(path, ".backup") })
}

// remove removes the checkpoints.
func (a *agent) remove() {
	a.Helper()
	for _, path := range a.checkpoints() {
		if err := os.Remove(path); err != nil {
			a.Fatal(err)
		}
	}
}

// damage has the checkpoints be others than they were.
func (a *agent) damage(how func(data []byte, used []int) []byte) {
	a.Helper()
	for _, path := range a.checkpoints() {
		data, err := os.ReadFile(path)
		if err != nil {
			a.Fatal(err)
		}
		var used []int // where it is not empty, as most of it is
		for i, b := range data {
			if b != 0 {
				used = append(used, i)
			}
		}
		if len(used) == 0 {
			continue // nothing has been written yet
		}
		if err := os.WriteFile(path, how(data, used), 0o600); err != nil {
			a.Fatal(err)
		}
	}
}

// noLimit says why files cannot be limited, if they cannot.
func noLimit() string {
	if _, err := exec.LookPath("prlimit"); err != nil {
		return "there is no prlimit, of util-linux, by which the disk is full for one process alone"
	}
	return ""
}

// limit has no file of the Collector get longer than so many bytes, as if the disk were full.
func (a *agent) limit(bytes string) {
	a.Helper()
	pid, err := os.ReadFile(a.pid)
	if err != nil || len(pid) == 0 {
		return // it is about to start
	}
	a.limited = true
	cmd := exec.CommandContext(a.Context(), "prlimit", "--pid="+strings.TrimSpace(string(pid)), "--fsize="+bytes+":")
	if out, err := cmd.CombinedOutput(); err != nil {
		a.Logf("%v: %v: %s", cmd, err, out) // it has ended, and the next one has no limit
	}
}

// flat checks that what the Collector takes has not grown, from the first to the second half of what was seen.
func (a *agent) flat() {
	a.Helper()
	for _, of := range []struct {
		what   string
		values []int64
		more   int64
	}{{"bytes of memory", a.memory, 32 << 20}, {"descriptors", a.descriptors, 16}} {
		half := len(of.values) / 2
		if half == 0 {
			a.Fatalf("nobody has looked at its %s", of.what)
		}
		early, late := slices.Max(of.values[:half]), slices.Max(of.values[half:])
		a.Logf("%s: up to %d in the first half, %d in the second", of.what, early, late)
		if late > early+early/4+of.more {
			a.Errorf("%s: up to %d in the first half, %d in the second", of.what, early, late)
		}
	}
}
