package e2e

import (
	"bufio"
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// processTime is what a process gets for all that it does.
const processTime = time.Minute

// buildHarness builds examples/harness, a module of its own.
func buildHarness(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "harness")
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", path, ".")
	build.Dir = "../../examples/harness"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	return path
}

// process is a program that runs, with nobody who answers its questions.
type process struct {
	*testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
	out   bytes.Buffer // what it has printed, as far as it was read
	log   bytes.Buffer
}

func startProcess(t *testing.T, path string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), processTime)
	p := &process{T: t, cmd: exec.CommandContext(ctx, path, args...)}
	p.cmd.Stderr = &p.log
	if _, err := p.cmd.StdinPipe(); err != nil { // open, and silent
		t.Fatal(err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(stdout)
	t.Cleanup(func() {
		cancel()
		_ = p.cmd.Wait() // which it was before, unless the test has failed
	})
	return p
}

// until reads what the process prints up to a line that begins so, and returns that.
func (p *process) until(begins string) string {
	p.Helper()
	for p.lines.Scan() {
		p.out.WriteString(p.lines.Text() + "\n")
		if strings.HasPrefix(p.lines.Text(), begins) {
			return p.lines.Text()
		}
	}
	p.Fatalf("%v ended without the line %q: %v\n%s%s", p.cmd, begins, p.cmd.Wait(), &p.out, &p.log)
	return ""
}

// session reads which session the harness works in, and what its trace is.
func (p *process) session() (id, trace string) {
	p.Helper()
	line := p.until("session ")
	id, trace, ok := strings.Cut(strings.TrimPrefix(line, "session "), ", trace ")
	if !ok {
		p.Fatalf("%q names no trace", line)
	}
	return id, trace
}

// kill ends the process as nothing else does: it has no say in it.
func (p *process) kill() {
	p.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.Fatal(err)
	}
	_ = p.cmd.Wait() // that it was killed
}

// wait waits until the process has done its work.
func (p *process) wait() {
	p.Helper()
	for p.lines.Scan() {
		p.out.WriteString(p.lines.Text() + "\n")
	}
	if err := p.cmd.Wait(); err != nil {
		p.Fatalf("%v: %v\n%s%s", p.cmd, err, &p.out, &p.log)
	}
}
