package pi_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/pi"
)

// A short session: a prompt, a tool, an answer; then the person went back to the prompt and had it answered once more.
const file = `{"type":"session","version":3,"id":"s1","timestamp":"2026-03-02T09:00:00.000Z","cwd":"/home/user/project"}
{"type":"model_change","id":"a1","parentId":null,"timestamp":"2026-03-02T09:00:00.000Z","provider":"anthropic","modelId":"claude-sonnet-4-5"}
{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-03-02T09:00:05.010Z","message":{"role":"user","content":"How many files?","timestamp":1772442005000}}
{"type":"message","id":"a3","parentId":"a2","timestamp":"2026-03-02T09:00:07.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls | wc -l"}}],"provider":"anthropic","model":"claude-sonnet-4-5","usage":{"input":10,"output":20,"cacheRead":90,"cacheWrite":0,"totalTokens":120,"cost":{"total":0.001}},"stopReason":"toolUse","timestamp":1772442005015}}
{"type":"message","id":"a4","parentId":"a3","timestamp":"2026-03-02T09:00:07.205Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"7"}],"isError":false,"timestamp":1772442007200}}
{"type":"message","id":"a5","parentId":"a4","timestamp":"2026-03-02T09:00:08.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Seven."}],"provider":"anthropic","model":"claude-sonnet-4-5","usage":{"input":5,"output":10,"cacheRead":115,"cacheWrite":0,"totalTokens":130,"cost":{"total":0.002}},"stopReason":"stop","timestamp":1772442007206}}
{"type":"message","id":"a6","parentId":"a2","timestamp":"2026-03-02T09:01:08.000Z","message":{"role":"assistant","content":[{"type":"text","text":"I would have to look."}],"provider":"openai","model":"gpt-5","usage":{"input":40,"output":6,"cacheRead":0,"cacheWrite":0,"totalTokens":46,"cost":{"total":0.003}},"stopReason":"stop","timestamp":1772442065000}}
`

func ExampleDecoder() {
	var d pi.Decoder
	e, err := d.Decode([]byte(`{"type":"message","id":"a3","parentId":"a2","message":{"role":"assistant","stopReason":"toolUse",` +
		`"content":[{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"ls"}}],"usage":{"input":10,"cacheRead":90,"output":20}}}`))
	if err != nil {
		log.Fatal(err)
	}
	m := e.Message()
	if m == nil {
		log.Fatal("not a message")
	}
	for c := range m.ToolCalls() {
		fmt.Printf("%s %s %s\n", c.ID, c.Name, c.Arguments)
	}
	if u, ok := m.Usage(); ok {
		fmt.Println(e.ID, m.Role, m.Text("stopReason"), u.Prompt(), u.Output)
	}
	// Output:
	// c1 bash {"command":"ls"}
	// a3 assistant toolUse 100 20
}

func ExampleRead() {
	s, err := pi.Read(strings.NewReader(file))
	if err != nil {
		log.Fatal(err)
	}
	h := s.Header()
	fmt.Println(h.ID, h.Version, h.CWD, len(s.Entries()))
	// Output: s1 3 /home/user/project 6
}

// What is no session is refused. Whatever is wrong behind the header is passed over, and still there.
func ExampleParse_damage() {
	_, err := pi.Parse([]byte(`{"type":"event"}` + "\n" + file))
	fmt.Println(errors.Is(err, format.ErrNoHeader), err)

	s, err := pi.Parse([]byte(file + "[1,2]\n\n" + `{"type":"message","id":"a7","par`))
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range s.Lines() {
		switch l.Kind {
		case pi.Damaged:
			fmt.Printf("damaged at %d: %s\n", l.Offset, l.Raw)
		case pi.Value:
			fmt.Printf("no entry at %d: %s", l.Offset, l.Raw)
		}
	}
	fmt.Println(s.Count(pi.EntryLine), s.Count(pi.Blank), s.Count(pi.Damaged))
	// Output:
	// true line 1 (offset 0): no session header: the first value is not {"type":"session",…} with a string as id
	// no entry at 1775: [1,2]
	// damaged at 1782: {"type":"message","id":"a7","par
	// 6 1 1
}

func ExampleSession_Children() {
	s, err := pi.Parse([]byte(file))
	if err != nil {
		log.Fatal(err)
	}
	var walk func(entries []*pi.Entry, depth int)
	walk = func(entries []*pi.Entry, depth int) {
		for _, e := range entries {
			what := e.Type
			if m := e.Message(); m != nil {
				what = m.Role
			}
			fmt.Println(strings.Repeat("·", depth), e.ID, what)
			walk(s.Children(e.ID), depth+1)
		}
	}
	walk(s.Roots(), 1)
	// Output:
	// · a1 model_change
	// ·· a2 user
	// ··· a3 assistant
	// ···· a4 toolResult
	// ····· a5 assistant
	// ··· a6 assistant
}

func ExampleSession_Path() {
	s, err := pi.Parse([]byte(file))
	if err != nil {
		log.Fatal(err)
	}
	leaf, _ := s.Leaf()
	for _, e := range s.Path(leaf) {
		fmt.Print(e.ID, " ")
	}
	// Output: a1 a2 a6
}

