package sessiontest

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"
)

// claudeFeatures finds out of the bytes what occurs in a unit.
func claudeFeatures(files []ClaudeFile) map[string]bool {
	s := seeClaude(files)
	got := map[string]bool{}
	damageIn(files, got)
	for p, card := range s.cards {
		got["card with a call"] = got["card with a call"] || card["toolUseId"] != nil
		got["card without a call"] = got["card without a call"] || card["toolUseId"] == nil
		got["nested"] = got["nested"] || card["parentAgentId"] != nil
		got["workflow"] = got["workflow"] || strings.Contains(p, "/workflows/")
	}
	for _, f := range s.agent {
		got["agent beside"] = got["agent beside"] || path.Dir(f.path) == "-work-app"
		_, carded := s.cards[strings.TrimSuffix(f.path, ".jsonl")+".meta.json"]
		got["agent in the folder"] = got["agent in the folder"] || path.Dir(f.path) != "-work-app"
		got["agent in the folder without a card"] = got["agent in the folder without a card"] || path.Dir(f.path) != "-work-app" && !carded
	}
	got["two copies"] = len(s.main) > 2
	for i, f := range s.main {
		if i > 0 && len(f.lines) > 0 {
			copyIn(s, f, got)
		}
	}
	for _, f := range slices.Concat(s.main, s.agent) {
		linesIn(s, f, got)
		messagesIn(f, got)
		treeIn(f, got)
	}
	return got
}

// damageIn tells what of the files is no line of Claude Code.
func damageIn(files []ClaudeFile, got map[string]bool) {
	for _, f := range files {
		if !strings.HasSuffix(f.Path, ".jsonl") {
			continue
		}
		lines := bytes.SplitAfter(f.Data, []byte("\n"))
		for i, l := range lines {
			whole := bytes.HasSuffix(l, []byte("\n"))
			body := bytes.TrimSuffix(l, []byte("\n"))
			switch {
			case i == len(lines)-1:
				got["cut last line"] = got["cut last line"] || len(l) > 0
			case len(body) == 0:
				got["blank line"] = true
			case body[0] == 0:
				got["NULs"] = true
			case body[0] != '{':
				got["no object"] = true
			case body[len(body)-1] == '\r':
				got["CR LF"] = true
			case whole && body[len(body)-1] != '}':
				got["cut line"] = true
			case bytes.Contains(body, []byte(`"lost"`)):
				got["two lines in one"] = true
			}
			got["raw U+2028"] = got["raw U+2028"] || bytes.Contains(body, []byte("\u2028"))
		}
	}
}

// copyIn tells in what way a file begins with a copy.
func copyIn(s claudeSeen, f claudeSeenFile, got map[string]bool) {
	origin := s.main[0]
	last := func(f claudeSeenFile) string {
		for _, l := range slices.Backward(f.lines) {
			if t := str(l["timestamp"]); t != "" && l["uuid"] != nil {
				return t
			}
		}
		return ""
	}
	times := map[string]bool{}
	for _, l := range origin.lines {
		times[str(l["timestamp"])+str(obj(l["message"])["id"])] = true
	}
	marked, old, own, shared, moved := false, false, false, false, false
	seen := map[string]bool{}
	for _, l := range f.lines {
		if l["uuid"] == nil || l["type"] == "custom-title" {
			continue
		}
		id := str(l["uuid"])
		got["a copied line twice"] = got["a copied line twice"] || seen[id]
		seen[id] = true
		_, from := l["forkedFrom"]
		same := times[str(l["timestamp"])+str(obj(l["message"])["id"])]
		switch {
		case from:
			marked, moved = true, moved || !same
		case str(l["sessionId"]) != f.session():
			old = true
		case same:
			shared = true
		default:
			own = true
		}
	}
	got["marked copy"] = got["marked copy"] || marked && own
	got["the last copied line has another time"] = got["the last copied line has another time"] || marked && moved
	got["old copy"] = got["old copy"] || old && own
	got["silent copy"] = got["silent copy"] || !marked && !old && shared && own
	got["the origin goes on later"] = got["the origin goes on later"] || last(origin) > last(f)
}

