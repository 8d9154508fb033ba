package main

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Files are told of in their order, however long each takes.
func TestVerifyTellsOfFilesInTheirOrder(t *testing.T) {
	var out, log bytes.Buffer
	code := run(t.Context(), []string{"verify", "--json", "../../testdata/agentsession"},
		streams{in: strings.NewReader(""), out: &out, err: &log})
	if code != exitFinding {
		t.Fatalf("exit code %d: %s", code, &log)
	}
	last := ""
	n := 0
	for line := range strings.Lines(out.String()) {
		var file struct{ Path string }
		if err := json.Unmarshal([]byte(line), &file); err != nil {
			t.Fatal(err)
		}
		if file.Path <= last {
			t.Errorf("%s comes after %s", file.Path, last)
		}
		last = file.Path
		n++
	}
	if n < 50 {
		t.Errorf("%d files", n)
	}
}

// The help of verify names every rule, and no other.
func TestTheHelpOfVerifyNamesTheRules(t *testing.T) {
	rules := map[string]bool{}
	for _, file := range []string{"../../format/check.go", "../../internal/stored/damage.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^\tRule\w+ +(?:Rule +)?= "(\w+)"`).FindAllSubmatch(source, -1) {
			rules[string(m[1])] = true
		}
	}
	if len(rules) < 15 {
		t.Fatalf("only %d rules: %v", len(rules), rules)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^  (\w+(?:, \w+)*)  `).FindAllStringSubmatch(verifyHelp, -1) {
		for rule := range strings.SplitSeq(m[1], ", ") {
			named[rule] = true
		}
	}
	if diff := cmp.Diff(rules, named); diff != "" {
		t.Errorf("-rules +help:\n%s", diff)
	}
}
