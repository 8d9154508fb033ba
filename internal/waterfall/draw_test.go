package waterfall

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessionspan/sessionspan/internal/terminal"
)

var update = flag.Bool("update", false, "write the golden files")

func TestDraw(t *testing.T) {
	type test struct {
		story string
		name  string
		opts  Options
	}
	var tests []test
	for story := range stories {
		tests = append(tests, test{story, story, Options{Look: terminal.Look{Width: 120}}})
	}
	for _, width := range []int{20, 40, 60, 80, 200} {
		tests = append(tests, test{"idle", fmt.Sprintf("idle-%d", width), Options{Look: terminal.Look{Width: width}}})
		tests = append(tests, test{"subsessions", fmt.Sprintf("subsessions-%d", width), Options{Look: terminal.Look{Width: width}}})
	}
	tests = append(tests,
		test{"idle", "idle-color", Options{Look: terminal.Look{Width: 100, Color: true}}},
		test{"errors", "errors-color", Options{Look: terminal.Look{Width: 100, Color: true}}},
		test{"open", "open-ascii", Options{Look: terminal.Look{Width: 100, ASCII: true}}},
		test{"wide-runes", "wide-runes-ascii", Options{Look: terminal.Look{Width: 100, ASCII: true}}},
		test{"wide-runes", "wide-runes-60", Options{Look: terminal.Look{Width: 60}}},
		test{"open", "open-now", Options{Look: terminal.Look{Width: 100}, Now: newStory().start.Add(50 * s)}},
		test{"hundreds", "hundreds-max-rows", Options{Look: terminal.Look{Width: 100}, MaxRows: 21}},
		test{"errors", "errors-max-rows", Options{Look: terminal.Look{Width: 100}, MaxRows: 1}},
		test{"one-run", "one-run-max-rows", Options{Look: terminal.Look{Width: 100}, MaxRows: 12, More: "turn the page for all"}},
	)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got bytes.Buffer
			if err := stories[tt.story]().Draw(&got, tt.opts); err != nil {
				t.Fatal(err)
			}
			golden(t, tt.name, got.Bytes())
			hold(t, got.String(), tt.opts)
		})
	}
}

// Who no longer wants a picture gets none, however far it is.
func TestDrawEndsWithItsContext(t *testing.T) {
	c := hundreds().collector()
	if err := c.Draw(ended(t, 0), io.Discard, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("before the first row: %v", err)
	}
	if err := c.Draw(ended(t, 1), io.Discard, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("between measuring and writing: %v", err)
	}
}

// asked is a context that is done after so many questions whether it is.
type asked struct {
	context.Context
	left int
}

func ended(t *testing.T, after int) context.Context { return &asked{t.Context(), after} }

func (a *asked) Err() error {
	if a.left--; a.left < 0 {
		return context.Canceled
	}
	return nil
}

// golden compares with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("picture differs from %s (-want +got):\n%s", path, diff)
	}
}