// linesIn tells what kinds of lines there are.
func linesIn(s claudeSeen, f claudeSeenFile, got map[string]bool) {
	agents := map[string]bool{}
	for _, a := range s.agent {
		agents[a.session()] = true
	}
	var before time.Time
	for i, l := range f.lines {
		_, chained := l["parentUuid"]
		typ := str(l["type"])
		switch {
		case !chained:
			got["aside "+strings.TrimRight(typ, "0123456789")] = true
			got["begins with an aside"] = got["begins with an aside"] || i == 0
		case typ == "system":
			got["system "+str(l["subtype"])] = true
			got["hooks prevent the end"] = got["hooks prevent the end"] || l["preventedContinuation"] == true
		default:
			got["entry "+strings.TrimRight(typ, "0123456789")] = true
		}
		if kind := str(obj(l["attachment"])["type"]); kind == "queued_command" {
			got["queued prompt"] = true
		}
		if obj(l["data"])["agentId"] != nil {
			got["progress of an agent"] = true
		}
		if t, err := time.Parse(time.RFC3339, str(l["timestamp"])); err == nil && chained {
			got["clock steps back"] = got["clock steps back"] || t.Before(before)
			got["silence"] = got["silence"] || !before.IsZero() && t.Sub(before) > 24*time.Hour
			before = t
		}
		text, result := says(l)
		for prefix, name := range map[string]string{
			"<command-message>": "prompt command", "<command-name>/model": "local command", "<command-name>/compact": "compact command",
			"<local-command-stdout>": "local output", "<bash-input>": "shell", "<task-notification>": "notification", "Caveat:": "caveat",
			"[Request interrupted by user]": "interruption", "[Request interrupted by user for tool use]": "interruption for tool use",
		} {
			got[name] = got[name] || strings.HasPrefix(text, prefix)
		}
		got["notification by its origin"] = got["notification by its origin"] || obj(l["origin"])["kind"] == "task-notification"
		got["image in a prompt"] = got["image in a prompt"] || !result && len(arr(obj(l["message"])["content"])) == 2
		got["compact summary"] = got["compact summary"] || l["isCompactSummary"] == true
		got["synthetic"] = got["synthetic"] || obj(l["message"])["model"] == "<synthetic>"
		more := obj(l["toolUseResult"])
		got["launched"] = got["launched"] || more["isAsync"] == true
		if id := str(more["agentId"]); id != "" && !agents["agent-"+id] {
			got["agent without a file"] = true
		}
		got["rejected"] = got["rejected"] || l["toolUseResult"] == "User rejected tool use"
		for _, b := range arr(obj(l["message"])["content"]) {
			b := obj(b)
			got["mcp"] = got["mcp"] || strings.HasPrefix(str(b["name"]), "mcp__")
			got["failed"] = got["failed"] || b["is_error"] == true && strings.HasPrefix(fmt.Sprint(l["toolUseResult"]), "Error")
			got["not failed"] = got["not failed"] || b["is_error"] == false
			got["output elsewhere"] = got["output elsewhere"] || strings.HasPrefix(fmt.Sprint(b["content"]), "<persisted-output>")
		}
	}
}

