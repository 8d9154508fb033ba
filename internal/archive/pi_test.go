package archive_test

import (
	"encoding/json"
	"errors"
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

const piSessions = "../../testdata/pi"

// Each file of testdata/pi shows a rule of how a session of pi becomes a trace.
func TestPiGoldenTraces(t *testing.T) {
	entries, err := os.ReadDir(piSessions)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".jsonl")
		if name == "golden" || name == "damaged" {
			continue
		}
		for suffix, o := range map[string]projection.Options{"": {}, ".group-run": {Group: projection.GroupRun}} {
			if suffix != "" && name != "errors" && name != "forked" {
				continue
			}
			t.Run(name+suffix, func(t *testing.T) {
				rec, reports := replay(t, archive.Options{Projection: o}, filepath.Join(piSessions, e.Name()))
				for _, err := range spantest.Check(rec) {
					t.Error(err)
				}
				if open := rec.Open(); open != 0 {
					t.Errorf("%d spans are open long after the last entry", open)
				}
				for _, r := range reports {
					if r.Damaged+r.Notes > 0 {
						t.Errorf("%s: %d damaged, %d notes", r.File.Path, r.Damaged, r.Notes)
					}
				}
				goldenAt(t, piSessions, name+suffix, spantest.Dump(rec.Started))
			})
		}
	}
}

func TestPiDamage(t *testing.T) {
	goldenAt(t, piSessions, "damaged", judge(t, source.Options{}, filepath.Join(piSessions, "damaged.jsonl")))
}

// Lines before the header that are no JSON are passed over when the format is named, as the agents do. The first value has to
// be the header.
func TestPiHeader(t *testing.T) {
	const header = `{"type":"session","version":3,"id":"s","timestamp":"2026-05-04T09:00:00.000Z","cwd":""}` + "\n"
	for _, tc := range []struct {
		name, data string
		format     string
		err        error
	}{
		{"at once", header, source.Auto, nil},
		{"after blank lines", "\n \n" + header, source.Auto, nil},
		{"after damage", "{\"type\":\n\x00\n" + header, "pi", nil},
		{"after a value", "null\n" + header, "pi", format.ErrNoHeader},
		{"after an object", "{}\n" + header, "pi", format.ErrNoHeader},
		{"with a number for an id", strings.Replace(header, `"s"`, "1", 1), "pi", format.ErrNoHeader},
		{"never", "{\n", "pi", source.ErrNoSession},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rd, err := source.NewReader(strings.NewReader(tc.data), source.Options{Format: tc.format})
			if err != nil {
				t.Fatal(err)
			}
			defer rd.Close()
			s, err := rd.Session()
			if !errors.Is(err, tc.err) || err == nil && s.ID != "s" {
				t.Errorf("session %v, error %v, want %v", s, err, tc.err)
			}
		})
	}
}

// What a running agent writes to its output begins like a session file, and is none.
func TestPiEventStream(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	stream := `{"type":"session","version":3,"id":"s","timestamp":"2026-05-04T09:00:00.000Z","cwd":""}
{"type":"agent_start"}
{"type":"message_end","message":{"role":"assistant","content":[],"usage":{"input":1,"output":1}}}
{"type":"agent_end","messages":[]}
`
	if err := os.WriteFile(path, []byte(stream), 0o600); err != nil {
		t.Fatal(err)
	}
	rec, reports := replay(t, archive.Options{}, path)
	if n := reports[0].Damaged; n != 3 || len(rec.Started) != 0 {
		t.Errorf("%d lines damaged, %d spans", n, len(rec.Started))
	}
}

// costIn sums the costs that a line of a session states.
func costIn(t *testing.T, line []byte) float64 {
	t.Helper()
	var e struct {
		Usage   piUsage
		Message struct{ Usage piUsage }
	}
	if err := json.Unmarshal(line, &e); err != nil {
		t.Fatal(err)
	}
	return e.Usage.Cost.Total + e.Message.Usage.Cost.Total
}

type piUsage struct{ Cost struct{ Total float64 } }
