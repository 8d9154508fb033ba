package openresponses

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// payload is what a session file holds of the payload, in whatever entry it stands.
type payload struct{ items, tools, usages, reasonings []jsontext.Value }

// collect looks through a value for payload.
func (p *payload) collect(raw []byte) {
	for element := range jsonscan.Elements(raw) {
		p.collect(element)
	}
	var scan jsonscan.Scanner
	if jsonscan.Kind(raw) != '{' || scan.Scan(raw, "") != nil {
		return
	}
	for _, m := range scan.Members {
		object := jsonscan.Kind(m.Value) == '{'
		switch name := string(m.Name); {
		case object && (name == "item" || name == "summary"):
			p.items = append(p.items, m.Value)
		case name == "pinned":
			for element := range jsonscan.Elements(m.Value) {
				p.items = append(p.items, element)
			}
		case name == "tools_added", name == "tools":
			for element := range jsonscan.Elements(m.Value) {
				p.tools = append(p.tools, element)
			}
		case object && name == "usage":
			p.usages = append(p.usages, m.Value)
		case object && name == "reasoning":
			p.reasonings = append(p.reasonings, m.Value)
		}
		p.collect(m.Value)
	}
}

func fixturePayload(t testing.TB) payload {
	t.Helper()
	files, err := filepath.Glob("../../../shared/fixtures/agentsession/*/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the shared fixtures are not here")
	}
	var p payload
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := bufio.NewScanner(bytes.NewReader(data))
		for s.Scan() {
			p.collect(bytes.Clone(s.Bytes()))
		}
	}
	if len(p.items) < 100 || len(p.tools) < 5 || len(p.usages) < 20 || len(p.reasonings) == 0 {
		t.Fatalf("only %d items, %d tools, %d usages, %d reasonings", len(p.items), len(p.tools), len(p.usages), len(p.reasonings))
	}
	return p
}

// TestFixtures: the sessions of another program hold the normal form, so that what is decoded and built again is the same,
// and has the same hash.
func TestFixtures(t *testing.T) {
	p := fixturePayload(t)
	types := map[string]int{}
	for _, raw := range p.items {
		item, err := ParseItem(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		types[item.Type]++
		again, err := rebuild(item)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if !sameJSON(t, again.Raw, raw) {
			t.Errorf("%s\nbuilt again is\n%s", raw, again.Raw)
		}
		switch item.Type {
		case ItemMessage, ItemFunctionCall, ItemReasoning: // an output may be empty
			if item.Text() == "" {
				t.Errorf("%s has no text", raw)
			}
		}
		checkPreviews(t, item)
	}
	for _, typ := range []string{ItemMessage, ItemFunctionCall, ItemFunctionCallOutput, ItemReasoning} {
		if types[typ] < 5 {
			t.Errorf("only %d items of type %s", types[typ], typ)
		}
	}
	for _, raw := range p.tools {
		tool, err := ParseTool(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		function, err := tool.Function()
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if again := function.Tool(); !sameJSON(t, again.Raw, raw) || tool.Name != function.Name {
			t.Errorf("%s\nbuilt again is\n%s", raw, again.Raw)
		}
	}
	for _, raw := range p.usages {
		u, err := ParseUsage(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		u.Raw = nil
		if !sameJSON(t, u.JSON(), raw) {
			t.Errorf("%s\nbuilt again is\n%s", raw, u.JSON())
		}
	}
	for _, raw := range p.reasonings {
		c, err := ParseReasoningConfig(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if !sameJSON(t, c.JSON(), raw) {
			t.Errorf("%s\nbuilt again is\n%s", raw, c.JSON())
		}
	}
}
