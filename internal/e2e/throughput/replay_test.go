package throughput

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/internal/delivery"
	"github.com/sessionspan/sessionspan/internal/e2e/command"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	command.Remove()
	os.Exit(code)
}

// sizes are those of the archives in megabytes. The variable is a list, as of 10,100,1000,4000.
func sizes(b *testing.B) (list []int) {
	for _, text := range strings.Split(cmp.Or(os.Getenv("SESSIONSPAN_ARCHIVE_MB"), "10,100"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			b.Fatalf("SESSIONSPAN_ARCHIVE_MB: %q is no number of megabytes", text)
		}
		list = append(list, n)
	}
	return list
}

// BenchmarkReplay runs the command over generated archives, as one session and as many, to a backend that throws away what it is
// sent. Beside bytes and spans per second it reports the most memory that the process had, what promise P11 allows it for as
// many entries, and the processor's time for a gigabyte.
func BenchmarkReplay(b *testing.B) {
	shapes := []struct {
		name  string
		write func(dir string, bytes int64) error
	}{
		{"one-session", func(dir string, bytes int64) error {
			f, err := os.Create(filepath.Join(dir, "session.jsonl"))
			if err != nil {
				return err
			}
			w := bufio.NewWriterSize(f, 1<<20)
			if _, err := sessiontest.Realistic(w, rand.New(rand.NewPCG(1, 0)), bytes); err != nil {
				return err
			}
			if err := w.Flush(); err != nil {
				return err
			}
			return f.Close()
		}},
		{"many-sessions", func(dir string, bytes int64) error {
			_, err := sessiontest.Archive(dir, rand.New(rand.NewPCG(1, 0)), int(max(bytes/2e6, 1)), bytes)
			return err
		}},
		{"claude-code/one-session", func(dir string, bytes int64) error {
			f, err := os.Create(filepath.Join(dir, "11111111-1111-4111-8111-111111111111.jsonl"))
			if err != nil {
				return err
			}
			w := bufio.NewWriterSize(f, 1<<20)
			return errors.Join(sessiontest.RealisticClaude(w, rand.New(rand.NewPCG(1, 0)), bytes, 1), w.Flush(), f.Close())
		}},
		{"claude-code/many-sessions", func(dir string, bytes int64) error {
			return sessiontest.ClaudeArchive(dir, rand.New(rand.NewPCG(1, 0)), int(max(bytes/2e5, 1)), bytes)
		}},
	}
	path, err := command.Path()
	if err != nil {
		b.Fatal(err)
	}
	for _, shape := range shapes {
		for _, mb := range sizes(b) {
			b.Run(shape.name+"/"+strconv.Itoa(mb)+"MB", func(b *testing.B) {
				dir := b.TempDir()
				if err := shape.write(dir, int64(mb)*1e6); err != nil {
					b.Fatal(err)
				}
				address := discarding(b, delivery.GRPC)
				var sum totals
				for b.Loop() {
					sum.add(b, exec.Command(path, "replay", "--json", "--finish", "--protocol", "grpc", "--endpoint", "http://"+address, dir))
				}
				sum.report(b)
			})
		}
	}
}

// totals are what runs of the command came to.
type totals struct {
	bytes, spans int64
	entries      int   // of one
	memory       int64 // of the one that took most, in bytes
	cpu          float64
}

// add runs the command.
func (t *totals) add(b *testing.B, cmd *exec.Cmd) {
	b.Helper()
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = os.Stderr, &log
	err := cmd.Start()
	if err == nil {
		peak := watchMemory(cmd.Process.Pid)
		err = cmd.Wait()
		t.memory = max(t.memory, peak())
	}
	if err != nil {
		b.Fatalf("%v: %v\n%s", cmd, err, &log)
	}
	var sum struct {
		Bytes    int64
		Entries  int
		Delivery struct{ Spans, Sent int64 }
	}
	if err := json.Unmarshal(log.Bytes(), &sum); err != nil {
		b.Fatalf("%v: %v\n%s", cmd, err, &log)
	}
	if d := sum.Delivery; d.Sent != d.Spans || d.Sent == 0 {
		b.Fatalf("%v: %+v", cmd, sum)
	}
	t.bytes += sum.Bytes
	t.spans += sum.Delivery.Sent
	t.entries = sum.Entries
	t.cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
}

// watchMemory looks at how much memory a process has had at most, until peak is called. Where there is no /proc it is 0. What the
// system says of a process that has ended is of no use: it counts the memory of the one that started it.
func watchMemory(pid int) (peak func() (bytes int64)) {
	end, result := make(chan struct{}), make(chan int64)
	go func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		var most int64
		for {
			select {
			case <-end:
				result <- most
				return
			case <-tick.C:
				most = max(most, highWater(pid))
			}
		}
	}()
	return func() int64 { close(end); return <-result }
}

// highWater is the most memory that a process that runs has had so far.
func highWater(pid int) (bytes int64) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kB, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "kB")), 10, 64)
			return kB << 10
		}
	}
	return 0
}

func (t *totals) report(b *testing.B) {
	b.ReportMetric(float64(t.bytes)/1e6/b.Elapsed().Seconds(), "MB/s")
	b.ReportMetric(float64(t.spans)/b.Elapsed().Seconds(), "spans/s")
	b.ReportMetric(t.cpu/(float64(t.bytes)/1e9), "CPU-s/GB")
	if t.memory > 0 {
		b.ReportMetric(float64(t.memory)/1e6, "RSS-MB")
	}
	b.ReportMetric(60+64*float64(t.entries)/1e6, "P11-MB")
}
