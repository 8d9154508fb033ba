package faults

import (
	"testing"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/otlp"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
)

// replayed is what a replay of a folder gives now.
func replayed(t testing.TB, dir string) *ledger {
	t.Helper()
	found, err := archive.Find(t.Context(), []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	index := archive.NewIndex(t.Context(), found.Files, nil, source.Options{})
	for _, err := range index.Bad {
		t.Error(err)
	}
	to := &entering{batch: otlp.NewBatch(otlp.Config{}), to: newLedger()}
	if err := index.Replay(t.Context(), index.Traces(), archive.Options{}, archive.Into(to), nil); err != nil {
		t.Fatal(err)
	}
	to.enter()
	if to.err != nil {
		t.Fatal(to.err)
	}
	return to.to
}

// entering is a sink that enters spans into a ledger.
type entering struct {
	batch *otlp.Batch
	to    *ledger
	err   error
}

// Start implements [projection.Sink].
func (e *entering) Start(*projection.Span) {}

// End implements [projection.Sink].
func (e *entering) End(s *projection.Span) {
	if e.batch.Add(s); e.batch.Size() > 1<<20 {
		e.enter()
	}
}

func (e *entering) enter() {
	data, err := e.batch.Messages()
	if err == nil {
		_, err = e.to.add(data.ResourceSpans)
	}
	if err != nil {
		e.err = err
	}
	e.batch.Reset()
}
