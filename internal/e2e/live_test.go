package e2e

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/internal/e2e/command"
	"github.com/sessionspan/sessionspan/internal/e2e/jaeger"
	"github.com/sessionspan/sessionspan/internal/names"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// spansOf are the spans of one trace by id, each with its copies.
type spansOf = map[string][]*spanOf

// traceOf returns the trace that the server has, empty if it has none.
func traceOf(t *testing.T, server *jaeger.Server, id string) spansOf {
	t.Helper()
	list, err := server.Trace(t.Context(), id)
	if err != nil && !errors.Is(err, jaeger.ErrNone) {
		t.Fatal(err)
	}
	return sorted(list)[id]
}

// waitForSpans waits until the server has so many spans of a trace.
func waitForSpans(t *testing.T, server *jaeger.Server, id string, want int) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(processTime); ; <-tick.C {
		got := len(traceOf(t, server, id))
		if got == want {
			return
		}
		if got > want || time.Now().After(end) {
			t.Fatalf("trace %s: %d spans, want %d:%s", id, got, want, outline(traceOf(t, server, id)))
		}
	}
}

// said are the attributes that are drawn in an outline.
var said = []string{
	string(names.RunSource), string(names.RunReason), string(names.CallState), string(names.CallDispatch), string(names.ApprovalVerdict),
}

// outline draws spans below each other, sorted by what is drawn. What hangs from nothing that is there stands at the left, and
// each copy has its line.
func outline(spans spansOf) string {
	below := map[string][]*tracepb.Span{}
	for _, copies := range spans {
		for _, of := range copies {
			parent := parentOf(the(of))
			if spans[parent] == nil {
				parent = ""
			}
			below[parent] = append(below[parent], the(of))
		}
	}
	var draw func(parent, indent string) string
	draw = func(parent, indent string) string {
		var lines []string
		for _, s := range below[parent] {
			line := "\n" + indent + s.Name
			for _, name := range said {
				if value := attribute(s, name); value != "" {
					line += " " + value
				}
			}
			lines = append(lines, line+draw(hex.EncodeToString(s.SpanId), indent+"  "))
		}
		slices.Sort(lines)
		return strings.Join(lines, "")
	}
	return draw("", "")
}

// attribute returns an attribute of a span as text, "" when it has none of that name.
func attribute(s *tracepb.Span, name string) string {
	for _, kv := range s.Attributes {
		if kv.Key != name {
			continue
		}
		if text, isText := kv.Value.Value.(*commonpb.AnyValue_StringValue); isText {
			return text.StringValue
		}
		return fmt.Sprint(kv.Value.GetIntValue())
	}
	return ""
}

// replaySessions has the command send the sessions of a folder.
func replaySessions(t *testing.T, server *jaeger.Server, dir string) {
	t.Helper()
	program, err := command.Path()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "replay", "--endpoint", "http://"+server.OTLPGRPC(), "--protocol", string(grpc), dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
}

// replayChangesNothing replays the sessions of a trace that was sent live. The server keeps copies: afterwards it has a second one
// of every span of a session, which is like the first, and nothing else is new. To a person it shows what it showed before.
func replayChangesNothing(t *testing.T, server *jaeger.Server, id string, live spansOf, dir string) {
	t.Helper()
	replaySessions(t, server, dir)
	for span, copies := range traceOf(t, server, id) {
		s, want := the(copies[0]), 1
		if attribute(s, string(names.SpanType)) != "" {
			want = 2
		}
		switch {
		case len(live[span]) != 1:
			t.Errorf("span %s (%s) was there %d times before the replay", span, s.Name, len(live[span]))
		case len(copies) != want:
			t.Errorf("span %s (%s) is there %d times, want %d", span, s.Name, len(copies), want)
		case want == 2:
			if diff := diff(copies[0], copies[1]); diff != "" {
				t.Errorf("span %s (%s) is not as it was:\n%s", span, s.Name, diff)
			}
		}
	}
	shown, err := server.Shown(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if len(shown.Spans) != len(live) {
		t.Errorf("%d spans are shown of %d", len(shown.Spans), len(live))
	}
	for _, s := range shown.Spans {
		for _, w := range s.Warnings {
			t.Errorf("span %s (%s): warning: %s", s.ID, s.Name, w)
		}
	}
}
