package format

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Entries for chain: the tests of calls and runs read like the sessions they are about.
func call(id, response string) []string {
	return []string{"item", `"item":{"type":"function_call","call_id":"` + id + `","name":"bash","arguments":"{}"}`, `"response":"` + response + `"`}
}

func output(id string) []string {
	return []string{"item", `"item":{"type":"function_call_output","call_id":"` + id + `","output":""}`}
}

func message(role string) []string {
	return []string{"item", `"item":{"type":"message","role":"` + role + `","content":[]}`}
}

func dispatch(id, target string) []string {
	return []string{"dispatch", `"call_id":"` + id + `"`, `"target":"` + target + `"`}
}

func decide(verdict, id, target string) []string {
	return []string{"decision", `"call_id":"` + id + `"`, `"target":"` + target + `"`, `"verdict":"` + verdict + `"`, `"reason":"why"`}
}

func response(id string, members ...string) []string {
	return append([]string{"response", `"response_id":"` + id + `"`}, members...)
}

func start(id string) []string {
	return []string{"run", `"run_id":"` + id + `"`, `"phase":"start"`, `"source":"input"`}
}

func end(id string) []string {
	return []string{"run", `"run_id":"` + id + `"`, `"phase":"end"`, `"reason":"done"`, `"pending":[]`}
}

func session(t testing.TB, header string, entries ...[]string) *Session {
	t.Helper()
	return mustRead(t, file(append([]string{header}, chain(entries...)...)...))
}

const promise = `"records":["run","dispatch","decision"]`

// callText sums a call up: its id, its state, and the entries that it has.
func callText(c *Call) string {
	list := []string{c.ID(), c.State.String(), c.Entry.ID}
	for _, d := range c.Decisions {
		list = append(list, d.Verdict)
	}
	for _, d := range c.Dispatches {
		list = append(list, "dispatch@"+d.ID)
	}
	if c.Output != nil {
		list = append(list, "output@"+c.Output.ID)
	}
	return strings.Join(list, " ")
}

