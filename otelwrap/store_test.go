package otelwrap_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/otelwrap"
	"github.com/sessionspan/sessionspan/store"
	"github.com/sessionspan/sessionspan/store/jsonl"
	"github.com/sessionspan/sessionspan/store/storetest"
)

// A store that is traced is a store like any other.
func TestStoreIsStillAStore(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		storetest.Run(t, storetest.Options{New: func(t *testing.T) store.Store {
			r := record(t, store.NewMemory(), nil, nil)
			t.Cleanup(r.noErrors)
			return r.Store
		}})
	})
	t.Run("jsonl", func(t *testing.T) {
		type place struct {
			*otelwrap.Store
			dir string
		}
		open := func(t *testing.T, dir string) store.Store {
			r := record(t, openFiles(t, dir), nil, nil)
			t.Cleanup(r.noErrors)
			return place{r.Store, dir}
		}
		storetest.Run(t, storetest.Options{
			New: func(t *testing.T) store.Store { return open(t, t.TempDir()) },
			Reopen: func(t *testing.T, s store.Store) store.Store {
				p := s.(place)
				if err := p.Unwrap().(*jsonl.Store).Close(); err != nil {
					t.Fatal(err)
				}
				return open(t, p.dir)
			},
			Simulations: 2,
		})
	})
}

