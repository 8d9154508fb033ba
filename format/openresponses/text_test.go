package openresponses

import (
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

func TestText(t *testing.T) {
	for _, test := range []struct{ name, typ, raw, want string }{
		{"message", ItemMessage, `{"content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"x"},{"text":"b"}]}`, "a\nb"},
		{"string content", ItemMessage, `{"content":"a\n\"b\" \u00e9\ud83d\ude00"}`, "a\n\"b\" é😀"},
		{"refusal", ItemMessage, `{"content":[{"type":"refusal","refusal":"no"}]}`, "no"},
		{"call", ItemFunctionCall, `{"arguments":"{\"cmd\":\"ls\"}","name":"n"}`, `{"cmd":"ls"}`},
		{"output", ItemFunctionCallOutput, `{"output":"out"}`, "out"},
		{"output in parts", ItemFunctionCallOutput, `{"output":[{"text":"a"},{"text":""},{"text":"b"}]}`, "a\nb"},
		{"reasoning", ItemReasoning, `{"summary":[{"text":"s1"},{"text":"s2"}],"content":[{"text":"c"}]}`, "s1\ns2"},
		{"reasoning without a summary", ItemReasoning, `{"summary":[],"content":[{"text":"c"}]}`, "c"},
		{"compaction", ItemCompaction, `{"encrypted_content":"e"}`, ""},
		{"extension", "acme:note", `{"text":"t"}`, ""},
		{"other kinds", ItemMessage, `{"content":[1,null,"a",{"text":2},{"text":null},{}]}`, ""},
		{"content of another kind", ItemMessage, `{"content":{"text":"a"}}`, ""},
		{"no item", ItemMessage, `[`, ""},
		{"half a pair", ItemFunctionCallOutput, `{"output":"a\ud83d b\ude00\ud83d\n\ud83d\ud83d\ude00"}`, "a\uFFFD b\uFFFD\uFFFD\n\uFFFD😀"},
		{"broken UTF-8", ItemFunctionCallOutput, "{\"output\":\"a\xff\xe2\x82b\"}", "a\uFFFD\uFFFD\uFFFDb"},
		{"control characters", ItemFunctionCallOutput, "{\"output\":\"a\x00\tb\\u001b\"}", "a\x00\tb\x1b"},
		{"odd escapes", ItemFunctionCallOutput, `{"output":"\q\u12\/\u00zz"}`, "\uFFFDq\uFFFDu12/\uFFFDu00zz"},
		{"an escape at the end", ItemFunctionCallOutput, `{"output":"\u00"}`, "\uFFFDu00"},
	} {
		t.Run(test.name, func(t *testing.T) {
			item := Item{Type: test.typ, Raw: jsontext.Value(test.raw)}
			if got := item.Text(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			checkPreviews(t, item)
		})
	}
}

// checkPreviews holds the previews of an item against its text.
func checkPreviews(t *testing.T, item Item) {
	t.Helper()
	text := []rune(item.Text())
	for limit := -1; limit <= min(len(text)+1, 100); limit++ {
		n := max(0, min(limit, len(text)))
		got, whole := item.Preview(limit)
		if got != string(text[:n]) || whole != (n == len(text)) {
			t.Errorf("the first %d characters are %q, %t, and the text is %q", limit, got, whole, string(text))
		}
	}
}

// TestPreviewOfMuch: what is not shown costs no memory.
func TestPreviewOfMuch(t *testing.T) {
	item := NewFunctionCallOutput("c", strings.Repeat("\n€\x01", 1<<20))
	parts := FunctionCallOutput{Parts: []Part{InputText("a"), {Type: PartText, Text: strings.Repeat("x\n", 1<<20)}}}.Item()
	for _, item := range []Item{item, parts} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text, whole := item.Preview(80)
		runtime.ReadMemStats(&after)
		if n := utf8.RuneCountInString(text); n != 80 || whole {
			t.Errorf("%d characters, whole %t", n, whole)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 500_000 {
			t.Errorf("%d bytes allocated for 80 characters of %d bytes", n, len(item.Raw))
		}
	}
}
