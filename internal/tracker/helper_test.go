package tracker_test

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/follow"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/replaytest"
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
	// never are those that it said it never would accept, which are the last ones of those that it was given.
	never map[string]string
}

func newCollector(t testing.TB) *collector {
	return &collector{TB: t, spans: map[string]string{}, never: map[string]string{}}
}

var errAway = errors.New("the backend is away")

func (c *collector) Consume(_ context.Context, spans []*projection.Span) (refusal error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refuse != nil {
		if err := c.refuse(spans); err != nil {
			r, final := errors.AsType[*tracker.Refusal](err)
			if !final {
				return err
			}
			refusal = err
			n := len(spans) - r.Spans
			for _, s := range spans[n:] {
				c.never[s.TraceID.String()+s.SpanID.String()] = spantest.Dump([]*projection.Span{s})
			}
			spans = spans[:n]
		}
	}
	c.keep(spans)
	return refusal
}

// take keeps spans that another consumer has accepted.
func (c *collector) take(spans []*projection.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(spans)
}

func (c *collector) keep(spans []*projection.Span) {
	for _, s := range spans {
		is := spantest.Dump([]*projection.Span{s})
		id := s.TraceID.String() + s.SpanID.String()
		if was, again := c.spans[id]; again && was != is {
			c.Errorf("a copy is not equal (-first +again):\n%s", cmp.Diff(was, is))
		}
		c.spans[id] = is
		c.times++
	}
}

// consume is a function that is a consumer.
type consume func([]*projection.Span) error

func (c consume) Consume(_ context.Context, spans []*projection.Span) error { return c(spans) }

// replayed are the spans of a folder, by id.
func replayed(t testing.TB, o projection.Options, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, s := range replaytest.Spans(t, o, dir, time.Unix(1, 0)) {
		all[s.TraceID.String()+s.SpanID.String()] = spantest.Dump([]*projection.Span{s})
	}
	return all
}

// equals holds what was accepted, or refused for good, against what there is.
func (c *collector) equals(t *testing.T, want map[string]string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	got := maps.Clone(c.never)
	maps.Copy(got, c.spans)
	if diff := cmp.Diff(want, got); diff != "" {
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
