package collectorreceiver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"github.com/sessionspan/sessionspan/collectorreceiver/internal/metadata"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

var storageID = component.MustNewID("file_storage")

// withStorage has something be done at one start of a Collector, with a file storage in a folder.
func withStorage(t *testing.T, dir string, do func(*host)) {
	t.Helper()
	f := filestorage.NewFactory()
	c := f.CreateDefaultConfig().(*filestorage.Config)
	c.Directory = dir
	e, err := f.Create(t.Context(), extensiontest.NewNopSettings(f.Type()), c)
	if err != nil {
		t.Fatal(err)
	}
	h := newHost()
	h.extensions = map[component.ID]component.Component{storageID: e}
	if err := e.Start(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	do(h)
	if err := e.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// run runs a receiver until so many spans have come and it has read all that is there, and returns how many spans came.
func run(t *testing.T, c *Config, h component.Host, spans int) (times int) {
	t.Helper()
	to := newSink()
	set := receivertest.NewNopSettings(metadata.Type)
	set.ID = component.NewID(metadata.Type) // the storage is the receiver's own
	tel := componenttest.NewTelemetry()
	defer shutdown(t, tel)
	set.TelemetrySettings = tel.NewTelemetrySettings()
	r := startWith(t, set, c, h, to)
	to.waitFor(t, spans)
	eventually(t, "a look at the files", func() bool { return value(t, tel, "files") > 0 && value(t, tel, "bytes_behind") == 0 })
	stop(t, r)
	for _, n := range to.spans {
		times += n
	}
	return times
}

// A restart goes on where the last one ended.
func TestRestart(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	c := quick(dir)
	c.StorageID = &storageID
	for i := range 3 {
		put(t, filepath.Join(dir, fmt.Sprintf("%d.jsonl", i)), session(t, fmt.Sprint(i)))
	}
	for i, want := range []int{3, 0, 1, 0} {
		if i == 2 {
			put(t, filepath.Join(dir, "new.jsonl"), session(t, "new"))
		}
		withStorage(t, state, func(h *host) {
			if n := run(t, c, h, want*sessionSpans); n != want*sessionSpans {
				t.Errorf("%d spans came with start %d, want %d", n, i, want*sessionSpans)
			}
		})
	}
}

// A session that goes on after a restart has the rest of its spans sent, and no other.
func TestRestartInTheMiddleOfASession(t *testing.T) {
	dir, kept := t.TempDir(), newMemory()
	c := quick(dir)
	c.StorageID = &storageID
	data := session(t, "s")
	lines := bytes.SplitAfter(data, []byte("\n"))
	first := bytes.Join(lines[:len(lines)/2], nil)
	path := filepath.Join(dir, "s.jsonl")
	put(t, path, append(bytes.Clone(first), data[len(first):len(first)+10]...))
	before := run(t, c, remembering(kept), 5)
	put(t, path, data)
	after := run(t, c, remembering(kept), sessionSpans-before)
	if before+after != sessionSpans || before == 0 || after == 0 {
		t.Errorf("%d spans and %d, want %d in all", before, after, sessionSpans)
	}
}

// Options that make other spans have all be sent again; others do not.
func TestRestartWithOtherOptions(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*Config)
		again  bool
	}{
		"none":         {func(*Config) {}, false},
		"batch":        {func(c *Config) { c.Batch.MaxSize = 1000 }, false},
		"group":        {func(c *Config) { c.Group = "run" }, true},
		"naming":       {func(c *Config) { c.Naming = "agentsession" }, true},
		"semconv":      {func(c *Config) { c.Semconv = "latest" }, true},
		"service_name": {func(c *Config) { c.ServiceName = "mine" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir, kept := t.TempDir(), newMemory()
			c := quick(dir)
			c.StorageID = &storageID
			put(t, filepath.Join(dir, "s.jsonl"), session(t, "s"))
			first := run(t, c, remembering(kept), sessionSpans)
			tc.change(c)
			least := 0
			if tc.again {
				least = 30
			}
			again := run(t, c, remembering(kept), least)
			if (again > 0) != tc.again || first != sessionSpans {
				t.Errorf("%d spans first, then %d", first, again)
			}
		})
	}
}

