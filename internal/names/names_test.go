package names_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every name stands in the documentation of the trace.
func TestNamesAreDocumented(t *testing.T) {
	source, err := os.ReadFile("names.go")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile("../../docs/trace.md")
	if err != nil {
		t.Fatal(err)
	}
	quoted := regexp.MustCompile(`= (?:attribute\.Key\()?"([a-z0-9_.]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(quoted) < 90 {
		t.Fatalf("found only %d names", len(quoted))
	}
	for _, q := range quoted {
		name := q[1]
		if strings.HasSuffix(name, ".") {
			continue // the namespace
		}
		short := name[strings.LastIndexByte(name, '.')+1:]
		if !strings.Contains(string(doc), "`"+name+"`") && !strings.Contains(string(doc), "`."+short+"`") &&
			!strings.Contains(string(doc), "`"+strings.TrimPrefix(name, "gen_ai.request")+"`") &&
			!strings.Contains(string(doc), "`"+strings.TrimPrefix(name, "agentsession.run")+"`") {
			t.Errorf("docs/trace.md does not have %q", name)
		}
	}
}
