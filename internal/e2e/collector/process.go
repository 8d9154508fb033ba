package collector

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	startTime  = time.Minute      // within which it is ready, or never
	stopTime   = 30 * time.Second // that it has to hand on what it holds
	arriveTime = time.Minute      // that spans have to come
	pollEvery  = 20 * time.Millisecond
)

// Options say how a Collector is started.
type Options struct {
	Binary string            // another one than that of [Binary]
	Config string            // the path of the configuration; without one it uses the one it has in itself
	Args   []string          // further arguments
	Env    map[string]string // beside the environment of the test, or in its place
	Health string            // host:port of the health check that the configuration opens
}

// Process is a Collector that runs.
type Process struct {
	Stdout, Stderr string // the paths of what it writes

	options Options
	cmd     *exec.Cmd
	exited  chan struct{} // closed once it has ended
	err     error         // how; read it after that
	known   atomic.Bool   // somebody knows how it has ended, or wanted it
}

// Start starts a Collector, waits until it is ready, and stops it when the test ends.
func Start(t testing.TB, o Options) *Process {
	t.Helper()
	p := Launch(t, o)
	if err := p.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

// Launch starts a Collector and stops it when the test ends. It may not be ready yet, and may never be.
func Launch(t testing.TB, o Options) *Process {
	t.Helper()
	if o.Binary == "" {
		path, err := Binary()
		if err != nil {
			t.Fatal(err)
		}
		o.Binary = path
	}
	p, err := launch(o, t.TempDir())
	if err != nil {
		t.Fatalf("starting %s: %v", o.Binary, err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Errorf("stopping the Collector: %v", err)
		}
		if t.Failed() {
			t.Logf("the log of the Collector with %q:\n%s", o.Config, p.Tail())
		}
	})
	return p
}

func launch(o Options, dir string) (*Process, error) {
	p := &Process{
		Stdout: filepath.Join(dir, "stdout"), Stderr: filepath.Join(dir, "stderr"),
		options: o, exited: make(chan struct{}),
	}
	stdout, err := os.Create(p.Stdout)
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	stderr, err := os.Create(p.Stderr)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	var args []string
	if o.Config != "" {
		args = append(args, "--config", o.Config)
	}
	p.cmd = exec.Command(o.Binary, append(args, o.Args...)...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = dir, stdout, stderr, attributes()
	p.cmd.Env = os.Environ()
	for name, value := range o.Env {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	return p, p.start()
}

// start starts the process. One thread starts it and waits for it, since on Linux the process ends with the thread.
func (p *Process) start() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			close(p.exited)
		}
	}()
	return <-started
}

// Ready waits until the health check says that all components run.
func (p *Process) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		err := healthy(ctx, p.options.Health)
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("the Collector ended before it was ready (%v):\n%s", p.cmd.ProcessState, p.Tail())
		case <-ctx.Done():
			return fmt.Errorf("the Collector is not ready after %v: %w", startTime, err)
		case <-tick.C:
		}
	}
}

// healthy asks the health check, on a connection that is not kept.
func healthy(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/", nil)
	if err != nil {
		return err
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("health check: %s", resp.Status)
	}
	return nil
}

// Kill ends the process as kill -9 does: it has no say in it.
func (p *Process) Kill() {
	p.known.Store(true)
	_ = p.cmd.Process.Kill() // it has ended, if that fails
	<-p.exited
}

// Stop asks the process to end, and returns how it did. It is an error too if it has ended before, unless it was killed or
// waited for.
func (p *Process) Stop() error {
	if p.known.Swap(true) {
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.Kill()
		return fmt.Errorf("it had ended: %w", errors.Join(p.err, err))
	}
	select {
	case <-p.exited:
		return p.err
	case <-time.After(stopTime):
		p.Kill()
		return fmt.Errorf("it did not end within %v and was killed", stopTime)
	}
}

// Wait waits until the process ends by itself, and returns how it did.
func (p *Process) Wait(ctx context.Context) error {
	select {
	case <-p.exited:
		p.known.Store(true)
		return p.err
	case <-ctx.Done():
		return fmt.Errorf("the Collector goes on: %w", ctx.Err())
	}
}

// Tail is the end of what the process has logged.
func (p *Process) Tail() string {
	const most = 16 << 10
	text, err := os.ReadFile(p.Stderr)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}

// Memory is how much memory the process has in use, in bytes. It asks /proc, which only Linux has.
func (p *Process) Memory() (int64, error) {
	text, err := os.ReadFile(p.proc("status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if of, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kilobytes, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(of), " kB"), 10, 64)
			return kilobytes << 10, err
		}
	}
	return 0, fmt.Errorf("%s has no VmRSS", p.proc("status"))
}

// Descriptors is how many files and connections the process has open. It asks /proc, which only Linux has.
func (p *Process) Descriptors() (int, error) {
	list, err := os.ReadDir(p.proc("fd"))
	return len(list), err
}

func (p *Process) proc(name string) string {
	return filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), name)
}

// FreePorts returns addresses of loopback on which nobody listens.
func FreePorts(t testing.TB, n int) []string {
	t.Helper()
	var list []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // only when all are chosen, so that no two are the same
		list = append(list, l.Addr().String())
	}
	return list
}
