package openresponses

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// odd are members that no type here knows.
func odd() Members {
	return Members{
		{"acme:n", jsontext.Value(`1.50e+1`)},
		{"b", jsontext.Value(`{"z":null,"a":["<&>",100000000000000000001]}`)},
		{"acme:a", jsontext.Value(`null`)},
	}
}

const oddJSON = `"acme:n":1.50e+1,"b":{"z":null,"a":["<&>",100000000000000000001]},"acme:a":null`

// items are builders with the JSON they write.
var items = []struct {
	name string
	item Item
	want string
}{
	{"user", UserText("<Hi> \"é\"\n"), `{"type":"message","role":"user","content":[{"type":"input_text","text":"<Hi> \"é\"\n"}]}`},
	{"system", SystemText(""), `{"type":"message","role":"system","content":[{"type":"input_text","text":""}]}`},
	{"developer", DeveloperText("d"), `{"type":"message","role":"developer","content":[{"type":"input_text","text":"d"}]}`},
	{
		"assistant", AssistantText("a"),
		`{"type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"a","annotations":[]}]}`,
	},
	{"message without content", Message{Role: RoleUser}.Item(), `{"type":"message","role":"user","content":[]}`},
	{
		"message with everything",
		Message{
			ID: "m", Status: StatusIncomplete, Role: RoleAssistant, Phase: "commentary", Unknown: odd(),
			Content: []Part{
				{
					Type: PartOutputText, Text: "t", Annotations: jsontext.Value(`[{"type":"url_citation"}]`),
					Logprobs: jsontext.Value(`[1.0]`), Unknown: odd(),
				},
				Refusal("no"),
				Refusal(""),
			},
		}.Item(),
		`{"type":"message","id":"m","status":"incomplete","role":"assistant","content":[{"type":"output_text","text":"t",` +
			`"annotations":[{"type":"url_citation"}],"logprobs":[1.0],` + oddJSON + `},{"type":"refusal","refusal":"no"},` +
			`{"type":"refusal","refusal":""}],"phase":"commentary",` + oddJSON + `}`,
	},
	{
		"parts of every type",
		Message{Role: RoleUser, Content: []Part{
			InputImage("https://x/a.png", "high"), InputImage("", ""),
			{Type: PartInputImage, FileID: "f1"},
			InputFile("a.pdf", "QQ=="),
			{Type: PartInputFile, FileURL: "https://x/b.pdf", FileID: "f2"},
			{Type: PartInputVideo, VideoURL: "https://x/v.mp4"},
			{Type: PartInputVideo},
			{Type: PartText, Text: "t"},
			{Type: "acme:part", Text: "u", Unknown: odd()},
			{Type: "acme:bare"},
		}}.Item(),
		`{"type":"message","role":"user","content":[{"type":"input_image","image_url":"https://x/a.png","detail":"high"},` +
			`{"type":"input_image","image_url":"","detail":"auto"},` +
			`{"type":"input_image","image_url":"","detail":"auto","file_id":"f1"},` +
			`{"type":"input_file","filename":"a.pdf","file_data":"QQ=="},` +
			`{"type":"input_file","file_url":"https://x/b.pdf","file_id":"f2"},` +
			`{"type":"input_video","video_url":"https://x/v.mp4"},{"type":"input_video","video_url":""},` +
			`{"type":"text","text":"t"},{"type":"acme:part","text":"u",` + oddJSON + `},{"type":"acme:bare"}]}`,
	},
	{
		"call", NewFunctionCall("c1", "bash", `{"cmd":"ls"}`),
		`{"type":"function_call","call_id":"c1","name":"bash","arguments":"{\"cmd\":\"ls\"}"}`,
	},
	{
		"call with everything", FunctionCall{ID: "f", Status: StatusCompleted, CallID: "c1", Name: "bash", Unknown: odd()}.Item(),
		`{"type":"function_call","id":"f","status":"completed","call_id":"c1","name":"bash","arguments":"",` + oddJSON + `}`,
	},
	{"output", NewFunctionCallOutput("c1", "a\nb"), `{"type":"function_call_output","call_id":"c1","output":"a\nb"}`},
	{"empty output", NewFunctionCallOutput("c1", ""), `{"type":"function_call_output","call_id":"c1","output":""}`},
	{
		"output in parts",
		FunctionCallOutput{
			ID: "o", Status: StatusCompleted, CallID: "c1", Output: "not this", Parts: []Part{InputText("x")}, Unknown: odd(),
		}.Item(),
		`{"type":"function_call_output","id":"o","status":"completed","call_id":"c1",` +
			`"output":[{"type":"input_text","text":"x"}],` + oddJSON + `}`,
	},
	{
		"output without parts", FunctionCallOutput{CallID: "c1", Parts: []Part{}}.Item(),
		`{"type":"function_call_output","call_id":"c1","output":[]}`,
	},
	{"reasoning", Reasoning{ID: "r"}.Item(), `{"type":"reasoning","id":"r","summary":[]}`},
	{
		"reasoning with everything",
		Reasoning{
			ID: "r", Status: StatusCompleted, Summary: []Part{SummaryText("s")}, Content: []Part{ReasoningText("c")},
			EncryptedContent: "e", Unknown: odd(),
		}.Item(),
		`{"type":"reasoning","id":"r","status":"completed","summary":[{"type":"summary_text","text":"s"}],` +
			`"content":[{"type":"reasoning_text","text":"c"}],"encrypted_content":"e",` + oddJSON + `}`,
	},
	{
		"compaction", Compaction{ID: "k", Status: StatusCompleted, EncryptedContent: "e", CreatedBy: "p", Unknown: odd()}.Item(),
		`{"type":"compaction","id":"k","status":"completed","encrypted_content":"e","created_by":"p",` + oddJSON + `}`,
	},
	{"reference", Reference{ID: "m", Unknown: odd()}.Item(), `{"type":"item_reference","id":"m",` + oddJSON + `}`},
}