func TestCalls(t *testing.T) {
	c := call("c1", "r1")
	tests := []struct {
		name   string
		header string
		path   [][]string
		want   []string
	}{
		{"no calls", headerOf("2"), [][]string{message("user")}, nil},
		{"completed", headerOf("2", promise), [][]string{c, dispatch("c1", "e1"), output("c1")}, []string{"c1 completed e1 dispatch@e2 output@e3"}},
		{"completed without a dispatch", headerOf("2"), [][]string{c, output("c1")}, []string{"c1 completed e1 output@e2"}},
		{"completed by the first output", headerOf("2"), [][]string{c, output("c1"), output("c1")}, []string{"c1 completed e1 output@e2"}},
		{"rejected with its output is completed", headerOf("11", promise), [][]string{c, decide("reject", "c1", "e1"), output("c1")}, []string{"c1 completed e1 reject output@e3"}},
		{
			"answered with its output is completed", headerOf("11", promise),
			[][]string{c, dispatch("c1", "e1"), decide("answer", "c1", "e1"), output("c1")},
			[]string{"c1 completed e1 answer dispatch@e2 output@e4"},
		},
		{"held", headerOf("2", promise), [][]string{c, decide("hold", "c1", "e1")}, []string{"c1 held e1 hold"}},
		{"a hold that was answered", headerOf("2", promise), [][]string{c, decide("hold", "c1", "e1"), decide("proceed", "c1", "e1")}, []string{"c1 never_started e1 hold proceed"}},
		{"in flight", headerOf("2", promise), [][]string{c, decide("hold", "c1", "e1"), dispatch("c1", "e1")}, []string{"c1 in_flight e1 hold dispatch@e3"}},
		{"a hold after the dispatch, before minor 8", headerOf("7", promise), [][]string{c, dispatch("c1", "e1"), decide("hold", "c1", "e1")}, []string{"c1 in_flight e1 hold dispatch@e2"}},
		{"a hold after the dispatch", headerOf("8", promise), [][]string{c, dispatch("c1", "e1"), decide("hold", "c1", "e1")}, []string{"c1 held e1 hold dispatch@e2"}},
		{
			"two hand-offs", headerOf("8", promise),
			[][]string{c, dispatch("c1", "e1"), decide("hold", "c1", "e1"), dispatch("c1", "e1")},
			[]string{"c1 in_flight e1 hold dispatch@e2 dispatch@e4"},
		},
		{"never started", headerOf("2", promise), [][]string{c}, []string{"c1 never_started e1"}},
		{"unknown", headerOf("2"), [][]string{c}, []string{"c1 unknown e1"}},
		{"unknown although something else is promised", headerOf("2", `"records":["run"]`), [][]string{c}, []string{"c1 unknown e1"}},
		{"rejected without its output", headerOf("9", promise), [][]string{c, decide("reject", "c1", "e1")}, []string{"c1 rejected e1 reject"}},
		{"rejected without its output, before minor 9", headerOf("8", promise), [][]string{c, decide("reject", "c1", "e1")}, []string{"c1 never_started e1 reject"}},
		{"answered without its output", headerOf("8", promise), [][]string{c, dispatch("c1", "e1"), decide("answer", "c1", "e1")}, []string{"c1 answered e1 answer dispatch@e2"}},
		{"a verdict of a later minor decides nothing", headerOf("11", promise), [][]string{c, decide("ponder", "c1", "e1")}, []string{"c1 never_started e1 ponder"}},
		{"calls that are not on the path", headerOf("11"), [][]string{c, dispatch("c9", "e9"), decide("hold", "c9", "e9"), output("c9")}, []string{"c1 unknown e1"}},
		{"an output before its call", headerOf("11"), [][]string{output("c1"), c}, []string{"c1 unknown e2"}},
		{"several, each with its own", headerOf("2"), [][]string{c, call("c2", "r1"), output("c2"), dispatch("c1", "e1")}, []string{"c1 in_flight e1 dispatch@e4", "c2 completed e2 output@e3"}},
		{"a call id used again: the first, in minor 2", headerOf("2"), [][]string{c, output("c1"), call("c1", "r2"), dispatch("c1", "e3")}, []string{"c1 completed e1 dispatch@e4 output@e2"}},
		{
			"a call id used again: each its own, from minor 3 on", headerOf("3"),
			[][]string{c, output("c1"), call("c1", "r2"), dispatch("c1", "e3"), output("c1")},
			[]string{"c1 completed e1 output@e2", "c1 completed e3 dispatch@e4 output@e5"},
		},
		{"a call id used again: the target says which", headerOf("3"), [][]string{c, call("c1", "r2"), dispatch("c1", "e1")}, []string{"c1 in_flight e1 dispatch@e3", "c1 unknown e2"}},
		{"calls without an id are never completed", headerOf("3"), [][]string{call("", "r1"), dispatch("c", "e1"), output("")}, []string{" in_flight e1 dispatch@e2"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := session(t, test.header, test.path...)
			path, err := s.Path(s.Leaf())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range Calls(path, s.Header()) {
				got = append(got, callText(c))
				if c.Pending() != (c.State != CallCompleted) || c.Name() != "bash" {
					t.Errorf("%v: pending %v, name %q", c, c.Pending(), c.Name())
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A session knows more than a path: what another session promised, and what was dispatched on another branch.
func TestSessionCalls(t *testing.T) {
	lines := chain(call("c1", "r1"), message("user"), dispatch("c1", "e1"))
	rebased := append(lines, entry("info", "x", "e2"))
	lines = chain(call("c1", "r1"), message("user"), call("c2", "r2"))
	tests := []struct {
		name, header string
		lines        []string
		want         []string
	}{
		{"a dispatch on another branch", headerOf("10", promise), rebased, []string{"c1 unknown e1"}},
		{"a dispatch on another branch, before minor 10", headerOf("9", promise), rebased, []string{"c1 never_started e1"}},
		{"a call above the base", headerOf("5", promise, `"base":"e2"`), lines, []string{"c1 unknown e1", "c2 never_started e3"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := mustRead(t, file(append([]string{test.header}, test.lines...)...))
			calls, err := s.Calls(s.Leaf())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range calls {
				got = append(got, callText(c))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCallStateString(t *testing.T) {
	if got := CallState(99).String(); got != "CallState(99)" {
		t.Error(got)
	}
}
