package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// What the README shows is what its command prints.
func TestREADMEShowsWhatTheCommandPrints(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`go run \./cmd/sessionspan (replay testdata/\S+)`).FindSubmatch(readme)
	if command == nil {
		t.Fatal("the README does not have the command")
	}
	t.Chdir("../..")
	t.Setenv("NO_COLOR", "1")
	var out, log bytes.Buffer
	args := append(strings.Fields(string(command[1])), "--width", "110")
	if code := run(t.Context(), args, streams{in: strings.NewReader(""), out: &out, err: &log}); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &log)
	}
	var want strings.Builder
	for line := range strings.Lines(out.String()) {
		want.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	if !strings.Contains(string(readme), strings.TrimSpace(want.String())) {
		t.Errorf("the README does not show what the command prints with --width 110:\n%s", want.String())
	}
}
