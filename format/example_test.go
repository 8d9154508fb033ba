package format_test

import (
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/sessionspan/sessionspan/format"
)

const file = `{"type":"session","format":"agentsession/0.2","id":"s1","created_at":"2026-09-20T12:00:00Z","payload":"openresponses/2026-04-24","records":["run","dispatch","decision"]}
{"type":"run","id":"a1","parent":null,"ts":"2026-09-20T12:00:01Z","run_id":"r1","phase":"start","source":"input"}
{"type":"item","id":"a2","parent":"a1","ts":"2026-09-20T12:00:02Z","item":{"type":"message","role":"user","content":"List the files."}}
{"type":"item","id":"a3","parent":"a2","ts":"2026-09-20T12:00:03Z","item":{"type":"function_call","call_id":"c1","name":"bash","arguments":"{\"cmd\":\"ls\"}"},"response":"m1"}
{"type":"response","id":"a4","parent":"a3","ts":"2026-09-20T12:00:03Z","response_id":"m1","model":"gpt-5","usage":{"input_tokens":50,"output_tokens":20}}
{"type":"dispatch","id":"a5","parent":"a4","ts":"2026-09-20T12:00:04Z","call_id":"c1","target":"a3"}
{"type":"acme:note","id":"a6","parent":"a5","ts":"2026-09-20T12:00:05Z","text":"kept as it is"}
`

func ExampleDecodeEntry() {
	e, err := format.DecodeEntry([]byte(`{"type":"item","id":"a2","parent":"a1","ts":"2026-09-20T12:00:02Z","item":{"type":"message","role":"user","content":"Hi."}}`))
	if err != nil {
		log.Fatal(err)
	}
	if item, ok := e.(*format.ItemEntry); ok {
		fmt.Println(item.ID, item.Item.Type, item.Item.Role)
	}
	// Output: a2 message user
}

func ExampleReader() {
	damaged := strings.Replace(file, `"response_id"`, `"response_id`, 1)
	r, err := format.NewReader(strings.NewReader(damaged))
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range r.Entries() {
		if errors.Is(err, format.ErrSyntax) {
			fmt.Println(err) // and on with the next line
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(r.Line().Number, e.Base().ID, e.EntryType())
	}
	// Output:
	// 2 a1 run
	// 3 a2 item
	// 4 a3 item
	// line 5 (offset 596, 85 bytes into the line): not a JSON object: invalid character 'm' after object key
	// 6 a5 dispatch
	// 7 a6 acme:note
}

func ExampleReadSession() {
	s, err := format.ReadSession(strings.NewReader(file + `{"type":"run","id":"a7","par`))
	if err != nil {
		log.Fatal(err)
	}
	if torn := s.Torn(); torn != nil {
		fmt.Println("set aside:", torn)
	}
	path, err := s.Path(s.Leaf())
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range path {
		fmt.Print(e.Base().ID, " ")
	}
	// Output:
	// set aside: line 8 (offset 947, 28 bytes into the line): broken last line: not a JSON object: unexpected end of input
	// a1 a2 a3 a4 a5 a6
}

func ExampleSession_Calls() {
	s, err := format.ReadSession(strings.NewReader(file))
	if err != nil {
		log.Fatal(err)
	}
	calls, err := s.Calls(s.Leaf())
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range calls {
		fmt.Println(c.ID(), c.Name(), c.State)
	}
	// Output: c1 bash in_flight
}

func ExampleSession_Runs() {
	s, err := format.ReadSession(strings.NewReader(file))
	if err != nil {
		log.Fatal(err)
	}
	runs, err := s.Runs(s.Leaf())
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range runs {
		fmt.Println(r.ID(), r.End != nil, r.ComputeReason(), r.Pending())
	}
	// Output: r1 false aborted [c1]
}

func ExampleSession_WriteTo() {
	s, err := format.ReadSession(strings.NewReader(`{ "type":"session", "format":"agentsession/0.2", "id":"s1", "created_at":"2026-09-20T12:00:00Z", "x":1.50 }` + "\n"))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := s.WriteTo(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output: { "type":"session", "format":"agentsession/0.2", "id":"s1", "created_at":"2026-09-20T12:00:00Z", "x":1.50 }
}
