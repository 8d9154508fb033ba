package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/e2e/jaeger"
	"github.com/sessionspan/sessionspan/internal/projection"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// groupings are the ways to make traces of sessions.
var groupings = []projection.Group{projection.GroupSession, projection.GroupRun}

// What is sent is there once and as it was, whichever way it went.
func TestEverySpanIsStoredOnce(t *testing.T) {
	for _, by := range []protocol{grpc, http} {
		for _, group := range groupings {
			t.Run(string(by)+" by "+string(group), func(t *testing.T) {
				server := jaeger.Start(t, jaeger.Memory())
				r := replay{group: group}
				send(t, server, by, r)
				sent := sorted(project(t, r)...)
				checkStored(t, server, memoryKeeps(sent))
				checkShown(t, server, sent)
				checkFound(t, server, sent)
			})
		}
	}
}

// Sending everything a second time adds nothing and changes nothing, in a storage that keeps one copy of a span.
func TestRepeatChangesNothing(t *testing.T) {
	for _, group := range groupings {
		t.Run("by "+string(group), func(t *testing.T) {
			server := jaeger.Start(t, jaeger.Badger(t.TempDir()))
			r := replay{group: group}
			sent := sorted(project(t, r)...)
			for _, by := range []protocol{grpc, http} {
				send(t, server, by, r)
				checkStored(t, server, badgerKeeps(sent))
				checkShown(t, server, sent)
				checkFound(t, server, sent)
			}
		})
	}
}

// checkStored compares what the server has with what was sent.
func checkStored(t *testing.T, server *jaeger.Server, want traces) {
	t.Helper()
	if len(want) == 0 {
		t.Fatal("there is nothing to be sent")
	}
	for id, spans := range want {
		list, err := server.Trace(t.Context(), id)
		if err != nil {
			t.Errorf("trace %s: %v", id, err)
			continue
		}
		got := sorted(list)[id]
		for span, sent := range spans {
			if len(got[span]) != 1 {
				t.Errorf("trace %s: span %s (%s) is there %d times", id, span, the(sent[0]).Name, len(got[span]))
				continue
			}
			if diff := diff(sent[0], got[span][0]); diff != "" {
				t.Errorf("trace %s: span %s is not as it was sent (-sent +stored):\n%s", id, span, diff)
			}
			if parent := parentOf(the(got[span][0])); parent != "" && got[parent] == nil {
				t.Errorf("trace %s: span %s (%s) has the parent %s, which is not there", id, span, the(sent[0]).Name, parent)
			}
		}
		for span, copies := range got {
			if len(spans[span]) == 0 {
				t.Errorf("trace %s: span %s (%s) was never sent", id, span, the(copies[0]).Name)
			}
		}
	}
}

func diff(want, got *spanOf) string {
	if proto.Equal(want, got) {
		return ""
	}
	return cmp.Diff(text(want), text(got))
}

// text is a span as lines of JSON.
func text(of *spanOf) string {
	var lines bytes.Buffer
	if err := json.Indent(&lines, []byte(protojson.Format(of)), "", " "); err != nil {
		panic(err)
	}
	return lines.String()
}

// checkShown looks at traces as a person does: all spans are there, each in its place, and none has a warning that the file
// gives no reason for.
func checkShown(t *testing.T, server *jaeger.Server, want traces) {
	t.Helper()
	for id, spans := range want {
		shown, err := server.Shown(t.Context(), id)
		if err != nil {
			t.Errorf("trace %s: %v", id, err)
			continue
		}
		for _, w := range shown.Warnings {
			t.Errorf("trace %s: warning: %s", id, w)
		}
		if len(shown.Spans) != len(spans) {
			t.Errorf("trace %s: %d spans are shown of %d", id, len(shown.Spans), len(spans))
		}
		for _, s := range shown.Spans {
			sent := spans[s.ID]
			if len(sent) == 0 {
				t.Errorf("trace %s: span %s (%s) was never sent", id, s.ID, s.Name)
				continue
			}
			parent := placeOf(the(sent[0]))
			if got := placeShown(s, id); got != parent {
				t.Errorf("trace %s: span %s (%s) stands below %q instead of %q", id, s.ID, s.Name, got, parent)
			}
			if up := spans[parent]; len(up) > 0 && outside(the(sent[0]), the(up[0])) {
				continue
			}
			for _, w := range s.Warnings {
				t.Errorf("trace %s: span %s (%s): warning: %s", id, s.ID, s.Name, w)
			}
		}
	}
}

// outside reports whether a span has to be outside of the one below which it is shown, which Jaeger warns of: it began earlier,
// since the clock was set back, or it goes on with a run that was left, in the trace of that run.
func outside(s, place *tracepb.Span) bool {
	return s.StartTimeUnixNano < place.StartTimeUnixNano || len(s.ParentSpanId) == 0
}

// placeShown returns the id of the span below which another is shown, or "" for none: the first of its trace that it refers
// to, in whatever way.
func placeShown(s jaeger.ShownSpan, trace string) string {
	for _, ref := range s.References {
		if ref.Trace == trace {
			return ref.Span
		}
	}
	return ""
}

// checkFound searches for the traces of each service within its time, and finds those that were sent and no others.
func checkFound(t *testing.T, server *jaeger.Server, want traces) {
	t.Helper()
	most := len(want) + 1
	for service, of := range byService(want) {
		got, err := server.Search(t.Context(), service, of.from, of.to, most)
		if err != nil {
			t.Errorf("service %s: %v", service, err)
			continue
		}
		if diff := cmp.Diff(of.traces, slices.Sorted(maps.Keys(sorted(got)))); diff != "" {
			t.Errorf("service %s: the traces found (-sent +found):\n%s", service, diff)
		}
		_, err = server.Search(t.Context(), service, of.from.Add(-time.Hour), of.from.Add(-time.Microsecond), most)
		if !errors.Is(err, jaeger.ErrNone) {
			t.Errorf("service %s: searching before the first span: %v, want %v", service, err, jaeger.ErrNone)
		}
	}
}

// A search in the user interface is for the last hours. It finds an old session when that was moved to now.
func TestShiftedSessionIsFoundAmongRecentOnes(t *testing.T) {
	server := jaeger.Start(t, jaeger.Memory())
	old := replay{path: "agentsession/quickstart.jsonl"}
	service := serviceOf(project(t, old)[0][0])
	for _, tc := range []struct {
		name  string
		shift bool
		want  int
	}{
		{"at its own time", false, 0},
		{"moved to now", true, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			send(t, server, grpc, replay{path: old.path, shift: tc.shift})
			found, err := server.Recent(t.Context(), service, 6)
			if err != nil {
				t.Fatal(err)
			}
			if len(found) != tc.want {
				t.Errorf("%d traces are found, want %d", len(found), tc.want)
			}
		})
	}
}
