package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/internal/e2e/collector"
)

// agent is a Collector that is started again whenever it has ended, as by whoever looks after the services of a machine.
type agent struct {
	*testing.T
	options collector.Options
	state   string // the folder of its databases
	pid     string // the file that has its number
	process *collector.Process
	exited  <-chan error // how it has ended

	mayEnd bool // by itself, since its disk is full or its database is damaged
	ended  int  // so often it did, since it was last helped
	helped int

	memory, descriptors []int64 // as they were while it ran
}

// configurations are those of the Collector: one after the other, each over those before it.
var configurations = map[string][]string{
	"agent":  {collector.Example("agent.yaml"), "testdata/quick.yaml"},                          // accepted is what is in its queue on disk
	"local":  {collector.Example("local.yaml"), "testdata/quick.yaml"},                          // what the sink has acknowledged
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
	a := &agent{T: t, state: filepath.Join(dir, "state"), pid: filepath.Join(dir, "pid")}
	a.options = collector.Options{Binary: "/bin/sh", Args: args, Env: map[string]string{
		"HOME": home, "PI_CODING_AGENT_DIR": home, "ORB_SESSION_DIR": home, "CLAUDE_CONFIG_DIR": home, "CODEX_HOME": home,
		"SESSIONSPAN_HEALTH": collector.FreePorts(t, 1)[0], "SESSIONSPAN_OTLP_ENDPOINT": sink, "SESSIONSPAN_STATE": a.state,
		"FAULTS_PID": a.pid,
	}}
	a.start()
	return a
}

func (a *agent) start() {
	a.Helper()
	process, exited := collector.Launch(a.T, a.options), make(chan error, 1)
	go func() { exited <- process.Wait(a.Context()) }()
	a.process, a.exited = process, exited
}

// kill ends the Collector, has something done while it is away, and starts it.
func (a *agent) kill(meanwhile func()) {
	a.Helper()
	a.process.Kill()
	meanwhile()
	a.start()
}

// tries is how often it may end by itself before somebody removes its checkpoints, which is what is left to do then; and how often that.
const tries = 3

// look starts the Collector if it has ended, and notes what it takes.
func (a *agent) look() {
	a.Helper()
	select {
	case err := <-a.exited:
		if !a.mayEnd {
			a.Fatalf("the Collector has ended by itself: %v\n%s", err, a.process.Tail())
		}
	default:
		memory, err1 := a.process.Memory()
		descriptors, err2 := a.process.Descriptors()
		if err1 == nil && err2 == nil && memory > 0 {
			a.memory, a.descriptors = append(a.memory, memory), append(a.descriptors, int64(descriptors))
		}
		return
	}
	if a.ended++; a.ended == tries {
		if a.helped++; a.helped == tries {
			a.Fatalf("the Collector does not start any more:\n%s", a.process.Tail())
		}
		a.Logf("the Collector does not start, and its checkpoints are removed: %s", lastLine(a.process.Tail()))
		a.ended = 0
		a.remove()
	}
	a.start()
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
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

// damage writes something else into the checkpoints, here and there.
func (a *agent) damage(r *rand.Rand) {
	a.Helper()
	for _, path := range a.checkpoints() {
		data, err := os.ReadFile(path)
		if err != nil {
			a.Fatal(err)
		}
		for range 1 + r.IntN(8) {
			at := r.IntN(len(data) + 1)
			for i := range min(1+r.IntN(600), len(data)-at) {
				data[at+i] = byte(r.Uint32())
			}
		}
		if r.IntN(8) == 0 {
			data = data[:r.IntN(len(data)+1)]
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			a.Fatal(err)
		}
	}
}

// fill has the disk of the Collector be full, or have room again: no file of its own gets longer than so many bytes.
func (a *agent) limit(bytes string) {
	a.Helper()
	pid, err := os.ReadFile(a.pid)
	if err != nil {
		a.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
	if err != nil {
		a.Fatal(err)
	}
	out, err := exec.CommandContext(a.Context(), "prlimit", fmt.Sprintf("--pid=%d", n), "--fsize="+bytes+":").CombinedOutput()
	if err != nil {
		a.Logf("prlimit: %v: %s", err, out) // it has just ended
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