// messagesIn tells how messages are spread over lines, and what comes of their calls.
func messagesIn(f claudeSeenFile, got map[string]bool) {
	type message struct {
		first, last int
		lines       []fields
		outs        []int64
		stops       []any
	}
	by := map[string]*message{}
	line, asked, results := map[string]fields{}, map[string]string{}, map[string]int{}
	seen := map[string]bool{}
	for i, l := range f.lines {
		m := obj(l["message"])
		id := str(m["id"])
		if l["type"] == "assistant" && m["model"] != "<synthetic>" && !seen[str(l["uuid"])] {
			if by[id] == nil {
				by[id] = &message{first: i}
			}
			g := by[id]
			g.last, g.lines, g.stops = i, append(g.lines, l), append(g.stops, m["stop_reason"])
			u := obj(m["usage"])
			if u != nil {
				g.outs = append(g.outs, integer(u["output_tokens"]))
				for _, name := range []string{"cache_read_input_tokens", "cache_creation_input_tokens"} {
					v, have := u[name]
					got["usage with a null"] = got["usage with a null"] || have && v == nil
					got["usage without a member"] = got["usage without a member"] || !have
				}
			}
			got["without a request"] = got["without a request"] || l["requestId"] == nil
		}
		for _, b := range arr(m["content"]) {
			b := obj(b)
			if b["type"] == "tool_use" {
				asked[str(b["id"])], line[str(b["id"])] = id, l
			}
			if call := str(b["tool_use_id"]); call != "" {
				results[call] = i
				own := str(line[call]["uuid"]) == str(l["parentUuid"])
				got["result below its call"] = got["result below its call"] || own
				got["result below something else"] = got["result below something else"] || !own
			}
		}
		seen[str(l["uuid"])] = true
	}
	inOrder := map[string]int{}
	calls := slices.SortedFunc(maps.Keys(asked), func(a, b string) int {
		return strings.Compare(str(line[a]["timestamp"])+a, str(line[b]["timestamp"])+b)
	})
	for _, call := range calls {
		at, have := results[call]
		g := by[asked[call]]
		switch {
		case !have:
			got["missing result"] = true
		case at < g.last:
			got["result within a message"] = true
			if len(g.stops) > 0 && g.stops[0] != nil {
				got["WRONG: result within a message that said its end"] = true
			}
		case at < inOrder[asked[call]]:
			got["results in another order"] = true
		default:
			inOrder[asked[call]] = at
		}
	}
	for _, g := range by {
		n := len(g.lines)
		got["several lines"] = got["several lines"] || n > 1
		got["no usage"] = got["no usage"] || len(g.outs) == 0
		got["usage on the last line only"] = got["usage on the last line only"] || n > 1 && len(g.outs) == 1 && obj(obj(g.lines[n-1]["message"])["usage"]) != nil
		if n < 2 || len(g.outs) != n {
			continue
		}
		got["output grows"] = got["output grows"] || g.outs[0] < g.outs[n-1] && g.stops[0] == nil && g.stops[n-1] != nil
		got["output grows and no line says the end"] = got["output grows and no line says the end"] || g.outs[0] < g.outs[n-1] && g.stops[n-1] == nil
		got["all lines say the end"] = got["all lines say the end"] || g.stops[0] != nil && g.outs[0] == g.outs[n-1]
	}
}

// treeIn tells of what shape the tree is.
func treeIn(f claudeSeenFile, got map[string]bool) {
	turn, roots, side := map[string]int{}, map[string]string{}, ""
	expanded := map[string]bool{}
	for _, l := range f.lines {
		if l["isMeta"] == true {
			expanded[str(l["parentUuid"])] = true
		}
	}
	turns, switches, seen := 0, map[[2]string]bool{}, map[string]bool{}
	for _, l := range f.lines {
		up, chained := l["parentUuid"]
		id := str(l["uuid"])
		if !chained || seen[id] { // some copies have each line twice
			continue
		}
		seen[id] = true
		if l["isSidechain"] == true && l["agentId"] == nil {
			root := roots[str(up)]
			if up == nil {
				root = id
			}
			roots[id] = root
			got["inline agent"] = true
			if side != "" && root != side {
				got["interleaved inline agents"] = got["interleaved inline agents"] || switches[[2]string{root, side}]
				switches[[2]string{side, root}] = true
			}
			side = root
			continue
		}
		if person(l, expanded) {
			turns++
			if turns > 1 && up != nil && turn[str(up)] < turns-1 {
				got["prompt below an earlier turn"] = true
			}
			got["first prompt anew"] = got["first prompt anew"] || turns > 1 && up == nil
			turn[id] = turns
			continue
		}
		turn[id] = turn[str(up)]
		if up == nil {
			turn[id] = turns
		}
		got["two writers at once"] = got["two writers at once"] || l["isSidechain"] != true && turn[id] > 0 && turn[id] < turns && l["type"] == "assistant"
	}
}

// claudeWanted is what has to occur.
var claudeWanted = []string{
	"several lines", "output grows", "output grows and no line says the end", "all lines say the end", "no usage", "usage with a null",
	"usage without a member", "usage on the last line only", "without a request", "result within a message", "results in another order",
	"result below its call", "result below something else", "missing result", "failed", "not failed", "rejected", "mcp", "output elsewhere",
	"prompt command", "local command", "compact command", "local output", "shell", "caveat", "image in a prompt", "interruption",
	"interruption for tool use", "notification", "notification by its origin", "queued prompt", "synthetic", "hooks prevent the end",
	"system api_error", "system turn_duration", "system stop_hook_summary", "system compact_boundary", "system informational", "system of-tomorrow",
	"compact summary", "entry attachment", "entry progress", "entry new-entry-", "aside new-kind-", "aside queue-operation",
	"aside file-history-snapshot", "aside ai-title", "aside custom-title", "aside permission-mode", "aside mode", "aside summary", "aside last-prompt",
	"begins with an aside", "agent in the folder", "agent beside", "inline agent", "interleaved inline agents", "nested", "workflow", "launched",
	"card with a call", "card without a call", "agent in the folder without a card", "agent without a file", "progress of an agent",
	"prompt below an earlier turn", "first prompt anew", "two writers at once", "marked copy", "the last copied line has another time", "old copy",
	"silent copy", "two copies", "a copied line twice", "the origin goes on later", "blank line", "NULs", "no object", "CR LF", "cut line",
	"two lines in one", "cut last line", "raw U+2028", "clock steps back", "silence",
}

