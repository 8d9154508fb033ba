package sessiontest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// The files of testdata/agentsession are made by hand. Their README says what is in each, and this is what keeps it true.

var testdata = filepath.Join("..", "..", "testdata")

// rows returns the table rows of the README whose first cell is a file below dir, without the last cell, which is prose.
func rows(t *testing.T, dir string) map[string]string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(testdata, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(readme)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		name, ok := strings.CutPrefix(strings.Trim(strings.Join(cells[:min(2, len(cells))], ""), " `"), dir)
		if !ok || !strings.HasSuffix(name, ".jsonl") || len(cells) < 4 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		found[name] = strings.Join(cells[2:len(cells)-2], " | ")
	}
	return found
}

// files returns the names below dir for which keep is true.
func files(t *testing.T, dir string, keep func(string) bool) []string {
	t.Helper()
	var names []string
	root := filepath.Join(testdata, filepath.FromSlash(dir))
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		if name = filepath.ToSlash(name); err == nil && !d.IsDir() && keep(name) {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestHandMadeSessions(t *testing.T) {
	const dir = "agentsession/"
	want := rows(t, dir)
	names := files(t, dir, func(name string) bool {
		return strings.HasSuffix(name, ".jsonl") && !strings.HasPrefix(name, "damaged/")
	})
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(testdata, dir, filepath.FromSlash(name)))
			if err != nil {
				t.Fatal(err)
			}
			s, err := read(data)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range s.check() {
				t.Error(p)
			}
			for _, l := range s.lines {
				if ts, err := time.Parse(time.RFC3339, str(l.m["ts"])); err != nil || ts.Year() != 2026 {
					t.Errorf("entry %s has time %v", l.id, l.m["ts"])
				}
			}
			if got := s.facts(); got != want[name] {
				t.Errorf("README says\n\t%s\nthe file\n\t%s", want[name], got)
			}
		})
		delete(want, name)
	}
	for name := range want {
		if !strings.HasPrefix(name, "damaged/") {
			t.Errorf("README speaks of %s, which is not there", name)
		}
	}
}

// facts returns the cells of a file's row: entries, leaf, runs, their ends, chats, calls by state, hand-offs, tokens.
func (s *session) facts() string {
	r := s.recount()
	ends, states, handOffs := map[string]int{}, map[string]int{}, 0
	for _, x := range r.RunTruths {
		for _, e := range x.Ends {
			ends[e.Reason]++
		}
		if len(x.Ends) == 0 {
			ends["no end"]++
		}
	}
	for _, c := range r.Calls {
		handOffs += c.HandOffs
		state := "completed"
		if !c.Completed {
			l := s.byID[c.EntryID]
			last := l
			for _, x := range s.lines {
				if x.about() == c.ID && x.under(l) {
					last = x
				}
			}
			state = s.callState(l, last.path())
		}
		states[state]++
	}
	tokens := fmt.Sprintf("%d / %d", r.InputTokens, r.OutputTokens)
	if r.OtherCalls > 0 {
		tokens += fmt.Sprintf(" + %d / %d", r.OtherInputTokens, r.OtherOutputTokens)
	}
	return fmt.Sprintf("%d | %s | %d | %s | %d | %s | %d | %s",
		r.Entries, shortened(r.Leaf), r.Runs, counts(ends), r.Responses, counts(states), handOffs, tokens)
}

// shortened is an entry id as a table has it: the beginning of one that is a hash.
func shortened(id string) string {
	if hash, ok := strings.CutPrefix(id, "sha256:"); ok {
		return hash[:8]
	}
	return id
}

func counts(m map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}

func TestDamagedSessions(t *testing.T) {
	const dir = "agentsession/damaged/"
	want := rows(t, dir)
	for _, name := range files(t, dir, func(string) bool { return true }) {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(testdata, dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if got := damage(data); got != want[name] {
				t.Errorf("README says\n\t%s\nthe file\n\t%s", want[name], got)
			}
		})
		delete(want, name)
	}
	for name := range want {
		t.Errorf("README speaks of %s, which is not there", name)
	}
}

// damage returns the cells of a damaged file's row: its lines, those that are no entry, those whose parent is not above
// them, and the entries that are left.
func damage(data []byte) string {
	ids, good := map[string]bool{}, 0
	broken, orphans := "", ""
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	n := 0
	for b := range bytes.Lines(data) {
		n++
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		var m fields
		err := d.Decode(&m)
		if d.More() {
			err = errors.New("more than one value")
		}
		if n == 1 && m["type"] == "session" {
			continue
		}
		id := str(m["id"])
		if err != nil || !utf8.Valid(b) || id == "" || ids[id] {
			broken += fmt.Sprintf(" %d", n)
			continue
		}
		good++
		if p := m["parent"]; p != nil && !ids[str(p)] {
			orphans += fmt.Sprintf(" %d", n)
		}
		ids[id] = true
	}
	dash := func(s string) string {
		if s == "" {
			return "-"
		}
		return strings.ReplaceAll(s[1:], " ", ", ")
	}
	return fmt.Sprintf("%d | %s | %s | %d", n, dash(broken), dash(orphans), good)
}
