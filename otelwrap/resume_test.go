package otelwrap_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/otelwrap"
	"github.com/sessionspan/sessionspan/store"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// What a process leaves open the next one ends, under the id and with the start that it always had, and sends nothing twice.
func TestResumeEndsWhatWasLeftOpen(t *testing.T) {
	dir := t.TempDir()
	spans := &exporter{}
	files := openFiles(t, dir)
	first := record(t, files, spans, nil)
	first.create(header("s"))
	first.add("s", working("run-1", "resp-1", "call-1", "bash")...)
	tool := trace.SpanContextFromContext(first.CallContext(t.Context(), "s", "call-1"))
	if err := files.Close(); err != nil { // and the process is gone
		t.Fatal(err)
	}

	second := record(t, openFiles(t, dir), spans, nil)
	s, err := second.Open(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if again := trace.SpanContextFromContext(second.CallContext(t.Context(), "s", "call-1")); !again.Equal(tool) {
		t.Errorf("the call has the context %v, and had %v", again, tool)
	}
	if pending, err := s.PendingCalls(s.Leaf()); err != nil || len(pending) != 1 {
		t.Errorf("%d pending calls, %v", len(pending), err)
	}
	second.add("s", output("call-1"), answered("resp-2"), done("run-1"))
	if ended := spans.names(); !slices.Equal(ended, []string{
		"agentsession.session", "chat gpt-5", "execute_tool bash", "chat gpt-5", "invoke_agent coder",
	}) {
		t.Errorf("ended: %q", ended)
	}
	first.noErrors()
	second.noErrors()
	equalsReplay(t, spans, dir)
}

// A session that was closed, or forgotten because nothing happened in it, goes on as if it had not been.
func TestForgottenSessionGoesOn(t *testing.T) {
	for name, forget := range map[string]func(*recording){
		"closed": func(r *recording) {
			if err := r.Close(r.Context(), "s"); err != nil {
				r.Error(err)
			}
		},
		"idle for too long": func(r *recording) {
			time.Sleep(25 * time.Hour)     // since something is open
			r.add("other", start("run-1")) // by the way
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := t.TempDir()
				r := record(t, openFiles(t, dir), nil, nil)
				r.create(header("s"))
				r.create(header("other"))
				r.add("s", working("run-1", "resp-1", "call-1", "bash")...)
				forget(r)
				if got := r.CallContext(t.Context(), "s", "call-1"); got != t.Context() {
					t.Error("the session is still known")
				}
				r.add("s", output("call-1"), answered("resp-2"), done("run-1"))
				r.noErrors()
				equalsReplay(t, r.spans, dir)
			})
		})
	}
}

// Nothing is open, and nothing has happened for an hour: the session is forgotten.
func TestIdleSessionIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inner := store.NewMemory()
		r := record(t, inner, nil, nil)
		r.create(header("s"))
		r.create(header("other"))
		r.add("s", start("run-1"), done("run-1"))
		time.Sleep(otelwrap.DefaultIdle + time.Minute)
		r.add("other", user("By the way."))
		if _, err := inner.Append(t.Context(), "s", start("run-2")); err != nil { // past the wrapper, and not its business any more
			t.Fatal(err)
		}
		if got := r.RunContext(t.Context(), "s"); got != t.Context() {
			t.Error("it is still known")
		}
	})
}

// A session in which something happens is not forgotten, however old it is.
func TestBusySessionIsNotForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := record(t, store.NewMemory(), nil, nil, otelwrap.WithIdleLimit(time.Hour))
		r.create(header("s"))
		r.add("s", working("run-1", "resp-1", "call-1", "bash")...)
		for range 5 {
			time.Sleep(50 * time.Minute)
			r.add("s", user("Still here."))
			if got := r.CallContext(t.Context(), "s", "call-1"); got == t.Context() {
				t.Fatal("the session was forgotten")
			}
		}
	})
}

// Closing ends nothing that the file has not ended.
func TestCloseEndsNoSpan(t *testing.T) {
	r := record(t, store.NewMemory(), nil, nil)
	r.create(header("s"))
	r.add("s", working("run-1", "resp-1", "call-1", "bash")...)
	before := len(r.spans.all())
	if err := errors.Join(r.Close(t.Context(), "s"), r.Close(t.Context(), "none"), r.Shutdown(t.Context()), r.Shutdown(t.Context())); err != nil {
		t.Error(err)
	}
	if after := len(r.spans.all()); after != before {
		t.Errorf("%d spans ended", after-before)
	}
}

