package tracker_test

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/follow"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/spantest"
	"github.com/sessionspan/sessionspan/internal/tracker"
)

// memory keeps checkpoints.
type memory map[string][]byte

func (m memory) Get(key string) ([]byte, error) { return m[key], nil }

func (m memory) Put(records map[string][]byte) error {
	for key, data := range records {
		if data == nil {
			delete(m, key)
		} else {
			m[key] = data
		}
	}
	return nil
}

func (m memory) Each(give func(string, []byte) error) error {
	for key, data := range maps.Clone(m) {
		if err := give(key, data); err != nil {
			return err
		}
	}
	return nil
}

// collector is a consumer that keeps what it accepts, and sees to it that what comes again is what it was.
type collector struct {
	testing.TB
	mu     sync.Mutex
	spans  map[string]string // by id
	times  int               // spans accepted, each as often as it came
	refuse func([]*projection.Span) error
}

func newCollector(t testing.TB) *collector { return &collector{TB: t, spans: map[string]string{}} }

var errAway = errors.New("the backend is away")

func (c *collector) Consume(_ context.Context, spans []*projection.Span) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refuse != nil {
		if err := c.refuse(spans); err != nil {
			return err
		}
	}
	for _, s := range spans {
		is := spantest.Dump([]*projection.Span{s})
		id := s.TraceID.String() + s.SpanID.String()
		if was, again := c.spans[id]; again && was != is {
			c.Errorf("a copy is not equal (-first +again):\n%s", cmp.Diff(was, is))
		}
		c.spans[id] = is
		c.times++
	}
	return nil
}

// replayed are the spans of a folder, by id.
func replayed(t testing.TB, o projection.Options, dir string) map[string]string {
	t.Helper()
	found, err := archive.Find(t.Context(), []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	index := archive.NewIndex(t.Context(), found.Files, nil, source.Options{})
	for _, err := range index.Bad {
		t.Fatal(err)
	}
	rec := &spantest.Recorder{}
	for _, group := range index.Traces() {
		for _, f := range group {
			if rep := index.Project(t.Context(), f, archive.Options{Projection: o, Now: time.Unix(1, 0)}, rec); rep.Err != nil {
				t.Fatal(rep.Err)
			}
		}
	}
	all := map[string]string{}
	for _, s := range rec.Ended {
		all[s.TraceID.String()+s.SpanID.String()] = spantest.Dump([]*projection.Span{s})
	}
	return all
}

func (c *collector) equals(t *testing.T, want map[string]string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if diff := cmp.Diff(want, c.spans); diff != "" {
		t.Errorf("what was delivered differs (-replay +delivered):\n%s", diff)
	}
}

// track returns a tracker of a folder.
func track(t testing.TB, dir string, o tracker.Options, to tracker.Consumer) *tracker.Tracker {
	t.Helper()
	patterns, err := follow.NewPatterns([]string{dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Follow.Patterns = patterns
	if o.Problem == nil {
		o.Problem = func(path string, err error, note bool) { t.Logf("%s: %v (note %t)", path, err, note) }
	}
	tr, err := tracker.New(o, to)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func look(t testing.TB, tr *tracker.Tracker) {
	t.Helper()
	if err := tr.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// taking is a consumer that takes everything and keeps nothing.
type taking struct{}

func (taking) Consume(context.Context, []*projection.Span) error { return nil }

// shut closes a tracker. Nothing is given to its consumer any more, as when it is killed.
func shut(t testing.TB, tr *tracker.Tracker) {
	t.Helper()
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
}