func openFiles(t *testing.T, dir string) *jsonl.Store {
	t.Helper()
	s, err := jsonl.Open(dir, jsonl.WithSync(jsonl.Never))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// equalsReplay compares what was recorded with a replay of what is stored.
func equalsReplay(t *testing.T, spans *exporter, dir string) {
	t.Helper()
	if diff := cmp.Diff(replayed(t, projection.Options{}, dir), spans.byID(t)); diff != "" {
		t.Errorf("live differs (-replay +live):\n%s", diff)
	}
}

func TestSpansComeAsEntriesDo(t *testing.T) {
	dir := t.TempDir()
	r := record(t, openFiles(t, dir), nil, nil)
	r.create(header("s"))
	for _, step := range []struct {
		entries []format.Entry
		ended   []string
	}{
		{[]format.Entry{start("run-1")}, []string{"agentsession.session"}},
		{[]format.Entry{user("Go on.")}, nil},
		{asks("resp-1", "call-1", "bash"), []string{"chat gpt-5"}},
		{[]format.Entry{handOver("call-1")}, nil},
		{[]format.Entry{output("call-1")}, []string{"execute_tool bash"}},
		{[]format.Entry{answered("resp-2")}, []string{"chat gpt-5"}},
		{[]format.Entry{done("run-1")}, []string{"invoke_agent coder"}},
	} {
		before := len(r.spans.all())
		r.add("s", step.entries...)
		if ended := r.spans.names()[before:]; !slices.Equal(ended, step.ended) {
			t.Errorf("after %s %q have ended, want %q", step.entries[0].EntryType(), ended, step.ended)
		}
	}
	r.noErrors()
	equalsReplay(t, r.spans, dir)
}

// An append that the store refuses leaves no trace.
func TestRefusedAppendIsNotTraced(t *testing.T) {
	r := record(t, store.NewMemory(), nil, nil)
	r.create(header("s"))
	e := user("Go on.")
	e.Base().Parent = "nowhere"
	if _, err := r.Append(t.Context(), "s", e); !errors.Is(err, format.ErrNoParent) {
		t.Errorf("error %v", err)
	}
	if _, err := r.Append(t.Context(), "none", user("Go on.")); !errors.Is(err, store.ErrNoSession) {
		t.Errorf("error %v", err)
	}
	if n := len(r.spans.all()); n != 0 {
		t.Errorf("%d spans", n)
	}
}

// What was appended past the wrapper comes with the next append that goes through it, in the order of the file.
func TestEntriesAppendedPastTheWrapper(t *testing.T) {
	dir := t.TempDir()
	r := record(t, openFiles(t, dir), nil, nil)
	s := r.create(header("s"))
	for _, e := range append([]format.Entry{start("run-1")}, asks("resp-1", "call-1", "bash")...) {
		if _, err := s.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(r.spans.all()); n != 0 {
		t.Errorf("%d spans before any append through the wrapper", n)
	}
	r.add("s", handOver("call-1"), output("call-1"))
	if _, err := s.Append(done("run-1")); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(t.Context(), "s"); err != nil { // takes what is left
		t.Fatal(err)
	}
	r.noErrors()
	equalsReplay(t, r.spans, dir)
}

// The store may let go of a session and open it again, without the wrapper: nothing is lost, and nothing sent twice.
func TestSessionThatTheStoreOpenedAnew(t *testing.T) {
	for name, release := range map[string]func(*jsonl.Store) error{
		"released": func(s *jsonl.Store) error { return s.Release("s") },
		"released, and opened": func(s *jsonl.Store) error {
			_, err := s.Open(context.Background(), "s")
			return errors.Join(s.Release("s"), err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			files := openFiles(t, dir)
			r := record(t, files, nil, nil)
			r.create(header("s"))
			r.add("s", working("run-1", "resp-1", "call-1", "bash")...)
			if err := release(files); err != nil {
				t.Fatal(err)
			}
			r.add("s", output("call-1"), answered("resp-2"), done("run-1"))
			r.noErrors()
			equalsReplay(t, r.spans, dir)
		})
	}
}

// A session that is deleted and created again, past the wrapper, is another one.
func TestSessionThatIsDeletedAndCreatedAgain(t *testing.T) {
	for name, past := range map[string]bool{"through the wrapper": false, "past it": true} {
		t.Run(name, func(t *testing.T) {
			inner := store.NewMemory()
			r := record(t, inner, nil, nil)
			s := store.Store(r.Store)
			if past {
				s = inner
			}
			r.create(header("s"))
			r.add("s", start("run-1"))
			if err := s.Delete(t.Context(), "s"); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Create(t.Context(), header("s")); err != nil {
				t.Fatal(err)
			}
			r.add("s", start("run-2"), done("run-2"))
			r.noErrors()
			if run := r.span("invoke_agent coder"); !slices.Contains(texts(run.Attributes()), `agentsession.run.id=STRING "run-2"`) {
				t.Errorf("the run has %q", texts(run.Attributes()))
			}
		})
	}
}

// unopenable is a store that appends to sessions which it does not open.
type unopenable struct{ store.Store }

var errClosedDoor = errors.New("closed door")

func (unopenable) Open(context.Context, string) (*format.Session, error) { return nil, errClosedDoor }

// An append fails only if the store fails (promise P9).
func TestSessionThatCannotBeOpenedIsAppendedTo(t *testing.T) {
	inner := store.NewMemory()
	if _, err := inner.Create(t.Context(), header("s")); err != nil {
		t.Fatal(err)
	}
	r := record(t, unopenable{inner}, nil, nil)
	r.add("s", start("run-1"), done("run-1"))
	if errs := r.errs.all(); len(errs) != 1 || !errors.Is(errs[0], otelwrap.ErrUntraced) || !errors.Is(errs[0], errClosedDoor) {
		t.Errorf("reported: %v", errs)
	}
}

func TestAgentNameIsWrittenWhereThereIsNone(t *testing.T) {
	r := record(t, store.NewMemory(), nil, nil, otelwrap.WithAgentName("mine", "2.0"))
	for _, tc := range []struct {
		header format.Header
		want   string
	}{
		{format.Header{ID: "none"}, "mine 2.0"},
		{format.Header{ID: "other", Harness: &format.Harness{Name: "theirs"}}, "theirs "},
	} {
		h := r.create(tc.header).Header().Harness
		if got := h.Name + " " + h.Version; got != tc.want {
			t.Errorf("session %s is of %q, want %q", tc.header.ID, got, tc.want)
		}
	}
	r.add("none", start("run-1"), done("run-1"))
	r.span("invoke_agent mine")
}

func TestShutdownEndsTracingAndNotTheStore(t *testing.T) {
	r := record(t, store.NewMemory(), nil, nil)
	s := r.create(header("s"))
	r.add("s", working("run-1", "resp-1", "call-1", "bash")...)
	if err := r.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := len(r.spans.all())
	r.add("s", output("call-1"), done("run-1"))
	if r.create(header("another")); s.Len() != 7 || len(r.spans.all()) != before {
		t.Errorf("%d entries, %d spans, %d before", s.Len(), len(r.spans.all()), before)
	}
	r.noErrors()
}

// Values that are not defined are told, and do not keep a harness from starting.
func TestOptionsThatCannotBeUsed(t *testing.T) {
	r := record(t, store.NewMemory(), nil, nil, otelwrap.WithGroup("week"), otelwrap.WithNaming("mine"), otelwrap.WithSemconv("0.1"),
		otelwrap.WithParent("uncle"), otelwrap.WithIdleLimit(-1), nil)
	for _, err := range r.errs.all() {
		if !errors.Is(err, otelwrap.ErrOption) {
			t.Error(err)
		}
	}
	if n := len(r.errs.all()); n != 5 {
		t.Errorf("%d errors, want 5", n)
	}
	r.create(header("s"))
	r.add("s", start("run-1"), done("run-1"))
	r.span("invoke_agent coder")
}