// failing is a processor that counts how often it was flushed, and fails.
type failing struct {
	exporter
	times int
}

var errFlush = errors.New("the backend is away")

func (f *failing) ForceFlush(context.Context) error {
	f.times++
	return errFlush
}

func TestCloseFlushes(t *testing.T) {
	processor := &failing{}
	r := record(t, store.NewMemory(), nil, []sdktrace.TracerProviderOption{sdktrace.WithSpanProcessor(processor)})
	r.create(header("s"))
	if err := r.Close(t.Context(), "s"); !errors.Is(err, errFlush) {
		t.Errorf("error %v", err)
	}
	if err := r.Shutdown(t.Context()); !errors.Is(err, errFlush) || processor.times != 2 {
		t.Errorf("error %v; flushed %d times, want 2", err, processor.times)
	}
}

// A session without an entry is traced from its first one on.
func TestResumeOfASessionWithoutEntries(t *testing.T) {
	inner := store.NewMemory()
	if _, err := inner.Create(t.Context(), header("s")); err != nil {
		t.Fatal(err)
	}
	r := record(t, inner, nil, nil)
	r.add("s", start("run-1"), done("run-1"))
	r.noErrors()
	if got := r.spans.names(); !slices.Equal(got, []string{"agentsession.session", "invoke_agent coder"}) {
		t.Errorf("ended: %q", got)
	}
}

// A harness with a store of its own tells the recorder itself.
func TestRecorderIsToldOfEntries(t *testing.T) {
	spans, errs := &exporter{}, &errorList{}
	begin := func() *otelwrap.Recorder {
		return otelwrap.NewRecorder(otelwrap.WithTracerProvider(provider(spans)), otelwrap.WithErrorHandler(errs.add))
	}
	h := header("s")
	s, err := format.NewSession(h)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range append(working("run-1", "resp-1", "call-1", "bash"), output("call-1"), answered("resp-2"), done("run-1")) {
		if _, err := s.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	all := s.Entries() // with ids, parents and times, as they are kept
	r := begin()
	if err := r.Record(t.Context(), "s", all[0]); !errors.Is(err, otelwrap.ErrUnknownSession) {
		t.Errorf("error %v before the session has begun", err)
	}
	r.Begin(t.Context(), s.Header())
	for i, e := range all {
		if i == 5 { // the process dies, and another one goes on
			r = begin()
			r.Begin(t.Context(), s.Header(), all[:i]...)
		}
		if err := r.Record(t.Context(), "s", e); err != nil {
			t.Error(err)
		}
	}
	if err := r.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	for _, err := range errs.all() {
		t.Error(err)
	}
	if got := spans.names(); !slices.Equal(got, []string{
		"agentsession.session", "chat gpt-5", "execute_tool bash", "chat gpt-5", "invoke_agent coder",
	}) {
		t.Errorf("ended: %q", got)
	}
	r = begin()
	r.Begin(t.Context(), nil) // says nothing
}

// Entries that do not fit are told of, and the rest is traced.
func TestRecorderIsToldOfDamage(t *testing.T) {
	spans, errs := &exporter{}, &errorList{}
	r := otelwrap.NewRecorder(otelwrap.WithTracerProvider(provider(spans)), otelwrap.WithErrorHandler(errs.add))
	h := header("s")
	h.CreatedAt = time.Now()
	r.Begin(t.Context(), &h)
	e := start("run-1")
	*e.Base() = format.Envelope{ID: "a", Time: time.Now()}
	lost := done("run-1")
	*lost.Base() = format.Envelope{ID: "b", Parent: "nowhere", Time: time.Now()}
	for _, e := range []format.Entry{e, e, lost} {
		if err := r.Record(t.Context(), "s", e); err != nil {
			t.Error(err)
		}
	}
	if got := errs.all(); len(got) != 2 || !errors.Is(got[0], otelwrap.ErrDamaged) || !errors.Is(got[1], otelwrap.ErrDamaged) {
		t.Errorf("reported: %v", got)
	}
}
