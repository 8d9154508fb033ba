package format_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
)

// add appends entries and returns the id of the last.
func add(s *format.Session, entries ...format.Entry) (id string) {
	for _, e := range entries {
		var err error
		if id, err = s.Append(e); err != nil {
			log.Fatal(err)
		}
	}
	return id
}

// call is one model call: it builds the request from the session and records what came back.
func call(s *format.Session, id string, output ...openresponses.Item) (response string) {
	c, err := s.Context(s.Leaf())
	if err != nil {
		log.Fatal(err)
	}
	req, err := c.Request()
	if err != nil {
		log.Fatal(err)
	}
	// req.JSON() is what goes to the provider; openresponses.ParseResponse reads what it answers.
	resp := &openresponses.Response{ID: id, Model: "gpt-5", Status: openresponses.StatusCompleted, Output: output}
	entries, err := format.ResponseEntries(&req, resp, 500*time.Millisecond)
	if err != nil {
		log.Fatal(err)
	}
	return add(s, entries...)
}

func show(c *format.Context) {
	for i, item := range c.Items {
		fmt.Println(i, item.Type, item.Role, item.Text())
	}
}

// Recording a session: settings, an input, a model call, and the run around them.
func Example_record() {
	s, err := format.NewSession(format.Header{
		ID:        "01995b2a-0000-7000-8000-000000000001",
		CreatedAt: time.Date(2026, 9, 20, 12, 0, 0, 0, time.UTC),
		Harness:   &format.Harness{Name: "my-agent", Version: "1.0"},
		Records:   format.AllRecords(),
	})
	if err != nil {
		log.Fatal(err)
	}
	at := func(e format.Entry, second int) format.Entry { // an entry without a time gets the present one
		e.Base().ID, e.Base().Time = fmt.Sprint("e", second), s.Header().CreatedAt.Add(time.Duration(second)*time.Second)
		return e
	}
	add(s,
		at(format.ConfigFromRequest(&openresponses.Request{Model: "gpt-5", Instructions: "Be brief."}), 1),
		at(format.NewRunStart("run-1", format.SourceInput, ""), 2),
		at(format.NewItem(openresponses.UserText("What is 2+2?")), 3),
		at(format.NewOutput(openresponses.AssistantText("4"), "resp_1"), 4),
		at(format.NewResponse("resp_1", "gpt-5", openresponses.StatusCompleted), 5),
	)
	end, err := s.EndRun("", "") // the reason is what the segment tells
	if err != nil {
		log.Fatal(err)
	}
	add(s, at(end, 6))
	if _, err := s.WriteTo(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"type":"session","format":"agentsession/0.2","id":"01995b2a-0000-7000-8000-000000000001","created_at":"2026-09-20T12:00:00Z","payload":"openresponses/2026-04-24","harness":{"name":"my-agent","version":"1.0"},"records":["run","dispatch","decision"]}
	// {"type":"config","id":"e1","parent":null,"ts":"2026-09-20T12:00:01Z","replace":true,"model":"gpt-5","instructions":"Be brief."}
	// {"type":"run","id":"e2","parent":"e1","ts":"2026-09-20T12:00:02Z","run_id":"run-1","phase":"start","source":"input"}
	// {"type":"item","id":"e3","parent":"e2","ts":"2026-09-20T12:00:03Z","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"What is 2+2?"}]}}
	// {"type":"item","id":"e4","parent":"e3","ts":"2026-09-20T12:00:04Z","item":{"type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"4","annotations":[]}]},"response":"resp_1"}
	// {"type":"response","id":"e5","parent":"e4","ts":"2026-09-20T12:00:05Z","response_id":"resp_1","model":"gpt-5","status":"completed"}
	// {"type":"run","id":"e6","parent":"e5","ts":"2026-09-20T12:00:06Z","run_id":"run-1","phase":"end","reason":"done","pending":[]}
}

// Going back to an earlier entry starts a branch, which can carry over what the one that was left came to.
func ExampleSession_Branch() {
	s, err := format.NewSession(format.Header{})
	if err != nil {
		log.Fatal(err)
	}
	question := add(s, format.NewConfig("gpt-5"), format.NewItem(openresponses.UserText("Fix the test.")))
	left := call(s, "resp_1", openresponses.AssistantText("I deleted the test."))

	if err := s.Branch(question); err != nil {
		log.Fatal(err)
	}
	summary, err := s.SummarizeBranch(left, openresponses.UserText("Deleting the test was no solution."))
	if err != nil {
		log.Fatal(err)
	}
	add(s, summary)
	call(s, "resp_2", openresponses.AssistantText("I fixed the code."))

	// A mark keeps the choice for whoever reads the file.
	mark, err := s.MarkLeaf()
	if err != nil {
		log.Fatal(err)
	}
	add(s, mark)
	c, err := s.Context(s.Leaf())
	if err != nil {
		log.Fatal(err)
	}
	show(c)
	fmt.Println(len(s.Leaves()), "leaves")
	// Output:
	// 0 message user Fix the test.
	// 1 message user Deleting the test was no solution.
	// 2 message assistant I fixed the code.
	// 2 leaves
}

