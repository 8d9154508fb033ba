package sessiontest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"
)

// ClaudeFile is a file of Claude Code, by its path below the folder of projects, with slashes.
type ClaudeFile struct {
	Path string
	Data []byte
	// Copied is how many lines at its beginning were written at once, when another session was gone on with.
	Copied int
}

// ClaudeTruth is what is true of the files of a unit: sessions with what they spawned and what was forked from them.
type ClaudeTruth struct {
	Turns  int // prompts of a person, copies counted once
	Chats  int // messages of models, by their ids
	Calls  int
	Ended  int   // of those, the ones with a result
	Failed int   // of those, the ones that failed or were not wanted
	In     int64 // tokens, cached ones included
	Out    int64
	Agents int
}

// ClaudeCopies says how a session goes on in a file of its own.
type ClaudeCopies int

// The ways of copying.
const (
	NoCopy     ClaudeCopies = iota
	MarkedCopy              // each line says where it comes from
	OldCopy                 // lines keep the id of the session that they come from
	SilentCopy              // nothing says it
)

// claudeUnit is a unit in the making.
type claudeUnit struct {
	r      *rand.Rand
	truth  ClaudeTruth
	files  []*claudeOut
	cards  []ClaudeFile
	now    time.Time
	layout int // of agents: 0 in the folder of the session, 1 beside its file, 2 in its file
	later  []func()
}

// claudeOut is a file in the making, or an agent's part of one.
type claudeOut struct {
	u       *claudeUnit
	path    string
	session string
	agent   string
	inline  bool // a part of another file
	tip     string
	lines   *[][]byte
	style   int      // 0: the count of output grows, and the last line says why it ended; 1: no line does; 2: all lines have all
	ends    []int    // where turns end, in lines
	copies  int      // how many lines are copied
	points  []string // entries from which a turn went on
}

// RandomClaude makes the files of a random unit: sessions of about so many turns, with messages over many lines, agents, hooks, commands,
// compactions, rewinds, interruptions and retries, whose history is copied in one way or not at all.
func RandomClaude(r *rand.Rand, turns int, copies ClaudeCopies) ([]ClaudeFile, ClaudeTruth) {
	u := &claudeUnit{r: r, now: time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC), layout: r.IntN(3)}
	f := u.file()
	f.head()
	for range turns {
		f.turn(0)
	}
	u.finish()
	if copies != NoCopy && len(f.ends) > 0 {
		c := f.copied(f.ends[r.IntN(len(f.ends))], copies)
		for range 1 + r.IntN(2) {
			c.turn(0)
		}
		u.finish()
	}
	var files []ClaudeFile
	for _, f := range u.files {
		var data []byte
		for _, l := range *f.lines {
			data = append(append(data, l...), '\n')
		}
		files = append(files, ClaudeFile{f.path, data, f.copies})
	}
	return append(files, u.cards...), u.truth
}

// finish has the agents in the background do their work, and those that they spawn.
func (u *claudeUnit) finish() {
	for i := 0; i < len(u.later); i++ {
		u.later[i]()
	}
	u.later = nil
}

func (u *claudeUnit) uuid() string {
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", u.r.Uint32(), u.r.IntN(1<<16), u.r.IntN(1<<12), u.r.IntN(1<<12), u.r.Int64N(1<<48))
}

// file begins the file of a session.
func (u *claudeUnit) file() *claudeOut {
	id := u.uuid()
	f := &claudeOut{u: u, path: "-work-app/" + id + ".jsonl", session: id, lines: &[][]byte{}, style: u.r.IntN(3)}
	u.files = append(u.files, f)
	return f
}

func (f *claudeOut) line(v map[string]any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of the test's own making
	}
	*f.lines = append(*f.lines, b)
	switch f.u.r.IntN(120) {
	case 0:
		*f.lines = append(*f.lines, b[:len(b)/2])
	case 1:
		*f.lines = append(*f.lines, make([]byte, 64))
	case 2:
		*f.lines = append(*f.lines, nil)
	}
}

