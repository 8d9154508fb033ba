package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// members are the types that each member of an object has, by name: a.b is within an object, a[].b within those of a list.
type members map[string]map[string]bool

func (m members) add(name, kind string) {
	if m[name] == nil {
		m[name] = map[string]bool{}
	}
	m[name][kind] = true
}

// opaque are members whose own members are not those of the command: they are a file's, or words.
var opaque = []string{"entry", "settings", "items[].item", "spans", "sessions[].spans"}

// take notes the members of an object.
func (m members) take(prefix string, object map[string]any) {
	for name, value := range object {
		name = prefix + name
		switch v := value.(type) {
		case nil:
			m.add(name, "null")
		case string:
			m.add(name, "string")
		case bool:
			m.add(name, "boolean")
		case float64:
			m.add(name, "number")
		case []any:
			m.add(name, "array")
			for _, element := range v {
				if inner, ok := element.(map[string]any); ok {
					m.take(name+"[].", inner)
				}
			}
		case map[string]any:
			m.add(name, "object")
			if !slices.Contains(opaque, name) {
				m.take(name+".", v)
			}
		}
	}
}

// documented reads the tables of docs/json.md.
func documented(t *testing.T) map[string]members {
	t.Helper()
	text, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]members{}
	at := ""
	row := regexp.MustCompile("^\\| `([^`]+)` \\| ([a-z ]+) \\|")
	for line := range strings.Lines(string(text)) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "##") {
			at = strings.TrimSpace(title)
		}
		if cells := row.FindStringSubmatch(line); cells != nil {
			if tables[at] == nil {
				tables[at] = members{}
			}
			for kind := range strings.SplitSeq(cells[2], " or ") {
				tables[at].add(cells[1], kind)
			}
		}
	}
	return tables
}

// jsonInputs makes files, beside those of the project, that have what those lack. It returns the folder.
func jsonInputs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("bare.jsonl", `{"type":"session","format":"agentsession/0.2","id":"s","created_at":"0001-01-01T00:00:00Z"}`+"\n")
	header := `{"type":"session","format":"agentsession/0.5","id":"t","created_at":"2026-01-02T03:04:05Z","fork_of":"s"}` + "\n"
	put("links.jsonl", header+
		`{"type":"link","id":"a","parent":null,"ts":"2026-01-02T03:04:05Z","rel":"continued_in","session":"u"}`+"\n"+
		`{"type":"run","id":"b","parent":"a","ts":"2026-01-02T03:04:05Z","phase":"start","run_id":"r","source":"input"}`+"\n"+
		`{"type":"config","id":"c","parent":"b","ts":"9999-01-02T03:04:05Z","model":"m"}`+"\n")
	put("copy.jsonl", header)
	put("torn.jsonl", header+`{"type":"info","id":"a","par`)
	put("torn.jsonl.lock", "")
	put("no-parts.jsonl", `{"type":"session","format":"agentsession/0.11","id":"p","created_at":"2026-01-02T03:04:05Z"}`+"\n"+
		`{"type":"config","id":"a","parent":null,"ts":"2026-01-02T03:04:05.000000Z","instructions_parts":[{"keep":1}]}`+"\n")
	f, err := os.Create(filepath.Join(dir, "cut.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	_, werr := z.Write(fixture(t))
	if err := errors.Join(werr, z.Close()); err != nil {
		t.Fatal(err)
	}
	size, _ := f.Seek(0, io.SeekEnd)
	if err := errors.Join(f.Truncate(size/2), f.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// objects runs a command for programs, and hands on each object that it writes.
func objects(t *testing.T, ctx context.Context, in io.Reader, args []string, each func(map[string]any)) {
	t.Helper()
	_, out, log := call(ctx, in, append(args[:1:1], append([]string{"--json"}, args[1:]...)...)...)
	if args[0] == "replay" {
		out = log
	}
	for dec := json.NewDecoder(strings.NewReader(out)); ; {
		var object map[string]any
		err := dec.Decode(&object)
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("%v: %v\n%.1000s", args, err, out)
		}
		each(object)
	}
}

// What docs/json.md says of every member is what the commands write: each that is there is named, with its types, and each
// that is named is there, with each of its types.
func TestJSONIsAsDocumented(t *testing.T) {
	const sessions = "../../testdata/agentsession"
	dir := jsonInputs(t)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	all := []string{sessions, dir}
	got := map[string]members{}
	var in io.Reader = strings.NewReader("")
	run := func(ctx context.Context, args ...string) {
		objects(t, ctx, in, args, func(object map[string]any) {
			name := args[0]
			if kind, ok := object["object"].(string); ok {
				name += ": " + kind
			}
			if got[name] == nil {
				got[name] = members{}
			}
			got[name].take("", object)
		})
	}
	run(t.Context(), append([]string{"list"}, all...)...)
	run(t.Context(), append([]string{"verify"}, all...)...)
	run(t.Context(), append([]string{"replay", "--output", os.DevNull, filepath.Join(dir, "none")}, all...)...)
	run(t.Context(), "replay", "--session", "none", filepath.Join(dir, "links.jsonl"))
	refuses := newReceiver(t, func(int) reply { return reply{code: http.StatusBadRequest, text: "no"} })
	run(t.Context(), "replay", "--endpoint", refuses.URL, quickstart)
	run(done, "replay", filepath.Join(dir, "links.jsonl"))
	ctx, interrupt := context.WithCancel(t.Context())
	quiet := &silent{bytes.NewReader(fixture(t)), interrupt, make(chan struct{})}
	defer close(quiet.end)
	in = quiet
	run(ctx, "replay", "-")
	run(t.Context(), "show", "--leaf", "d361", filepath.Join(sessions, "omitted-items.jsonl"))
	for _, pattern := range []string{sessions + "/*.jsonl", sessions + "/*/*.jsonl", dir + "/*.jsonl*"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, path := range paths {
			run(t.Context(), "show", path)
		}
		run(t.Context(), append([]string{"repair"}, paths...)...)
	}
	want := documented(t)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		for member, kinds := range want[name] {
			for kind := range kinds {
				if !got[name][member][kind] {
					t.Errorf("%s: nothing has the member %q of type %s", name, member, kind)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		for member, kinds := range got[name] {
			for kind := range kinds {
				if !want[name][member][kind] {
					t.Errorf("%s: the page does not say that there is a member %q of type %s", name, member, kind)
				}
			}
		}
	}
}
