package format

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// entryTests has each type with all its members, and what a reader must do with odd ones.
var entryTests = []struct {
	name string
	line string
	want Entry
}{
	{
		"item: a function call",
		entry("item", "b", "a", `"item":{"type":"function_call","id":"fc","call_id":"c1","name":"bash","arguments":"{}"}`, `"response":"resp"`),
		&ItemEntry{
			Envelope: Envelope{ID: "b", Parent: "a", Time: at(1)},
			Item: Item{
				Raw:  raw(`{"type":"function_call","id":"fc","call_id":"c1","name":"bash","arguments":"{}"}`),
				Type: "function_call", CallID: "c1", Name: "bash",
			},
			ResponseID: "resp",
		},
	},
	{
		"item: hidden, of an extension, with a trigger, with spaces and escapes",
		"\t{ \"type\" : \"\\u0069tem\" , \"id\" : \"\\u00e9\\n\" , \"parent\" : null , \"ts\" : \"2026-09-20T12:00:01\\u005a\"," +
			" \"item\" : { \"type\" : \"acme:note\" , \"role\" : \"user\" } , \"visible\" : false , \"queued_from\":\"q\",\"source\":{\"kind\":\"cron\"} } ",
		&ItemEntry{
			Envelope:   Envelope{ID: "é\n", Time: at(1)},
			Item:       Item{Raw: raw(`{ "type" : "acme:note" , "role" : "user" }`), Type: "acme:note", Role: "user"},
			Visible:    ptr(false),
			QueuedFrom: "q",
			Source:     raw(`{"kind":"cron"}`),
		},
	},
	{
		"item: odd members inside the item are its own affair",
		entry("item", "b", "a", `"item":{"type":"message","role":5,"call_id":null,"name":{},"type":"reasoning"}`),
		&ItemEntry{
			Envelope: Envelope{ID: "b", Parent: "a", Time: at(1)},
			Item:     Item{Raw: raw(`{"type":"message","role":5,"call_id":null,"name":{},"type":"reasoning"}`), Type: "reasoning"},
		},
	},
	{
		"response: everything",
		entry("response", "b", "a", `"response_id":"resp","model":"gpt-5","status":"completed"`,
			`"usage":{"input_tokens":50,"output_tokens":20,"total_tokens":70,`+
				`"input_tokens_details":{"cached_tokens":5,"cache_creation_tokens":4,"cache_creation_1h_tokens":3},`+
				`"output_tokens_details":{"reasoning_tokens":2}}`,
			`"incomplete":{"reason":"content_filter"},"error":{"type":"server_error","code":"c","message":"boom","param":null}`,
			`"request_hash":"sha256:00","latency_ms":400,"attempts":2`),
		&ResponseEntry{
			Envelope:   Envelope{ID: "b", Parent: "a", Time: at(1)},
			ResponseID: "resp", Model: "gpt-5", Status: "completed",
			Usage: &Usage{
				InputTokens: ptr(int64(50)), OutputTokens: ptr(int64(20)), TotalTokens: ptr(int64(70)),
				CachedTokens: ptr(int64(5)), CacheCreationTokens: ptr(int64(4)), CacheCreation1hTokens: ptr(int64(3)),
				ReasoningTokens: ptr(int64(2)),
				Raw: raw(`{"input_tokens":50,"output_tokens":20,"total_tokens":70,` +
					`"input_tokens_details":{"cached_tokens":5,"cache_creation_tokens":4,"cache_creation_1h_tokens":3},` +
					`"output_tokens_details":{"reasoning_tokens":2}}`),
			},
			Incomplete: &Incomplete{Reason: "content_filter", Raw: raw(`{"reason":"content_filter"}`)},
			Error: &ResponseError{
				Type: "server_error", Code: "c", Message: "boom",
				Raw: raw(`{"type":"server_error","code":"c","message":"boom","param":null}`),
			},
			RequestHash: "sha256:00", LatencyMS: ptr(int64(400)), Attempts: ptr(int64(2)),
		},
	},
	{
		"response: nothing",
		entry("response", "b", "a", `"usage":null,"incomplete":null,"error":null,"model":null,"latency_ms":null`),
		&ResponseEntry{Envelope: Envelope{ID: "b", Parent: "a", Time: at(1)}},
	},
	{
		"response: odd members inside its objects are left out and stay in the raw value",
		entry("response", "b", "a", `"usage":{"input_tokens":"x","output_tokens":1.5,"total_tokens":1e1,"input_tokens_details":7},`+
			`"incomplete":{"reason":{}},"error":{"code":404}`),
		&ResponseEntry{
			Envelope: Envelope{ID: "b", Parent: "a", Time: at(1)},
			Usage: &Usage{
				TotalTokens: ptr(int64(10)),
				Raw:         raw(`{"input_tokens":"x","output_tokens":1.5,"total_tokens":1e1,"input_tokens_details":7}`),
			},
			Incomplete: &Incomplete{Raw: raw(`{"reason":{}}`)},
			Error:      &ResponseError{Raw: raw(`{"code":404}`)},
		},
	},
	{
		"config: everything, numbers as spelled",
		entry("config", "b", "", `"model":"m","instructions":"","reasoning":{"effort":"high"},"text":{},"tools_added":[{"type":"function"},7],`+
			`"tools_removed":["x"],"extra":{"temperature":0.50,"gone":null},"replace":true,`+
			`"instructions_parts":[{"keep":1}],"instructions_omitted":[],"omit":{"items":[]}`),
		&ConfigEntry{
			Envelope: Envelope{ID: "b", Time: at(1)},
			Model:    "m", Instructions: ptr(""), Reasoning: raw(`{"effort":"high"}`), Text: raw(`{}`),
			ToolsAdded: []jsontext.Value{raw(`{"type":"function"}`), raw(`7`)}, ToolsRemoved: []string{"x"},
			Extra:   members("temperature", `0.50`, "gone", `null`),
			Replace: true,
			Parts:   raw(`[{"keep":1}]`), Omitted: raw(`[]`), Omit: raw(`{"items":[]}`),
		},
	},
	{
		"config: members of later minors in another form are unknown members",
		entry("config", "b", "", `"omit":true,"parents":"none","instructions_parts":{}`),
		&ConfigEntry{Envelope: Envelope{
			ID: "b", Time: at(1),
			Unknown: members("omit", `true`, "parents", `"none"`, "instructions_parts", `{}`),
		}},
	},
	{
		"compaction: everything",
		entry("compaction", "b", "a", `"first_kept":"a","summary":{"type":"compaction"},"config":{"model":"m"},"tokens_before":9,`+
			`"usage":{},"pinned":[{"type":"message","role":"developer"},5]`),
		&CompactionEntry{
			Envelope:  Envelope{ID: "b", Parent: "a", Time: at(1)},
			FirstKept: "a", Summary: Item{Raw: raw(`{"type":"compaction"}`), Type: "compaction"}, Config: raw(`{"model":"m"}`),
			TokensBefore: ptr(int64(9)), Usage: &Usage{Raw: raw(`{}`)},
			Pinned: []Item{{Raw: raw(`{"type":"message","role":"developer"}`), Type: "message", Role: "developer"}, {Raw: raw(`5`)}},
		},
	},
	{
		"branch summary",
		entry("branch_summary", "b", "a", `"from":"x","summary":{"type":"message","role":"system"},"usage":{}`),
		&BranchSummaryEntry{
			Envelope: Envelope{ID: "b", Parent: "a", Time: at(1)},
			From:     "x", Summary: Item{Raw: raw(`{"type":"message","role":"system"}`), Type: "message", Role: "system"},
			Usage: &Usage{Raw: raw(`{}`)},
		},
	},
	{
		"run: a start",
		entry("run", "b", "a", `"run_id":"r","phase":"start","source":"input","ref":"cron","trigger":{"kind":"schedule","due":1,"ref":"n","source":"cron"}`),
		&RunEntry{
			Envelope: Envelope{ID: "b", Parent: "a", Time: at(1)},
			RunID:    "r", Phase: PhaseStart, Source: SourceInput, Ref: "cron",
			Trigger: &Trigger{Kind: "schedule", Ref: "n", Source: "cron", Unknown: members("due", `1`)},
		},
	},
	{
		"run: an end, with a reason of a later minor",
		entry("run", "b", "a", `"run_id":"r","phase":"end","reason":"tired","pending":["c1"]`),
		&RunEntry{Envelope: Envelope{ID: "b", Parent: "a", Time: at(1)}, RunID: "r", Phase: PhaseEnd, Reason: "tired", Pending: []string{"c1"}},
	},
	{
		"run: an end with an empty list of pending calls",
		entry("run", "b", "a", `"run_id":"r","phase":"end","reason":"done","pending":[]`),
		&RunEntry{Envelope: Envelope{ID: "b", Parent: "a", Time: at(1)}, RunID: "r", Phase: PhaseEnd, Reason: ReasonDone, Pending: []string{}},
	},
	{
		"dispatch",
		entry("dispatch", "b", "a", `"call_id":"c1","target":"t","idempotency_key":"k"`),
		&DispatchEntry{Envelope: Envelope{ID: "b", Parent: "a", Time: at(1)}, CallID: "c1", Target: "t", IdempotencyKey: "k"},
	},
	{
		"decision, with a verdict of a later minor",
		entry("decision", "b", "a", `"call_id":"c1","target":"t","verdict":"ponder","reason":"why","by":"oracle","args":[1.0]`),
		&DecisionEntry{
			Envelope: Envelope{ID: "b", Parent: "a", Time: at(1)},
			CallID:   "c1", Target: "t", Verdict: "ponder", Reason: "why", By: "oracle", Args: raw(`[1.0]`),
		},
	},
	{
		"label", entry("label", "b", "a", `"target":"t","label":"x"`),
		&LabelEntry{Envelope: Envelope{ID: "b", Parent: "a", Time: at(1)}, Target: "t", Label: ptr("x")},
	},
	{
		"label that clears", entry("label", "b", "a", `"target":"t","label":null`),
		&LabelEntry{Envelope: Envelope{ID: "b", Parent: "a", Time: at(1)}, Target: "t"},
	},
	{
		"info", entry("info", "b", "a", `"name":"n","color":"red"`),
		&InfoEntry{Envelope: Envelope{ID: "b", Parent: "a", Time: at(1), Unknown: members("color", `"red"`)}, Name: "n"},
	},
	{
		"env: everything",
		entry("env", "b", "a", `"cwd":"/w","vcs":{"system":"git","revision":"abc","dirty":true,"branch":"main"},`+
			`"files":{"read":{"go.mod":"sha256:aa","odd":1},"written":{},"more":[]},"tools":{"go":"1.26","odd":null},`+
			`"workspace":{"kind":"orbit","ref":"r","host":"h"}`),
		&EnvEntry{
			Envelope:  Envelope{ID: "b", Parent: "a", Time: at(1)},
			CWD:       "/w",
			VCS:       &VCS{System: "git", Revision: "abc", Dirty: new(true), Unknown: members("branch", `"main"`)},
			Files:     &FileHashes{Read: map[string]string{"go.mod": "sha256:aa"}, Written: map[string]string{}, Unknown: members("more", `[]`)},
			Tools:     map[string]string{"go": "1.26"},
			Workspace: &Workspace{Kind: "orbit", Ref: "r", Unknown: members("host", `"h"`)},
		},
	},
	{
		"env: odd members inside its objects are unknown members",
		entry("env", "b", "a", `"vcs":{"system":1,"dirty":"no"},"files":{"read":[]},"workspace":{"kind":null}`),
		&EnvEntry{
			Envelope:  Envelope{ID: "b", Parent: "a", Time: at(1)},
			VCS:       &VCS{Unknown: members("system", `1`, "dirty", `"no"`)},
			Files:     &FileHashes{Unknown: members("read", `[]`)},
			Workspace: &Workspace{Unknown: members("kind", `null`)},
		},
	},
	{
		"outcome",
		entry("outcome", "b", "a", `"kind":"eval","target":"t","score":-0.25e1,"pass":false,"label":"judge","details":{"n":1e400}`),
		&OutcomeEntry{
			Envelope: Envelope{ID: "b", Parent: "a", Time: at(1)},
			Kind:     OutcomeEval, Target: "t", Score: ptr(-2.5), Pass: ptr(false), Label: "judge", Details: raw(`{"n":1e400}`),
		},
	},
	{
		"link", entry("link", "b", "a", `"rel":"judged_by","session":"s2","call_id":"c1","target":"t"`),
		&LinkEntry{Envelope: Envelope{ID: "b", Parent: "a", Time: at(1)}, Rel: RelJudgedBy, Session: "s2", CallID: "c1", Target: "t"},
	},
	{
		"custom", entry("custom", "b", "a", `"ns":"acme","data":[1],"call_id":"c1"`),
		&CustomEntry{Envelope: Envelope{ID: "b", Parent: "a", Time: at(1)}, NS: "acme", CallID: "c1", Data: raw(`[1]`)},
	},
	{
		"queued", entry("queued", "b", "a", `"mode":"steer","item":{"type":"message","role":"user"},"trigger":{"kind":"human"},"ref":"r"`),
		&QueuedEntry{
			Envelope: Envelope{ID: "b", Parent: "a", Time: at(1)},
			Mode:     "steer", Item: Item{Raw: raw(`{"type":"message","role":"user"}`), Type: "message", Role: "user"},
			Trigger: &Trigger{Kind: "human"}, Ref: "r",
		},
	},
	{
		"an extension keeps all its members, in order",
		entry("acme:note", "b", "a", `"z":{"a":[1,2]},"a":"<b>","item":5,"z":2`),
		&UnknownEntry{Envelope: Envelope{
			ID: "b", Parent: "a", Time: at(1),
			Unknown: members("z", `{"a":[1,2]}`, "a", `"<b>"`, "item", `5`, "z", `2`),
		}, Type: "acme:note"},
	},
	{
		"a type without a namespace that nobody knows",
		entry("withdraw", "b", "a", `"target":"q"`),
		&UnknownEntry{Envelope: Envelope{ID: "b", Parent: "a", Time: at(1), Unknown: members("target", `"q"`)}, Type: "withdraw"},
	},
	{
		"the last of repeated members wins, also where the first is damaged",
		`{"type":5,"type":"info","id":"","id":"b","parent":7,"parent":null,"ts":"never","ts":"2026-09-20T12:00:01Z","name":{},"name":"n"}`,
		&InfoEntry{Envelope: Envelope{ID: "b", Time: at(1)}, Name: "n"},
	},
	{
		"names are case-sensitive",
		entry("info", "b", "a", `"Name":"n","ID":"x"`),
		&InfoEntry{Envelope: Envelope{ID: "b", Parent: "a", Time: at(1), Unknown: members("Name", `"n"`, "ID", `"x"`)}},
	},
	{
		"parents, in this file and in another session",
		entry("info", "b", "a", `"parents":[{"entry":"x"},{"session":"s2","entry":"y","more":1}]`),
		&InfoEntry{Envelope: Envelope{ID: "b", Parent: "a", Time: at(1), Parents: []Ref{{Entry: "x"}, {"s2", "y"}}}},
	},
	{
		"parents that are none",
		entry("info", "b", "a", `"parents":[{"session":"s2"}]`),
		&InfoEntry{Envelope: Envelope{ID: "b", Parent: "a", Time: at(1), Unknown: members("parents", `[{"session":"s2"}]`)}},
	},
	{
		"a time far outside what a span can hold",
		`{"type":"info","id":"b","parent":null,"ts":"9999-12-31T23:59:59Z"}`,
		&InfoEntry{Envelope: Envelope{ID: "b", Time: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)}},
	},
}

