package repair

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// holdOpen has another process open a file to append to, and returns what has it append a line and end.
func holdOpen(t *testing.T, path string) (end func()) {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), sh, "-c", `exec 3>>"$1"; echo ready; read word; echo "$word" >&3`, "sh", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return func() {
		_, err := in.Write([]byte("late\n"))
		if err := errors.Join(err, in.Close(), cmd.Wait()); err != nil {
			t.Error(err)
		}
	}
}

// leases skips where the file system has none.
func leases(t *testing.T) {
	t.Helper()
	path := put(t, torn)
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	f, _, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !openForWriting(f) {
		t.Skip("the kernel does not tell here who has a file open")
	}
}

// An agent may append with pauses of any length, and no lock: what it appends later must not be lost.
func TestOpenInAnotherProcess(t *testing.T) {
	leases(t)
	path := put(t, torn)
	end := holdOpen(t, path)
	rep, err := File(t.Context(), path, Options{Now: now}, func(Finding) {})
	if err != nil || !errors.Is(rep.Busy, ErrOpen) {
		t.Errorf("a dry run: %v, busy %v", err, rep.Busy)
	}
	for _, force := range []bool{false, true} {
		if rep, err := write(t, path, Options{Force: force}); !errors.Is(err, ErrOpen) || rep.Written {
			t.Errorf("force %v: %v, report %+v", force, err, rep)
		}
	}
	end()
	if got := read(t, path); got != torn+"late\n" {
		t.Errorf("the file is\n%s", got)
	}
	age(t, path, quiet)
	if rep, err := write(t, path, Options{}); err != nil || !rep.Written || !strings.HasPrefix(read(t, path), mended) {
		t.Errorf("after its end: %v, report %+v", err, rep)
	}
}

// Who only reads is in nobody's way.
func TestOpenForReading(t *testing.T) {
	path := put(t, torn)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if rep, err := write(t, path, Options{}); err != nil || !rep.Written {
		t.Errorf("%v, report %+v", err, rep)
	}
}

// Who opens it after it was first asked is seen before the file is replaced.
func TestOpenedMeanwhile(t *testing.T) {
	leases(t)
	path := put(t, torn)
	f, info, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := scan(f, 0, func(Finding) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer holdOpen(t, path)()
	w := &writer{ctx: t.Context(), src: f, info: info, target: path, sum: p.sum, now: now}
	if _, err := w.write(); !errors.Is(err, ErrOpen) {
		t.Errorf("error %v", err)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 || read(t, path) != torn {
		t.Errorf("the folder has %v, the file is\n%s", files, read(t, path))
	}
}
