package pi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/format/pi"
)

// said writes a context: role, entry and content of each message.
func said(c *pi.Context) string {
	var list []string
	for _, m := range c.Messages {
		list = append(list, fmt.Sprintf("%s@%s%s", m.Role, m.Entry.ID, m.Content))
	}
	return strings.Join(list, " ")
}

func TestContext(t *testing.T) {
	compaction := func(id, parent, more string) string {
		return entry("compaction", id, parent, `"summary":"S",`+more)
	}
	edit := func(id, parent, target, replacement string) string {
		return entry("context_edit", id, parent, fmt.Sprintf(`"targetId":%q,"replacement":%s`, target, replacement))
	}
	turns := []string{
		message("s", "", "system", `"P"`), message("u1", "s", "user", `"one"`), message("a1", "u1", "assistant", `[]`),
		message("u2", "a1", "user", `"two"`), message("a2", "u2", "assistant", `[2]`),
	}
	const whole = `system@s"P" user@u1"one" assistant@a1[] user@u2"two" assistant@a2[2]`
	for _, tc := range []struct {
		name, at string
		more     []string
		want     string
	}{
		{"all of the path", "a2", nil, whole},
		{"a part of it", "a1", nil, `system@s"P" user@u1"one" assistant@a1[]`},
		{"of an entry that is not there", "lost", nil, whole},
		{"before the first entry", "", nil, ""},
		{"what is no message says nothing", "x", []string{entry("label", "l", "a2", `"targetId":"u1","label":"x"`), entry("new", "x", "l", "")}, whole},
		{"content that is missing", "z", []string{
			entry("message", "y", "a1", `"message":{"role":"user"}`), entry("message", "z", "y", `"message":{"role":"system","content":null}`),
		}, `system@s"P" user@u1"one" assistant@a1[] user@y[] system@z""`},
		{"a message that is null", "y", []string{entry("message", "y", "u1", `"message":null`)}, `system@s"P" user@u1"one"`},
		{"an extension's message", "c", []string{entry("custom_message", "c", "u1", `"content":"C","display":false`)}, `system@s"P" user@u1"one" custom@c"C"`},
		{"a branch summary", "b", []string{entry("branch_summary", "b", "u1", `"summary":"B"`)}, `system@s"P" user@u1"one" branchSummary@b"B"`},
		{"an empty branch summary", "b", []string{entry("branch_summary", "b", "u1", `"summary":""`)}, `system@s"P" user@u1"one"`},
		{
			"a compaction", "u3",
			[]string{compaction("c", "a2", `"firstKeptEntryId":"u2"`), message("u3", "c", "user", `"three"`)},
			`compactionSummary@c"S" user@u2"two" assistant@a2[2] user@u3"three"`,
		},
		{
			"a compaction leaves system messages out", "c",
			[]string{compaction("c", "a2", `"firstKeptEntryId":"s"`)},
			`compactionSummary@c"S" user@u1"one" assistant@a1[] user@u2"two" assistant@a2[2]`,
		},
		{"a compaction that keeps nothing", "c", []string{compaction("c", "a2", `"firstKeptEntryId":"c"`)}, `compactionSummary@c"S"`},
		{"one that keeps what is not on the path", "c", []string{compaction("c", "a2", `"firstKeptEntryId":"lost"`)}, `compactionSummary@c"S"`},
		{
			"one with a system message", "c",
			[]string{compaction("c", "a2", `"firstKeptEntryId":"c","systemMessage":{"role":"system","content":"Q"}`)},
			`system@c"Q" compactionSummary@c"S"`,
		},
		{
			"one with a tail", "c",
			[]string{compaction("c", "a2", `"firstKeptEntryId":"u1","retainedTail":[{"role":"user","content":"T"},1]`)},
			`compactionSummary@c"S" user@c"T"`,
		},
		{
			"two of them", "d",
			[]string{compaction("c", "a1", `"firstKeptEntryId":"u1"`), message("u3", "c", "user", `"three"`), compaction("d", "u3", `"firstKeptEntryId":"u1"`)},
			`compactionSummary@d"S" user@u1"one" assistant@a1[] user@u3"three"`,
		},
		{"an edit that omits", "e", []string{edit("e", "a2", "a1", "null")}, `system@s"P" user@u1"one" user@u2"two" assistant@a2[2]`},
		{"an edit with something else omits too", "e", []string{edit("e", "a2", "a1", "5")}, `system@s"P" user@u1"one" user@u2"two" assistant@a2[2]`},
		{
			"an edit that replaces", "e",
			[]string{edit("e", "a2", "u1", `{"content":"new"}`)},
			`system@s"P" user@u1"new" assistant@a1[] user@u2"two" assistant@a2[2]`,
		},
		{
			"a string for an assistant is a block", "e",
			[]string{edit("e", "a2", "a1", `{"content":"new"}`)},
			`system@s"P" user@u1"one" assistant@a1[{"type":"text","text":"new"}] user@u2"two" assistant@a2[2]`,
		},
		{"a system message is left alone", "e", []string{edit("e", "a2", "s", `{"content":"new"}`)}, whole},
		{
			"the last edit counts", "f",
			[]string{edit("e", "a2", "a1", "null"), edit("f", "e", "a1", `{"content":[7]}`)},
			`system@s"P" user@u1"one" assistant@a1[7] user@u2"two" assistant@a2[2]`,
		},
		{"an edit of another branch does not", "a2", []string{edit("e", "a1", "u1", "null")}, whole},
		{"nor one that was summarised away", "c", []string{edit("e", "a2", "a2", "null"), compaction("c", "e", `"firstKeptEntryId":"c"`)}, `compactionSummary@c"S"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := parse(t, append(append([]string{header}, turns...), tc.more...)...)
			if diff := cmp.Diff(tc.want, said(s.Context(tc.at))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestContextSettings(t *testing.T) {
	lines := []string{
		header, entry("model_change", "1", "", `"provider":"p","modelId":"m"`), entry("thinking_level_change", "2", "1", `"thinkingLevel":"high"`),
		entry("active_tools_change", "3", "2", `"activeToolNames":["a","b"]`),
		entry("message", "4", "3", `"message":{"role":"assistant","provider":"q","model":"n"}`),
		entry("message", "5", "4", `"message":{"role":"system","toolsAdded":[{"name":"c"},{"name":"d"}]}`),
		entry("message", "6", "5", `"message":{"role":"system","toolsRemoved":[{"name":"c"}],"toolsAdded":[{"name":"d"}]}`),
		entry("compaction", "7", "6", `"summary":"","firstKeptEntryId":"7","systemMessage":{"role":"system","toolsAdded":[{"name":"e"}]}`),
	}
	s := parse(t, lines...)
	for at, want := range map[string]string{
		"":  "// off [] false",
		"1": "p/m/ off [] false",
		"3": "p/m/ high [a b] true",
		"4": "q/n/ high [a b] true",
		"5": "q/n/ high [c d] true",
		"6": "q/n/ high [d] true",
		"7": "q/n/ high [e] true",
	} {
		c := s.Context(at)
		if got := fmt.Sprintf("%s/%s/ %s %v %t", c.Provider, c.Model, c.ThinkingLevel, c.Tools, c.HasTools); got != want {
			t.Errorf("at %q: %s, want %s", at, got, want)
		}
	}
}
