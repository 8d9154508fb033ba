package openresponses_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/format/openresponses"
)

func ExampleUserText() {
	fmt.Printf("%s\n", openresponses.UserText("List the files.").Raw)
	// Output: {"type":"message","role":"user","content":[{"type":"input_text","text":"List the files."}]}
}

// Run the calls of a response and answer each with an output.
func ExampleItem_FunctionCall() {
	response, err := openresponses.ParseResponse(jsontext.Value(`{"id":"resp_1","status":"completed","output":[
		{"type":"reasoning","id":"rs_1","summary":[]},
		{"type":"function_call","id":"fc_1","call_id":"call_1","name":"bash","arguments":"{\"cmd\":\"ls\"}"}]}`))
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range response.Output {
		call, err := item.FunctionCall()
		if errors.Is(err, openresponses.ErrItemType) {
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("run", call.Name, call.Arguments)
		output := openresponses.NewFunctionCallOutput(call.CallID, "a.txt\nb.txt")
		fmt.Printf("%s\n", output.Raw)
	}
	// Output:
	// run bash {"cmd":"ls"}
	// {"type":"function_call_output","call_id":"call_1","output":"a.txt\nb.txt"}
}

func ExampleItem_Preview() {
	for _, raw := range []string{
		`{"type":"message","role":"user","content":"Which files are there?"}`,
		`{"type":"function_call","call_id":"call_1","name":"bash","arguments":"{\"cmd\":\"ls\"}"}`,
		`{"type":"acme:note","text":"of a type that is not known"}`,
	} {
		item, err := openresponses.ParseItem(jsontext.Value(raw))
		if err != nil {
			log.Fatal(err)
		}
		text, whole := item.Preview(16)
		fmt.Printf("%s: %q %t\n", item.Type, text, whole)
	}
	// Output:
	// message: "Which files are " false
	// function_call: "{\"cmd\":\"ls\"}" true
	// acme:note: "" true
}

func ExampleRequest_Hash() {
	store := false
	request := openresponses.Request{
		Model:        "gpt-5",
		Instructions: "Be brief.",
		Reasoning:    openresponses.ReasoningConfig{Effort: "low"}.JSON(),
		Tools: []openresponses.Tool{openresponses.FunctionTool{
			Name:       "lookup",
			Parameters: jsontext.Value(`{"type":"object"}`),
		}.Tool()},
		Input: []openresponses.Item{openresponses.UserText("What is 2+2?")},
		Store: &store,
		Extra: openresponses.Members{{Name: "temperature", Value: jsontext.Value(`0.20`)}},
	}
	fmt.Printf("%s\n", request.JSON())
	hash, err := request.Hash()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(hash)
	// Output:
	// {"model":"gpt-5","instructions":"Be brief.","reasoning":{"effort":"low","summary":null},"tools":[{"type":"function","name":"lookup","description":"","parameters":{"type":"object"}}],"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"What is 2+2?"}]}],"store":false,"temperature":0.20}
	// sha256:68804ab9b9045c4af6d95cef9b429ab5071ba851b1871da4bd0457b8e9a2b471
}

// A view keeps what it does not know.
func ExampleItem_Message() {
	item, err := openresponses.ParseItem(jsontext.Value(
		`{"type":"message","role":"user","content":"Hi","acme:score":1.50,"acme:tags":["<new>"]}`))
	if err != nil {
		log.Fatal(err)
	}
	message, err := item.Message()
	if err != nil {
		log.Fatal(err)
	}
	message.Content = append(message.Content, openresponses.InputText("Who are you?"))
	fmt.Printf("%s\n", message.Item().Raw)
	// Output:
	// {"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"},{"type":"input_text","text":"Who are you?"}],"acme:score":1.50,"acme:tags":["<new>"]}
}

func ExampleExtension() {
	item, err := openresponses.Extension("acme:note", openresponses.Members{{Name: "text", Value: jsontext.Value(`"seen"`)}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", item.Raw)
	fmt.Printf("%s\n", item.Members().Get("text"))
	// Output:
	// {"type":"acme:note","text":"seen"}
	// "seen"
}