func TestBuilders(t *testing.T) {
	for _, test := range items {
		t.Run(test.name, func(t *testing.T) {
			if string(test.item.Raw) != test.want {
				t.Errorf("got  %s\nwant %s", test.item.Raw, test.want)
			}
			parsed, err := ParseItem(test.item.Raw)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(parsed, test.item); diff != "" {
				t.Error("the view is not that of the JSON:", diff)
			}
			again, err := rebuild(parsed)
			if err != nil {
				t.Fatal(err)
			}
			if string(again.Raw) != test.want {
				t.Errorf("view and builder make\n%s of\n%s", again.Raw, test.want)
			}
		})
	}
}

// rebuild decodes an item of a known type and builds it again. Another item is returned as it is.
func rebuild(i Item) (Item, error) {
	switch i.Type {
	case ItemMessage:
		return buildAgain(i.Message())
	case ItemFunctionCall:
		return buildAgain(i.FunctionCall())
	case ItemFunctionCallOutput:
		return buildAgain(i.FunctionCallOutput())
	case ItemReasoning:
		return buildAgain(i.Reasoning())
	case ItemCompaction:
		return buildAgain(i.Compaction())
	case ItemReference:
		return buildAgain(i.Reference())
	}
	return i, nil
}

func buildAgain[V any, B interface {
	*V
	Item() Item
}](view B, err error) (Item, error) {
	if err != nil {
		return Item{}, err
	}
	return view.Item(), nil
}