func TestDecodeEntry(t *testing.T) {
	for _, test := range entryTests {
		t.Run(test.name, func(t *testing.T) {
			got, err := DecodeEntry([]byte(test.line))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			var written struct {
				Type jsontext.Value `json:"type"`
			}
			if err := json.Unmarshal([]byte(test.line), &written, jsontext.AllowDuplicateNames(true)); err != nil {
				t.Fatal(err)
			}
			if typ, _ := jsontext.AppendUnquote(nil, written.Type); got.EntryType() != string(typ) {
				t.Errorf("EntryType %q, want %q", got.EntryType(), typ)
			}
		})
	}
}

// One decoder must not carry anything from one line into the next.
func TestDecoderReuse(t *testing.T) {
	var d Decoder
	for range 2 {
		for _, test := range entryTests {
			got, err := d.Decode([]byte(test.line))
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("%s: %v %s", test.name, err, diff)
			}
			if _, err := d.Decode([]byte(`{"type":"run","id":"b","ts":1}`)); err == nil {
				t.Error("damage passed")
			}
		}
	}
}

// The strings of an entry stay as they are when the line is overwritten, and so does all of a clone.
func TestClone(t *testing.T) {
	for _, test := range entryTests {
		t.Run(test.name, func(t *testing.T) {
			line := []byte(test.line)
			got, err := DecodeEntry(line)
			if err != nil {
				t.Fatal(err)
			}
			clone := Clone(got)
			for i := range line {
				line[i] = '#'
			}
			if diff := cmp.Diff(test.want, clone); diff != "" {
				t.Error(diff)
			}
			if env := got.Base(); env.ID != test.want.Base().ID || env.Parent != test.want.Base().Parent {
				t.Errorf("strings of the entry changed: %q, %q", env.ID, env.Parent)
			}
		})
	}
	if Clone(nil) != nil {
		t.Error("Clone(nil) is not nil")
	}
}

