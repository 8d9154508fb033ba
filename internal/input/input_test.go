package input_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/source"
)

const header = `{"type":"session","format":"agentsession/0.2","id":"s","created_at":"2026-01-02T03:04:05Z"}` + "\n"

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpen(t *testing.T) {
	path := written(t, "a text")
	for _, tc := range []struct {
		name, path string
		once       bool
		size       int64
		err        error
	}{
		{name: "file", path: path, size: 6},
		{name: "standard input", path: input.Stdin, once: true},
		{name: "folder", path: filepath.Dir(path), err: input.ErrFolder},
		{name: "nothing", path: path + "x", err: fs.ErrNotExist},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in, err := input.Open(t.Context(), tc.path, strings.NewReader("a text"))
			if !errors.Is(err, tc.err) {
				t.Fatalf("error %v, want %v", err, tc.err)
			}
			if size := input.Size(tc.path); size != tc.size {
				t.Errorf("%d bytes, want %d", size, tc.size)
			}
			if tc.err != nil {
				return
			}
			defer in.Close()
			var told int64
			text, err := io.ReadAll(input.Counted(in, func(n int64) { told += n }))
			if err != nil || string(text) != "a text" || in.Once != tc.once || told != 6 {
				t.Errorf("read %q, %v; once: %v; told of %d bytes", text, err, in.Once, told)
			}
		})
	}
}

// silent is a stream that says when it is read from, and never answers.
type silent struct{ read, end chan struct{} }

func (s *silent) Read([]byte) (int, error) {
	close(s.read)
	<-s.end
	return 0, io.EOF
}

func TestReadingEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stdin := &silent{make(chan struct{}), make(chan struct{})}
	defer close(stdin.end)
	file, err := input.Open(ctx, written(t, header), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	pipe, err := input.Open(ctx, input.Stdin, stdin)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-stdin.read
		cancel()
	}()
	for name, in := range map[string]io.Reader{"pipe": pipe, "pipe, once more": pipe} {
		if _, err := in.Read(make([]byte, 10)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := file.Read(make([]byte, 10)); !errors.Is(err, context.Canceled) {
		t.Errorf("file: error %v", err)
	}
}

func TestBeginGivesBackTheWhole(t *testing.T) {
	text := "\n\n" + header + strings.Repeat("x", 200_000)
	s, whole, err := input.Begin(strings.NewReader(text), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(whole)
	if err != nil || string(got) != text || s.ID != "s" {
		t.Errorf("session %q, %d bytes of %d, %v", s.ID, len(got), len(text), err)
	}
}

// What is kept until the header is read has an end.
func TestBeginGivesUp(t *testing.T) {
	_, _, err := input.Begin(strings.NewReader(strings.Repeat("\n", 1<<20)), source.Options{MaxLine: 1000})
	if err == nil || !strings.Contains(err.Error(), "its first ") {
		t.Errorf("error %v", err)
	}
}

func TestFileErrorSaysWhatAndHowFar(t *testing.T) {
	_, missing := os.Open(filepath.Join(t.TempDir(), "none"))
	for _, tc := range []struct {
		err  error
		at   int // entries; -1: before the header
		want string
	}{
		{missing, -1, "p: no such file or directory"},
		{io.ErrUnexpectedEOF, 3, "p: read up to entry 3, then: the compressed data ends too early"},
		{fmt.Errorf("gzip: %w", io.ErrUnexpectedEOF), -1, "p: the compressed data ends too early"},
		{errors.New("broken"), -1, "p: broken"},
	} {
		e := input.NewFileError("p", tc.err)
		if tc.at >= 0 {
			e.Begun, e.Entries = true, tc.at
		}
		if e.Error() != tc.want {
			t.Errorf("got %q, want %q", e.Error(), tc.want)
		}
		if again := input.NewFileError("q", e); again != e {
			t.Errorf("the path is put in front twice: %v", again)
		}
	}
}
