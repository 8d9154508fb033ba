package outline_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/outline"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/internal/stored"
	"github.com/sessionspan/sessionspan/internal/terminal"
)

const sessions = "../../testdata/agentsession"

func load(t testing.TB, data []byte, o stored.Options) *outline.Outline {
	t.Helper()
	out, err := outline.Load(t.Context(), input.Stdin, bytes.NewReader(data), o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func file(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(sessions, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func draw(t testing.TB, out *outline.Outline, o outline.Options) []string {
	t.Helper()
	var b bytes.Buffer
	if err := out.Draw(t.Context(), &b, o); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// random returns sessions of all kinds.
func random(t *testing.T, n int, each func(seed uint64, f sessiontest.File)) {
	t.Helper()
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 7))
		for _, f := range sessiontest.Random(r, sessiontest.All(r)).Files {
			each(seed, f)
		}
	}
}

func TestNoLineIsWiderThanAskedAndEveryEntryHasARow(t *testing.T) {
	random(t, 10, func(seed uint64, f sessiontest.File) {
		out := load(t, f.Data, stored.Options{})
		if got, want := len(out.Entries), f.Truth.Entries; got != want {
			t.Fatalf("seed %d: %d entries, want %d", seed, got, want)
		}
		for _, width := range []int{10, 20, 40, 80, 200} {
			for _, look := range []terminal.Look{{Width: width}, {Width: width, ASCII: true}, {Width: width, Color: true}} {
				o := outline.Options{Look: look}
				for _, line := range draw(t, out, o) {
					checkLine(t, line, o)
				}
				o.Parts = outline.Tree
				rows := draw(t, out, o)
				if extra := len(rows) - len(out.Entries); extra != 0 && extra != 1 {
					t.Fatalf("seed %d: %d rows for %d entries", seed, len(rows), len(out.Entries))
				}
				if width < 200 {
					continue
				}
				for i, e := range out.Entries {
					id := e.ID
					if hash, ok := strings.CutPrefix(id, "sha256:"); ok {
						id = hash[:8]
					}
					if !strings.Contains(ansi.Strip(rows[i]), " "+id) {
						t.Fatalf("seed %d: row %d does not have the id %s: %s", seed, i, e.ID, rows[i])
					}
				}
			}
		}
	})
}

func checkLine(t testing.TB, line string, o outline.Options) {
	t.Helper()
	plain := ansi.Strip(line)
	if w := ansi.StringWidth(plain); w > o.Width {
		t.Fatalf("%d columns, more than %d: %q", w, o.Width, line)
	}
	if !utf8.ValidString(line) || strings.ContainsFunc(plain, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		t.Fatalf("not safe: %q", line)
	}
	if !o.Color && plain != line {
		t.Fatalf("escape sequences without colour: %q", line)
	}
	if o.ASCII && strings.ContainsFunc(plain, func(r rune) bool { return r > '~' }) {
		t.Fatalf("not ASCII: %q", line)
	}
}

// A format needs nothing in this package to be shown: from the events of a session come the same tree, leaf and path.
func TestEventsGiveTheSameTree(t *testing.T) {
	random(t, 30, func(seed uint64, f sessiontest.File) {
		compare(t, fmt.Sprint("seed ", seed), f.Data)
	})
	for _, name := range []string{
		"leaf-mark.jsonl", "several-roots.jsonl", "queued.jsonl", "repeated-line.jsonl", "damaged/missing-parent.jsonl",
		"damaged/self-parent.jsonl", "damaged/duplicate-id.jsonl", "damaged/broken-middle.jsonl", "damaged/torn-tail.jsonl",
	} {
		compare(t, name, file(t, name))
	}
}

func compare(t *testing.T, name string, data []byte) {
	t.Helper()
	want, got := load(t, data, stored.Options{}), load(t, data, stored.Options{AsEvents: true})
	if got.Leaf != want.Leaf || got.At != want.At || got.Branches() != want.Branches() || len(got.Entries) != len(want.Entries) ||
		got.Name != want.Name {
		t.Fatalf("%s: leaf %d, %d branches, %d entries, name %q; want %d, %d, %d, %q", name,
			got.Leaf, got.Branches(), len(got.Entries), got.Name, want.Leaf, want.Branches(), len(want.Entries), want.Name)
	}
	if len(got.Damage) != len(want.Damage) {
		t.Fatalf("%s: damage %v, want %v", name, got.Damage, want.Damage)
	}
	for i := range want.Damage {
		if got.Damage[i].Line != want.Damage[i].Line {
			t.Errorf("%s: damage %v, want %v", name, got.Damage[i], want.Damage[i])
		}
	}
	for i := range want.Entries {
		g, w := &got.Entries[i], &want.Entries[i]
		if g.ID != w.ID || g.Parent != w.Parent || g.Line != w.Line || g.Up() != w.Up() || g.Offset != w.Offset || !g.Time.Equal(w.Time) ||
			(g.Place == outline.Aside) != (w.Place == outline.Aside) || !bytes.Equal(g.Raw, w.Raw) {
			t.Fatalf("%s, entry %d: %+v, want %+v", name, i, g, w)
		}
	}
}

func TestWhatEventsSay(t *testing.T) {
	out := load(t, file(t, "quickstart.jsonl"), stored.Options{AsEvents: true})
	tree := strings.Join(draw(t, out, outline.Options{Look: terminal.Look{Width: 110}}), "\n")
	for _, want := range []string{
		"agentsession 0.2", "config     model gpt-5", "reasoning", "call       read_file [call_1]", "dispatch   read_file [call_1]",
		"response   gpt-5, 9.2k in, 186 out, 3.2s", "decision   hold bash [", "info       Fix the failing rounding test",
		"run        end run-1 done", "compaction keeps from ", "outcome    kind=tool_error",
		"context at o2, the leaf: not known for files of the format agentsession",
	} {
		if !strings.Contains(tree, want) {
			t.Errorf("the drawing does not have %q", want)
		}
	}
	if t.Failed() {
		t.Log(tree)
	}
}

func TestLook(t *testing.T) {
	out := load(t, file(t, "omitted-items.jsonl"), stored.Options{})
	places := func() map[outline.Place]int {
		n := map[outline.Place]int{}
		for _, e := range out.Entries {
			n[e.Place]++
		}
		return n
	}
	if got := places(); out.At != out.Leaf || got[outline.Here] != 1 || got[outline.Folded] != 11 || got[outline.Aside] != 0 {
		t.Fatalf("at %d, %v", out.At, got)
	}
	for _, id := range []string{
		"sha256:d361b888c80f4a9b4824f7afbcbcddcd0cf989ed8d56c143da58efc16ef1f6b3", "sha256:d361", "d361b888",
	} {
		if err := out.Look(id); err != nil || out.Entries[out.At].Line != 16 {
			t.Errorf("%s: entry %d, %v", id, out.At, err)
		}
	}
	if got := places(); got[outline.OnPath] != 14 || got[outline.Folded] != 0 || got[outline.Aside] != 15 {
		t.Errorf("%v", got)
	}
	var omitted []string
	for _, e := range out.Entries {
		if e.Omitted != "" {
			omitted = append(omitted, e.Omitted)
		}
	}
	if got := strings.Join(omitted, " "); got != "items other_models" {
		t.Errorf("left out: %q", got)
	}
	for _, tc := range []struct{ id, text string }{
		{"zzz", `the id of none is or begins with "zzz"`},
		{"", `the id of none is or begins with ""`},
		{"sha256:", "30 ids begin with"},
		{"5", "4 ids begin with"},
	} {
		at := out.At
		err := out.Look(tc.id)
		if !errors.Is(err, outline.ErrNoEntry) || !strings.Contains(err.Error(), tc.text) || out.At != at {
			t.Errorf("%q: %v", tc.id, err)
		}
	}
}

func TestDrawingEndsWithItsWriter(t *testing.T) {
	out := load(t, file(t, "quickstart.jsonl"), stored.Options{})
	r, w := io.Pipe()
	r.Close()
	if err := out.Draw(t.Context(), w, outline.Options{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
}

func FuzzDraw(f *testing.F) {
	for _, name := range []string{
		"quickstart.jsonl", "branch-summary.jsonl", "omitted-items.jsonl", "instructions.jsonl", "queued.jsonl", "extensions.jsonl",
		"damaged/broken-middle.jsonl", "damaged/nul-bytes.jsonl", "damaged/duplicate-id.jsonl", "damaged/self-parent.jsonl",
	} {
		data := file(f, name)
		f.Add(data[:min(len(data), 8<<10)], uint8(40))
	}
	f.Fuzz(func(t *testing.T, data []byte, width uint8) {
		for _, asEvents := range []bool{false, true} {
			out, err := outline.Load(t.Context(), input.Stdin, bytes.NewReader(data), stored.Options{AsEvents: asEvents})
			if err != nil {
				return
			}
			o := outline.Options{Look: terminal.Look{Width: max(int(width), 10), ASCII: width%2 == 0}}
			for _, line := range draw(t, out, o) {
				checkLine(t, line, o)
			}
			for i := range out.Entries {
				if err := out.Look(out.Entries[i].ID); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
