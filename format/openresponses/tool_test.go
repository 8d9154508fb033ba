package openresponses

import (
	"encoding/json"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestFunctionTool(t *testing.T) {
	strict := true
	for _, test := range []struct {
		name string
		tool FunctionTool
		want string
	}{
		{"nothing", FunctionTool{}, `{"type":"function","name":"","description":"","parameters":null}`},
		{
			"everything",
			FunctionTool{Name: "n", Description: "<d>", Parameters: jsontext.Value(`{"maximum":1.0}`), Strict: &strict, Unknown: odd()},
			`{"type":"function","name":"n","description":"<d>","parameters":{"maximum":1.0},"strict":true,` + oddJSON + `}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			tool := test.tool.Tool()
			if string(tool.Raw) != test.want {
				t.Errorf("got  %s\nwant %s", tool.Raw, test.want)
			}
			parsed, err := ParseTool(tool.Raw)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(parsed, tool); diff != "" {
				t.Error("the view is not that of the JSON:", diff)
			}
			again, err := parsed.Function()
			if err != nil {
				t.Fatal(err)
			}
			if got := again.Tool().Raw; string(got) != test.want {
				t.Errorf("view and builder make\n%s of\n%s", got, test.want)
			}
		})
	}
}

func TestFunction(t *testing.T) {
	tool, err := ParseTool(jsontext.Value(`{"name":"n","type":"function","strict":null,"description":null}`))
	if err != nil {
		t.Fatal(err)
	}
	function, err := tool.Function()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"function","name":"n","description":"","parameters":null,"strict":null}`
	if got := function.Tool().Raw; string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	_, err = Tool{Type: "acme:search"}.Function()
	wantError(t, err, `the tool is of type "acme:search" and not "function": `, ErrItemType)
	_, err = Tool{Type: "function", Raw: jsontext.Value(`{"strict":1}`)}.Function()
	wantError(t, err, `function tool: "strict" is a number and not a boolean: `, ErrInvalid)
}

func TestToolName(t *testing.T) {
	for _, test := range []struct{ raw, want string }{
		{`{"type":"function","name":"n"}`, "n"},
		{`{"type":"acme:search","name":"s"}`, "s"},
		{`{"type":"function","function":{"name":"inside"}}`, ""},
		{`{"type":"acme:search","name":{"a":1}}`, ""},
		{`{"type":"web_search"}`, ""},
		{`{"name":"n"}`, "n"},
		{`[]`, ""},
		{``, ""},
	} {
		if got := ToolName(jsontext.Value(test.raw)); got != test.want {
			t.Errorf("the name of %s is %q, want %q", test.raw, got, test.want)
		}
		if tool, err := ParseTool(jsontext.Value(test.raw)); err == nil && tool.Name != test.want {
			t.Errorf("the name of the tool %s is %q, want %q", test.raw, tool.Name, test.want)
		}
	}
}

func TestToolMarshal(t *testing.T) {
	const raw = `{"type":"web_search","n":1.50}`
	var tool Tool
	if err := json.Unmarshal([]byte(raw), &tool); err != nil {
		t.Fatal(err)
	}
	if got, err := json.Marshal(tool); string(got) != raw || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	c := tool.Clone()
	c.Raw[0] = 'x'
	if string(tool.Raw) != raw {
		t.Error("the clone shares bytes")
	}
	wantError(t, json.Unmarshal([]byte(`{"name":"n"}`), &tool), "tool: has no type: ", ErrInvalid)
}
