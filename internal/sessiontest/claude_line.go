package sessiontest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// claudeStyle is how the lines of one message say what it took.
type claudeStyle int

const (
	growing claudeStyle = iota // the count of output grows, and the last line says why the message ended
	unended                    // it grows, and no line says why
	copied                     // all lines have what the last one has
)

// claudeOut is a file in the making, or an agent's part of one.
type claudeOut struct {
	u       *claudeUnit
	path    string
	session string
	version string
	branch  string
	agent   string
	inline  bool // a part of another file
	tip     string
	lines   *[][]byte
	style   claudeStyle
	linear  bool     // results hang from one another, and not each from its call
	ends    []int    // where turns end, in lines
	copies  int      // how many lines are copied
	points  []string // entries from which a turn went on
	said    int      // messages of the last turn
	cut     bool     // it was broken off within one
	shared  bool     // another terminal is at work
}

func claudeJSON(v map[string]any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of the test's own making
	}
	return bytes.ReplaceAll(b, []byte(`\u2028`), []byte("\u2028")) // which JavaScript leaves as it is
}

// line appends a line, and damage after it.
func (f *claudeOut) line(v map[string]any) {
	b := claudeJSON(v)
	if !f.u.o.Damage {
		*f.lines = append(*f.lines, b)
		return
	}
	more := func(line []byte) { *f.lines = append(*f.lines, line) }
	switch k := f.u.r.IntN(150); {
	case k == 0: // another program has changed the ends of lines
		b = append(b, '\r')
		more(b)
	case k == 1:
		more(b)
		more(b[:len(b)/2])
	case k == 2:
		more(b)
		more(make([]byte, 64))
	case k == 3:
		more(b)
		more(nil)
	case k == 4:
		more(b)
		more([]byte([]string{"null", "[]", `"a"`, "7"}[f.u.r.IntN(4)]))
	case k == 5: // a write was torn, and what came next went on in the same line
		more(b)
		more(append(b[:len(b)/3:len(b)/3], claudeJSON(map[string]any{"type": "tag", "tag": "lost", "sessionId": f.session})...))
	default:
		more(b)
	}
}

// bytes is the file as it is on disk.
func (f *claudeOut) bytes() []byte {
	var data []byte
	for _, l := range *f.lines {
		data = append(append(data, l...), '\n')
	}
	if f.u.o.Damage && f.u.one(5) && len(*f.lines) > f.copies {
		// The line that is being written is one of its own, so that nothing is lost with it.
		b := claudeJSON(map[string]any{
			"parentUuid": nil, "sessionId": f.session, "type": "user", "message": map[string]any{"role": "user", "content": "and then"},
			"isSidechain": f.agent != "", "uuid": f.u.uuid(), "timestamp": f.stamp(),
		})
		data = append(data, b[:1+f.u.r.IntN(len(b)-1)]...)
	}
	return data
}

func (f *claudeOut) stamp() string { return f.u.now.Format("2006-01-02T15:04:05.000Z") }

func (f *claudeOut) tick(most int) string {
	if f.u.o.ClockSteps && f.u.one(40) {
		f.u.now = f.u.now.Add(-time.Duration(f.u.r.IntN(20)) * time.Millisecond)
	} else {
		f.u.now = f.u.now.Add(time.Duration(1+f.u.r.IntN(most)) * time.Millisecond)
	}
	return f.stamp()
}

// entry appends a line of the tree, below another one, and returns its id.
func (f *claudeOut) entry(up, typ string, more map[string]any) string {
	id := f.u.uuid()
	v := map[string]any{
		"parentUuid": nil, "isSidechain": f.agent != "", "userType": "external", "cwd": "/work/app", "sessionId": f.session,
		"version": f.version, "gitBranch": f.branch, "type": typ, "uuid": id, "timestamp": f.tick(4000),
	}
	if up != "" {
		v["parentUuid"] = up
	}
	if f.agent != "" && !f.inline {
		v["agentId"] = f.agent
	}
	if f.version > "2.1" {
		v["entrypoint"], v["slug"] = "cli", "calm-blue-otter"
	}
	for name, m := range more {
		v[name] = m
	}
	f.line(v)
	f.tip = id
	return id
}

