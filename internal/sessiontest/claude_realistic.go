package sessiontest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// claudeWriter writes a session of Claude Code of realistic length as it comes.
type claudeWriter struct {
	w    io.Writer
	r    *rand.Rand
	text func(as role) json.RawMessage
	now  time.Time
	id   string // of the session
	who  string // the agent whose file it is, "" for the session itself
	tip  string
	n    int
	size int64
	err  error
}

// RealisticClaude writes one session of Claude Code of at least size bytes, of the kind that [Realistic] writes: prompts, model calls with a
// thought, words and up to three calls, a line each, and their results, with texts of the same lengths, or shorter by a factor, made of the
// same blocks.
func RealisticClaude(w io.Writer, r *rand.Rand, size int64, by int) error {
	c := newClaudeWriter(w, r, newBlocks(r, shorterBy(by)), "11111111-1111-4111-8111-111111111111")
	for c.size < size && c.err == nil {
		c.turn(40, nil)
	}
	return c.err
}

// ClaudeArchive writes that many sessions of Claude Code of about size bytes in all into dir, which is a folder of projects: four in five of
// the bytes are in the sessions' own files, the others in those of their agents.
func ClaudeArchive(dir string, r *rand.Rand, sessions int, size int64) error {
	blocks := newBlocks(r, realisticSize)
	each := size / int64(sessions)
	for i := range sessions {
		id := fmt.Sprintf("%08x-1111-4111-8111-111111111111", i)
		unit := filepath.Join(dir, fmt.Sprintf("-work-app-%d", i%20), id)
		err := claudeFileOf(unit+".jsonl", func(w io.Writer) error {
			c := newClaudeWriter(w, r, blocks, id)
			for agents := 0; c.size < each*4/5 && c.err == nil; {
				c.turn(10, func(call, task string) string {
					agents++
					agent := fmt.Sprintf("%08x%08x", i, agents)
					path := filepath.Join(unit, "subagents", "agent-"+agent)
					card := fmt.Sprintf(`{"agentType":"Explore","toolUseId":%q}`, call)
					c.err = errors.Join(c.err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path+".meta.json", []byte(card), 0o600),
						claudeFileOf(path+".jsonl", func(w io.Writer) error {
							a := newClaudeWriter(w, r, blocks, id)
							a.who, a.now, a.n = agent, c.now, agents*100_000
							a.work(task, 3, nil)
							c.now = a.now
							return a.err
						}))
					return agent
				})
			}
			return c.err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func claudeFileOf(path string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	return errors.Join(write(w), w.Flush(), f.Close())
}

func newClaudeWriter(w io.Writer, r *rand.Rand, p prose, id string) *claudeWriter {
	return &claudeWriter{w: w, r: r, id: id, now: time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC), text: func(as role) json.RawMessage {
		e := encoder{}
		e.value(p.text(r, as))
		return e.b
	}}
}

// turn writes a turn of up to so many model calls. Now and then one of their calls spawns an agent, if there are to be any.
func (c *claudeWriter) turn(most int, spawn func(call, task string) string) {
	c.work("", c.r.IntN(most), spawn)
}

// work writes a prompt, which is the task given or one of some length, and what the model does for it.
func (c *claudeWriter) work(task string, rounds int, spawn func(call, task string) string) {
	prompt := c.text(userText)
	if task != "" {
		prompt = json.RawMessage(fmt.Sprintf("%q", task))
	}
	c.line("user", map[string]any{"message": map[string]any{"role": "user", "content": prompt}})
	for round := rounds; round >= 0 && c.err == nil; round-- {
		blocks := []map[string]any{
			{"type": "thinking", "thinking": c.text(reasoningText), "signature": "s"}, {"type": "text", "text": c.text(messageText)},
		}
		var calls, tasks []string
		for i := 1 + c.r.IntN(3); i > 0 && round > 0; i-- {
			c.n++
			call, name, input := fmt.Sprintf("toolu_%s_%d", c.who, c.n), "Bash", map[string]any{"command": c.text(argsText)}
			if task = ""; spawn != nil && c.r.IntN(30) == 0 {
				task = fmt.Sprintf("look at %d", c.n)
				name, input = "Agent", map[string]any{"prompt": task, "subagent_type": "Explore"}
			}
			calls, tasks = append(calls, call), append(tasks, task)
			blocks = append(blocks, map[string]any{"type": "tool_use", "id": call, "name": name, "input": input})
		}
		c.message(blocks, len(calls) > 0)
		for i, call := range calls {
			block := map[string]any{"type": "tool_result", "tool_use_id": call, "content": c.text(outputText)}
			more := map[string]any{"message": map[string]any{"role": "user", "content": []any{block}}}
			if tasks[i] != "" {
				more["toolUseResult"] = map[string]any{"status": "completed", "agentId": spawn(call, tasks[i])}
			}
			c.line("user", more)
		}
	}
}

func (c *claudeWriter) message(blocks []map[string]any, calls bool) {
	c.n++
	id, stop := fmt.Sprintf("msg_%s_%s_%d", c.id[:8], c.who, c.n), "end_turn"
	if calls {
		stop = "tool_use"
	}
	for i, b := range blocks {
		m := map[string]any{
			"id": id, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": []any{b}, "stop_reason": nil,
			"usage": map[string]any{"input_tokens": 5, "cache_creation_input_tokens": 900, "cache_read_input_tokens": 20000, "output_tokens": 2},
		}
		if i == len(blocks)-1 {
			m["stop_reason"] = stop
			m["usage"].(map[string]any)["output_tokens"] = 400
		}
		c.line("assistant", map[string]any{"message": m, "requestId": "req_" + id})
	}
}

func (c *claudeWriter) line(typ string, more map[string]any) {
	c.now = c.now.Add(time.Duration(1+c.r.IntN(5000)) * time.Millisecond)
	c.n++
	uuid := fmt.Sprintf("%s-0000-4000-8000-%012d", c.id[:8], c.n)
	v := map[string]any{
		"parentUuid": nil, "isSidechain": c.who != "", "userType": "external", "cwd": "/work/app", "sessionId": c.id, "version": "2.1.40",
		"gitBranch": "main", "type": typ, "uuid": uuid, "timestamp": c.now.Format("2006-01-02T15:04:05.000Z"),
	}
	if c.tip != "" {
		v["parentUuid"] = c.tip
	}
	if c.who != "" {
		v["agentId"] = c.who
	}
	for name, m := range more {
		v[name] = m
	}
	c.tip = uuid
	b, err := json.Marshal(v)
	if err == nil && c.err == nil {
		_, err = c.w.Write(append(b, '\n'))
	}
	c.err = errors.Join(c.err, err)
	c.size += int64(len(b)) + 1
}
