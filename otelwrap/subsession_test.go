package otelwrap_test

import (
	"context"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/store"
)

// spawned is the header of a session that a call spawned.
func spawned(id, by, call string) format.Header {
	h := header(id)
	h.ParentSession, h.SpawnedBy = by, call
	return h
}

// A subsession names the session at the top of its trace, at any depth, whichever process creates it.
func TestSubsessionsNameTheirRoot(t *testing.T) {
	for name, restart := range map[string]bool{"one process": false, "a process for each": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			spans := &exporter{}
			files := openFiles(t, dir)
			r := record(t, files, spans, nil)
			next := func() {
				if restart {
					r.noErrors()
					if err := files.Close(); err != nil {
						t.Fatal(err)
					}
					files = openFiles(t, dir)
					r = record(t, files, spans, nil)
				}
			}
			r.create(header("top"))
			r.add("top", working("run-1", "resp-1", "call-1", "delegate")...)
			next()
			r.create(spawned("middle", "top", "call-1"))
			r.add("middle", working("run-1", "resp-1", "call-1", "delegate")...)
			next()
			h := r.create(spawned("bottom", "middle", "call-1")).Header()
			if got := string(h.Unknown.Get(source.RootMember)); got != `"top"` {
				t.Errorf("the header says that the root is %s", got)
			}
			r.add("bottom", start("run-1"), done("run-1"))
			next()
			for _, id := range []string{"middle", "top"} {
				r.add(id, output("call-1"), answered("resp-2"), done("run-1"))
			}
			r.noErrors()
			equalsReplay(t, spans, dir)
			for _, s := range spans.all() {
				if s.SpanContext().TraceID() != spans.all()[0].SpanContext().TraceID() {
					t.Errorf("%s is in a trace of its own", s.Name())
				}
			}
		})
	}
}

// What is not known for sure is not written.
func TestRootThatIsNotKnown(t *testing.T) {
	kept := spawned("kept", "none", "call-1")
	kept.Unknown.Set(source.RootMember, []byte(`"theirs"`))
	for _, tc := range []struct {
		name   string
		header format.Header
		want   string
	}{
		{"spawned by an unknown session", spawned("s", "none", "call-1"), ""},
		{"spawned by itself", spawned("s", "s", "call-1"), ""},
		{"below an unknown session", spawned("s", "orphan", "call-1"), ""},
		{"in a ring", spawned("s", "ring", "call-1"), ""},
		{"forked", spawned("s", "top", ""), ""},
		{"named by the harness", kept, `"theirs"`},
		{"below one that names it", spawned("s", "below", "call-1"), `"theirs"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inner := store.NewMemory()
			below := spawned("below", "none", "call-1")
			below.Unknown.Set(source.RootMember, []byte(`"theirs"`))
			for _, h := range []format.Header{header("top"), spawned("orphan", "none", "call-1"), spawned("ring", "gnir", "call-1"), spawned("gnir", "ring", "call-1"), below} {
				if _, err := inner.Create(t.Context(), h); err != nil {
					t.Fatal(err)
				}
			}
			before := len(tc.header.Unknown)
			r := record(t, inner, nil, nil)
			if got := string(r.create(tc.header).Header().Unknown.Get(source.RootMember)); got != tc.want {
				t.Errorf("the root is %s, want %s", got, tc.want)
			}
			if len(tc.header.Unknown) != before {
				t.Error("the header of the caller was changed")
			}
			r.add(tc.header.ID, start("run-1"), done("run-1"))
			r.noErrors()
		})
	}
}

// asked counts how often the header of a session is looked for.
type asked struct {
	*store.Memory
	times int
}

func (a *asked) Header(ctx context.Context, id string) (*format.Header, error) {
	a.times++
	return a.Memory.Header(ctx, id)
}

// Appending looks for the header of another session only where an entry names one, and once: that might wait for a disk.
func TestAppendLooksForFewHeaders(t *testing.T) {
	inner := &asked{Memory: store.NewMemory()}
	r := record(t, inner, nil, nil)
	r.create(header("s"))
	r.add("s", working("run-0", "resp-1", "call-1", "bash")...)
	r.add("s", output("call-1"), done("run-0"))
	if inner.times != 0 {
		t.Errorf("asked %d times without need", inner.times)
	}
	link := format.NewLink(format.RelContinuedIn, "elsewhere")
	fork := format.NewLink(format.RelForkOf, "another")
	r.add("s", start("run-1"), link, fork, format.NewSubsessionLink("below", "call-1"), done("run-1"))
	r.add("s", format.NewLink(format.RelContinuedIn, "elsewhere"), format.NewLink(format.RelForkOf, "another"))
	if inner.times > 2 {
		t.Errorf("asked %d times for two sessions", inner.times)
	}
	r.noErrors()
}

// A link leads to where the session is, also when it is a subsession that another process has written.
func TestLinkToASubsessionOfAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	spans := &exporter{}
	files := openFiles(t, dir)
	r := record(t, files, spans, nil)
	r.create(header("top"))
	r.add("top", working("run-1", "resp-1", "call-1", "delegate")...)
	r.create(spawned("judge", "top", "call-1"))
	r.add("judge", start("run-1"), done("run-1"))
	r.add("top", output("call-1"), answered("resp-2"), done("run-1"))

	r = record(t, files, spans, nil)
	h := header("s")
	h.Format = "agentsession/0.11"
	r.create(h)
	merged := user("What came of both.")
	merged.Base().Parents = []format.Ref{{Session: "judge", Entry: "e"}}
	r.add("s", start("run-1"), format.NewLink(format.RelJudgedBy, "judge"), merged, done("run-1"))
	fork := header("fork")
	fork.ParentSession = "judge"
	r.create(fork)
	r.add("fork", start("run-1"), done("run-1"))
	r.noErrors()
	equalsReplay(t, spans, dir)
}
