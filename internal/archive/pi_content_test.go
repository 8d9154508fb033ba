package archive_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/spantest"
)

// Nothing that was said leaves a session of pi: no prompt, answer, thought, argument, command, output or summary (promise P10).
func TestPiContentStays(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(piSessions, "*.jsonl"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	texts := 0
	for _, path := range paths {
		rec, _ := replay(t, archive.Options{}, path)
		trace := spantest.Dump(rec.Started)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(data), "\n") {
			var value any
			if json.Unmarshal([]byte(line), &value) != nil {
				continue
			}
			for _, said := range saidIn(nil, "", value) {
				texts++
				if strings.Contains(trace, said) {
					t.Errorf("%s: %q is in the trace", path, said)
				}
			}
		}
	}
	if texts < 50 {
		t.Errorf("only %d texts were looked for", texts)
	}
}

// saidIn lists the texts in a value that are content, by the names under which they stand.
func saidIn(list []string, under string, value any) []string {
	switch v := value.(type) {
	case map[string]any:
		for name, one := range v {
			if under == "arguments" {
				name = under // all of it
			}
			list = saidIn(list, name, one)
		}
	case []any:
		for _, one := range v {
			list = saidIn(list, under, one)
		}
	case string:
		switch under {
		case "text", "thinking", "content", "arguments", "command", "output", "summary", "note", "error":
			if len(v) > 4 {
				list = append(list, v)
			}
		}
	}
	return list
}
