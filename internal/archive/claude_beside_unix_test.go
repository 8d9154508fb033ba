//go:build unix

package archive_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/source"
)

// claudeLine is a line of Claude Code with these members besides.
func claudeLine(more string) string {
	return `{"parentUuid":null,"isSidechain":true,"sessionId":"SID","uuid":"u1","timestamp":"2026-05-04T09:00:00.000Z","type":"user",` +
		`"message":{"role":"user","content":"Look."},` + more + "}\n"
}

// spawner is the file of a session with a call that spawns an agent.
const spawner = `{"parentUuid":null,"sessionId":"s","uuid":"u1","timestamp":"2026-05-04T09:00:00.000Z","type":"assistant","message":` +
	`{"id":"m","model":"x","content":[{"type":"tool_use","id":"call","name":"Agent","input":{"prompt":"Look."}}],"stop_reason":"tool_use"}}` + "\n"

// What a file says never leads out of its folder, and what lies beside it is not waited for.
func TestWhatLiesBesideASessionOfClaudeCode(t *testing.T) {
	pipe := func(t *testing.T, path string) {
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name, session, agent string
		more                 func(t *testing.T, dir string)
		call                 string
	}{
		{name: "the session's file", session: "s", agent: "a", call: "call"},
		{name: "a session in another folder", session: "../out/s", agent: "a"},
		{name: "a session by its path", session: "/ROOT/out/s", agent: "a"},
		{name: "an agent in another folder", session: "nobody", agent: "../out/a"},
		{name: "a session that is a pipe", session: "p", agent: "a", more: func(t *testing.T, dir string) { pipe(t, filepath.Join(dir, "p.jsonl")) }},
		{name: "a card that is a pipe", session: "s", agent: "a", call: "call", more: func(t *testing.T, dir string) {
			pipe(t, filepath.Join(dir, "agent-x.meta.json"))
		}},
		{name: "an agent beside it that is a pipe", session: "nobody", agent: "a", more: func(t *testing.T, dir string) {
			pipe(t, filepath.Join(dir, "agent-y.jsonl"))
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, "in")
			for _, sub := range []string{"in", "out"} {
				if err := os.Mkdir(filepath.Join(root, sub), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(root, sub, "s.jsonl"), []byte(spawner), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if tc.more != nil {
				tc.more(t, dir)
			}
			session := strings.Replace(tc.session, "/ROOT", root, 1)
			line := strings.Replace(claudeLine(`"agentId":"`+tc.agent+`"`), "SID", session, 1)
			path := filepath.Join(dir, "agent-x.jsonl")
			if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
				t.Fatal(err)
			}
			ix := archive.NewIndex(t.Context(), []string{path}, nil, source.Options{})
			if len(ix.Files) != 1 {
				t.Fatal(ix.Bad)
			}
			if s := ix.Files[0].Session.Spawn; s == nil || s.CallID != tc.call {
				t.Errorf("spawned by %+v", s)
			}
		})
	}
}