func (f *claudeOut) tick(most int) string {
	if f.u.r.IntN(40) == 0 {
		f.u.now = f.u.now.Add(-time.Duration(f.u.r.IntN(20)) * time.Millisecond)
	} else {
		f.u.now = f.u.now.Add(time.Duration(1+f.u.r.IntN(most)) * time.Millisecond)
	}
	return f.u.now.Format("2006-01-02T15:04:05.000Z")
}

// entry appends a line of the tree, below another one, and returns its id.
func (f *claudeOut) entry(up, typ string, more map[string]any) string {
	id := f.u.uuid()
	v := map[string]any{
		"parentUuid": nil, "isSidechain": f.agent != "", "userType": "external", "cwd": "/work/app", "sessionId": f.session,
		"version": "2.1.9", "gitBranch": "main", "type": typ, "uuid": id, "timestamp": f.tick(4000),
	}
	if up != "" {
		v["parentUuid"] = up
	}
	if f.agent != "" && !f.inline {
		v["agentId"] = f.agent
	}
	for name, m := range more {
		v[name] = m
	}
	f.line(v)
	f.tip = id
	return id
}

// aside appends a line that is none of the tree.
func (f *claudeOut) aside() {
	if f.agent != "" {
		return
	}
	kinds := []map[string]any{
		{"type": "file-history-snapshot", "messageId": "m", "snapshot": map[string]any{}},
		{"type": "ai-title", "aiTitle": fmt.Sprint("t", f.u.r.IntN(3))},
		{"type": "custom-title", "customTitle": "named"},
		{"type": "permission-mode", "permissionMode": []string{"default", "plan"}[f.u.r.IntN(2)]},
		{"type": "queue-operation", "operation": "enqueue", "content": "c"},
		{"type": "last-prompt", "lastPrompt": "p"},
		{"type": fmt.Sprint("new-kind-", f.u.r.IntN(3)), "x": 1},
	}
	v := kinds[f.u.r.IntN(len(kinds))]
	v["sessionId"] = f.session
	f.line(v)
}

// between appends what may stand between the lines of a turn.
func (f *claudeOut) between() {
	switch f.u.r.IntN(10) {
	case 0:
		f.entry(f.tip, "attachment", map[string]any{"attachment": map[string]any{"type": "todo"}})
	case 1:
		f.entry(f.tip, "progress", map[string]any{"data": map[string]any{"type": "hook_progress"}, "toolUseID": "x"})
	case 2:
		f.aside()
	}
}

func (f *claudeOut) head() {
	if f.u.r.IntN(2) == 0 {
		f.line(map[string]any{"type": "mode", "mode": "normal", "sessionId": f.session})
	}
	if f.u.r.IntN(4) == 0 {
		f.line(map[string]any{"type": "summary", "summary": "of another one", "leafUuid": f.u.uuid()})
	}
}

func (f *claudeOut) user(up string, content any, more map[string]any) string {
	v := map[string]any{"message": map[string]any{"role": "user", "content": content}}
	for name, m := range more {
		v[name] = m
	}
	return f.entry(up, "user", v)
}

// turn appends a turn of a person, or the whole of an agent's work.
func (f *claudeOut) turn(depth int) {
	r := f.u.r
	if depth == 0 {
		f.before()
	}
	up := f.tip
	if depth == 0 && len(f.points) > 1 && r.IntN(8) == 0 {
		up = f.points[r.IntN(len(f.points)-1)] // something earlier is written anew
	}
	if depth == 0 {
		f.u.truth.Turns++
		f.points = append(f.points, up)
		if r.IntN(6) == 0 {
			f.user(up, "<command-message>review</command-message>\n<command-name>/review</command-name>", nil)
			f.user(f.tip, []any{map[string]any{"type": "text", "text": "Look at it."}}, map[string]any{"isMeta": true})
		} else {
			f.user(up, fmt.Sprint("do thing ", r.IntN(1000)), nil)
		}
	}
	for range r.IntN(4) {
		f.step(depth)
		if r.IntN(20) == 0 && depth == 0 {
			f.compact()
		}
	}
	switch {
	case depth == 0 && r.IntN(10) == 0:
		f.user(f.tip, []any{map[string]any{"type": "text", "text": "[Request interrupted by user]"}}, nil)
	case r.IntN(12) == 0:
		f.entry(f.tip, "assistant", map[string]any{"isApiErrorMessage": true, "message": map[string]any{
			"id": f.u.uuid(), "model": "<synthetic>", "role": "assistant", "content": []any{map[string]any{"type": "text", "text": "API Error: 529 busy"}},
			"usage": map[string]any{"input_tokens": 0, "output_tokens": 0},
		}})
	default:
		f.message(0, depth, false)
	}
	if depth == 0 {
		f.after()
		f.ends = append(f.ends, len(*f.lines))
	}
}

