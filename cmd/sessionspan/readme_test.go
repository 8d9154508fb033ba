package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// What the README and the pages of docs show is what their commands print.
func TestPagesShowWhatTheCommandPrints(t *testing.T) {
	t.Chdir("../..")
	t.Setenv("NO_COLOR", "1")
	for _, tc := range []struct{ page, command, width string }{
		{"README.md", `go run \./cmd/sessionspan (replay testdata/claude-code/\S+) --width 100`, "100"},
		{"README.md", `go run \./cmd/sessionspan (replay testdata/agentsession/\S+)`, "110"},
		{"docs/claude-code.md", `sessionspan (replay testdata/\S+) --width 100`, "100"},
	} {
		page, err := os.ReadFile(tc.page)
		if err != nil {
			t.Fatal(err)
		}
		command := regexp.MustCompile(tc.command).FindSubmatch(page)
		if command == nil {
			t.Fatalf("%s does not have the command", tc.page)
		}
		var out, log bytes.Buffer
		args := append(strings.Fields(string(command[1])), "--width", tc.width)
		if code := run(t.Context(), args, streams{in: strings.NewReader(""), out: &out, err: &log}); code != exitOK {
			t.Fatalf("%s: exit code %d: %s", tc.page, code, &log)
		}
		var want strings.Builder
		for line := range strings.Lines(out.String()) {
			want.WriteString(strings.TrimRight(line, " \n") + "\n")
		}
		if !strings.Contains(string(page), strings.TrimSpace(want.String())) {
			t.Errorf("%s does not show what the command prints with --width %s:\n%s", tc.page, tc.width, want.String())
		}
	}
}
