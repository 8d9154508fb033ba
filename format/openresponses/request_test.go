package openresponses

import (
	"encoding/json"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestRequestJSON(t *testing.T) {
	yes, no := true, false
	for _, test := range []struct {
		name    string
		request Request
		want    string
	}{
		{"nothing", Request{}, `{}`},
		{
			"everything",
			Request{
				Extra: odd(), Background: &no, Stream: &yes, PreviousResponseID: "r", Store: &no, InputText: "not this",
				Input: []Item{UserText("Hi"), {Raw: jsontext.Value(`{"type":"acme:x","n":1.50}`)}},
				Tools: []Tool{{Raw: jsontext.Value(`{"type":"web_search"}`)}}, Text: TextConfig{}.JSON(),
				Reasoning: ReasoningConfig{Effort: "low"}.JSON(), Instructions: "Be brief. <&>", Model: "m",
			},
			`{"model":"m","instructions":"Be brief. <&>","reasoning":{"effort":"low","summary":null},` +
				`"text":{"format":{"type":"text"}},"tools":[{"type":"web_search"}],"input":[{"type":"message","role":"user",` +
				`"content":[{"type":"input_text","text":"Hi"}]},{"type":"acme:x","n":1.50}],"store":false,` +
				`"previous_response_id":"r","stream":true,"background":false,` + oddJSON + `}`,
		},
		{"a string for input", Request{Model: "m", InputText: "Hi"}, `{"model":"m","input":"Hi"}`},
		{
			"a field counts more than a member of its name",
			Request{Model: "m", Extra: Members{{"tools", jsontext.Value(`[]`)}, {"model", jsontext.Value(`"x"`)}, {"nothing", nil}}},
			`{"model":"m","tools":[]}`,
		},
		{"an item without bytes", Request{Input: []Item{{}}}, `{"input":[null]}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := string(test.request.JSON()); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			if got, err := test.request.Canonical(); err != nil || !sameJSON(t, got, []byte(test.want)) {
				t.Errorf("the canonical form is %s, %v", got, err)
			}
		})
	}
}

// TestParseRequest: everything that was sent is sent again.
func TestParseRequest(t *testing.T) {
	for _, test := range []struct {
		in    string
		items []string // types of the input
		extra []string // names in Extra
	}{
		{`{}`, nil, nil},
		{`{"input":"Hi","model":"m"}`, nil, nil},
		{
			`{"model":"","instructions":null,"reasoning":null,"text":null,"tools":[],"input":[],"store":null}`, nil,
			[]string{"model", "instructions", "reasoning", "text", "tools", "input", "store"},
		},
		{`{"input":""}`, nil, []string{"input"}},
		{`{"stream_options":{"a":1},"temperature":0.20,"model":"m","acme:x":[1]}`, nil, []string{"stream_options", "temperature", "acme:x"}},
		{
			`{"input":[{"role":"user","content":"Hi"},{"id":"m1"},{"type":"acme:x"},{"type":"function_call","call_id":"c"}],"store":true}`,
			[]string{ItemMessage, ItemReference, "acme:x", ItemFunctionCall},
			nil,
		},
		{`{"stream":false,"background":true,"previous_response_id":"r","tools":[{"type":"function","name":"n"}]}`, nil, nil},
		{`{"reasoning":{"effort":null,"x":1.0},"text":{}}`, nil, nil},
	} {
		t.Run(test.in, func(t *testing.T) {
			r, err := ParseRequest(jsontext.Value(test.in))
			if err != nil {
				t.Fatal(err)
			}
			if got := r.JSON(); !sameJSON(t, got, []byte(test.in)) {
				t.Errorf("encoded again it is %s", got)
			}
			var types, extra []string
			for _, item := range r.Input {
				types = append(types, item.Type)
			}
			for _, m := range r.Extra {
				extra = append(extra, m.Name)
			}
			if diff := cmp.Diff(test.items, types); diff != "" {
				t.Error("types:", diff)
			}
			if diff := cmp.Diff(test.extra, extra); diff != "" {
				t.Error("extra members:", diff)
			}
		})
	}
}

// TestUntypedInput: an item that has no type in a request can be viewed all the same.
func TestUntypedInput(t *testing.T) {
	r, err := ParseRequest(jsontext.Value(`{"input":[{"role":"user","content":"Hi"},{"id":"m1"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Input[0].Text(); got != "Hi" {
		t.Errorf("the text is %q", got)
	}
	reference, err := r.Input[1].Reference()
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"type":"item_reference","id":"m1"}`; string(reference.Item().Raw) != want {
		t.Errorf("got %s, want %s", reference.Item().Raw, want)
	}
}

func TestParseRequestErrors(t *testing.T) {
	for _, test := range []struct{ in, err string }{
		{`[]`, `request: `},
		{`{"model":1}`, `request: "model" is a number and not a string: `},
		{`{"instructions":["a"]}`, `request: "instructions" is an array and not a string: `},
		{`{"reasoning":"high"}`, `request: "reasoning" is a string and not an object: `},
		{`{"store":"no"}`, `request: "store" is a string and not a boolean: `},
		{`{"tools":{}}`, `request: "tools" is an object and not an array: `},
		{`{"tools":[{"type":"function"},null]}`, `request: tools[1]: is null and not an object: `},
		{`{"tools":[{"name":"n"}]}`, `request: tools[0]: has no type: `},
		{`{"input":{}}`, `request: "input" is an object and not an array: `},
		{`{"input":[{"type":"message"},{}]}`, `request: input[1]: has no type, and no role or id to tell it by: `},
		{`{"input":[{"type":1}]}`, `request: input[0]: "type" is a number and not a string: `},
	} {
		t.Run(test.in, func(t *testing.T) {
			_, err := ParseRequest(jsontext.Value(test.in))
			wantError(t, err, test.err, ErrInvalid)
		})
	}
}

func TestRequestSettings(t *testing.T) {
	const in = `{"model":"m","instructions":"i","reasoning":{"effort":"low"},"text":{"a":1},"tools":[{"type":"web_search"}],` +
		`"input":"Hi","store":false,"previous_response_id":"r","stream":true,"stream_options":{},"background":false,` +
		`"temperature":0.20,"acme:x":1}`
	for _, empty := range []string{in, `{"input":[],"store":null,"previous_response_id":null,` + in[1:]} {
		r, err := ParseRequest(jsontext.Value(empty))
		if err != nil {
			t.Fatal(err)
		}
		want := `{"model":"m","instructions":"i","reasoning":{"effort":"low"},"text":{"a":1},"tools":[{"type":"web_search"}],` +
			`"temperature":0.20,"acme:x":1}`
		if got := string(r.Settings().JSON()); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestRequestHashErrors(t *testing.T) {
	r := &Request{Extra: Members{{"a", jsontext.Value(`1`)}, {"a", jsontext.Value(`2`)}}}
	_, err := r.Hash()
	wantError(t, err, "request: canonical JSON: ", ErrInvalid)
	_, err = r.Canonical()
	wantError(t, err, "request: canonical JSON: ", ErrInvalid)
}

func TestRequestMarshal(t *testing.T) {
	const raw = `{"model":"m","input":"Hi","temperature":0.20}`
	var r Request
	if err := json.Unmarshal([]byte(raw), &r); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(r); string(got) != raw || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	wantError(t, json.Unmarshal([]byte(`{"model":1}`), &r), `request: "model" is a number`, ErrInvalid)
}

// sameJSON compares canonical forms.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	a, err := CanonicalJSON(a)
	if err != nil {
		t.Fatal(err)
	}
	b, err = CanonicalJSON(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(a) == string(b)
}

func TestConfigs(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                               `{"effort":null,"summary":null}`,
		`{"x":1.50,"effort":"high"}`:       `{"effort":"high","summary":null,"x":1.50}`,
		`{"summary":"auto","effort":null}`: `{"effort":null,"summary":"auto"}`,
	} {
		c, err := ParseReasoningConfig(jsontext.Value(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(c.JSON()); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	for in, want := range map[string]string{
		`{}`:                               `{"format":{"type":"text"}}`,
		`{"verbosity":"low","x":null}`:     `{"format":{"type":"text"},"verbosity":"low","x":null}`,
		`{"format":{"type":"acme","n":1}}`: `{"format":{"type":"acme","n":1}}`,
	} {
		c, err := ParseTextConfig(jsontext.Value(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(c.JSON()); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	schema := TextConfig{Format: JSONSchema("s", jsontext.Value(`{"type":"object"}`), true)}
	want := `{"format":{"type":"json_schema","name":"s","schema":{"type":"object"},"strict":true}}`
	if got := string(schema.JSON()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	_, err := ParseReasoningConfig(jsontext.Value(`{"effort":1}`))
	wantError(t, err, `reasoning: "effort" is a number and not a string: `, ErrInvalid)
	_, err = ParseTextConfig(jsontext.Value(`{"verbosity":[]}`))
	wantError(t, err, `text: "verbosity" is an array and not a string: `, ErrInvalid)
	_, err = ParseTextConfig(jsontext.Value(`{`))
	wantError(t, err, `text: unexpected end of input`, ErrInvalid)
	_, err = ParseReasoningConfig(jsontext.Value(`[]`))
	wantError(t, err, `reasoning: `, ErrInvalid)
}
