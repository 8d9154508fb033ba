package tracker

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/follow"
	"github.com/sessionspan/sessionspan/internal/projection"
)

type fn func([]*projection.Span) error

func (f fn) Consume(_ context.Context, s []*projection.Span) error { return f(s) }

func zzsession(t *testing.T, id string, n, pad int) []byte {
	s, err := format.NewSession(format.Header{ID: id, Harness: &format.Harness{Name: "coder"}, Records: format.AllRecords(), CreatedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	s.WriteTo(&b)
	s.Attach(func(more []byte, _ format.Entry) error { b.Write(more); return nil })
	for i := range n {
		name := fmt.Sprint(i)
		s.Append(format.NewRunStart(name, format.SourceInput, ""))
		s.Append(format.NewRunEnd(name, format.ReasonDone, strings.Repeat("x", pad), nil))
	}
	return b.Bytes()
}

func zztrack(t *testing.T, dir string, o Options, c Consumer) *Tracker {
	p, _ := follow.NewPatterns([]string{dir}, nil)
	o.Follow.Patterns = p
	tr, err := New(o, c)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// the loop of Run spins while a batch waits to be tried again and its file has grown
func TestZZSpin(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "s.jsonl")
	data := zzsession(t, "s", 10, 0)
	half := bytes.LastIndexByte(data[:len(data)/2], '\n') + 1
	os.WriteFile(p, data[:half], 0o600)
	steps := 0
	o := Options{BatchWait: 50 * time.Millisecond, FirstWait: 30 * time.Second}
	o.Follow.Interval = 100 * time.Millisecond
	tr := zztrack(t, dir, o, fn(func([]*projection.Span) error { return errors.New("away") }))
	defer tr.Close()
	for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
		tr.Step(t.Context())
		time.Sleep(max(0, time.Until(tr.next())))
	}
	os.WriteFile(p, data, 0o600)
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		tr.Step(t.Context())
		steps++
		time.Sleep(max(0, time.Until(tr.next())))
	}
	if steps > 60 {
		t.Errorf("%d steps in 2 s", steps)
	}
}

// the state budget is not kept within a step
func TestZZStateBudget(t *testing.T) {
	dir := t.TempDir()
	for i := range 300 {
		os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".jsonl")), zzsession(t, fmt.Sprint("s", i), 3, 0), 0o600)
	}
	var tr *Tracker
	most, saved := int64(0), 0
	tr = zztrack(t, dir, Options{StateBytes: 1, BatchBytes: 1, Checkpoints: counting{&saved}}, fn(func([]*projection.Span) error {
		most = max(most, tr.states)
		return nil
	}))
	defer tr.Close()
	tr.Step(t.Context())
	t.Logf("states %d bytes with a budget of 1, %d saves", most, saved)
	if most > 5*stateSize {
		t.Error("budget")
	}
}

type counting struct{ n *int }

func (counting) Get(string) ([]byte, error)                       { return nil, nil }
func (c counting) Put(map[string][]byte) error                    { *c.n++; return nil }
func (counting) Each(func(key string, record []byte) error) error { return nil }

type countFS struct {
	follow.OS
	open, most *int
}
type countFile struct {
	follow.File
	n *int
}

func (c countFile) Close() error { *c.n--; return c.File.Close() }
func (c countFS) Open(p string) (follow.File, error) {
	f, err := c.OS.Open(p)
	if err == nil {
		*c.open++
		*c.most = max(*c.most, *c.open)
		f = countFile{f, c.open}
	}
	return f, err
}

// compressed files of more than a chunk stay open, all of them
func TestZZStreams(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(zzsession(t, "s", 60, 100_000))
	z.Close()
	for i := range 20 {
		os.WriteFile(filepath.Join(dir, fmt.Sprint(i, ".jsonl.gz")), b.Bytes(), 0o600)
	}
	open, most := 0, 0
	o := Options{}
	o.Follow.FS, o.Follow.MaxOpen, o.Follow.Interval = countFS{open: &open, most: &most}, 2, 10*time.Millisecond
	tr := zztrack(t, dir, o, fn(func([]*projection.Span) error { return nil }))
	for range 4 {
		tr.Step(t.Context())
		time.Sleep(20 * time.Millisecond)
	}
	tr.Close()
	t.Logf("%d open at most, with MaxOpen 2; %d left open", most, open)
	if most > 5 {
		t.Error("too many")
	}
}

// a file replaced, and its successor removed before the second look
func TestZZNamelessLeak(t *testing.T) {
	dir := t.TempDir()
	p := filepath.Join(dir, "s.jsonl")
	os.WriteFile(p, zzsession(t, "s", 2, 0), 0o600)
	open, most := 0, 0
	o := Options{}
	o.Follow.FS, o.Follow.Interval = countFS{open: &open, most: &most}, 10*time.Millisecond
	tr := zztrack(t, dir, o, fn(func([]*projection.Span) error { return nil }))
	step := func() { tr.Step(t.Context()); time.Sleep(20 * time.Millisecond) }
	step()
	step()
	os.WriteFile(p+".new", zzsession(t, "n", 2, 0), 0o600)
	os.Rename(p+".new", p)
	step()
	os.Remove(p)
	for range 20 {
		step()
	}
	if len(tr.units) > 0 || open > 0 {
		t.Errorf("%d units, %d open files of an empty folder", len(tr.units), open)
	}
	tr.Close()
}

// byPath never shrinks, records of files that are gone stay in the checkpoint
func TestZZRecordsStay(t *testing.T) {
	dir := t.TempDir()
	db := mem{}
	p := filepath.Join(dir, "s.jsonl")
	os.WriteFile(p, zzsession(t, "s", 2, 0), 0o600)
	step := func(tr *Tracker) {
		for range 4 {
			tr.Step(t.Context())
			time.Sleep(20 * time.Millisecond)
		}
	}
	o := Options{Checkpoints: db, BatchWait: time.Millisecond}
	o.Follow.Interval = 10 * time.Millisecond
	tr := zztrack(t, dir, o, fn(func([]*projection.Span) error { return nil }))
	step(tr)
	tr.Close()
	os.Remove(p)
	tr = zztrack(t, dir, o, fn(func([]*projection.Span) error { return nil }))
	step(tr)
	if len(db)+len(tr.byPath) > 0 {
		t.Errorf("%d records, %d by path", len(db), len(tr.byPath))
	}
	tr.Close()
}

type mem map[string][]byte

func (m mem) Get(k string) ([]byte, error) { return m[k], nil }
func (m mem) Put(r map[string][]byte) error {
	for k, v := range r {
		if v == nil {
			delete(m, k)
		} else {
			m[k] = v
		}
	}
	return nil
}

func (m mem) Each(g func(string, []byte) error) error {
	for k, v := range m {
		g(k, v)
	}
	return nil
}
