package sessiontest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// claudeSeen is what a reader with nothing but encoding/json finds in a unit. It shares no code with the generator.
type claudeSeen struct {
	main, agent []claudeSeenFile
	cards       map[string]fields // by path
}

type claudeSeenFile struct {
	path  string
	lines []fields // the whole ones that are objects
}

func (f claudeSeenFile) session() string { return strings.TrimSuffix(path.Base(f.path), ".jsonl") }

func seeClaude(files []ClaudeFile) claudeSeen {
	s := claudeSeen{cards: map[string]fields{}}
	for _, f := range files {
		name := path.Base(f.Path)
		one := claudeSeenFile{path: f.Path}
		for line := range bytes.Lines(f.Data) {
			d := json.NewDecoder(bytes.NewReader(line))
			d.UseNumber()
			var m fields
			if line[len(line)-1] == '\n' && json.Valid(line) && d.Decode(&m) == nil && m != nil {
				one.lines = append(one.lines, m)
			}
		}
		switch {
		case strings.HasSuffix(name, ".meta.json"):
			var m fields
			_ = json.Unmarshal(f.Data, &m)
			s.cards[f.Path] = m
		case strings.HasPrefix(name, "agent-"):
			s.agent = append(s.agent, one)
		case name != "journal.jsonl":
			s.main = append(s.main, one)
		}
	}
	return s
}

// says is the text that a line of the kind user begins with, and whether the line has a result.
func says(l fields) (text string, result bool) {
	content := obj(l["message"])["content"]
	if s, ok := content.(string); ok {
		return s, false
	}
	for _, b := range arr(content) {
		switch obj(b)["type"] {
		case "text":
			text = text + str(obj(b)["text"])
		case "tool_result":
			result = true
		}
	}
	return text, result
}

// person reports whether a line starts a turn (native formats 1.5). Commands are those that have an expansion below.
func person(l fields, expanded map[string]bool) bool {
	text, result := says(l)
	switch {
	case l["type"] != "user" || result || l["isMeta"] == true || l["isCompactSummary"] == true || l["isSidechain"] == true:
		return false
	case obj(l["origin"])["kind"] == "task-notification":
		return false
	case strings.Contains(text, "<command-name>"):
		return expanded[str(l["uuid"])]
	}
	for _, p := range []string{"<task-notification>", "<local-command-", "[Request interrupted", "<bash-input>", "<bash-stdout>"} {
		if strings.HasPrefix(text, p) {
			return false
		}
	}
	return true
}

// recount builds from the files what the ledger of the generator should hold.
func (s claudeSeen) recount() ClaudeTruth {
	turns, calls, ended, failed, agents := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	best := map[string]fields{} // the usage with the most output, by message
	for _, f := range slices.Concat(s.main, s.agent) {
		expanded := map[string]bool{}
		for _, l := range f.lines {
			if l["isMeta"] == true {
				expanded[str(l["parentUuid"])] = true
			}
		}
		for _, l := range f.lines {
			m := obj(l["message"])
			if person(l, expanded) {
				turns[fmt.Sprint(l["timestamp"], m["content"])] = true
			}
			if l["isSidechain"] == true && l["parentUuid"] == nil && l["agentId"] == nil {
				text, _ := says(l)
				agents[text] = true
			}
			for _, b := range arr(m["content"]) {
				b := obj(b)
				switch b["type"] {
				case "tool_use":
					calls[str(b["id"])] = true
				case "tool_result":
					ended[str(b["tool_use_id"])] = true
					if b["is_error"] == true {
						failed[str(b["tool_use_id"])] = true
					}
				}
			}
			id := str(m["id"])
			if l["type"] != "assistant" || m["model"] == "<synthetic>" {
				continue
			}
			u, have := obj(m["usage"]), best[id]
			if have == nil {
				best[id] = fields{}
			}
			if u != nil && (have["output_tokens"] == nil || integer(u["output_tokens"]) >= integer(have["output_tokens"])) {
				best[id] = u
			}
		}
	}
	t := ClaudeTruth{
		Turns: len(turns), Chats: len(best), Calls: len(calls), Ended: len(ended), Failed: len(failed), Agents: len(agents) + len(s.agent),
	}
	for _, u := range best {
		t.In += integer(u["input_tokens"]) + integer(u["cache_creation_input_tokens"]) + integer(u["cache_read_input_tokens"])
		t.Out += integer(u["output_tokens"])
	}
	return t
}