func TestClaudeFeatures(t *testing.T) {
	units := map[string]int{}
	for seed := range uint64(claudeSeeds) {
		files, _ := claudeUnitOf(seed)
		for name, has := range claudeFeatures(files) {
			if has {
				units[name]++
			}
			if has && strings.HasPrefix(name, "WRONG") {
				t.Errorf("seed %d: %s", seed, name)
			}
		}
	}
	for _, name := range claudeWanted {
		if units[name] < 8 {
			t.Errorf("%s occurs in %d of %d units", name, units[name], claudeSeeds)
		}
	}
	if testing.Verbose() {
		for _, name := range slices.Sorted(maps.Keys(units)) {
			t.Logf("%4d  %s", units[name], name)
		}
	}
}

// What is switched off does not occur.
func TestClaudeOptions(t *testing.T) {
	for _, c := range []struct {
		off    func(*ClaudeOptions)
		absent []string
	}{
		{func(o *ClaudeOptions) { o.Agents, o.Inline = false, false }, []string{"agent in the folder", "agent beside", "inline agent", "workflow", "launched"}},
		{func(o *ClaudeOptions) { o.Agents = false }, []string{"agent in the folder", "agent beside", "workflow", "launched"}},
		{func(o *ClaudeOptions) { o.Inline = false }, []string{"inline agent"}},
		{func(o *ClaudeOptions) { o.Background = false }, []string{"launched", "notification"}},
		{func(o *ClaudeOptions) { o.Workflows = false }, []string{"workflow"}},
		{func(o *ClaudeOptions) { o.Lost = false }, []string{"agent without a file"}},
		{func(o *ClaudeOptions) { o.Rewinds = false }, []string{"first prompt anew"}},
		{func(o *ClaudeOptions) { o.Rewinds, o.Writers = false, false }, []string{"first prompt anew", "prompt below an earlier turn", "two writers at once"}},
		{func(o *ClaudeOptions) { o.Commands = false }, []string{"prompt command", "local command", "shell", "caveat"}},
		{func(o *ClaudeOptions) { o.Compactions = false }, []string{"system compact_boundary", "compact command", "compact summary"}},
		{func(o *ClaudeOptions) { o.Errors = false }, []string{"failed", "synthetic", "system api_error"}},
		{func(o *ClaudeOptions) { o.Interruptions = false }, []string{"rejected", "interruption", "missing result"}},
		{func(o *ClaudeOptions) { o.Asides = false }, []string{"entry progress", "entry attachment", "aside mode", "begins with an aside"}},
		{func(o *ClaudeOptions) { o.Uncounted = false }, []string{"no usage", "usage with a null", "usage without a member"}},
		{func(o *ClaudeOptions) { o.Damage = false }, []string{"blank line", "NULs", "cut line", "cut last line", "CR LF", "no object", "two lines in one"}},
		{func(o *ClaudeOptions) { o.ClockSteps, o.Agents, o.Inline = false, false, false }, []string{"clock steps back"}},
		{func(o *ClaudeOptions) { o.Silences = false }, []string{"silence"}},
		{func(o *ClaudeOptions) { o.Copies = NoCopy }, []string{"marked copy", "old copy", "silent copy"}},
	} {
		for seed := range uint64(12) {
			o := AllClaude(6, ClaudeCopies(seed%4))
			c.off(&o)
			files, truth := ClaudeUnit(seeded(seed), o)
			if got := seeClaude(files).recount(); got != truth {
				t.Errorf("%+v: a recount says %+v, truth %+v", o, got, truth)
			}
			got := claudeFeatures(files)
			for _, name := range c.absent {
				if got[name] {
					t.Errorf("%+v: %s", o, name)
				}
			}
		}
	}
	if files, truth := ClaudeUnit(seeded(1), ClaudeOptions{}); len(files) != 1 || truth.Turns != 4 || truth.Ended != truth.Calls || truth.Failed > 0 {
		t.Errorf("a plain unit has %d files and %+v", len(files), truth)
	}
}
