package jaeger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// Variable is the environment variable that names the Jaeger to run.
const Variable = "SESSIONSPAN_JAEGER"

const (
	startTime = time.Minute      // within which it is ready, or never
	stopTime  = 20 * time.Second // that it has to write what it holds
	pollEvery = 20 * time.Millisecond
	tries     = 3 // since a port that was free may be taken when it is wanted
)

// Server is a Jaeger at work.
type Server struct {
	config configuration
	client http.Client
	cmd    *exec.Cmd
	log    string        // the path of its log
	exited chan struct{} // closed once it has ended
	err    error         // how; read it after that
}

// Start starts a Jaeger and stops it when the test ends. It skips the test when [Variable] names none.
func Start(t testing.TB, storage Storage) *Server {
	t.Helper()
	binary := os.Getenv(Variable)
	if binary == "" {
		t.Skipf("%s does not name a Jaeger: make e2e builds one and runs this test", Variable)
	}
	dir := t.TempDir()
	for try := 1; ; try++ {
		s, err := start(t.Context(), binary, dir, storage)
		if err == nil {
			t.Cleanup(func() { s.end(t) })
			return s
		}
		if try == tries || !s.portTaken() {
			t.Fatalf("starting Jaeger (%s): %v\n%s", binary, err, s.tail())
		}
	}
}

func start(ctx context.Context, binary, dir string, storage Storage) (*Server, error) {
	s := &Server{log: filepath.Join(dir, "jaeger.log"), exited: make(chan struct{})}
	ports, err := freePorts(5)
	if err != nil {
		return s, err
	}
	s.config = configuration{
		Badger: storage.badger, MaxTraces: maxTraces,
		Health: ports[0], OTLPGRPC: ports[1], OTLPHTTP: ports[2], QueryGRPC: ports[3], QueryHTTP: ports[4],
	}
	text, err := s.config.yaml()
	if err != nil {
		return s, err
	}
	path := filepath.Join(dir, "jaeger.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return s, err
	}
	log, err := os.Create(s.log)
	if err != nil {
		return s, err
	}
	defer log.Close()
	s.cmd = exec.Command(binary, "--config", path)
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = dir, log, log
	s.cmd.SysProcAttr = attributes()
	if err := s.launch(); err != nil {
		return s, err
	}
	if err := s.ready(ctx); err != nil {
		s.kill()
		return s, err
	}
	return s, nil
}

// freePorts returns addresses on which nobody listens.
func freePorts(n int) ([]string, error) {
	var list []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // only when all are chosen, so that no two are the same
		list = append(list, l.Addr().String())
	}
	return list, nil
}

// launch starts the process. One thread starts it and waits for it, since on Linux the process ends with the thread.
func (s *Server) launch() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			s.err = s.cmd.Wait()
			close(s.exited)
		}
	}()
	return <-started
}

// ready waits until the server says that it is.
func (s *Server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		status, err := s.status(ctx)
		if err == nil && status == http.StatusOK {
			return nil
		}
		select {
		case <-s.exited:
			return fmt.Errorf("it ended before it was ready (%v)", s.cmd.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("it is not ready: status %d, %w: %w", status, err, ctx.Err())
		case <-tick.C:
		}
	}
}

// status returns what the health port answers, or 0.
func (s *Server) status(ctx context.Context) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.config.Health+"/status", nil)
	if err != nil {
		return 0, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	return resp.StatusCode, nil
}

// end stops the server, and says in the log of a test that fails what the server logged.
func (s *Server) end(t testing.TB) {
	if err := s.stop(); err != nil {
		t.Errorf("stopping Jaeger: %v", err)
	}
	if t.Failed() {
		t.Logf("the log of Jaeger:\n%s", s.tail())
	}
}

func (s *Server) stop() error {
	defer s.client.CloseIdleConnections()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return errors.Join(err, s.kill())
	}
	select {
	case <-s.exited:
		return s.err
	case <-time.After(stopTime):
		return errors.Join(fmt.Errorf("it did not end within %v and was killed", stopTime), s.kill())
	}
}

func (s *Server) kill() error {
	err := s.cmd.Process.Kill()
	<-s.exited
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

func (s *Server) portTaken() bool {
	text, _ := os.ReadFile(s.log)
	return bytes.Contains(text, []byte("address already in use"))
}

// tail returns the end of the server's log.
func (s *Server) tail() string {
	const most = 16 << 10
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}

// OTLPGRPC is where the server takes spans by gRPC, as host:port.
func (s *Server) OTLPGRPC() string { return s.config.OTLPGRPC }

// OTLPHTTP is where the server takes spans by HTTP, as host:port.
func (s *Server) OTLPHTTP() string { return s.config.OTLPHTTP }
