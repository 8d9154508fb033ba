package openresponses

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzItem: whatever an item holds, it can be shown; and once decoded and built it is the same when that is done again.
func FuzzItem(f *testing.F) {
	for _, test := range items {
		f.Add([]byte(test.item.Raw))
	}
	f.Add([]byte(`{"type":"message","role":"assistant","content":"a\ud83d","content":[{"type":"x","text":null,"text":"b"}],"id":null}`))
	f.Add([]byte(`{"type":"function_call_output","output":[{"type":"output_text","annotations":null,"logprobs":[1.50]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		for _, typ := range []string{ItemMessage, ItemFunctionCall, ItemFunctionCallOutput, ItemReasoning} {
			checkPreviews(t, Item{Raw: data, Type: typ}) // of what may be no item
		}
		item, err := ParseItem(data)
		if err == nil {
			stable(t, item, rebuild, func(i Item) jsontext.Value { return i.Raw }, ParseItem)
			checkPreviews(t, item)
		}
		if !bytes.Equal(before, data) {
			t.Fatal("the input was changed")
		}
	})
}

func FuzzTool(f *testing.F) {
	f.Add([]byte(`{"type":"function","name":"n","description":"d","parameters":{"a":1.0},"strict":true,"x":[null]}`))
	f.Add([]byte(`{"type":"web_search"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tool, err := ParseTool(data)
		if err != nil {
			return
		}
		if name := ToolName(data); name != tool.Name {
			t.Fatalf("the names are %q and %q", name, tool.Name)
		}
		again := func(t Tool) (Tool, error) {
			if t.Type != ToolFunction {
				return t, nil
			}
			function, err := t.Function()
			if err != nil {
				return Tool{}, err
			}
			return function.Tool(), nil
		}
		stable(t, tool, again, func(t Tool) jsontext.Value { return t.Raw }, ParseTool)
	})
}

// stable checks that what is built of a value is valid, is parsed again, and then builds the same bytes.
func stable[V any](
	t *testing.T, value V, again func(V) (V, error), raw func(V) jsontext.Value, parse func(jsontext.Value) (V, error),
) {
	t.Helper()
	first, err := again(value)
	if err != nil {
		return
	}
	parsed, err := parse(raw(first))
	if err != nil {
		t.Fatalf("%v in %s", err, raw(first))
	}
	second, err := again(parsed)
	if err != nil {
		t.Fatalf("%v in %s", err, raw(first))
	}
	if !bytes.Equal(raw(first), raw(second)) {
		t.Fatalf("first  %s\nsecond %s", raw(first), raw(second))
	}
}

// FuzzRequest: a request that is decoded and encoded says what it said, so that its hash is the same.
func FuzzRequest(f *testing.F) {
	for _, v := range hashVectors(f, "testdata/hash-vectors.json") {
		f.Add([]byte(v.Request))
	}
	f.Add([]byte(`{"model":"","store":null,"tools":[],"input":[{"role":"user"},{"id":"m"}],"input":"Hi","text":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ParseRequest(data)
		if err != nil {
			return
		}
		sameHash(t, data, r.JSON())
		if _, err := ParseRequest(r.JSON()); err != nil {
			t.Fatalf("%v in %s", err, r.JSON())
		}
		if _, err := ParseRequest(r.Settings().JSON()); err != nil {
			t.Fatalf("%v in the settings %s", err, r.Settings().JSON())
		}
	})
}

// FuzzResponse is FuzzRequest for responses.
func FuzzResponse(f *testing.F) {
	f.Add([]byte(`{"object":"response","id":"r","created_at":1.75e9,"output":[{"type":"message"}],"usage":{"input_tokens":1}}`))
	f.Add([]byte(`{"error":{"code":1,"message":"m"},"incomplete_details":{"reason":null},"usage":{"input_tokens_details":[]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ParseResponse(data)
		if err != nil {
			return
		}
		sameHash(t, data, r.JSON())
		r.Usage.Clone().JSON()
		if _, err := ParseResponse(r.JSON()); err != nil {
			t.Fatalf("%v in %s", err, r.JSON())
		}
	})
}

// sameHash checks that what has a hash still has it.
func sameHash(t *testing.T, before, after []byte) {
	t.Helper()
	want, err := HashJSON(before)
	if err != nil {
		return
	}
	if got, err := HashJSON(after); got != want {
		t.Fatalf("%s (%v) is no longer the hash of\n%s, which is\n%s", got, err, before, after)
	}
}
