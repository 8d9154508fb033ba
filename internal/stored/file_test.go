package stored_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/stored"
)

const quickstart = "../../testdata/agentsession/quickstart.jsonl"

func load(t *testing.T, path string, stdin io.Reader, o stored.Options) *stored.File {
	t.Helper()
	f, err := stored.Load(t.Context(), path, stdin, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func compressed(t *testing.T, data []byte, wrap func(io.Writer) io.WriteCloser) []byte {
	t.Helper()
	var b bytes.Buffer
	w := wrap(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(t *testing.T, data []byte) []byte {
	return compressed(t, data, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
}

func TestEveryWayOfStoringIsReadAlike(t *testing.T) {
	plain, err := os.ReadFile(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	zipped := compressed(t, plain, func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w)
		if err != nil {
			t.Fatal(err)
		}
		return z
	})
	want := load(t, quickstart, nil, stored.Options{}).Session.Len()
	if want < 50 {
		t.Fatalf("%d entries", want)
	}
	for name, data := range map[string][]byte{"plain": plain, "gzip": gzipped(t, plain), "zstd": zipped} {
		t.Run(name, func(t *testing.T) {
			var read int64
			f := load(t, input.Stdin, bytes.NewReader(data), stored.Options{Read: func(n int64) { read += n }})
			if got := f.Session.Len(); got != want || f.Err != nil || len(f.Damage) > 0 {
				t.Errorf("%d entries, want %d; damage %v, error %v", got, want, f.Damage, f.Err)
			}
			if read != int64(len(data)) {
				t.Errorf("told of %d bytes, want %d", read, len(data))
			}
		})
	}
}

func TestWhatACutStreamHoldsIsRead(t *testing.T) {
	plain, err := os.ReadFile(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	cut := gzipped(t, plain)
	cut = cut[:len(cut)/2]
	for _, asEvents := range []bool{false, true} {
		events := 0
		f := load(t, input.Stdin, bytes.NewReader(cut), stored.Options{
			AsEvents: asEvents, Event: func(*activity.Event) { events++ },
		})
		if !errors.Is(f.Err, input.ErrCut) {
			t.Errorf("as events %v: error %v", asEvents, f.Err)
		}
		if len(f.Damage) > 0 {
			t.Errorf("as events %v: the cut is taken for damage: %v", asEvents, f.Damage)
		}
		if asEvents && events < 10 || !asEvents && f.Session.Len() < 10 {
			t.Errorf("as events %v: %d events", asEvents, events)
		}
	}
}

func TestDamageIsKept(t *testing.T) {
	for _, asEvents := range []bool{false, true} {
		f := load(t, "../../testdata/agentsession/damaged/torn-tail.jsonl", nil, stored.Options{AsEvents: asEvents})
		if len(f.Damage) != 1 || f.Damage[0].Line != 20 || !errors.Is(f.Damage[0].Err, format.ErrTornTail) {
			t.Errorf("as events %v: %+v", asEvents, f.Damage)
		}
	}
	f := load(t, "../../testdata/agentsession/damaged/duplicate-id.jsonl", nil, stored.Options{})
	if len(f.Damage) != 2 || f.Damage[0].Entry != "r2" || f.Damage[0].Offset == 0 ||
		f.Damage[0].What != `duplicate entry id: "r2", first on line 10` {
		t.Errorf("%+v", f.Damage)
	}
}

func TestWhatIsNoSessionIsAnError(t *testing.T) {
	file := func(content string) string {
		path := filepath.Join(t.TempDir(), "f.jsonl")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tc := range []struct {
		name, path string
		want       error
		text       string
	}{
		{name: "missing", path: filepath.Join(t.TempDir(), "none"), want: fs.ErrNotExist},
		{name: "folder", path: t.TempDir(), want: input.ErrFolder},
		{name: "empty", path: file(""), want: format.ErrEmpty},
		{name: "blank", path: file("\n \n\n"), want: format.ErrEmpty},
		{name: "binary", path: file("\x7fELF\x02\x01\x00\x00\n\x00"), text: "not the beginning of a session file"},
		{name: "cut gzip header", path: file("\x1f\x8b\x08"), want: input.ErrCut},
		{name: "other major", path: file(`{"type":"session","format":"agentsession/1.0","id":"s"}`), want: format.ErrUnsupportedFormat},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := stored.Load(t.Context(), tc.path, nil, stored.Options{})
			if f != nil || err == nil || tc.want != nil && !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.text) {
				t.Fatalf("%v, %v", f, err)
			}
			if strings.Contains(err.Error(), tc.path) {
				t.Errorf("the error has the path in it: %v", err)
			}
		})
	}
}

func TestAReaderThatWaitsIsLeftWhenTheContextIsDone(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // the first bytes show that the reading has begun
		_, _ = w.Write([]byte(`{"type":"session",`))
		cancel()
	}()
	if _, err := stored.Load(ctx, input.Stdin, r, stored.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestAFileWithoutAHeaderIsGivenUp(t *testing.T) {
	o := stored.Options{Source: source.Options{MaxLine: 1 << 20}}
	_, err := stored.Load(t.Context(), input.Stdin, &endless{}, o)
	if err == nil || !strings.Contains(err.Error(), "have no header") {
		t.Errorf("error %v", err)
	}
}

// endless is blank lines without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}