func TestDecodeUsage(t *testing.T) {
	for in, want := range map[string]*Usage{
		`{"input_tokens":9,"more":1}`: {InputTokens: ptr(int64(9)), Raw: raw(`{"input_tokens":9,"more":1}`)},
		`{}`:                          {Raw: raw(`{}`)},
		`null`:                        nil,
		`"9"`:                         nil,
		``:                            nil,
	} {
		if diff := cmp.Diff(want, DecodeUsage(raw(in))); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
	}
}

// In a long file an entry costs its struct and its id: the parent's id is the one before, and call ids, tools and models
// come again.
func TestDecoderAllocations(t *testing.T) {
	var lines [][]byte
	parent := "e"
	for i := range 100 {
		id := fmt.Sprint("e", i)
		lines = append(lines, []byte(entry("item", id, parent, `"item":{"type":"function_call","call_id":"c1","name":"bash"}`, `"response":"r1"`)))
		parent = id
	}
	var d Decoder
	allocs := testing.AllocsPerRun(10, func() {
		for _, line := range lines {
			if _, err := d.Decode(line); err != nil {
				t.Fatal(err)
			}
		}
	})
	if perLine := allocs / float64(len(lines)); perLine > 2.1 {
		t.Errorf("%v allocations for a line", perLine)
	}
}

