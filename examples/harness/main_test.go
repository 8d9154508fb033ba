package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/store"
	"github.com/sessionspan/sessionspan/store/jsonl"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// process runs the agent, as a process of its own would, and returns what it printed.
func process(t *testing.T, spans *tracetest.InMemoryExporter, o options, input string) (string, error) {
	t.Helper()
	provider := newProvider(sdktrace.NewSimpleSpanProcessor(spans))
	var out bytes.Buffer
	err := run(t.Context(), o, provider, strings.NewReader(input), &out)
	return out.String(), err
}

// outline draws the spans of a trace below each other, in the order in which they ended. What hangs from nothing in the trace is
// drawn at the left.
func outline(t *testing.T, spans tracetest.SpanStubs) string {
	t.Helper()
	below := map[trace.SpanID][]tracetest.SpanStub{}
	ids := map[trace.SpanID]bool{}
	for _, s := range spans {
		ids[s.SpanContext.SpanID()] = true
		if s.SpanContext.TraceID() != spans[0].SpanContext.TraceID() {
			t.Errorf("%s is in a trace of its own", s.Name)
		}
	}
	for _, s := range spans {
		parent := s.Parent.SpanID()
		if !ids[parent] {
			parent = trace.SpanID{}
		}
		below[parent] = append(below[parent], s)
	}
	var b strings.Builder
	var draw func(parent trace.SpanID, depth int)
	draw = func(parent trace.SpanID, depth int) {
		for _, s := range below[parent] {
			fmt.Fprintf(&b, "\n%*s%s", depth*2, "", s.Name)
			for _, kv := range s.Attributes {
				switch kv.Key {
				case "agentsession.run.reason", "agentsession.call.state", "agentsession.approval.verdict":
					fmt.Fprint(&b, " ", kv.Value.String())
				}
			}
			draw(s.SpanContext.SpanID(), depth+1)
		}
	}
	draw(trace.SpanID{}, 0)
	return b.String()
}

// check reads the sessions of a folder, which have to be right, and returns the ids of those that nobody spawned.
func check(t *testing.T, dir string) (top []string) {
	t.Helper()
	files, err := jsonl.Open(filepath.Join(dir, "sessions"), jsonl.WithReadOnly())
	if err != nil {
		t.Fatal(err)
	}
	for one, err := range files.List(t.Context(), store.ListFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		s, err := files.Open(t.Context(), one.Header.ID)
		if err != nil {
			t.Fatal(err)
		}
		checked, err := s.Check(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range checked.Findings {
			t.Errorf("session %s: %v", s.ID(), f)
		}
		if one.Header.SpawnedBy == "" {
			top = append(top, s.ID())
		}
	}
	return top
}

func TestEverythingHasItsPlaceInTheTrace(t *testing.T) {
	o, spans := options{dir: t.TempDir(), yes: true}, tracetest.NewInMemoryExporter()
	out, err := process(t, spans, o, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`
agentsession.session
  agentsession.approval proceed
  invoke_agent example-harness done
    HTTP POST
    chat scripted-1
    execute_tool fetch completed
      HTTP GET
    execute_tool delegate completed
      agentsession.session
        invoke_agent example-harness done
          HTTP POST
          chat scripted-1
          execute_tool fetch completed
            HTTP GET
          HTTP POST
          chat scripted-1
    HTTP POST
    chat scripted-1
    execute_tool write_file completed
    HTTP POST
    chat scripted-1`, outline(t, spans.GetSpans())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(check(t, o.dir)) != 1 {
		t.Error("there should be one session that nobody spawned")
	}
	if id := spans.GetSpans()[0].SpanContext.TraceID().String(); strings.Count(out, id) != 2 {
		t.Errorf("the trace %s is not named for both sessions:\n%s", id, out)
	}
	if text, err := os.ReadFile(filepath.Join(o.dir, "work", "NOTES.md")); err != nil || len(text) == 0 {
		t.Errorf("%q, %v", text, err)
	}
}

// A process that gets no answer ends its run, and a later one asks again.
func TestApprovalThatComesLater(t *testing.T) {
	for _, tc := range []struct{ name, input, verdict, call string }{
		{"allowed", "yes\n", "proceed", "completed"},
		{"refused", "no\n", "reject", "rejected"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o, spans := options{dir: t.TempDir()}, tracetest.NewInMemoryExporter()
			if _, err := process(t, spans, o, ""); !errors.Is(err, errNobody) {
				t.Fatalf("error %v, want %v", err, errNobody)
			}
			o.session = check(t, o.dir)[0]
			if _, err := process(t, spans, o, tc.input); err != nil {
				t.Fatal(err)
			}
			got := outline(t, spans.GetSpans())
			want := fmt.Sprintf(`
  agentsession.approval %s
  invoke_agent example-harness done
    execute_tool write_file %s
    HTTP POST
    chat scripted-1`, tc.verdict, tc.call)
			if !strings.HasSuffix(got, want) || strings.Count(got, "invoke_agent example-harness input_required") != 1 {
				t.Errorf("%s\nwant a run that is input_required, and in the end%s", got, want)
			}
			check(t, o.dir)
			_, err := os.Stat(filepath.Join(o.dir, "work", "NOTES.md"))
			if there := err == nil; there != (tc.verdict == format.VerdictProceed) {
				t.Errorf("the file: %v", err)
			}
		})
	}
}

// A session whose work is done is left as it is.
func TestNothingToGoOnWith(t *testing.T) {
	o, spans := options{dir: t.TempDir(), yes: true}, tracetest.NewInMemoryExporter()
	if _, err := process(t, spans, o, ""); err != nil {
		t.Fatal(err)
	}
	before := len(spans.GetSpans())
	o.session = check(t, o.dir)[0]
	out, err := process(t, spans, o, "")
	if err != nil || !strings.HasPrefix(out, "answer: ") {
		t.Errorf("%v, and it printed\n%s", err, out)
	}
	if after := len(spans.GetSpans()); after != before {
		t.Errorf("%d spans more", after-before)
	}
}

func TestFlags(t *testing.T) {
	for _, args := range [][]string{{"-session", "s"}, {"word"}, {"-pace", "slow"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}

func TestTerminalDrawsALineForASpan(t *testing.T) {
	var out bytes.Buffer
	tracer := newProvider(newTerminal(&out)).Tracer("")
	ctx, above := tracer.Start(t.Context(), "above")
	_, inside := tracer.Start(ctx, "inside\n\x1b[31m")
	inside.End()
	above.End()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.HasSuffix(lines[0], "ms    inside \uFFFD[31m") || !strings.HasSuffix(lines[1], "ms  above") {
		t.Errorf("%q", lines)
	}
}