// Of what is there at the start only what ends after it is sent, with the start that it had; a later file from its start.
func TestStartAtEnd(t *testing.T) {
	dir := t.TempDir()
	c := quick(dir)
	c.StartAt = startAtEnd
	data := session(t, "s")
	half := bytes.Join(bytes.SplitAfter(data, []byte("\n"))[:60], nil)
	path := filepath.Join(dir, "s.jsonl")
	put(t, path, half)
	to := newSink()
	tel := componenttest.NewTelemetry()
	defer shutdown(t, tel)
	set := receivertest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = tel.NewTelemetrySettings()
	startWith(t, set, c, newHost(), to)
	eventually(t, "the first look", func() bool { return value(t, tel, "files") == 1 })
	put(t, filepath.Join(dir, "new.jsonl"), session(t, "new"))
	to.waitFor(t, sessionSpans)
	put(t, path, data)
	to.waitFor(t, sessionSpans+1)
	eventually(t, "the rest", func() bool { return value(t, tel, "bytes_behind") == 0 && value(t, tel, "lines_read") == 162 })
	if n := value(t, tel, "spans"); n <= sessionSpans || n >= 2*sessionSpans {
		t.Errorf("%v spans", n)
	}
}

// While progress cannot be stored spans go on, and the receiver says that there is something wrong.
func TestStorageThatIsFull(t *testing.T) {
	dir, kept := t.TempDir(), newMemory()
	c := quick(dir)
	c.StorageID = &storageID
	h, to := remembering(kept), newSink()
	set := receivertest.NewNopSettings(metadata.Type)
	set.ID = component.NewID(metadata.Type)
	r := startWith(t, set, c, h, to)
	kept.fail(storage.ErrStorageFull)
	put(t, filepath.Join(dir, "s.jsonl"), session(t, "s"))
	to.waitFor(t, sessionSpans)
	eventually(t, "the status", func() bool { return len(h.statuses()) == 1 })
	if h.statuses()[0] != componentstatus.StatusRecoverableError || kept.keys() != 0 {
		t.Errorf("statuses %v, %d records", h.statuses(), kept.keys())
	}
	kept.fail(nil)
	eventually(t, "the status", func() bool { return len(h.statuses()) == 2 })
	if h.statuses()[1] != componentstatus.StatusOK || kept.keys() != 1 {
		t.Errorf("statuses %v, %d records", h.statuses(), kept.keys())
	}
	stop(t, r)
	if n := run(t, c, remembering(kept), 0); n != 0 {
		t.Errorf("%d spans came again", n)
	}
}

// A storage that cannot be used is an error at the start that says what to do.
func TestStorageThatCannotBeUsed(t *testing.T) {
	for name, tc := range map[string]struct {
		host *host
		want string
	}{
		"no such extension": {newHost(), `storage "file_storage": there is no such extension; name it below extensions`},
		"another extension": {&host{extensions: map[component.ID]component.Component{storageID: struct {
			component.StartFunc
			component.ShutdownFunc
		}{}}}, `storage "file_storage": that extension is no storage`},
		"one that cannot be written": {remembering(&memory{fails: errors.New("the disk is broken")}), "storing how far files were read: the disk is broken"},
	} {
		t.Run(name, func(t *testing.T) {
			c := quick(t.TempDir())
			c.StorageID = &storageID
			r, err := NewFactory().CreateTraces(t.Context(), receivertest.NewNopSettings(metadata.Type), c, consumertest.NewNop())
			if err != nil {
				t.Fatal(err)
			}
			err = r.Start(t.Context(), tc.host)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %s", err, tc.want)
			}
			stop(t, r)
		})
	}
}

