package archive_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/spantest"
)

// judge replays files one by one, as one archive, and writes down what comes of each.
func judge(t *testing.T, o source.Options, paths ...string) string {
	t.Helper()
	var b strings.Builder
	ix := archive.NewIndex(t.Context(), paths, nil, o)
	for _, err := range ix.Bad {
		fmt.Fprintf(&b, "%s\n\n", strings.ReplaceAll(err.Error(), filepath.Dir(paths[0])+string(filepath.Separator), ""))
	}
	for _, f := range ix.Files {
		rec := &spantest.Recorder{}
		var said []string
		rep := ix.Project(t.Context(), f, archive.Options{
			Source: o, Finish: true,
			Problem: func(_ string, err error, note bool) {
				what := "damaged"
				if note {
					what = "note"
				}
				said = append(said, fmt.Sprintf("  %s: %v\n", what, err))
			},
		}, rec)
		if rep.Err != nil {
			t.Errorf("%s: %v", f.Path, rep.Err)
		}
		for _, err := range spantest.Check(rec) {
			t.Errorf("%s: %v", f.Path, err)
		}
		fmt.Fprintf(&b, "%s: %d entries, %d spans\n%s\n", filepath.Base(f.Path), rep.Entries, len(rec.Ended), strings.Join(said, ""))
	}
	return b.String()
}

// Each bad input gives a clear message with its place, or a trace that is right. The session that most of the files are
// made of has 19 entries and 9 spans.
func TestBadInput(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(testdata, "damaged", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "damaged", judge(t, source.Options{}, paths...))
}

// made writes a session file: the header, then lines.
func made(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made.jsonl")
	header := `{"type":"session","format":"agentsession/0.2","id":"s","created_at":"2026-01-01T00:00:00Z","payload":"openresponses/2026-04-24"}`
	if err := os.WriteFile(path, []byte(header+"\n"+strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func entry(id, parent, rest string) string {
	if parent != "null" {
		parent = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"id":%q,"parent":%s,"ts":"2026-01-01T00:00:01Z",%s}`, id, parent, rest)
}

func TestLineOverTheLimit(t *testing.T) {
	path := made(t, entry("a", "null", `"type":"config","model":"m"`),
		entry("b", "a", `"type":"custom","ns":"x","data":"`+strings.Repeat("x", 1000)+`"`),
		entry("c", "a", `"type":"response","response_id":"r"`))
	want := "made.jsonl: 2 entries, 3 spans\n  damaged: line 3 (offset 210): line over the limit\n\n"
	if got := judge(t, source.Options{MaxLine: 500}, path); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func TestDeepNesting(t *testing.T) {
	const depth = 100_000
	path := made(t, entry("a", "null", `"type":"config","model":"m"`),
		entry("b", "a", `"type":"custom","ns":"x","data":`+strings.Repeat("[", depth)+strings.Repeat("]", depth)),
		entry("c", "a", `"type":"response","response_id":"r"`))
	want := "made.jsonl: 2 entries, 3 spans\n  damaged: line 3 (offset 210, 10082 bytes into the line): not a JSON object: nested deeper than 10000 levels\n\n"
	if got := judge(t, source.Options{}, path); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func TestAThousandBranches(t *testing.T) {
	lines := []string{
		entry("a", "null", `"type":"run","phase":"start","run_id":"r","source":"input"`),
		entry("b", "a", `"type":"item","item":{"type":"function_call","call_id":"c","name":"t"},"response":"x"`),
		entry("d", "b", `"type":"response","response_id":"x"`),
	}
	for i := range 1000 {
		lines = append(lines, entry(fmt.Sprint("branch", i), "d", `"type":"dispatch","call_id":"c","target":"b"`))
	}
	// The mark, the run and its chat, then for each branch a segment of the run and a hand-off; the first goes on in the run.
	want := fmt.Sprintf("made.jsonl: 1003 entries, %d spans\n\n", 3+999+1000)
	if got := judge(t, source.Options{}, made(t, lines...)); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func TestAlternatingBranches(t *testing.T) {
	lines := []string{entry("0", "null", `"type":"config","model":"m"`)}
	for i := 1; i <= 1000; i++ {
		lines = append(lines, entry(fmt.Sprint(i), fmt.Sprint(max(i-2, 0)), fmt.Sprintf(`"type":"response","response_id":"r%d"`, i)))
	}
	want := fmt.Sprintf("made.jsonl: 1001 entries, %d spans\n\n", 1+1000*2) // each response is a run of its own
	if got := judge(t, source.Options{}, made(t, lines...)); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

// everyWay has each byte damaged in every way, for a campaign; else in one of them, in turn.
var everyWay = flag.Bool("every-way", false, "damage each byte in every way, and not in one")

// Whatever happens to a byte (promise P4), nothing panics, the rules of a trace hold, and lines that were not touched are read.
func TestEveryByteCutFlippedAndZeroed(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(testdata, "decisions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Count(data, []byte("\n"))
	for i := range data {
		flipped, zeroed := bytes.Clone(data), bytes.Clone(data)
		flipped[i] ^= 1 << (i % 8)
		zeroed[i] = 0
		ways := []struct {
			name string
			bad  []byte
		}{{"cut", data[:i]}, {"flipped", flipped}, {"zeroed", zeroed}}
		if !*everyWay {
			ways = ways[i%3 : i%3+1]
		}
		for _, way := range ways {
			name, bad := way.name, way.bad
			rec := &spantest.Recorder{Lone: true}
			p := projection.New(projection.Options{}, rec)
			rd, err := source.NewReader(bytes.NewReader(bad), source.Options{})
			if err != nil {
				t.Fatal(err)
			}
			damaged := 0
			for err == nil {
				err = rd.Read(p.Feed, func(*format.DamageError) { damaged++ })
			}
			p.Finish()
			for _, err := range spantest.Check(rec) {
				t.Errorf("byte %d %s: %v", i, name, err)
			}
			if whole := lines - 1; err == io.EOF && name != "cut" && (damaged > 2 || p.Entries() < whole-3) {
				t.Errorf("byte %d %s: %d entries of %d, %d lines damaged", i, name, p.Entries(), whole, damaged)
			}
		}
	}
}
