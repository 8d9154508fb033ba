package otelwrap

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"

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
	spawn  *activity.Spawn
	home   trace.SpanContext // of the span that it hangs from, if that is its caller's
	caller trace.SpanContext // of the span under which it began here
	gone   chan struct{}     // closed when it has been let go of

	// Under the recorder's lock: how many use it, whether it is to be let go of after that, and when it was used last.
	users   int
	leaving bool
	used    time.Time
	// busy: something in it is open. Mark is the context of the session's mark, once there is one, for the sessions that it spawns.
	busy atomic.Bool
	mark atomic.Pointer[trace.SpanContext]

	mu        sync.Mutex
	off       bool                         // nothing is traced any more
	live      weak.Pointer[format.Session] // where the entries come from, for as long as its store has it; nil when the harness tells of them
	entries   *source.Entries
	projector *projection.Projector
	feed      func(*activity.Event) // the projector's
	position  int                   // in live
	last      string                // the entry before it
	open      map[tracing.Key]*openSpan
	markKey   tracing.Key
	// known are the contexts of the spans so far, where ids are not those of the projection.
	known map[tracing.Key]trace.SpanContext

	// While entries are read: whose context it is, whether spans are only noted, and the mark that was, and what came of it all.
	ctx    context.Context
	silent bool
	primed *projection.Span
	result
}

// openSpan is a span that has started and not ended; in silence, one that is not started yet.
type openSpan struct {
	span  tracing.Span
	of    *projection.Span
	guest *guest // what others have added to it; nil for nothing
}

// result is what reading entries came to, to be dealt with when the lock has been let go of.
type result struct {
	ended  []openSpan
	errors []error
}

func newSession(r *Recorder, h *format.Header, live *format.Session) *session {
	t := &session{r: r, id: h.ID, header: h, open: map[tracing.Key]*openSpan{}, gone: make(chan struct{})}
	if live != nil {
		t.live = weak.Make(live)
	}
	return t
}

// start reads the header, and the past in silence. The open spans of that start here once more.
func (t *session) start(past []format.Entry) {
	t.settleHome(len(past) == 0)
	t.caller = trace.SpanContextFromContext(t.ctx)
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
	t.silent = true
	t.feed(begin)
	for _, e := range past {
		t.entry(e)
		t.last = e.Base().ID
	}
	t.position = len(past)
	t.silent = false
	t.resume()
}

// resume starts what the past left open. The mark is started to be sampled, so that what hangs from it has the fate of what the first
// process sent, and not ended; only where its ids are others than they were is it sent again.
func (t *session) resume() {
	left := make([]*projection.Span, 0, len(t.open))
	for _, o := range t.open {
		left = append(left, o.of)
	}
	clear(t.open)
	slices.SortFunc(left, func(a, b *projection.Span) int { return int(a.Seq) - int(b.Seq) })
	if mark := t.primed; mark != nil {
		t.primed = nil
		if t.home.IsValid() {
			t.markKey = tracing.KeyOf(mark)
			is := tracing.Elsewhere(tracing.Key{Trace: t.home.TraceID(), Span: mark.SpanID}, t.home.TraceFlags()).WithTraceState(t.home.TraceState())
			t.mark.Store(&is)
		} else {
			t.Start(mark)
			if t.r.random.Load() || t.r.config.parent == ParentCaller {
				t.End(mark)
			} else {
				delete(t.open, t.markKey)
			}
		}
	}
	for _, s := range left {
		t.Start(s)
	}
}

// entry gives the projector an entry.
func (t *session) entry(e format.Entry) { t.entries.Decode(e, t.feed) }

// follow has the session be read from an object that its store has for it now, and reports whether it is the same session.
func (t *session) follow(s *format.Session) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	same := t.live.Value() == s || t.off
	switch {
	case same:
	case t.position == 0:
		same = t.header.CreatedAt.Equal(s.Header().CreatedAt)
	default:
		at := s.Since(t.position - 1)
		same = len(at) > 0 && at[0].Base().ID == t.last
	}
	if same {
		t.live = weak.Make(s)
	}
	return same
}

// take reads what was appended to the session since the last time, the entry with that id in the context given. It reports whether the
// session has that entry.
func (t *session) take(ctx context.Context, id string) bool {
	live := t.liveSession()
	if live == nil {
		return false
	}
	t.project(func(t *session) {
		for more := live.Since(t.position); len(more) > 0; more = live.Since(t.position) {
			for _, e := range more {
				t.ctx = context.Background() // whose another entry is, is not known
				if t.last = e.Base().ID; t.last == id {
					t.ctx = ctx
				}
				t.position++
				t.entry(e)
			}
		}
	})
	_, there := live.Entry(id)
	return there
}

func (t *session) liveSession() *format.Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live.Value()
}

// catchUp reads what was appended past the store.
func (t *session) catchUp() { t.take(context.Background(), "") }

// project reads entries, and deals with what came of it.
func (t *session) project(read func(*session)) {
	t.settle(func() result {
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.locked(context.Background(), read)
	}())
}

// locked reads entries under the session's lock. A panic is the last that is heard of the session.
func (t *session) locked(ctx context.Context, read func(*session)) (r result) {
	if t.off {
		return result{}
	}
	t.ctx = orBackground(ctx)
	defer func() {
		if v := recover(); v != nil {
			t.failed(v)
		}
		t.busy.Store(len(t.open) > 0)
		r, t.result, t.ctx = t.result, result{}, nil
	}()
	read(t)
	return
}

// orBackground is for callers that have no context.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// failed gives the session up. It is called under its lock.
func (t *session) failed(panicked any) {
	if !t.off {
		t.errors = append(t.errors, &PanicError{Session: t.id, Value: panicked, Stack: debug.Stack()})
	}
	t.off = true
	t.r.giveUp(t.id)
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
		v := recover()
		if v == nil {
			return
		}
		t.mu.Lock()
		t.failed(v)
		errs := t.errors
		t.errors = nil
		t.mu.Unlock()
		for _, err := range errs {
			t.r.report(err)
		}
	}()
	for _, o := range r.ended {
		o.span.Complete(o.of)
		t.r.measure(o)
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
	t.open[key] = &openSpan{span: t.begin(s, key), of: s}
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
