package otelwrap

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/tracing"
	"go.opentelemetry.io/otel/trace"
)

// session is a session that is traced. It is the sink of its projector.
//
// Entries are read, and spans started, under its lock, which is held across nothing else. What ends is completed after it has been let go
// of, since processors may export a span as it ends.
type session struct {
	r      *Recorder
	id     string
	header *format.Header
	live   *format.Session // where the entries come from; nil when the harness tells of them
	spawn  *activity.Spawn
	used   time.Time // under the recorder's lock
	// mark is the context of the session's mark, once there is one, for the sessions that it spawns.
	mark atomic.Pointer[trace.SpanContext]

	mu        sync.Mutex
	off       bool // nothing is traced any more
	entries   *source.Entries
	projector *projection.Projector
	feed      func(*activity.Event) // the projector's
	position  int                   // in live
	open      map[tracing.Key]*openSpan
	markKey   tracing.Key
	// known are the contexts of the spans so far, where ids are not those of the projection.
	known map[tracing.Key]trace.SpanContext

	// While entries are read: whose context it is, that in which headers of other sessions may be looked for, whether spans are only
	// noted, and the mark that was, and what came of it all.
	ctx, search context.Context
	silent      bool
	primed      *projection.Span
	result
}

// openSpan is a span that has started and not ended; in silence, one that is not started yet.
type openSpan struct {
	span tracing.Span
	of   *projection.Span
}

// result is what reading entries came to, to be dealt with when the lock has been let go of.
type result struct {
	ended  []openSpan
	errors []error
}

func newSession(r *Recorder, h *format.Header, live *format.Session) *session {
	return &session{r: r, id: h.ID, header: h, live: live, open: map[tracing.Key]*openSpan{}}
}

// start reads the header, and the past in silence. The open spans of that start here once more.
func (t *session) start(ctx context.Context, past []format.Entry) {
	options := t.r.config.projection
	options.Ancestors = ancestors{t}
	options.Report = func(p projection.Problem) {
		if !p.Note {
			t.errors = append(t.errors, fmt.Errorf("session %.100s: %w: %w: %s", t.id, ErrDamaged, p.Err, p.Detail))
		}
	}
	var begin *activity.Event
	t.entries, begin = source.NewEntries(t.header)
	t.spawn = begin.Fact.(*activity.Session).Spawn
	t.projector = projection.New(options, t)
	t.feed = t.projector.Feed
	t.search, t.silent = ctx, true
	t.projector.Feed(begin)
	for _, e := range past {
		t.entry(e)
	}
	t.position = len(past)
	t.search, t.silent = nil, false
	t.resume(ctx)
}

// resume starts what the past left open. The mark is started to be sampled, so that what hangs from it has the fate of what the first
// process sent, and never ended.
func (t *session) resume(ctx context.Context) {
	left := make([]*projection.Span, 0, len(t.open))
	for _, o := range t.open {
		left = append(left, o.of)
	}
	clear(t.open)
	slices.SortFunc(left, func(a, b *projection.Span) int { return int(a.Seq) - int(b.Seq) })
	if mark := t.primed; mark != nil {
		t.primed = nil
		if caller := trace.SpanContextFromContext(ctx); t.r.config.parent == ParentCaller && caller.IsValid() {
			t.markKey = tracing.KeyOf(mark)
			t.mark.Store(&caller)
		} else {
			t.Start(mark)
			delete(t.open, t.markKey)
		}
	}
	for _, s := range left {
		t.Start(s)
	}
}

// entry gives the projector an entry.
func (t *session) entry(e format.Entry) { t.entries.Decode(e, t.feed) }

// take reads what was appended to the session since the last time. It reports whether the entry with that id is among what has been
// read, now or before.
func (t *session) take(ctx context.Context, id string) bool {
	t.project(ctx, nil)
	_, there := t.live.Entry(id)
	return there
}

// catchUp reads what was appended past the store.
func (t *session) catchUp(ctx context.Context) {
	if t.live != nil {
		t.take(ctx, "")
	}
}

// project reads an entry, or nil for what there is to read, and deals with what came of it.
func (t *session) project(ctx context.Context, e format.Entry) {
	t.mu.Lock()
	result := t.locked(ctx, func(t *session) {
		if e != nil {
			t.entry(e)
			return
		}
		for _, e := range t.live.Since(t.position) {
			t.position++
			t.entry(e)
		}
	})
	t.mu.Unlock()
	t.settle(result)
}

// locked reads entries under the session's lock. A panic is the last that is heard of the session.
func (t *session) locked(ctx context.Context, read func(*session)) (r result) {
	if t.off {
		return result{}
	}
	if ctx == nil {
		ctx = context.Background()
	}
	t.ctx = ctx
	defer func() {
		if v := recover(); v != nil {
			t.failed(v)
		}
		r, t.result, t.ctx = t.result, result{}, nil
	}()
	read(t)
	return
}

// failed gives the session up. It is called under its lock.
func (t *session) failed(panicked any) {
	t.off = true
	t.errors = append(t.errors, &PanicError{Session: t.id, Value: panicked, Stack: debug.Stack()})
	t.stopped()
}

// settle completes the spans that have ended, and tells of errors.
func (t *session) settle(r result) {
	for _, err := range r.errors {
		t.r.report(err)
	}
	if len(r.ended) == 0 {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			t.mu.Lock()
			already := t.off
			t.failed(v)
			errs := t.errors
			t.errors = nil
			t.mu.Unlock()
			if !already {
				for _, err := range errs {
					t.r.report(err)
				}
			}
		}
	}()
	for _, o := range r.ended {
		o.span.Complete(o.of)
		if m := t.r.metrics; m != nil {
			m.record(o.span, o.of)
		}
	}
}

// stop has the session traced no more.
func (t *session) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.off = true
	t.stopped()
}

// stopped lets go of what a session holds.
func (t *session) stopped() {
	t.r.dropTools(t.open)
	t.entries, t.projector, t.feed, t.open, t.known = nil, nil, nil, nil, nil
}

// Start implements [projection.Sink].
func (t *session) Start(s *projection.Span) {
	key := tracing.KeyOf(s)
	if s.Type == projection.TypeSession {
		t.markKey = key
	}
	if t.silent {
		t.open[key] = &openSpan{of: s}
		return
	}
	t.open[key] = &openSpan{t.begin(s, key), s}
}

// End implements [projection.Sink].
func (t *session) End(s *projection.Span) {
	key := tracing.KeyOf(s)
	o := t.open[key]
	if o == nil {
		return
	}
	delete(t.open, key)
	switch {
	case !t.silent:
		t.ended = append(t.ended, *o)
		t.r.dropTool(s, key)
	case s.Type == projection.TypeSession:
		t.primed = s
	}
}