// Records and their index are one, whatever is put and removed.
func TestCheckpoints(t *testing.T) {
	kept := newMemory()
	open := func() *checkpoints {
		c, err := openCheckpoints(t.Context(), remembering(kept), &storageID, component.NewID(metadata.Type))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c, want := open(), map[string]string{}
	for round := range 30 {
		records := map[string][]byte{}
		for i := range 100 {
			key := fmt.Sprint("file:", (round*37+i*i)%1500)
			if (round+i)%3 == 0 {
				records[key] = nil
				delete(want, key)
			} else {
				records[key] = fmt.Append(nil, round)
				want[key] = fmt.Sprint(round)
			}
		}
		if err := c.Put(records); err != nil {
			t.Fatal(err)
		}
		if round%5 == 0 {
			kept.fail(errAway)
			if err := c.Put(map[string][]byte{"lost": []byte("x")}); !errors.Is(err, errAway) {
				t.Error(err)
			}
			kept.fail(nil)
		}
		if round%7 == 0 {
			c = open()
		}
		got := map[string]string{}
		if err := c.Each(func(key string, data []byte) error {
			got[key] = string(data)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("round %d (-want +got):\n%s", round, diff)
		}
	}
	for key := range want {
		if data, err := c.Get(key); err != nil || string(data) != want[key] {
			t.Errorf("%s is %q, %v", key, data, err)
		}
	}
}

// What of the storage is broken has files be read from their start.
func TestBrokenIndex(t *testing.T) {
	dir, kept := t.TempDir(), newMemory()
	c := quick(dir)
	c.StorageID = &storageID
	put(t, filepath.Join(dir, "s.jsonl"), session(t, "s"))
	run(t, c, remembering(kept), sessionSpans)
	for key := range kept.records {
		kept.records[key] = []byte("\x00broken")
	}
	if n := run(t, c, remembering(kept), sessionSpans); n != sessionSpans {
		t.Errorf("%d spans", n)
	}
	if n := run(t, c, remembering(kept), 0); n != 0 {
		t.Errorf("%d spans came again", n)
	}
}

// memory is a storage that is kept while the test runs.
type memory struct {
	component.StartFunc
	component.ShutdownFunc
	mu      sync.Mutex
	records map[string][]byte
	fails   error // of what is written
}

func newMemory() *memory { return &memory{records: map[string][]byte{}} }

func (m *memory) GetClient(context.Context, component.Kind, component.ID, string) (storage.Client, error) {
	return m, nil
}

func (m *memory) Close(context.Context) error { return nil }

func (m *memory) Get(ctx context.Context, key string) ([]byte, error) {
	op := storage.GetOperation(key)
	err := m.Batch(ctx, op)
	return op.Value, err
}

func (m *memory) Set(ctx context.Context, key string, value []byte) error {
	return m.Batch(ctx, storage.SetOperation(key, value))
}

func (m *memory) Delete(ctx context.Context, key string) error {
	return m.Batch(ctx, storage.DeleteOperation(key))
}

func (m *memory) Batch(_ context.Context, ops ...*storage.Operation) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, op := range ops {
		switch op.Type {
		case storage.Get:
			op.Value = m.records[op.Key]
			continue
		case storage.Set:
			if m.fails == nil {
				m.records[op.Key] = op.Value
			}
		case storage.Delete:
			if m.fails == nil {
				delete(m.records, op.Key)
			}
		}
		if m.fails != nil {
			return m.fails
		}
	}
	return nil
}

func (m *memory) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fails = err
}

// keys are those of the records of files.
func (m *memory) keys() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.records {
		if strings.HasPrefix(key, recordKey+"file:") || strings.HasPrefix(key, recordKey+"path:") {
			n++
		}
	}
	return n
}

func remembering(m *memory) *host {
	h := newHost()
	h.extensions = map[component.ID]component.Component{storageID: m}
	return h
}