// The parent is compared with the id before it as strings, not as they are spelled.
func TestDecoderParentSpelling(t *testing.T) {
	var d Decoder
	for _, test := range []struct{ id, parent, want string }{
		{`a\\n`, `x`, "x"},
		{`\u0062`, `a\n`, "a\n"}, // a line feed, after an id that ends in a backslash and an n
		{`c`, `\u0062`, "b"},
		{`d`, `c`, "c"},
	} {
		e, err := d.Decode([]byte(entry("info", test.id, test.parent)))
		if err != nil || e.Base().Parent != test.want {
			t.Errorf("parent %q, %v; want %q", e.Base().Parent, err, test.want)
		}
	}
}

// A file in which no string comes twice does not fill the memory with them.
func TestDecoderForgetsWords(t *testing.T) {
	var d Decoder
	for i := range 10 * maxWords {
		line := entry("dispatch", "b", "a", fmt.Sprintf(`"call_id":"c%d","target":"%0100d"`, i, i))
		e, err := d.Decode([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if e := e.(*DispatchEntry); e.CallID != fmt.Sprint("c", i) || len(e.Target) != 100 {
			t.Fatalf("line %d: %+v", i, e)
		}
	}
	if len(d.words) > maxWords {
		t.Errorf("%d words", len(d.words))
	}
	for word := range d.words {
		if len(word) > maxWord {
			t.Errorf("kept %q", word)
		}
	}
}

func TestDecodeEntryDamage(t *testing.T) {
	const item = `"item":{"type":"message"}`
	tests := []struct {
		name   string
		line   string
		err    error
		at     string // the text that DamageError.At points to; "" for the beginning of the line
		detail string
		want   Entry // what is left; nil for nothing
	}{
		{"nothing", ``, ErrSyntax, "", "unexpected end", nil},
		{"no object", `["type"]`, ErrSyntax, "", "an array instead of an object", nil},
		{"a word", `garbage`, ErrSyntax, "", "invalid character 'g'", nil},
		{"two objects", `{"a":1} {"b":2}`, ErrSyntax, `{"b"`, "more after the", nil},
		{"cut short", `{"type":"in`, ErrSyntax, "END", "unexpected end", nil},
		{"NUL in a string that counts", "{\"type\":\"in\x00fo\"}", ErrInvalidEntry, "\"in", "control character", nil},
		{"NUL between tokens", "{\x00}", ErrSyntax, "\x00", "invalid character", nil},
		{"invalid UTF-8 in a string that counts", "{\"type\":\"in\xfffo\"}", ErrInvalidEntry, "\"in", "invalid UTF-8", nil},
		{"100,000 levels", `{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, ErrSyntax, "AT 10004", "nested deeper", nil},

		{"no type", `{"id":"b","parent":null,"ts":"2026-09-20T12:00:01Z"}`, ErrInvalidEntry, "", `"type" is missing`, nil},
		{"type is a number", `{"type":5,"id":"b"}`, ErrInvalidEntry, "5", `"type" is not a string`, nil},
		{"type is empty", `{"type":"","id":"b"}`, ErrInvalidEntry, `"",`, `"type" is empty`, nil},
		{"no id", `{"type":"info","parent":null,"ts":"2026-09-20T12:00:01Z"}`, ErrInvalidEntry, "", `"id" is missing`, nil},
		{"id is empty", `{"type":"info","id":""}`, ErrInvalidEntry, `""}`, `"id" is empty`, nil},
		{"id is null", `{"type":"info","id":null}`, ErrInvalidEntry, `null`, `"id" is not a string`, nil},
		{
			"no parent", `{"type":"info","id":"b","ts":"2026-09-20T12:00:01Z"}`, ErrInvalidEntry, "", `"parent" is missing`,
			&InfoEntry{Envelope: Envelope{ID: "b", Time: at(1)}},
		},
		{
			"parent is empty", `{"type":"info","id":"b","parent":"","ts":"2026-09-20T12:00:01Z"}`, ErrInvalidEntry, `"",`, `"parent" is empty`,
			&InfoEntry{Envelope: Envelope{ID: "b", Time: at(1)}},
		},
		{
			"parent is a number", `{"type":"info","id":"b","parent":5,"ts":"2026-09-20T12:00:01Z"}`, ErrInvalidEntry, `5,`, `"parent" is not a string`,
			&InfoEntry{Envelope: Envelope{ID: "b", Time: at(1)}},
		},
		{
			"no ts", `{"type":"info","id":"b","parent":"a","name":"n"}`, ErrInvalidEntry, "", `"ts" is missing`,
			&InfoEntry{Envelope: Envelope{ID: "b", Parent: "a"}, Name: "n"},
		},
		{
			"ts without a zone", `{"type":"info","id":"b","parent":"a","ts":"2026-09-20T12:00:01","name":"n"}`, ErrInvalidEntry, `"2026`, `RFC 3339`,
			&InfoEntry{Envelope: Envelope{ID: "b", Parent: "a"}, Name: "n"},
		},
		{
			"ts out of range", `{"type":"info","id":"b","parent":"a","ts":"2026-02-30T12:00:01Z"}`, ErrInvalidEntry, `"2026`, `RFC 3339`,
			&InfoEntry{Envelope: Envelope{ID: "b", Parent: "a"}},
		},
		{
			"ts is a number", `{"type":"info","id":"b","parent":"a","ts":1790000000}`, ErrInvalidEntry, `179`, `"ts" is not a string`,
			&InfoEntry{Envelope: Envelope{ID: "b", Parent: "a"}},
		},
		{
			"the first trouble counts", `{"type":"info","id":"b","parent":5,"ts":6,"name":7}`, ErrInvalidEntry, `5,`, `"parent"`,
			&InfoEntry{Envelope: Envelope{ID: "b"}},
		},

		{"item: none", entry("item", "b", "a", `"response":"r"`), ErrInvalidEntry, "", `"item" is missing`, unknown("item", `response`, `"r"`)},
		{"item: null", entry("item", "b", "a", `"item":null`), ErrInvalidEntry, "null", `"item" is missing`, unknown("item", `item`, `null`)},
		{"item: a string", entry("item", "b", "a", `"item":"x"`), ErrInvalidEntry, `"x"`, `"item" is not an object`, unknown("item", `item`, `"x"`)},
		{
			"item: without a type", entry("item", "b", "a", `"item":{"role":"user"}`), ErrInvalidEntry, `{"role`, `"item" has no type`,
			unknown("item", `item`, `{"role":"user"}`),
		},
		{
			"item: type is a number", entry("item", "b", "a", `"item":{"type":5}`), ErrInvalidEntry, `{"type":5`, `"item" has no type`,
			unknown("item", `item`, `{"type":5}`),
		},
		{
			"item: the last of two is none", entry("item", "b", "a", item, `"item":5`), ErrInvalidEntry, `5}`, `"item" is not an object`,
			unknown("item", `item`, `{"type":"message"}`, `item`, `5`),
		},
		{
			"item: response is a number", entry("item", "b", "a", item, `"response":5`), ErrInvalidEntry, `5}`, `"response" is not a string`,
			&ItemEntry{Envelope: env("b", "a"), Item: Item{Raw: raw(`{"type":"message"}`), Type: "message"}},
		},
		{
			"item: visible is a string", entry("item", "b", "a", item, `"visible":"no"`), ErrInvalidEntry, `"no"`, `"visible" is not a boolean`,
			&ItemEntry{Envelope: env("b", "a"), Item: Item{Raw: raw(`{"type":"message"}`), Type: "message"}},
		},
		{
			"response: usage is a number", entry("response", "b", "a", `"usage":5`), ErrInvalidEntry, `5}`, `"usage" is not an object`,
			&ResponseEntry{Envelope: env("b", "a"), Usage: &Usage{Raw: raw(`5`)}},
		},
		{
			"response: error is a string, and still an error", entry("response", "b", "a", `"error":"boom"`), ErrInvalidEntry, `"boom"`, `"error"`,
			&ResponseEntry{Envelope: env("b", "a"), Error: &ResponseError{Raw: raw(`"boom"`)}},
		},
		{
			"response: incomplete is true", entry("response", "b", "a", `"incomplete":true`), ErrInvalidEntry, `true`, `"incomplete"`,
			&ResponseEntry{Envelope: env("b", "a"), Incomplete: &Incomplete{Raw: raw(`true`)}},
		},
		{
			"response: latency is a fraction", entry("response", "b", "a", `"latency_ms":0.5`), ErrInvalidEntry, `0.5`, `"latency_ms" is not an integer`,
			&ResponseEntry{Envelope: env("b", "a")},
		},
		{
			"response: latency over 64 bits", entry("response", "b", "a", `"latency_ms":9223372036854775808`), ErrInvalidEntry, `922`, `64 bits`,
			&ResponseEntry{Envelope: env("b", "a")},
		},
		{
			"config: tools are an object", entry("config", "b", "a", `"tools_added":{}`), ErrInvalidEntry, `{}}`, `"tools_added" is not an array`,
			&ConfigEntry{Envelope: env("b", "a")},
		},
		{
			"config: a removed tool is a number", entry("config", "b", "a", `"tools_removed":["x",5]`), ErrInvalidEntry, `["x"`, `"tools_removed" has an element`,
			&ConfigEntry{Envelope: env("b", "a")},
		},
		{
			"config: extra is an array", entry("config", "b", "a", `"extra":[]`), ErrInvalidEntry, `[]`, `"extra" is not an object`,
			&ConfigEntry{Envelope: env("b", "a")},
		},
		{
			"config: instructions are an array", entry("config", "b", "a", `"instructions":[]`), ErrInvalidEntry, `[]`, `"instructions" is not a string`,
			&ConfigEntry{Envelope: env("b", "a")},
		},
		{
			"compaction: no first_kept", entry("compaction", "b", "a", `"summary":{"type":"message"}`, `"config":{}`), ErrInvalidEntry, "", `"first_kept" is missing`,
			unknown("compaction", "summary", `{"type":"message"}`, "config", `{}`),
		},
		{
			"compaction: no summary", entry("compaction", "b", "a", `"first_kept":"a"`, `"config":{}`), ErrInvalidEntry, "", `"summary" is missing`,
			unknown("compaction", "first_kept", `"a"`, "config", `{}`),
		},
		{
			"compaction: no config", entry("compaction", "b", "a", `"first_kept":"a"`, `"summary":{"type":"message"}`), ErrInvalidEntry, "", `"config" is missing`,
			unknown("compaction", "first_kept", `"a"`, "summary", `{"type":"message"}`),
		},
		{
			"branch summary: no from", entry("branch_summary", "b", "a", `"summary":{"type":"message"}`), ErrInvalidEntry, "", `"from" is missing`,
			&BranchSummaryEntry{Envelope: env("b", "a"), Summary: Item{Raw: raw(`{"type":"message"}`), Type: "message"}},
		},
		{"run: no id", entry("run", "b", "a", `"phase":"end"`), ErrInvalidEntry, "", `"run_id" is missing`, unknown("run", "phase", `"end"`)},
		{
			"run: unknown phase", entry("run", "b", "a", `"run_id":"r","phase":"pause"`), ErrInvalidEntry, `"pause"`, `"phase" is neither start nor end`,
			unknown("run", "run_id", `"r"`, "phase", `"pause"`),
		},
		{
			"run: pending is a string", entry("run", "b", "a", `"run_id":"r","phase":"end","pending":"c1"`), ErrInvalidEntry, `"c1"`, `"pending" is not an array`,
			&RunEntry{Envelope: env("b", "a"), RunID: "r", Phase: "end"},
		},
		{"dispatch: no call id", entry("dispatch", "b", "a", `"target":"t"`), ErrInvalidEntry, "", `"call_id" is missing`, unknown("dispatch", "target", `"t"`)},
		{
			"dispatch: no target", entry("dispatch", "b", "a", `"call_id":"c1"`), ErrInvalidEntry, "", `"target" is missing`,
			&DispatchEntry{Envelope: env("b", "a"), CallID: "c1"},
		},
		{
			"decision: no verdict", entry("decision", "b", "a", `"call_id":"c1","target":"t"`), ErrInvalidEntry, "", `"verdict" is missing`,
			unknown("decision", "call_id", `"c1"`, "target", `"t"`),
		},
		{"label: no target", entry("label", "b", "a", `"label":"x"`), ErrInvalidEntry, "", `"target" is missing`, unknown("label", "label", `"x"`)},
		{
			"label: a number, which must not clear", entry("label", "b", "a", `"target":"t","label":5`), ErrInvalidEntry, `5}`, `"label" is not a string`,
			unknown("label", "target", `"t"`, "label", `5`),
		},
		{"info: name is an object", entry("info", "b", "a", `"name":{}`), ErrInvalidEntry, `{}}`, `"name" is not a string`, &InfoEntry{Envelope: env("b", "a")}},
		{
			"env: vcs is a string", entry("env", "b", "a", `"vcs":"git","cwd":"/w"`), ErrInvalidEntry, `"git"`, `"vcs" is not an object`,
			&EnvEntry{Envelope: env("b", "a"), CWD: "/w"},
		},
		{"env: tools are an array", entry("env", "b", "a", `"tools":[]`), ErrInvalidEntry, `[]`, `"tools" is not an object`, &EnvEntry{Envelope: env("b", "a")}},
		{"outcome: no kind", entry("outcome", "b", "a", `"score":1`), ErrInvalidEntry, "", `"kind" is missing`, unknown("outcome", "score", `1`)},
		{
			"outcome: score outside float64", entry("outcome", "b", "a", `"kind":"eval","score":1e400`), ErrInvalidEntry, `1e400`, `"score" is not a finite number`,
			&OutcomeEntry{Envelope: env("b", "a"), Kind: "eval"},
		},
		{"link: no session", entry("link", "b", "a", `"rel":"fork_of"`), ErrInvalidEntry, "", `"session" is missing`, unknown("link", "rel", `"fork_of"`)},
		{"custom: no namespace", entry("custom", "b", "a", `"data":1`), ErrInvalidEntry, "", `"ns" is missing`, unknown("custom", "data", `1`)},
		{"queued: no item", entry("queued", "b", "a", `"mode":"steer"`), ErrInvalidEntry, "", `"item" is missing`, unknown("queued", "mode", `"steer"`)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			line := []byte(test.line)
			e, err := DecodeEntry(line)
			d, ok := errors.AsType[*DamageError](err)
			if !ok || !errors.Is(err, test.err) {
				t.Fatalf("got %v, want a DamageError of %v", err, test.err)
			}
			if e != nil {
				t.Errorf("an entry beside the error: %v", e)
			}
			wantAt := strings.Index(test.line, test.at)
			switch test.at {
			case "END":
				wantAt = len(test.line)
			case "AT 10004":
				wantAt = 10004
			}
			if d.At != wantAt {
				t.Errorf("at %d, want %d", d.At, wantAt)
			}
			if !strings.Contains(d.Detail, test.detail) {
				t.Errorf("detail %q, want %q in it", d.Detail, test.detail)
			}
			if !bytes.Equal(d.Data, line) {
				t.Error("the line is not there")
			}
			if diff := cmp.Diff(test.want, d.Entry); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func env(id, parent string) Envelope { return Envelope{ID: id, Parent: parent, Time: at(1)} }

// unknown is what is left of entry b under a when its type cannot be had.
func unknown(typ string, pairs ...string) Entry {
	e := &UnknownEntry{Envelope: env("b", "a"), Type: typ}
	e.Unknown = members(pairs...)
	return e
}