// TestViews has JSON as others write it, and what becomes of it when it is decoded and built again.
func TestViews(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{
			"content as a string", `{"role":"user","type":"message","content":"Hi"}`,
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}`,
		},
		{
			"content of an assistant as a string", `{"content":"Hi","type":"message","role":"assistant"}`,
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Hi","annotations":[]}]}`,
		},
		{"content that is null", `{"type":"message","role":"user","content":null}`, `{"type":"message","role":"user","content":[]}`},
		{"no content", `{"type":"message"}`, `{"type":"message","role":"","content":[]}`},
		{
			"what a field cannot tell from absence", `{"type":"reasoning","id":"","encrypted_content":null,"summary":[],"content":[]}`,
			`{"type":"reasoning","summary":[],"id":"","encrypted_content":null,"content":[]}`,
		},
		{
			"null where there are lists of a part",
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"","annotations":null,"logprobs":null}]}`,
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"","annotations":null,"logprobs":null}]}`,
		},
		{
			"no arguments", `{"type":"function_call","call_id":"c","name":"n"}`,
			`{"type":"function_call","call_id":"c","name":"n","arguments":""}`,
		},
		{
			"output that is null", `{"type":"function_call_output","call_id":"c","output":null}`,
			`{"type":"function_call_output","call_id":"c","output":""}`,
		},
		{
			"the last member of a name counts", `{"type":"item_reference","id":"a","id":"b","x":1,"x":2}`,
			`{"type":"item_reference","id":"b","x":1,"x":2}`,
		},
		{"names with escapes", `{"type":"item_reference","\u0069d":"a","\u0078":1}`, `{"type":"item_reference","id":"a","x":1}`},
		{
			"half a surrogate pair", `{"type":"item_reference","id":"a\ud83d","x":"\ud83d"}`,
			`{"type":"item_reference","id":"a` + "\uFFFD" + `","x":"\ud83d"}`,
		},
		{
			"white space", " \r\n{\t\"type\" : \"item_reference\",\n\"id\":\"a\" , \"x\" : [ 1,\r\n2 ] }\n",
			`{"type":"item_reference","id":"a","x":[ 1,  2 ]}`,
		},
		{"an extension", `{"z":1,"type":"acme:note","a":2.0}`, `{"z":1,"type":"acme:note","a":2.0}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			item, err := ParseItem(jsontext.Value(test.in))
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Trim(test.in, " \r\n"); string(item.Raw) != want {
				t.Errorf("Raw is %q", item.Raw)
			}
			got, err := rebuild(item)
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Raw) != test.want {
				t.Errorf("got  %s\nwant %s", got.Raw, test.want)
			}
		})
	}
}

func TestParseItem(t *testing.T) {
	for _, test := range []struct {
		in   string
		want Item
		err  string
	}{
		{`{"type":"message","role":"user"}`, Item{Type: "message", Role: "user"}, ""},
		{`{"type":"function_call","call_id":"c","name":"n"}`, Item{Type: "function_call", CallID: "c", Name: "n"}, ""},
		{`{"type":"acme:x","role":1,"call_id":null,"name":{}}`, Item{Type: "acme:x"}, ""},
		{``, Item{}, "item: unexpected end of input at byte 0: not valid in Open Responses"},
		{`null`, Item{}, "item: is null and not an object: "},
		{` [1]`, Item{}, "item: is an array and not an object: "},
		{`nul`, Item{}, "item: "},
		{`{}`, Item{}, "item: has no type: "},
		{`{"type":""}`, Item{}, "item: has no type: "},
		{`{"type":null}`, Item{}, "item: has no type: "},
		{`{"type":7}`, Item{}, `item: "type" is a number and not a string: `},
		{`{"type":"a"}x`, Item{}, "item: more after the object at byte 12: "},
		{`{"type":"a"`, Item{}, "item: unexpected end of input at byte 11: "},
		{"{\"type\":\"a\xff\"}", Item{}, "item: a string in it is not UTF-8"},
		{"{\"type\":\"a\",\"x\":\"\n\"}", Item{}, "item: a string in it "},
		{`{"type":"a","x":["\q"]}`, Item{}, "item: a string in it "},
		{strings.Repeat("[", 1e6), Item{}, "item: "},
		{`{"type":"a","x":` + strings.Repeat("[", 1e6), Item{}, "item: nested deeper than 10000 levels"},
	} {
		name := test.in[:min(len(test.in), 40)]
		t.Run(name, func(t *testing.T) {
			if test.err == "" {
				test.want.Raw = jsontext.Value(test.in)
			}
			got, err := ParseItem(jsontext.Value(test.in))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			wantError(t, err, test.err, ErrInvalid)
		})
	}
}

// wantError checks that an error begins as it should and wraps a sentinel; "" is no error.
func wantError(t *testing.T, err error, text string, sentinel error) {
	t.Helper()
	switch {
	case text == "":
		if err != nil {
			t.Errorf("error %v", err)
		}
	case err == nil:
		t.Errorf("no error, but it should say %q", text)
	case !strings.HasPrefix(err.Error(), text):
		t.Errorf("the error is %q, but it should say %q", err, text)
	case !errors.Is(err, sentinel):
		t.Errorf("%v does not wrap %v", err, sentinel)
	}
}

// TestViewErrors: a member of the wrong kind is named, with the item it is in.
func TestViewErrors(t *testing.T) {
	for _, test := range []struct{ in, err string }{
		{`{"type":"message","id":1}`, `message item: "id" is a number and not a string: `},
		{`{"type":"message","status":[]}`, `message item: "status" is an array and not a string: `},
		{`{"type":"message","role":true}`, `message item: "role" is a boolean and not a string: `},
		{`{"type":"message","content":{}}`, `message item: "content" is an object and not a string or an array: `},
		{`{"type":"message","content":["a"]}`, `message item: content[0]: is a string and not an object: `},
		{`{"type":"message","content":[{"type":"text"},{"text":"a"}]}`, `message item: content[1]: has no type: `},
		{
			`{"type":"message","content":[{"type":"text","text":["a"]}]}`,
			`message item: content[0]: "text" is an array and not a string: `,
		},
		{
			`{"type":"message","content":[` + strings.Repeat(`{"type":"x"},`, maxParts) + `{"type":"x"}]}`,
			`message item: "content" has more than 65536 elements: `,
		},
		{`{"type":"function_call","arguments":{}}`, `function_call item: "arguments" is an object and not a string: `},
		{`{"type":"function_call_output","output":{}}`, `function_call_output item: "output" is an object and not a string or an array: `},
		{`{"type":"function_call_output","output":[null]}`, `function_call_output item: output[0]: is null and not an object: `},
		{`{"type":"reasoning","summary":"a"}`, `reasoning item: "summary" is a string and not an array: `},
		{`{"type":"reasoning","content":[1]}`, `reasoning item: content[0]: is a number and not an object: `},
		{`{"type":"compaction","encrypted_content":0}`, `compaction item: "encrypted_content" is a number and not a string: `},
		{`{"type":"item_reference","id":[]}`, `item_reference item: "id" is an array and not a string: `},
	} {
		t.Run(test.in[:min(len(test.in), 60)], func(t *testing.T) {
			item, err := ParseItem(jsontext.Value(test.in))
			if err != nil {
				t.Fatal(err)
			}
			_, err = rebuild(item)
			wantError(t, err, test.err, ErrInvalid)
		})
	}
}

// TestUncheckedItem: an item that came from somewhere else than ParseItem may hold anything.
func TestUncheckedItem(t *testing.T) {
	for _, raw := range []string{``, `x`, `{`, `[]`, "{\"role\":\"\xff\"}", `{"content":[{"type":"\q"}]}`} {
		_, err := Item{Raw: jsontext.Value(raw), Type: ItemMessage}.Message()
		wantError(t, err, "message item: ", ErrInvalid)
	}
}

func TestItemType(t *testing.T) {
	item := Item{Raw: jsontext.Value(`{"type":"acme:note"}`), Type: "acme:note"}
	for name, view := range map[string]func() error{
		"message":              func() error { _, err := item.Message(); return err },
		"function_call":        func() error { _, err := item.FunctionCall(); return err },
		"function_call_output": func() error { _, err := item.FunctionCallOutput(); return err },
		"reasoning":            func() error { _, err := item.Reasoning(); return err },
		"compaction":           func() error { _, err := item.Compaction(); return err },
		"item_reference":       func() error { _, err := item.Reference(); return err },
	} {
		wantError(t, view(), `the item is of type "acme:note" and not "`+name+`": `, ErrItemType)
	}
}

// TestUnknownOfAField: a field that is set is written once.
func TestUnknownOfAField(t *testing.T) {
	item, err := ParseItem(jsontext.Value(`{"type":"function_call","id":null,"call_id":"c","name":"n","arguments":"{}"}`))
	if err != nil {
		t.Fatal(err)
	}
	call, err := item.FunctionCall()
	if err != nil {
		t.Fatal(err)
	}
	call.ID = "fc_1"
	call.Unknown.Set("type", jsontext.Value(`"message"`))
	call.Unknown.Set("nothing", nil)
	want := `{"type":"function_call","id":"fc_1","call_id":"c","name":"n","arguments":"{}"}`
	if got := string(call.Item().Raw); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestExtension(t *testing.T) {
	item, err := Extension("acme:note", append(odd(), Member{"type", jsontext.Value(`"message"`)}, Member{"name", jsontext.Value(`"n"`)}))
	if err != nil {
		t.Fatal(err)
	}
	want := Item{Raw: jsontext.Value(`{"type":"acme:note",` + oddJSON + `,"name":"n"}`), Type: "acme:note", Name: "n"}
	if diff := cmp.Diff(want, item); diff != "" {
		t.Error(diff)
	}
	members := append(append(Members{{"type", jsontext.Value(`"acme:note"`)}}, odd()...), Member{"name", jsontext.Value(`"n"`)})
	if diff := cmp.Diff(members, item.Members()); diff != "" {
		t.Error(diff)
	}
	for _, typ := range []string{"", "note", ":note", "acme:"} {
		_, err := Extension(typ, nil)
		wantError(t, err, "item: the type \""+typ+"\" of an extension is not a slug, a colon and a name: ", ErrInvalid)
	}
	_, err = Extension("acme:note", Members{{"a", jsontext.Value(`{`)}})
	wantError(t, err, "item: ", ErrInvalid)
	if got := (Item{Raw: jsontext.Value(`[]`)}).Members(); got != nil {
		t.Errorf("an array has members %v", got)
	}
}

// TestBuiltText: the view of an item that was built says what its JSON says, also where the text was no UTF-8.
func TestBuiltText(t *testing.T) {
	item := NewFunctionCall("c\xff\xff", "n", "{}")
	if item.CallID != "c\uFFFD\uFFFD" {
		t.Errorf("the call id is %q", item.CallID)
	}
	if !item.Raw.IsValid() {
		t.Errorf("not valid: %s", item.Raw)
	}
}

// TestBuiltOfNoJSON: a raw value that is not JSON is found by who asks, and not before.
func TestBuiltOfNoJSON(t *testing.T) {
	item := FunctionCall{CallID: "c", Unknown: Members{{"a", jsontext.Value(`{`)}}}.Item()
	if item.Type != ItemFunctionCall {
		t.Errorf("the type is %q", item.Type)
	}
	_, err := ParseItem(item.Raw)
	wantError(t, err, "item: unexpected end of input", ErrInvalid)
	_, err = item.FunctionCall()
	wantError(t, err, "function_call item: unexpected end of input", ErrInvalid)
}

func TestItemClone(t *testing.T) {
	item := UserText("a")
	c := item.Clone()
	c.Raw[0] = 'x'
	if item.Text() != "a" || c.Role != RoleUser {
		t.Errorf("the item is %s, its clone %+v", item.Raw, c)
	}
}

func TestItemMarshal(t *testing.T) {
	const raw = `{"type":"acme:note","n":1.50}`
	var list []Item
	if err := json.Unmarshal([]byte(`[`+raw+`]`), &list); err != nil {
		t.Fatal(err)
	}
	if list[0].Type != "acme:note" {
		t.Errorf("the type is %q", list[0].Type)
	}
	got, err := json.Marshal(append(list, Item{}))
	if want := `[` + raw + `,null]`; string(got) != want || err != nil {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
	err = json.Unmarshal([]byte(`[{}]`), &list)
	wantError(t, err, "item: has no type: ", ErrInvalid)
}
