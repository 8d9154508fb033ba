package pi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCheck(t *testing.T) {
	call := func(id, parent, call string) string {
		return message(id, parent, "assistant", fmt.Sprintf(`[{"type":"toolCall","id":%q,"name":"x"}]`, call))
	}
	result := func(id, parent, call string) string {
		return entry("message", id, parent, fmt.Sprintf(`"message":{"role":"toolResult","toolCallId":%q}`, call))
	}
	s := parse(t, header,
		entry("x", "a", "", ""),
		entry("x", "a", "", ""),
		entry("x", "b", "lost", ""),
		entry("x", "c", "c", ""),
		entry("label", "d", "a", `"targetId":"nobody"`),
		call("e", "d", "c1"), result("f", "e", "c1"), call("g", "d", "c2"), result("h", "g", "c1"),
		entry("compaction", "i", "f", `"firstKeptEntryId":"e"`),
		entry("compaction", "j", "i", `"firstKeptEntryId":"g"`),
		entry("compaction", "k", "j", `"firstKeptEntryId":"k"`),
		entry("compaction", "l", "k", `"firstKeptEntryId":"g","retainedTail":[]`),
		entry("message", "m", "l", `"message":{"role":"assistant","usage":{"input":1,"cacheRead":2,"totalTokens":4}}`),
		"{",
	)
	c := s.Check()
	var got []string
	for _, f := range c.Findings {
		got = append(got, fmt.Sprintf("%d %s %s %t", f.Line, f.Rule, f.Entry, f.Note))
	}
	want := strings.Split(`3 duplicate_id a false
4 parent b false
5 parent c false
6 reference d true
10 call h true
12 reference j false
15 usage m true`, "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if c.Calls != 2 || c.Unanswered != 1 {
		t.Errorf("%d calls, %d without a result", c.Calls, c.Unanswered)
	}
}

// Of version 1, whose entries have no tree, what comes before counts.
func TestCheckVersion1(t *testing.T) {
	s := parse(t, `{"type":"session","id":"s"}`,
		`{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"x"}]}}`,
		`{"type":"message","message":{"role":"toolResult","toolCallId":"c"}}`,
		`{"type":"message","message":{"role":"toolResult","toolCallId":"d"}}`,
	)
	if c := s.Check(); c.Calls != 1 || c.Unanswered != 0 || len(c.Findings) != 1 || c.Findings[0].Line != 4 {
		t.Errorf("%+v", c)
	}
}
