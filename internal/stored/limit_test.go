package stored

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestLimited(t *testing.T) {
	broken := errors.New("broken")
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tc := range []struct {
		name string
		ctx  context.Context
		src  io.Reader
		read string
		want error
	}{
		{"within the limits", t.Context(), strings.NewReader("a\nb\n"), "a\nb\n", nil},
		{"too many bytes", t.Context(), strings.NewReader("0123456789"), "0123456789", ErrTooLarge},
		{"too many lines", t.Context(), strings.NewReader("\n\n\n\n"), "\n\n\n\n", ErrTooLarge},
		{"an error", t.Context(), io.MultiReader(strings.NewReader("a"), failing{broken}), "a", broken},
		{"the context is done", done, strings.NewReader("a"), "", context.Canceled},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := &limited{ctx: tc.ctx, src: tc.src, maxBytes: 8, maxLines: 3}
			got, err := io.ReadAll(l)
			if err != nil || string(got) != tc.read {
				t.Errorf("read %q, %v", got, err)
			}
			if !errors.Is(l.err, tc.want) {
				t.Errorf("it ended for %v, want %v", l.err, tc.want)
			}
			if n, err := l.Read(make([]byte, 1)); n > 0 || err != io.EOF {
				t.Errorf("it goes on: %d, %v", n, err)
			}
		})
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
