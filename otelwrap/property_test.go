package otelwrap_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/otelwrap"
	"github.com/sessionspan/sessionspan/store"
	"github.com/sessionspan/sessionspan/store/jsonl"
)

// seeds is how many random sessions are recorded; a campaign has more.
var seeds = flag.Uint64("seeds", 200, "number of random sessions that are recorded live")

// What is recorded live, by several goroutines, through restarts at any point, is what a replay of the files gives (promise P5).
func TestLiveEqualsReplayOfRandomSessions(t *testing.T) {
	for seed := range *seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 6))
			h := newHarness(t, r)
			o := sessiontest.All(r)
			o.Again = true
			h.work(sessiontest.Random(r, o))
			want, got := replayed(t, h.projection, h.files()), h.spans.byID(t)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("live differs (-replay +live):\n%s", diff)
			}
			if len(want) == 0 {
				t.Error("nothing was traced")
			}
		})
	}
}

// harness records the sessions of a case as a harness might that is started several times.
type harness struct {
	*testing.T
	r          *rand.Rand
	projection projection.Options
	spans      exporter
	dir        string      // of files; "" for memory
	inner      store.Store // of this process
	store      *otelwrap.Store
	roots      sync.RWMutex // held for writing while a root is appended
	ids        []string
	fewer      sync.Map // sessions of which an entry was left out
}

func newHarness(t *testing.T, r *rand.Rand) *harness {
	h := &harness{T: t, r: r}
	h.projection.Group = []projection.Group{projection.GroupSession, projection.GroupRun}[r.IntN(2)]
	h.projection.Semconv = []projection.Semconv{projection.Semconv141, projection.SemconvLatest}[r.IntN(2)]
	h.projection.Naming = []projection.Naming{projection.NamingGenAI, projection.NamingAgentsession}[r.IntN(2)]
	if r.IntN(4) == 0 {
		h.dir = t.TempDir()
	} else {
		h.inner = store.NewMemory()
	}
	h.begin()
	return h
}

// begin starts a process.
func (h *harness) begin() {
	if h.dir != "" {
		s, err := jsonl.Open(h.dir, jsonl.WithSync(jsonl.Never))
		if err != nil {
			h.Fatal(err)
		}
		h.inner = s
	}
	h.store = otelwrap.Wrap(h.inner, otelwrap.WithTracerProvider(provider(&h.spans)), otelwrap.WithGroup(string(h.projection.Group)),
		otelwrap.WithSemconv(string(h.projection.Semconv)), otelwrap.WithNaming(string(h.projection.Naming)),
		otelwrap.WithErrorHandler(func(err error) { h.Error(err) }))
}

// end ends it: in order, or as a crash does, after which nothing is done.
func (h *harness) end(crash bool) {
	if !crash {
		if err := h.store.Shutdown(h.Context()); err != nil {
			h.Error(err)
		}
	}
	if s, ok := h.inner.(*jsonl.Store); ok {
		if err := s.Close(); err != nil {
			h.Error(err)
		}
	}
}

// work appends the entries of all files of a case, in an order that has parents first.
func (h *harness) work(c *sessiontest.Case) {
	defer func() { h.end(false) }()
	todo := map[string][]format.Entry{}
	total := 0
	for _, f := range c.Files {
		s, err := format.ReadSession(bytes.NewReader(f.Data))
		if err != nil {
			h.Fatal(err)
		}
		if _, err := h.store.Create(h.Context(), *s.Header()); err != nil {
			h.Fatal(err)
		}
		h.ids = append(h.ids, f.SessionID)
		todo[f.SessionID] = s.Entries()
		total += len(todo[f.SessionID])
	}
	for total > 0 {
		var wg, closer sync.WaitGroup
		many := h.r.IntN(3) == 0
		stop := make(chan struct{})
		if many && h.r.IntN(2) == 0 { // somebody closes sessions while others append
			closer.Go(func() { h.closeUntil(stop, h.store, slices.Clone(h.ids)) })
		}
		for _, id := range h.ids {
			n := min(h.r.IntN(60), len(todo[id]))
			some := todo[id][:n]
			todo[id], total = todo[id][n:], total-n
			r := rand.New(rand.NewPCG(h.r.Uint64(), 0))
			if many {
				wg.Go(func() { h.together(r, id, some) })
			} else {
				h.inOrder(r, id, some)
			}
		}
		wg.Wait()
		close(stop)
		closer.Wait()
		switch h.r.IntN(4) {
		case 0:
			h.end(h.r.IntN(2) == 0)
			h.begin()
		case 1:
			if err := h.store.Close(h.Context(), h.ids[h.r.IntN(len(h.ids))]); err != nil {
				h.Error(err)
			}
		}
	}
}