// A compaction replaces the beginning of the context by a summary.
func ExampleSession_CompactKeeping() {
	s, err := format.NewSession(format.Header{})
	if err != nil {
		log.Fatal(err)
	}
	add(s, format.NewConfig("gpt-5"), format.NewItem(openresponses.UserText("One?")))
	call(s, "resp_1", openresponses.AssistantText("One."))
	add(s, format.NewItem(openresponses.UserText("Two?")))
	call(s, "resp_2", openresponses.AssistantText("Two."))

	fold, err := s.CompactKeeping(2, openresponses.SystemText("They counted to one."))
	if err != nil {
		log.Fatal(err)
	}
	add(s, fold)
	c, err := s.Context(s.Leaf())
	if err != nil {
		log.Fatal(err)
	}
	show(c)
	// Output:
	// 0 message system They counted to one.
	// 1 message user Two?
	// 2 message assistant Two.
}

// What a harness that comes back finds: calls that wait, and what is known of each.
func ExampleSession_PendingCalls() {
	s, err := format.NewSession(format.Header{Records: format.AllRecords()})
	if err != nil {
		log.Fatal(err)
	}
	add(s, format.NewRunStart("run-1", format.SourceInput, ""), format.NewItem(openresponses.UserText("Clean up.")))
	call(s, "resp_1",
		openresponses.NewFunctionCall("call_1", "bash", `{"cmd":"rm -rf build"}`),
		openresponses.NewFunctionCall("call_2", "bash", `{"cmd":"ls"}`),
	)
	calls, err := s.Calls(s.Leaf())
	if err != nil {
		log.Fatal(err)
	}
	add(s,
		format.NewDecision("call_1", calls[0].Entry.ID, format.VerdictHold, format.ByPolicy).WithReason("needs approval"),
		format.NewDispatch("call_2", calls[1].Entry.ID),
		format.NewItem(openresponses.NewFunctionCallOutput("call_2", "main.go")),
	)
	end, err := s.EndRun("", "")
	if err != nil {
		log.Fatal(err)
	}
	add(s, end)
	fmt.Println("ended:", end.Reason, end.Pending)

	// Later, maybe in another process:
	pending, err := s.PendingCalls(s.Leaf())
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range pending {
		fmt.Println(c.ID(), c.Name(), c.State, c.Args())
	}
	// Output:
	// ended: input_required [call_1]
	// call_1 bash held {"cmd":"rm -rf build"}
}

func ExampleSession_Verify() {
	s, err := format.NewSession(format.Header{})
	if err != nil {
		log.Fatal(err)
	}
	add(s, format.NewConfig("gpt-5"), format.NewItem(openresponses.UserText("Hi.")))
	id := call(s, "resp_1", openresponses.AssistantText("Hello."))
	fmt.Println(s.Verify(id))

	bare := add(s, format.NewResponse("resp_2", "gpt-5", openresponses.StatusFailed))
	fmt.Println(errors.Is(s.Verify(bare), format.ErrNoHash))
	// Output:
	// <nil>
	// true
}

// An examination of the whole session finds what disagrees with the format.
func ExampleSession_Check() {
	s, err := format.NewSession(format.Header{Records: []string{format.TypeDispatch}})
	if err != nil {
		log.Fatal(err)
	}
	add(s, format.NewItem(openresponses.UserText("List the files.")))
	call(s, "resp_1", openresponses.NewFunctionCall("call_1", "bash", `{"cmd":"ls"}`))
	add(s, format.NewItem(openresponses.NewFunctionCallOutput("call_1", "main.go")))

	check, err := s.Check(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(check.Hashes, "hash,", check.Calls, "call")
	for _, f := range check.Findings {
		fmt.Println(f.Rule, "-", f)
	}
	// Output:
	// 1 hash, 1 call
	// record - line 5: a promised record is missing: call "call_1" has an output and no dispatch
}

// Settings are a value; each config entry makes new ones.
func ExampleSettings_Apply() {
	low := format.NewConfig("gpt-5")
	low.SetExtra("temperature", []byte("0.20"))
	s := format.Settings{}.Apply(low)
	fmt.Printf("%s\n", s.Config())

	clear := format.NewConfig("gpt-5-mini")
	clear.ClearExtra("temperature")
	fmt.Printf("%s\n", s.Apply(clear).Config())
	// Output:
	// {"model":"gpt-5","extra":{"temperature":0.20}}
	// {"model":"gpt-5-mini"}
}

func ExampleSubsessionID() {
	fmt.Println(format.SubsessionID("01995b2a-0000-7000-8000-000000000001", "call_1"))
	// Output: 91d0242a-bd8b-551a-a26c-d3b0d4889b4f
}
