package archive_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/source"
	"github.com/sessionspan/sessionspan/internal/spantest"
	"go.opentelemetry.io/otel/attribute"
)

const claudeSessions = "../../testdata/claude-code"

// claudeUnits lists the sessions of testdata by name: a file, or a folder whose files are one unit.
func claudeNames(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(claudeSessions)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if name := e.Name(); name != "golden" {
			names = append(names, name)
		}
	}
	return names
}

// Each unit of testdata/claude-code shows a rule of how a session of Claude Code becomes a trace.
func TestClaudeGoldenTraces(t *testing.T) {
	for _, file := range claudeNames(t) {
		name := strings.TrimSuffix(file, ".jsonl")
		if name == "damaged" {
			continue
		}
		for suffix, o := range map[string]projection.Options{"": {}, ".group-run": {Group: projection.GroupRun}} {
			if suffix != "" && name != "agents" && name != "inline" {
				continue
			}
			t.Run(name+suffix, func(t *testing.T) {
				rec, reports := replay(t, archive.Options{Projection: o}, filepath.Join(claudeSessions, file))
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
				goldenAt(t, claudeSessions, name+suffix, spantest.Dump(rec.Started))
			})
		}
	}
}

func TestClaudeDamage(t *testing.T) {
	goldenAt(t, claudeSessions, "damaged", judge(t, source.Options{}, filepath.Join(claudeSessions, "damaged.jsonl")))
}

// Without the file of an agent, what its session used is a lower bound, and that is said where the call is, or where it is noticed.
func TestClaudeAgentsWithoutFiles(t *testing.T) {
	const unit = "00000007-1111-4111-8111-111111111111"
	for agent, where := range map[string]attribute.Key{"a0000000000000a1": names.SubsessionMissing, "b0000000000000b2": ""} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(claudeSessions, "agents"))); err != nil {
			t.Fatal(err)
		}
		subagents := filepath.Join(dir, unit, "subagents")
		for _, name := range []string{"agent-" + agent + ".jsonl", "agent-f0000000000000f6.jsonl"} {
			if err := os.Remove(filepath.Join(subagents, name)); err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(filepath.Join(dir, unit+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		// The one that has no file already is not the one to be seen.
		data = bytes.ReplaceAll(data, []byte(`"agentId":"e0000000000000e5",`), nil)
		if err := os.WriteFile(filepath.Join(dir, unit+".jsonl"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		rec, _ := replay(t, archive.Options{}, dir)
		bounds, calls, events := 0, 0, 0
		for _, s := range rec.Ended {
			if s.Type == projection.TypeRun && spantest.Attribute(s, names.LowerBound).AsBool() {
				bounds++
			}
			if where != "" && spantest.Attribute(s, where).AsBool() {
				calls++
			}
			for _, e := range s.Events {
				for _, kv := range e.Attributes {
					if kv.Key == names.LinkMissing && strings.Contains(spantest.Dump([]*projection.Span{s}), agent) {
						events++
					}
				}
			}
		}
		if bounds != 1 || events != 1 || where != "" && calls != 1 {
			t.Errorf("%s: %d lower bounds, %d calls, %d events", agent, bounds, calls, events)
		}
	}
}

// Nothing that was said leaves a session of Claude Code: no prompt, answer, thought, argument, output or summary, nor the titles of agents
// (promise P10). Titles of sessions do.
func TestClaudeContentStays(t *testing.T) {
	texts := 0
	for _, name := range claudeNames(t) {
		rec, _ := replay(t, archive.Options{}, filepath.Join(claudeSessions, name))
		trace := spantest.Dump(rec.Started)
		err := filepath.WalkDir(filepath.Join(claudeSessions, name), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") {
				return err
			}
			for _, said := range claudeTexts(t, path) {
				texts++
				if strings.Contains(trace, said) {
					t.Errorf("%s: %q is in the trace", path, said)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if texts < 100 {
		t.Errorf("only %d texts were looked for", texts)
	}
}

// claudeTexts lists what is said in a file.
func claudeTexts(t *testing.T, path string) (list []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var walk func(under string, value any)
	walk = func(under string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for name, one := range v {
				if under == "input" || under == "toolUseResult" && name != "agentId" && name != "status" && name != "agentType" && name != "runId" {
					name = "content"
				}
				walk(name, one)
			}
		case []any:
			for _, one := range v {
				walk(under, one)
			}
		case string:
			switch under {
			case "text", "thinking", "content", "prompt", "description", "output", "summary":
				if len(v) > 5 && v != "Explore" && v != "general-purpose" {
					list = append(list, v)
				}
			}
		}
	}
	for _, line := range strings.Split(string(data), "\n") {
		var value any
		if json.Unmarshal([]byte(line), &value) == nil {
			walk("", value)
		}
	}
	return list
}