// user appends a line of what the model gets to see.
func (f *claudeOut) user(up string, content any, more map[string]any) string {
	v := map[string]any{"message": map[string]any{"role": "user", "content": content}}
	for name, m := range more {
		v[name] = m
	}
	return f.entry(up, "user", v)
}

// meta appends a line of what Claude Code puts in.
func (f *claudeOut) meta(text string) {
	f.user(f.tip, []any{block("text", text)}, map[string]any{"isMeta": true})
}

func block(kind, text string) map[string]any { return map[string]any{"type": kind, kind: text} }

// snapshot is undo data. Its time stands within.
func (f *claudeOut) snapshot() map[string]any {
	id := f.u.uuid()
	return map[string]any{
		"type": "file-history-snapshot", "messageId": id, "isSnapshotUpdate": false,
		"snapshot": map[string]any{"messageId": id, "trackedFileBackups": map[string]any{}, "timestamp": f.stamp()},
	}
}

// head appends what stands before the first entry.
func (f *claudeOut) head() {
	if !f.u.o.Asides {
		return
	}
	if f.u.one(4) {
		f.line(map[string]any{"type": "summary", "summary": "of another one", "leafUuid": f.u.uuid()})
	}
	if f.u.one(4) {
		f.line(f.snapshot())
	}
	if f.u.one(2) {
		f.line(map[string]any{"type": "mode", "mode": "normal", "sessionId": f.session})
	}
	if f.u.one(3) {
		f.line(map[string]any{"type": "permission-mode", "permissionMode": "default", "sessionId": f.session})
	}
}

// aside appends a line that is none of the tree.
func (f *claudeOut) aside() {
	if !f.u.o.Asides || f.agent != "" {
		return
	}
	r := f.u.r
	kinds := []map[string]any{
		{"type": "ai-title", "aiTitle": fmt.Sprint("t", r.IntN(3))},
		{"type": "custom-title", "customTitle": "named"},
		{"type": "permission-mode", "permissionMode": []string{"default", "plan"}[r.IntN(2)]},
		{"type": "queue-operation", "operation": []string{"enqueue", "dequeue", "remove", "popAll"}[r.IntN(4)], "content": "c", "timestamp": f.stamp()},
		{"type": "last-prompt", "lastPrompt": "p", "leafUuid": f.tip},
		{"type": "pr-link", "prNumber": 12, "timestamp": f.stamp()},
		{"type": "mode", "mode": "normal"},
		{"type": fmt.Sprint("new-kind-", r.IntN(3)), "x": 1},
		f.snapshot(),
		{"type": "summary", "summary": "of this one", "leafUuid": f.tip},
	}
	v := kinds[r.IntN(len(kinds))]
	if v["type"] != "summary" && v["type"] != "file-history-snapshot" {
		v["sessionId"] = f.session
	}
	f.line(v)
}

// between appends what may stand between the lines of a turn, below the last of them.
func (f *claudeOut) between() {
	if !f.u.o.Asides {
		return
	}
	switch f.u.r.IntN(16) {
	case 0:
		kind := []string{"todo_reminder", "deferred_tools_delta", "file"}[f.u.r.IntN(3)]
		f.entry(f.tip, "attachment", map[string]any{"attachment": map[string]any{"type": kind}})
	case 1:
		f.entry(f.tip, "progress", map[string]any{"data": map[string]any{"type": "hook_progress"}, "toolUseID": "x"})
	case 2:
		f.entry(f.tip, "system", map[string]any{
			"subtype": []string{"informational", "away_summary", "bridge_status", "of-tomorrow"}[f.u.r.IntN(4)], "content": "c", "level": "info",
		})
	case 3:
		f.entry(f.tip, fmt.Sprint("new-entry-", f.u.r.IntN(2)), map[string]any{"x": 1})
	case 4, 5:
		f.aside()
	}
}
