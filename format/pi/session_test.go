package pi_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/pi"
)

const header = `{"type":"session","version":3,"id":"s","timestamp":"2026-05-04T09:00:00.000Z","cwd":"/p"}`

func isError(err, target error) bool { return errors.Is(err, target) }

// listed writes counts by name.
func listed(counts map[string]int) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, fmt.Sprintf("%s %d", name, counts[name]))
	}
	return strings.Join(list, ", ")
}

func parse(t testing.TB, lines ...string) *pi.Session {
	t.Helper()
	s, err := pi.Parse([]byte(strings.Join(lines, "\n") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// entry is an entry with further members.
func entry(typ, id, parent, more string) string {
	up := "null"
	if parent != "" {
		up = `"` + parent + `"`
	}
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"type":%q,"id":%q,"parentId":%s,"timestamp":"2026-05-04T09:00:01.000Z"%s}`, typ, id, up, more)
}

func message(id, parent, role, content string) string {
	return entry("message", id, parent, fmt.Sprintf(`"message":{"role":%q,"content":%s}`, role, content))
}

func TestLinesByKind(t *testing.T) {
	for _, tc := range []struct {
		name, line string
		want       pi.Kind
	}{
		{"an entry", `{"type":"x"}`, pi.EntryLine},
		{"an object without a type", `{}`, pi.EntryLine},
		{"with a CR at its end", "{\"type\":\"x\"}\r", pi.EntryLine},
		{"a further header", header, pi.HeaderLine},
		{"a header without a string for an id", `{"type":"session","id":1}`, pi.HeaderLine},
		{"nothing", "", pi.Blank},
		{"what JavaScript takes for white space", "\u00a0\u2028\ufeff\t", pi.Blank},
		{"NUL", "\x00", pi.Damaged},
		{"a cut line", `{"type":"x`, pi.Damaged},
		{"two objects", `{}{}`, pi.Damaged},
		{"a control character in a string", "{\"a\":\"\x01\"}", pi.Damaged},
		{"an escape that there is not", `{"a":"\x"}`, pi.Damaged},
		{"half a surrogate pair", `{"a":"\ud800"}`, pi.EntryLine},
		{"bytes that are no UTF-8", "{\"a\":\"\xff\"}", pi.EntryLine},
		{"a line separator within a string", "{\"a\":\"\u2028\"}", pi.EntryLine},
		{"null", "null", pi.Value},
		{"an array", "[1]", pi.Value},
		{"a string", `"x"`, pi.Value},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := parse(t, header, tc.line)
			if got := s.Lines()[1].Kind; got != tc.want {
				t.Errorf("got kind %d, want %d", got, tc.want)
			}
		})
	}
}

func TestHeader(t *testing.T) {
	for _, tc := range []struct {
		name, data string
		err        error
	}{
		{"at once", header, nil},
		{"after blank and damaged lines", "\n\x00\n{\n" + header, nil},
		{"after a value", "1\n" + header, format.ErrNoHeader},
		{"after an entry", "{\"type\":\"message\"}\n" + header, format.ErrNoHeader},
		{"after a byte order mark", "\ufeff" + header + "\n{}", format.ErrNoHeader},
		{"with a number as its id", `{"type":"session","id":1}`, format.ErrNoHeader},
		{"with an empty id", `{"type":"session","id":""}`, nil},
		{"of the harness's fourth version", `{"kind":"header","version":4,"id":"x"}`, format.ErrNoHeader},
		{"never", "{\n", format.ErrNoHeader},
		{"in an empty file", "", format.ErrEmpty},
		{"in a file of blank lines", "\n \n", format.ErrEmpty},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := pi.Read(strings.NewReader(tc.data))
			if !errors.Is(err, tc.err) || err == nil && s.Header().Version == 0 {
				t.Errorf("error %v, want %v", err, tc.err)
			}
		})
	}
}

// Members of the wrong kind count as absent, and the entry stays.
func TestPermissiveMembers(t *testing.T) {
	s := parse(t, header,
		`{"type":1,"id":2,"parentId":3,"timestamp":"tomorrow","message":"x"}`,
		`{"id":"a","id":"b","type":"message","message":{"role":7,"timestamp":"x","usage":[],"content":5},"\u0074ype":"message"}`,
	)
	first, second := s.Entries()[0], s.Entries()[1]
	if first.Type != "" || first.ID != "" || first.Parent != "" || !first.Time.IsZero() || first.Message() != nil {
		t.Errorf("%+v", first)
	}
	m := second.Message()
	if second.ID != "b" || m == nil || m.Role != "" || !m.Time.IsZero() {
		t.Errorf("%+v", second)
	}
	if _, ok := m.Usage(); ok {
		t.Error("an array is no usage")
	}
	for c := range m.ToolCalls() {
		t.Errorf("call %v", c)
	}
}

