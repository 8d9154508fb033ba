package collector

import (
	"fmt"
	"os"
	"testing"

	"github.com/sessionspan/sessionspan/internal/projection"
)

func TestMain(m *testing.M) {
	code := m.Run()
	Remove()
	os.Exit(code)
}

// ids are what spans are known by.
func ids(spans []*projection.Span) map[SpanID]bool {
	set := map[SpanID]bool{}
	for _, s := range spans {
		set[SpanID{s.TraceID.String(), s.SpanID.String()}] = true
	}
	return set
}

// waitForSpans waits until all spans are there that are wanted, and fails if there are others.
func waitForSpans(t *testing.T, want map[SpanID]bool, have func() map[SpanID]int) {
	t.Helper()
	if len(want) == 0 {
		t.Fatal("there is nothing to wait for")
	}
	Eventually(t, func() string {
		got := have()
		for id := range want {
			if got[id] == 0 {
				return fmt.Sprintf("of %d spans %d are there; %v is not", len(want), len(got), id)
			}
		}
		return ""
	})
	for id := range have() {
		if !want[id] {
			t.Errorf("%v is there, and in no replay", id)
		}
	}
}

// once fails unless each span came a single time.
func once(t *testing.T, spans map[SpanID]int) {
	t.Helper()
	for id, times := range spans {
		if times != 1 {
			t.Errorf("%v came %d times", id, times)
		}
	}
}

// traces are the ids of the traces of spans.
func traces[V any](spans map[SpanID]V) map[string]bool {
	set := map[string]bool{}
	for id := range spans {
		set[id.Trace] = true
	}
	return set
}