// check finds what Claude Code would not write.
func (s claudeSeen) check() (problems []string) {
	bad := func(f claudeSeenFile, l fields, format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%s: %s %s: %s", f.path, l["type"], l["uuid"], fmt.Sprintf(format, args...)))
	}
	asked := map[string]bool{}
	for _, f := range slices.Concat(s.main, s.agent) {
		for _, l := range f.lines {
			for _, b := range arr(obj(l["message"])["content"]) {
				if strings.HasSuffix(str(obj(b)["type"]), "tool_use") { // also what the provider runs itself
					asked[str(obj(b)["id"])] = true
				}
			}
		}
	}
	for _, f := range slices.Concat(s.main, s.agent) {
		above, side := map[string]bool{}, map[string]any{}
		for _, l := range f.lines {
			_, chained := l["parentUuid"]
			if !chained {
				continue
			}
			if l["parentUuid"] != nil && !above[str(l["parentUuid"])] {
				bad(f, l, "its parent does not stand above it")
			}
			side[str(l["uuid"])] = l["isSidechain"]
			if up := l["parentUuid"]; up != nil && side[str(up)] != l["isSidechain"] {
				bad(f, l, "it goes on from another chain")
			}
			if l["subtype"] == "compact_boundary" && !above[str(l["logicalParentUuid"])] {
				bad(f, l, "what comes before it does not stand above it")
			}
			above[str(l["uuid"])] = true
			if _, err := time.Parse("2006-01-02T15:04:05.000Z", str(l["timestamp"])); err != nil {
				bad(f, l, "its time is %v", l["timestamp"])
			}
			content := arr(obj(l["message"])["content"])
			if l["type"] == "assistant" && len(content) != 1 {
				bad(f, l, "it has %d blocks", len(content))
			}
			for _, b := range content {
				if id := str(obj(b)["tool_use_id"]); id != "" && !asked[id] {
					bad(f, l, "nobody asked for %s", id)
				}
			}
		}
		if card, have := s.cards[strings.TrimSuffix(f.path, ".jsonl")+".meta.json"]; have {
			if call := str(card["toolUseId"]); call != "" && !asked[call] {
				problems = append(problems, f.path+": nobody asked for it")
			}
		}
	}
	return problems
}

const claudeSeeds = 200

func claudeUnitOf(seed uint64) ([]ClaudeFile, ClaudeTruth) {
	return RandomClaude(seeded(seed), 1+int(seed%9), ClaudeCopies(seed%4))
}

func TestClaudeTruth(t *testing.T) {
	for seed := range uint64(claudeSeeds) {
		files, truth := claudeUnitOf(seed)
		s := seeClaude(files)
		if d := cmp.Diff(s.recount(), truth); d != "" {
			t.Errorf("seed %d: truth differs from a recount (-recount +truth):\n%s", seed, d)
		}
		for _, p := range s.check() {
			t.Errorf("seed %d: %s", seed, p)
		}
	}
}

func TestClaudeIsDeterministic(t *testing.T) {
	for seed := range uint64(8) {
		a, truth := claudeUnitOf(seed)
		b, again := claudeUnitOf(seed)
		if !reflect.DeepEqual(a, b) || truth != again {
			t.Errorf("seed %d gives two units", seed)
		}
	}
}

// The files of testdata/claude-code are made by hand: each unit is in the README, is short, and is of 2026, and all but the damaged one
// are such as Claude Code writes.
func TestClaudeTestdata(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(testdata, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for line := range strings.Lines(string(readme)) {
		if name, ok := strings.CutPrefix(line, "| `claude-code/"); ok {
			named[strings.TrimSuffix(name[:strings.IndexByte(name, '`')], "/")] = true
		}
	}
	units := map[string][]ClaudeFile{}
	for _, name := range files(t, "claude-code", func(name string) bool { return !strings.HasPrefix(name, "golden/") }) {
		data, err := os.ReadFile(filepath.Join(testdata, "claude-code", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(data, []byte("\n")); n > 40 {
			t.Errorf("%s has %d lines", name, n)
		}
		unit, _, _ := strings.Cut(name, "/")
		units[unit] = append(units[unit], ClaudeFile{Path: name, Data: data})
	}
	for unit, list := range units {
		if !named[unit] {
			t.Errorf("README does not speak of %s", unit)
		}
		delete(named, unit)
		s := seeClaude(list)
		for _, f := range slices.Concat(s.main, s.agent) {
			for _, l := range f.lines {
				if stamp := str(l["timestamp"]); stamp != "" && !strings.HasPrefix(stamp, "2026-") && unit != "damaged.jsonl" {
					t.Errorf("%s: %s has the time %s", f.path, l["uuid"], stamp)
				}
			}
		}
		if unit == "damaged.jsonl" {
			continue
		}
		for _, p := range s.check() {
			t.Error(p)
		}
	}
	for unit := range named {
		t.Errorf("README speaks of %s, which is not there", unit)
	}
}
