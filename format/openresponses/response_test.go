package openresponses

import (
	"encoding/json"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func number(n int64) *int64 { return &n }

func TestParseResponse(t *testing.T) {
	const in = `{"object":"response","id":"r","created_at":1750000000,"status":"incomplete","model":"m","temperature":1.0,` +
		`"output":[{"type":"reasoning","summary":[]},{"type":"function_call","call_id":"c","name":"n"}],` +
		`"usage":{"input_tokens":5,"x":1.0},"incomplete_details":{"reason":"max_output_tokens","x":1},` +
		`"error":{"type":"server_error","code":"upstream","message":"boom","param":null}}`
	want := &Response{
		ID: "r", CreatedAt: number(1750000000), Status: StatusIncomplete, Model: "m",
		Output: []Item{
			{Raw: jsontext.Value(`{"type":"reasoning","summary":[]}`), Type: "reasoning"},
			{Raw: jsontext.Value(`{"type":"function_call","call_id":"c","name":"n"}`), Type: "function_call", CallID: "c", Name: "n"},
		},
		Usage:      &Usage{InputTokens: number(5), Raw: jsontext.Value(`{"input_tokens":5,"x":1.0}`)},
		Incomplete: &Incomplete{Reason: "max_output_tokens", Raw: jsontext.Value(`{"reason":"max_output_tokens","x":1}`)},
		Error: &Error{
			Type: "server_error", Code: "upstream", Message: "boom",
			Raw: jsontext.Value(`{"type":"server_error","code":"upstream","message":"boom","param":null}`),
		},
		Unknown: Members{{"object", jsontext.Value(`"response"`)}, {"temperature", jsontext.Value(`1.0`)}},
	}
	got, err := ParseResponse(jsontext.Value(in))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if again := got.JSON(); !sameJSON(t, again, []byte(in)) {
		t.Errorf("encoded again it is %s", again)
	}
}

// TestResponseAgain: what was received is written again, in the order of the fields.
func TestResponseAgain(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{`{}`, `{}`},
		{`{"output":[],"error":null,"usage":null,"incomplete_details":null,"id":""}`, ""},
		{`{"created_at":1.75e9,"id":"r"}`, `{"id":"r","created_at":1.75e9}`},
		{`{"created_at":1.5}`, ""},
		{`{"created_at":null}`, ""},
		{`{"x":1,"error":{"message":[1]},"id":"r"}`, `{"id":"r","error":{"message":[1]},"x":1}`},
		{`{"usage":{"input_tokens":"many"}}`, ""},
	} {
		r, err := ParseResponse(jsontext.Value(test.in))
		if err != nil {
			t.Errorf("%s: %v", test.in, err)
			continue
		}
		if test.want == "" {
			test.want = test.in
		}
		if got := string(r.JSON()); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

func TestResponseCreatedAt(t *testing.T) {
	r, err := ParseResponse(jsontext.Value(`{"created_at":1.75e9}`))
	if err != nil {
		t.Fatal(err)
	}
	if r.CreatedAt == nil || *r.CreatedAt != 1_750_000_000 {
		t.Errorf("created at %v", r.CreatedAt)
	}
	r.CreatedAt = number(7)
	if got := string(r.JSON()); got != `{"created_at":7}` {
		t.Errorf("set anew it is %s", got)
	}
}

func TestParseResponseErrors(t *testing.T) {
	for _, test := range []struct{ in, err string }{
		{``, `response: unexpected end of input`},
		{`"r"`, `response: `},
		{`{"id":1}`, `response: "id" is a number and not a string: `},
		{`{"created_at":"now"}`, `response: "created_at" is a string and not a number: `},
		{`{"output":[{"type":"a"},{"type":"b"},null]}`, `response: output[2]: is null and not an object: `},
		{`{"output":[{"role":"user"}]}`, `response: output[0]: has no type: `},
		{`{"output":"text"}`, `response: "output" is a string and not an array: `},
		{`{"usage":5}`, `response: "usage" is a number and not an object: `},
		{`{"incomplete_details":"x"}`, `response: "incomplete_details" is a string and not an object: `},
		{`{"error":"boom"}`, `response: "error" is a string and not an object: `},
	} {
		t.Run(test.in, func(t *testing.T) {
			_, err := ParseResponse(jsontext.Value(test.in))
			wantError(t, err, test.err, ErrInvalid)
		})
	}
}

func TestBuiltResponse(t *testing.T) {
	r := Response{
		ID: "r", CreatedAt: number(7), Status: StatusFailed, Model: "m", Output: []Item{NewFunctionCallOutput("c", "x")},
		Usage: &Usage{InputTokens: number(1)}, Incomplete: &Incomplete{Reason: "content_filter"},
		Error: &Error{Type: "t", Message: "<boom>"}, Unknown: odd(),
	}
	want := `{"id":"r","created_at":7,"status":"failed","model":"m",` +
		`"output":[{"type":"function_call_output","call_id":"c","output":"x"}],"usage":{"input_tokens":1},` +
		`"incomplete_details":{"reason":"content_filter"},"error":{"type":"t","message":"<boom>"},` + oddJSON + `}`
	if got := string(r.JSON()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestResponseMarshal(t *testing.T) {
	const raw = `{"id":"r","output":[{"type":"acme:x","n":1.50}],"z":1.0}`
	var r Response
	if err := json.Unmarshal([]byte(raw), &r); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(r); string(got) != raw || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	wantError(t, json.Unmarshal([]byte(`{"output":[null]}`), &r), `response: output[0]: is null`, ErrInvalid)
}

func TestUsage(t *testing.T) {
	const in = `{"input_tokens":40,"output_tokens":12,"total_tokens":52,"input_tokens_details":{"cached_tokens":8,` +
		`"cache_creation_tokens":7,"cache_creation_1h_tokens":3},"output_tokens_details":{"reasoning_tokens":0}}`
	want := &Usage{
		InputTokens: number(40), OutputTokens: number(12), TotalTokens: number(52), CachedTokens: number(8),
		CacheCreationTokens: number(7), CacheCreation1hTokens: number(3), ReasoningTokens: number(0), Raw: jsontext.Value(in),
	}
	u, err := ParseUsage(jsontext.Value(in))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, u); diff != "" {
		t.Error(diff)
	}
	u.InputTokens = number(41)
	if got := string(u.JSON()); got != in {
		t.Errorf("with Raw it is %s", got)
	}
	u.Raw = nil
	if got, want := string(u.JSON()), `{"input_tokens":41`+in[len(`{"input_tokens":40`):]; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string((&Usage{}).JSON()); got != `{}` {
		t.Errorf("without counts it is %s", got)
	}
	for _, u := range []jsontext.Value{(*Usage)(nil).JSON(), (*Incomplete)(nil).JSON(), (*Error)(nil).JSON()} {
		if u != nil {
			t.Errorf("nil is %s", u)
		}
	}
	c := u.Clone()
	*c.InputTokens = 1
	if *u.InputTokens != 41 {
		t.Error("the clone shares counts")
	}
}

// TestOddUsage: what is no count is none, and costs no other.
func TestOddUsage(t *testing.T) {
	for _, test := range []struct {
		in   string
		want Usage
	}{
		{`{"input_tokens":-1,"output_tokens":1e2,"total_tokens":1.5}`, Usage{OutputTokens: number(100)}},
		{`{"input_tokens":null,"output_tokens":"3","total_tokens":99999999999999999999}`, Usage{}},
		{`{"input_tokens_details":[1],"output_tokens_details":null,"total_tokens":4.0}`, Usage{TotalTokens: number(4)}},
	} {
		test.want.Raw = jsontext.Value(test.in)
		got, err := ParseUsage(test.want.Raw)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&test.want, got); diff != "" {
			t.Errorf("%s: %s", test.in, diff)
		}
	}
	_, err := ParseUsage(jsontext.Value(`5`))
	wantError(t, err, "usage: is a number and not an object: ", ErrInvalid)
}
