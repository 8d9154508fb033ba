package archive_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/spantest"
)

// told says when somebody begins to wait in a read, and can be closed like a pipe.
type told struct {
	io.Reader
	waits chan struct{}
	end   chan struct{}
}

func (r *told) Read(p []byte) (int, error) {
	if n, _ := r.Reader.Read(p); n > 0 {
		return n, nil
	}
	close(r.waits)
	<-r.end
	return 0, io.EOF
}

func newTold(t *testing.T, text string) *told {
	r := &told{strings.NewReader(text), make(chan struct{}), make(chan struct{})}
	t.Cleanup(func() { close(r.end) })
	return r
}

// A context that is done ends the reading of headers while standard input is silent, and says what was not reached.
func TestIndexEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in := newTold(t, "\n\n")
	go func() {
		<-in.waits
		cancel()
	}()
	first := header(t, "a.jsonl", "a", "", "")
	ix := archive.NewIndex(ctx, []string{first, input.Stdin, "later.jsonl"}, in, archive.Options{}.Source)
	if len(ix.Files) != 1 || len(ix.Bad) != 0 {
		t.Errorf("%d files, bad: %v", len(ix.Files), ix.Bad)
	}
	if diff := cmp.Diff([]string{input.Stdin, "later.jsonl"}, ix.Unreached); diff != "" {
		t.Errorf("not reached (-want +got):\n%s", diff)
	}
}

// So does it while a file is read that is silent after its beginning: what was read is replayed.
func TestReplayEndsWithItsContext(t *testing.T) {
	data, err := os.ReadFile(header(t, "a.jsonl", "a", "", ""))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	in := newTold(t, string(data))
	ix := archive.NewIndex(t.Context(), []string{input.Stdin}, in, archive.Options{}.Source)
	go func() { // the context of the replay, which may end before that of the index
		<-in.waits
		cancel()
	}()
	rec := &spantest.Recorder{}
	reports := ix.ProjectTrace(ctx, ix.Files, archive.Options{}, rec)
	if len(reports) != 1 || !errors.Is(reports[0].Err, context.Canceled) || reports[0].Entries != 1 || len(rec.Started) == 0 {
		t.Errorf("got %+v, and %d spans", reports, len(rec.Started))
	}
}

// A regular file is not read on either, whatever is in it.
func TestNothingIsReadOnceTheContextIsDone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "blank.jsonl")
	if err := os.WriteFile(path, bytes.Repeat([]byte("\n"), 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ix := archive.NewIndex(ctx, []string{path}, nil, archive.Options{}.Source)
	if len(ix.Unreached) != 1 || len(ix.Bad) != 0 {
		t.Errorf("not reached: %v, bad: %v", ix.Unreached, ix.Bad)
	}
	if _, err := archive.Find(ctx, []string{filepath.Dir(path)}); !errors.Is(err, context.Canceled) {
		t.Errorf("Find: %v", err)
	}
}

// What comes before the header of a pipe is kept, and so it has an end.
func TestBlankLinesBeforeTheHeaderOfAPipeHaveALimit(t *testing.T) {
	o := archive.Options{}.Source
	o.MaxLine = 1000
	ix := archive.NewIndex(t.Context(), []string{input.Stdin}, blanks{}, o)
	if len(ix.Bad) != 1 || !strings.Contains(ix.Bad[0].Error(), "-: its first ") {
		t.Errorf("got %v", ix.Bad)
	}
}

// blanks is a stream of nothing that does not end.
type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}
