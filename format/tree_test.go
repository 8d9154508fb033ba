package format

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func label(id, parent, target, value string) string {
	if value != "null" {
		value = `"` + value + `"`
	}
	return entry("label", id, parent, `"target":"`+target+`"`, `"label":`+value)
}

func TestTree(t *testing.T) {
	s := mustRead(t, file(header02, info("a", ""), info("b", "a"), info("c", "a"), info("r", ""), info("d", "b"), info("e", "a")))
	children := map[string][]string{}
	for _, id := range []string{"a", "b", "c", "d", "r", "x", ""} {
		if c := s.Children(id); c != nil {
			children[id] = c
		}
	}
	if diff := cmp.Diff(map[string][]string{"a": {"b", "c", "e"}, "b": {"d"}}, children); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a", "r"}, s.Roots()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"c", "r", "d", "e"}, s.Leaves()); diff != "" {
		t.Error(diff)
	}
	path, err := s.Path("d")
	if diff := cmp.Diff([]string{"a", "b", "d"}, ids(path)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if _, err := s.Path("x"); !errors.Is(err, ErrNoEntry) {
		t.Errorf("Path: %v", err)
	}
}

func TestLeaf(t *testing.T) {
	a, b, c := info("a", ""), info("b", "a"), info("c", "b")
	base := headerOf("5", `"base":"b"`)
	tests := []struct {
		name   string
		lines  []string
		leaf   string
		leaves []string
	}{
		{"no mark: the last entry", []string{a, b, c, info("d", "a")}, "d", []string{"c", "d"}},
		{"another label is no mark", []string{a, b, label("l", "b", "a", "kept")}, "l", []string{"l"}},
		{"a mark: its target", []string{a, b, c, label("l", "c", "a", "leaf")}, "a", []string{"c"}},
		{"a mark and work after it", []string{a, b, label("l", "b", "a", "leaf"), info("d", "a"), info("e", "d")}, "e", []string{"b", "e"}},
		{"work under the mark but before it does not count", []string{a, b, c, label("l", "c", "b", "leaf")}, "b", []string{"c"}},
		{"work after the mark on another branch does not count", []string{a, b, label("l", "b", "b", "leaf"), info("d", "a")}, "b", []string{"b", "d"}},
		{"the newest descendant, not the deepest", []string{a, label("l", "a", "a", "leaf"), b, c, info("d", "a")}, "d", []string{"c", "d"}},
		{"the mark hangs under its target and is not what work goes on from", []string{a, b, label("l", "b", "b", "leaf")}, "b", []string{"b"}},
		{"a later mark replaces an earlier one", []string{a, b, c, label("l", "c", "a", "leaf"), label("m", "c", "b", "leaf")}, "b", []string{"c"}},
		{"null on the target clears", []string{a, b, label("l", "b", "a", "leaf"), label("m", "b", "a", "null")}, "m", []string{"m"}},
		{"null on another entry does not", []string{a, b, label("l", "b", "a", "leaf"), label("m", "b", "b", "null")}, "m", []string{"m"}},
		{"a cleared mark does not bring back the one before", []string{a, b, c, label("l", "c", "a", "leaf"), label("m", "c", "b", "leaf"), label("n", "c", "b", "null")}, "n", []string{"n"}},
		{"a target that is nowhere: the last entry that is no mark", []string{a, b, label("l", "b", "x", "leaf")}, "b", []string{"b"}},
		{"a target that is nowhere does not replace", []string{a, b, info("r", ""), label("l", "b", "a", "leaf"), label("m", "r", "x", "leaf")}, "a", []string{"b", "r"}},
		{"a later mark counts as the newest descendant, and gives way to its parent", []string{a, b, c, label("l", "c", "a", "leaf"), label("m", "c", "x", "leaf")}, "c", []string{"c"}},
		{"a mark on a mark was never in force", []string{a, label("l", "a", "a", "leaf"), b, label("m", "b", "l", "leaf")}, "b", []string{"b"}},
		{"a mark alone", []string{label("l", "", "x", "leaf")}, "", nil},
		{"several marks at the end: up to the first entry that is none", []string{a, label("l", "a", "x", "leaf"), label("m", "l", "x", "leaf")}, "a", []string{"a"}},
		{"an old writer went on from a mark", []string{a, label("l", "a", "x", "leaf"), info("b", "l")}, "b", []string{"b"}},
		{"the newest descendant is a mark whose target is nowhere", []string{a, label("l", "a", "a", "leaf"), b, label("m", "b", "x", "leaf")}, "b", []string{"b"}},
		{"after the base", []string{base, a, b, c}, "c", []string{"c"}},
		{"nothing after the base", []string{base, a, b}, "b", []string{"b"}},
		{"a mark above the base is not in force", []string{base, a, b, c, label("l", "c", "a", "leaf")}, "c", []string{"c"}},
		{"a mark on the base", []string{base, a, b, c, label("l", "c", "b", "leaf")}, "b", []string{"c"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if !strings.Contains(test.lines[0], `"session"`) {
				test.lines = append([]string{header02}, test.lines...)
			}
			s := mustRead(t, file(test.lines...))
			if s.Leaf() != test.leaf {
				t.Errorf("leaf %q, want %q", s.Leaf(), test.leaf)
			}
			if diff := cmp.Diff(test.leaves, s.Leaves()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The leaf costs a pass over the file, however many marks it has and wherever they point: were it a pass for each mark,
// this file would take minutes.
func TestLeafOfManyMarks(t *testing.T) {
	const n = 100_000
	lines := []string{header02, info("e0", "")}
	for i := 1; i < n; i++ {
		parent := fmt.Sprint("e", i-1)
		if i%2 == 0 {
			lines = append(lines, label(fmt.Sprint("e", i), parent, fmt.Sprint("e", i/2|1), "leaf"))
		} else {
			lines = append(lines, info(fmt.Sprint("e", i), parent))
		}
	}
	text := file(lines...)
	start := time.Now()
	s := mustRead(t, text)
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	if want := fmt.Sprint("e", n-1); s.Leaf() != want {
		t.Errorf("leaf %q, want %q", s.Leaf(), want)
	}
	if got := s.Leaves(); len(got) != 1 {
		t.Errorf("leaves %v", got)
	}
}
