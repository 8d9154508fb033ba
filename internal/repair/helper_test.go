package repair

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const header = `{"type":"session","format":"agentsession/0.2","id":"s","created_at":"2026-01-02T03:04:05Z","payload":"openresponses/2026-04-24"}`

// entry returns a line without its line feed.
func entry(id, parent string) string {
	p := "null"
	if parent != "" {
		p = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"type":"item","id":%q,"parent":%s,"ts":"2026-01-02T03:04:06Z",`+
		`"item":{"type":"message","id":"msg_%s","role":"user","content":[{"type":"input_text","text":"say \"{\\\"id\\\":1}\" now"}]}}`,
		id, p, id)
}

// apply does in memory what the findings say.
func apply(data []byte, findings []Finding) (good, aside []byte) {
	at := int64(0)
	for _, f := range findings {
		if f.Action == Keep {
			continue
		}
		good = append(good, data[at:f.Offset]...)
		at = f.Offset
		if f.Added > 0 {
			good = append(good, '\n')
		}
		if f.Action == SetAside {
			at += f.Bytes
			aside = append(aside, data[f.Offset:at]...)
		}
	}
	return append(good, data[at:]...), aside
}

// plans scans bytes in memory.
func plans(t *testing.T, data []byte, maxLine int) (*plan, []Finding) {
	t.Helper()
	var all []Finding
	p, err := scan(bytes.NewReader(data), maxLine, func(f Finding) error {
		all = append(all, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, all
}

// put writes a file into a new folder.
func put(t *testing.T, data string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(data), 0o640); err != nil {
		t.Fatal(err)
	}
	age(t, path, time.Hour)
	return path
}

// age has a file written to for the last time so long ago.
func age(t *testing.T, path string, ago time.Duration) {
	t.Helper()
	if err := os.Chtimes(path, now.Add(-ago), now.Add(-ago)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// now is when the tests repair.
var now = time.Date(2026, 9, 20, 12, 0, 0, 0, time.UTC)

// write repairs a file and checks that the two parts give the old one.
func write(t *testing.T, path string, o Options) (Report, error) {
	t.Helper()
	before := read(t, path)
	o.Write, o.Now = true, now
	rep, err := File(t.Context(), path, o, func(Finding) {})
	after := read(t, path)
	switch {
	case err != nil:
		if after != before {
			t.Errorf("after the error %v the file is another one:\n%s", err, after)
		}
	case rep.SideFile != "":
		if old := restore(t, after, read(t, rep.SideFile)); old != before {
			t.Errorf("the two parts do not give the old file, but:\n%q\nwant:\n%q", old, before)
		}
	}
	left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	return rep, err
}

// restore makes the old file of a repaired one and the file of broken bytes, as doc.go says.
func restore(t *testing.T, good, side string) string {
	t.Helper()
	var old strings.Builder
	lines := strings.Split(strings.TrimSuffix(side, "\n"), "\n")
	for _, line := range lines[1:] {
		var c struct {
			Offset int
			Bytes  []byte
			Added  int
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		n := c.Offset - old.Len()
		old.WriteString(good[:n])
		old.Write(c.Bytes)
		good = good[n+c.Added:]
	}
	old.WriteString(good)
	var first struct{ Size int }
	if err := json.Unmarshal([]byte(lines[0]), &first); err != nil || first.Size != old.Len() {
		t.Errorf("the first line of the file of broken bytes: %s (%v), want size %d", lines[0], err, old.Len())
	}
	return old.String()
}

// say writes findings down for comparison.
func say(findings []Finding) []string {
	var all []string
	for _, f := range findings {
		s := fmt.Sprintf("%d@%d %s %d: %s", f.Line, f.Offset, f.Kind, f.Bytes, f.Action)
		if f.Added > 0 {
			s += " +LF"
		}
		if f.ID != "" {
			s += " " + f.ID
		}
		all = append(all, s)
	}
	return all
}