func (h *harness) closeUntil(stop chan struct{}, s *otelwrap.Store, ids []string) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
			if err := s.Close(context.Background(), ids[i%len(ids)]); err != nil {
				h.Error(err)
			}
			runtime.Gosched()
		}
	}
}

// inOrder appends entries one after the other, some of them past the wrapper, but not the last.
func (h *harness) inOrder(r *rand.Rand, id string, entries []format.Entry) {
	for i, e := range entries {
		if r.IntN(6) == 0 || e.Base().Parent == "" {
			s, err := h.store.Open(h.Context(), id)
			if err != nil {
				h.Fatal(err)
			}
			if e.Base().Parent == "" {
				s.ResetLeaf()
			}
			if i < len(entries)-1 && r.IntN(2) == 0 {
				if _, err := s.Append(e); err != nil {
					h.left(id, err)
				}
				continue
			}
		}
		if _, err := h.store.Append(h.Context(), id, e); err != nil {
			h.left(id, err)
		}
	}
	h.store.RunContext(h.Context(), id) // the last one may have been left out
}

// left leaves out an entry that does not fit, since another one was left out that it needs.
func (h *harness) left(id string, err error) {
	if _, fewer := h.fewer.Load(id); !fewer {
		h.Fatal(err)
	}
}

// together has several goroutines append entries, each as soon as its parent is there. What does not fit any more, because another
// entry came first, is left out with what hangs from it.
func (h *harness) together(r *rand.Rand, id string, entries []format.Entry) {
	s, err := h.store.Open(h.Context(), id)
	if err != nil {
		h.Error(err)
		return
	}
	waits := map[string][]format.Entry{} // by parent
	var ready []format.Entry
	for _, e := range entries {
		parent := e.Base().Parent
		if _, there := s.Entry(parent); there || parent == "" {
			ready = append(ready, e)
		} else {
			waits[parent] = append(waits[parent], e)
		}
	}
	var mu sync.Mutex
	next := func() format.Entry {
		mu.Lock()
		defer mu.Unlock()
		if len(ready) == 0 {
			return nil
		}
		i := r.IntN(min(3, len(ready)))
		e := ready[i]
		ready = slices.Delete(ready, i, i+1)
		return e
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for e := next(); e != nil; e = next() {
				if h.appendSafely(s, e) != nil {
					h.fewer.Store(id, true)
				} else {
					mu.Lock()
					ready = append(ready, waits[e.Base().ID]...)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
}

func (h *harness) appendSafely(s *format.Session, e format.Entry) error {
	if e.Base().Parent == "" {
		h.roots.Lock()
		defer h.roots.Unlock()
		s.ResetLeaf()
	} else {
		h.roots.RLock()
		defer h.roots.RUnlock()
	}
	_, err := h.store.Append(context.Background(), s.ID(), e)
	return err
}

// files returns the folder with what was stored.
func (h *harness) files() string {
	if h.dir != "" {
		return h.dir
	}
	dir := h.TempDir()
	for i, id := range h.ids {
		s, err := h.inner.Open(h.Context(), id)
		if err != nil {
			h.Fatal(err)
		}
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%03d.jsonl", i)))
		if err != nil {
			h.Fatal(err)
		}
		if _, err := s.WriteTo(f); err != nil {
			h.Fatal(err)
		}
		if err := f.Close(); err != nil {
			h.Fatal(err)
		}
	}
	return dir
}