func ExampleSession_Context() {
	s, err := pi.Parse([]byte(file))
	if err != nil {
		log.Fatal(err)
	}
	show := func(id string) {
		c := s.Context(id)
		fmt.Println("at", id, c.Provider, c.Model)
		for _, m := range c.Messages {
			fmt.Printf("  %s %s\n", m.Role, m.Content)
		}
	}
	leaf, _ := s.Leaf()
	show(leaf)

	// An edit takes the question out, from there on; a compaction has what stands before it folded.
	s, err = pi.Parse([]byte(file +
		`{"type":"context_edit","id":"a7","parentId":"a6","timestamp":"2026-03-02T09:02:00.000Z","targetId":"a2","replacement":null}` + "\n"))
	if err != nil {
		log.Fatal(err)
	}
	show("a7")
	s, err = pi.Parse([]byte(file +
		`{"type":"compaction","id":"a8","parentId":"a6","timestamp":"2026-03-02T09:02:00.000Z","summary":"Files were counted.","firstKeptEntryId":"a6","tokensBefore":46}` + "\n"))
	if err != nil {
		log.Fatal(err)
	}
	show("a8")
	// Output:
	// at a6 openai gpt-5
	//   user "How many files?"
	//   assistant [{"type":"text","text":"I would have to look."}]
	// at a7 openai gpt-5
	//   assistant [{"type":"text","text":"I would have to look."}]
	// at a8 openai gpt-5
	//   compactionSummary "Files were counted."
	//   assistant [{"type":"text","text":"I would have to look."}]
}

func ExampleSession_Statistics() {
	s, err := pi.Parse([]byte(file))
	if err != nil {
		log.Fatal(err)
	}
	t := s.Statistics() // of all branches
	fmt.Println(t.User, t.Assistant, t.ToolCalls, t.ToolResults)
	fmt.Println(t.Input, t.Output, t.CacheRead, t.CacheWrite, t.Total())
	fmt.Printf("$%.3f, %.0f %% of the last prompt came from a cache\n", t.Cost, 100*t.CacheHitRate)
	// Output:
	// 1 3 1 1
	// 55 36 205 0 296
	// $0.006, 0 % of the last prompt came from a cache
}

// A fork has a copy of all that was before it.
func ExampleSum() {
	const fork = `{"type":"session","version":3,"id":"s2","timestamp":"2026-03-03T09:00:00.000Z","parentSession":"/sessions/2026-03-02T09-00-00-000Z_s1.jsonl"}`
	_, copied, _ := strings.Cut(file, "\n")
	a, err := pi.Parse([]byte(file))
	if err != nil {
		log.Fatal(err)
	}
	b, err := pi.Parse([]byte(fork + "\n" + copied))
	if err != nil {
		log.Fatal(err)
	}
	alone, both := a.Statistics(), pi.Sum(a, b)
	fmt.Println(alone.Total(), both.Total())
	// Output: 296 296
}

func ExampleSession_Migrated() {
	s, err := pi.Parse([]byte(`{"type":"session","id":"s1","timestamp":"2025-12-01T09:00:00.000Z","cwd":"/home/user","provider":"anthropic","modelId":"claude"}
{"type":"message","timestamp":"2025-12-01T09:00:01.000Z","message":{"role":"user","content":"Hello."}}
{"type":"message","timestamp":"2025-12-01T09:00:03.000Z","message":{"role":"assistant","content":[]}}
{"type":"compaction","timestamp":"2025-12-01T09:00:09.000Z","summary":"They said hello.","firstKeptEntryIndex":2,"tokensBefore":9}
`))
	if err != nil {
		log.Fatal(err)
	}
	n := 0
	m, err := s.Migrated(func() string { n++; return fmt.Sprintf("e%d", n) }) // nil: ids at random, as the agents have them
	if err != nil {
		log.Fatal(err)
	}
	if _, err := m.WriteTo(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"type":"session","id":"s1","timestamp":"2025-12-01T09:00:00.000Z","cwd":"/home/user","provider":"anthropic","modelId":"claude","version":3}
	// {"type":"message","timestamp":"2025-12-01T09:00:01.000Z","message":{"role":"user","content":"Hello."},"id":"e1","parentId":null}
	// {"type":"message","timestamp":"2025-12-01T09:00:03.000Z","message":{"role":"assistant","content":[]},"id":"e2","parentId":"e1"}
	// {"type":"compaction","timestamp":"2025-12-01T09:00:09.000Z","summary":"They said hello.","tokensBefore":9,"id":"e3","parentId":"e2","firstKeptEntryId":"e2"}
}

func ExampleSession_Check() {
	s, err := pi.Parse([]byte(file +
		`{"type":"message","id":"a7","parentId":"gone","message":{"role":"toolResult","toolCallId":"c9","content":[]}}` + "\n" +
		`{"type":"label","id":"a7","parentId":"a6","targetId":"a3","label":"here"}` + "\n"))
	if err != nil {
		log.Fatal(err)
	}
	c := s.Check()
	for _, f := range c.Findings {
		fmt.Printf("line %d %s %s: %s\n", f.Line, f.Entry, f.Rule, f.What)
	}
	fmt.Println(c.Calls, "call,", c.Unanswered, "without a result")
	// Output:
	// line 8 a7 parent: the parent "gone" is no earlier entry
	// line 9 a7 duplicate_id: the id "a7" was used before: the later entry takes its place
	// 1 call, 0 without a result
}

func ExampleSession_WriteTo() {
	s, err := pi.Parse([]byte(`{ "version":3.0, "type":"session", "id":"s\u0031", "x":1.50 }` + "\r\n\n{torn"))
	if err != nil {
		log.Fatal(err)
	}
	var out strings.Builder
	if _, err := s.WriteTo(&out); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q\n", out.String())
	// Output: "{ \"version\":3.0, \"type\":\"session\", \"id\":\"s\\u0031\", \"x\":1.50 }\r\n\n{torn"
}

func ExampleStringify() {
	line, err := pi.Stringify([]byte(`{ "b": 1.50, "10": 1e21, "9": "\u00e9\/", "b": -0, "half": "\uD83D" }`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", line)
	// Output: {"9":"é/","10":1e+21,"b":0,"half":"\ud83d"}
}
