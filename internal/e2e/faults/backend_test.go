package faults

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"testing"
)

// backend is a sink that runs.
type backend struct {
	testing.TB
	address string // where it takes spans
	control string
}

// startBackend starts a sink that ends with the test.
func startBackend(t testing.TB) *backend {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), sinkVariable+"=1"), os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the sink: %v", err)
		}
	})
	b := &backend{TB: t}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the sink says where it listens: %v", err)
	}
	if _, err := fmt.Sscan(line, &b.address, &b.control); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return b
}

// be has the sink do something else with what comes from now on.
func (b *backend) be(m mode) {
	b.Helper()
	b.ask(http.MethodPost, "mode/"+string(m), func(io.Reader) error { return nil })
}

// count is how many spans came, each counted once, and how often it did not say that all is well.
func (b *backend) count() (spans int, failed int64) {
	b.Helper()
	b.ask(http.MethodGet, "count", func(r io.Reader) error {
		_, err := fmt.Fscan(r, &spans, &failed)
		return err
	})
	return spans, failed
}

// spans are those that came.
func (b *backend) spans() (l *ledger) {
	b.Helper()
	b.ask(http.MethodGet, "spans", func(r io.Reader) (err error) {
		l, err = readLedger(r)
		return err
	})
	return l
}

func (b *backend) ask(method, what string, read func(io.Reader) error) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), method, "http://"+b.control+"/"+what, nil)
	if err != nil {
		b.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if err := read(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		b.Fatalf("the sink answers %s: %v", resp.Status, err)
	}
}
