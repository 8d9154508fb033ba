package sessiontest

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

// Shortened is [Realistic] with texts that are shorter by a factor.
func Shortened(w io.Writer, r *rand.Rand, size int64, by int) error {
	f := realistic(w, r, newBlocks(r, shorterBy(by)))
	f.fill(size)
	return f.err
}

func shorterBy(by int) func(*rand.Rand, role) int {
	return func(r *rand.Rand, as role) int { return realisticSize(r, as) / by }
}

// RealisticPi makes one session of pi of at least size bytes, of the kind that [Realistic] writes: prompts, model calls with a
// thought, words and up to three calls, and their results, with texts of the same lengths, or shorter by a factor, made of the
// same blocks.
func RealisticPi(r *rand.Rand, size int64, by int) []byte {
	p := newBlocks(r, shorterBy(by))
	f := &piFile{r: r, now: time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)}
	f.line(map[string]any{"type": "session", "version": 3, "id": "realistic", "timestamp": f.stamp(), "cwd": "/p"})
	text := func(as role) json.RawMessage {
		e := encoder{}
		e.value(p.text(r, as))
		return e.b
	}
	block := func(kind, name string, as role) map[string]any {
		return map[string]any{"type": kind, name: text(as)}
	}
	var up *piEntry
	written := int64(0)
	say := func(m map[string]any) {
		f.now = f.now.Add(time.Duration(1+r.IntN(5000)) * time.Millisecond)
		m["timestamp"] = f.now.UnixMilli()
		up = f.message(up, m)
		up.path = nil
		written += int64(len(f.lines[len(f.lines)-1]))
	}
	n := 0
	for written < size {
		say(map[string]any{"role": "user", "content": []any{block("text", "text", userText)}})
		for round := r.IntN(40); round >= 0; round-- {
			content := []any{block("thinking", "thinking", reasoningText), block("text", "text", messageText)}
			stop := "stop"
			var calls []string
			for i := 1 + r.IntN(3); i > 0 && round > 0; i-- {
				n++
				id := fmt.Sprintf("call_%d", n)
				e := encoder{}
				e.value(p.text(r, argsText))
				content = append(content, map[string]any{
					"type": "toolCall", "id": id, "name": "bash", "arguments": map[string]any{"command": json.RawMessage(e.b)},
				})
				calls, stop = append(calls, id), "toolUse"
			}
			say(map[string]any{
				"role": "assistant", "content": content, "api": "anthropic-messages", "provider": "anthropic", "model": "claude-sonnet-4-5",
				"usage": f.usage(), "stopReason": stop, "responseId": fmt.Sprintf("msg_%d", len(f.lines)), "durationMs": 900,
			})
			for _, id := range calls {
				say(map[string]any{
					"role": "toolResult", "toolCallId": id, "toolName": "bash", "content": []any{block("text", "text", outputText)},
					"isError": false, "durationMs": 30,
				})
			}
		}
	}
	var data []byte
	for _, l := range f.lines {
		data = append(append(data, l...), '\n')
	}
	return data
}