// before appends what may stand between turns.
func (f *claudeOut) before() {
	if f.u.r.IntN(12) == 0 {
		f.u.now = f.u.now.Add(25 * time.Hour)
	}
	switch f.u.r.IntN(8) {
	case 0:
		f.user(f.tip, "<command-name>/model</command-name>", nil)
		f.user(f.tip, "<local-command-stdout>Set model</local-command-stdout>", nil)
	case 1:
		f.user(f.tip, "<bash-input>ls</bash-input>", nil)
		f.user(f.tip, "<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>", nil)
	case 2:
		f.aside()
	}
}

// after appends what Claude Code notes at the end of a turn.
func (f *claudeOut) after() {
	if f.u.r.IntN(3) == 0 {
		f.entry(f.tip, "system", map[string]any{"subtype": "stop_hook_summary", "hookCount": 1, "hookErrors": []any{}})
	}
	if f.u.r.IntN(3) == 0 {
		f.entry(f.tip, "system", map[string]any{"subtype": "turn_duration", "durationMs": f.u.r.IntN(90000)})
	}
}

func (f *claudeOut) compact() {
	f.entry("", "system", map[string]any{
		"subtype": "compact_boundary", "logicalParentUuid": f.tip, "compactMetadata": map[string]any{"trigger": "auto", "preTokens": 150000},
	})
	f.user(f.tip, "This session is being continued.", map[string]any{"isCompactSummary": true})
}

// step appends a message that asks for calls, and what comes of them.
func (f *claudeOut) step(depth int) {
	if f.u.r.IntN(12) == 0 {
		f.entry(f.tip, "system", map[string]any{"subtype": "api_error", "error": map[string]any{"status": 529}, "retryInMs": 12.5, "retryAttempt": 1})
	}
	f.message(1+f.u.r.IntN(3), depth, f.u.r.IntN(15) == 0)
}

// copied begins a file with a copy of the lines of another one up to somewhere.
func (f *claudeOut) copied(upTo int, how ClaudeCopies) *claudeOut {
	c := f.u.file()
	c.style = f.style
	renamed := map[string]string{}
	last := ""
	for i, raw := range (*f.lines)[:upTo] {
		var v map[string]any
		if json.Unmarshal(raw, &v) != nil || v == nil {
			continue
		}
		id, _ := v["uuid"].(string)
		if how != OldCopy {
			v["sessionId"] = c.session
			if id != "" {
				renamed[id] = f.u.uuid()
				v["uuid"] = renamed[id]
			}
			for _, member := range []string{"parentUuid", "logicalParentUuid"} {
				if up, ok := v[member].(string); ok {
					v[member] = renamed[up]
				}
			}
		}
		if how == MarkedCopy && id != "" {
			v["forkedFrom"] = map[string]any{"sessionId": f.session, "messageUuid": id}
		}
		if id != "" {
			last = v["uuid"].(string)
		}
		if how == MarkedCopy && i == upTo-1 {
			v["timestamp"] = f.tick(4000)
		}
		b, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		*c.lines = append(*c.lines, b)
	}
	c.tip, c.copies = last, len(*c.lines)
	f.u.now = f.u.now.Add(time.Duration(1+f.u.r.IntN(600)) * time.Second)
	return c
}