func TestLeafAndPath(t *testing.T) {
	base := []string{header, entry("x", "a", "", ""), entry("x", "b", "a", ""), entry("x", "c", "b", "")}
	for _, tc := range []struct {
		name string
		more []string
		leaf string
		path string
	}{
		{"the last entry", nil, "c", "a b c"},
		{"a branch", []string{entry("x", "d", "a", "")}, "d", "a d"},
		{"a label too", []string{entry("label", "l", "b", `"targetId":"a"`)}, "l", "a b l"},
		{"an entry without an id is none", []string{`{"type":"x"}`}, "c", "a b c"},
		{"a move", []string{entry("leaf", "m", "c", `"targetId":"b"`)}, "b", "a b"},
		{"a move to before everything", []string{entry("leaf", "m", "c", `"targetId":null`)}, "", ""},
		{"on after a move", []string{entry("leaf", "m", "c", `"targetId":"b"`), entry("x", "d", "b", "")}, "d", "a b d"},
		{"an orphan", []string{entry("x", "o", "lost", "")}, "o", "o"},
		{"its own parent", []string{entry("x", "o", "o", "")}, "o", "o"},
		{"a circle", []string{entry("x", "y", "z", ""), entry("x", "z", "y", "")}, "z", "y z"},
		{"an id that comes again", []string{entry("x", "a", "", ""), entry("x", "b", "", "")}, "b", "b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := parse(t, append(slices.Clone(base), tc.more...)...)
			leaf, ok := s.Leaf()
			var path []string
			for _, e := range s.Path(leaf) {
				path = append(path, e.ID)
			}
			if leaf != tc.leaf || ok != (tc.leaf != "") || strings.Join(path, " ") != tc.path {
				t.Errorf("leaf %q, path %q", leaf, path)
			}
		})
	}
}

func TestLabelsAndName(t *testing.T) {
	label := func(id, target, text string) string {
		return entry("label", id, "", fmt.Sprintf(`"targetId":%q,"label":%s`, target, text))
	}
	s := parse(t, header, label("1", "a", `"one"`), label("2", "b", `"two"`), label("3", "a", `"three"`), label("4", "b", "null"),
		label("5", "c", `""`), entry("session_info", "6", "", `"name":" first "`))
	if got := s.Labels(); len(got) != 1 || got["a"].Text != "three" || got["a"].Time.IsZero() {
		t.Errorf("labels %v", got)
	}
	if got := s.Name(); got != "first" {
		t.Errorf("name %q", got)
	}
	s = parse(t, header, entry("session_info", "6", "", `"name":"first"`), entry("session_info", "7", "", ""))
	if got := s.Name(); got != "" {
		t.Errorf("a name that was cleared is %q", got)
	}
}

func TestMigration(t *testing.T) {
	old := parse(t,
		`{"type":"session","id":"s","timestamp":"2025-11-30T10:00:00.000Z","cwd":"/p"}`,
		`{ "type":"message","timestamp":"x","message":{"role":"hookMessage","content":1.0}}`,
		"", "{", "[1, 2]",
		`{"type":"session","id":"again"}`,
		`{"type":"compaction","firstKeptEntryIndex":1,"summary":"\u00e9"}`,
		`{"type":"compaction","firstKeptEntryIndex":3,"summary":""}`,
		`{"type":"compaction","firstKeptEntryIndex":9}`,
		`{"type":"compaction","firstKeptEntryIndex":"1"}`,
	)
	ids := []string{"id1", "id1", "id2", "id3", "id4", "id5", "id6"}
	got, err := old.Migrated(func() string {
		id := ids[0]
		ids = ids[1:]
		return id
	})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := got.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		`{"type":"session","id":"s","timestamp":"2025-11-30T10:00:00.000Z","cwd":"/p","version":3}`,
		`{"type":"message","timestamp":"x","message":{"role":"custom","content":1},"id":"id1","parentId":null}`,
		`[1, 2]`,
		`{"type":"session","id":"again","version":3}`,
		`{"type":"compaction","summary":"é","id":"id2","parentId":"id1","firstKeptEntryId":"id1"}`,
		`{"type":"compaction","summary":"","id":"id3","parentId":"id2"}`,
		`{"type":"compaction","id":"id4","parentId":"id3"}`,
		`{"type":"compaction","firstKeptEntryIndex":"1","id":"id5","parentId":"id4"}`,
		"",
	}, "\n")
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again, err := got.Migrated(nil)
	if err != nil || again != got {
		t.Errorf("a second migration: %v, %v", again, err)
	}
}

// Without a way to make ids they are eight digits, and each is another one.
func TestMigrationMakesIDs(t *testing.T) {
	old := parse(t, `{"type":"session","id":"s"}`, `{"type":"message"}`, `{"type":"message"}`)
	s, err := old.Migrated(nil)
	if err != nil {
		t.Fatal(err)
	}
	a, b := s.Entries()[0], s.Entries()[1]
	if len(a.ID) != 8 || len(b.ID) != 8 || a.ID == b.ID || b.Parent != a.ID {
		t.Errorf("%q, %q below %q", a.ID, b.ID, b.Parent)
	}
	s, err = old.Migrated(func() string { return "same" })
	if err != nil || len(s.Entries()[1].ID) != 36 {
		t.Errorf("after a hundred attempts: %v, %v", s.Entries()[1].ID, err)
	}
}

// A file of version 2 that JavaScript wrote is changed in the version and the role alone.
func TestMigrationOfVersion2(t *testing.T) {
	data, err := os.ReadFile("../../testdata/pi/version-2.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	old, err := pi.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	got, err := old.Migrated(nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := got.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer(`"version":2`, `"version":3`, `"role":"hookMessage"`, `"role":"custom"`).Replace(string(data))
	if diff := cmp.Diff(want, out.String()); diff != "" || want == string(data) {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if old.Header().Version != 2 || got.Header().Version != 3 {
		t.Errorf("versions %d, %d", old.Header().Version, got.Header().Version)
	}
}
