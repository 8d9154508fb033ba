package sessiontest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"
)

// PiTruth is what is true of a session file of pi.
type PiTruth struct {
	Entries   int   // header apart
	Chats     int   // assistant messages
	Calls     int   // that they ask for
	In, Out   int64 // tokens of everything with usage, cached input included
	Cost      float64
	LastEntry string // the id of the leaf
}

// piEntry is an entry of a file in the making.
type piEntry struct {
	id    string
	calls []string // that wait for a result
	role  string
	path  []string // the entries above it, root first, and itself
}

// piFile is a file in the making.
type piFile struct {
	r     *rand.Rand
	truth PiTruth
	lines [][]byte
	all   []*piEntry
	now   time.Time
}

// RandomPi makes a random session file of pi, of version 3: a tree of n entries of every type, in which turns are as often
// broken off, branched, retried, queued and edited as they are well, with clocks that step back.
func RandomPi(r *rand.Rand, n int) ([]byte, PiTruth) {
	f := &piFile{r: r, now: time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)}
	f.line(map[string]any{"type": "session", "version": 3, "id": fmt.Sprintf("s-%d", r.Uint64()), "timestamp": f.stamp(), "cwd": "/p"})
	var leaf *piEntry
	for range n {
		f.tick()
		at := leaf
		switch k := r.IntN(40); {
		case k == 0:
			at = nil
		case k <= 2 && len(f.all) > 0:
			at = f.all[r.IntN(len(f.all))]
		}
		leaf = f.step(at)
		if f.r.IntN(50) == 0 {
			leaf = f.move(leaf)
		}
	}
	var data []byte
	for _, l := range f.lines {
		data = append(append(data, l...), '\n')
	}
	return data, f.truth
}

// move appends a move of the leaf, to some entry or to before the first one.
func (f *piFile) move(up *piEntry) *piEntry {
	if f.r.IntN(4) == 0 {
		f.entry(up, "leaf", map[string]any{"targetId": nil})
		f.truth.LastEntry = ""
		return nil
	}
	to := f.all[f.r.IntN(len(f.all))]
	f.entry(up, "leaf", map[string]any{"targetId": to.id})
	f.truth.LastEntry = to.id
	return to
}

func (f *piFile) tick() {
	switch k := f.r.IntN(60); {
	case k == 0:
		f.now = f.now.Add(-time.Duration(f.r.IntN(5000)) * time.Millisecond)
	case k == 1:
		f.now = f.now.Add(25 * time.Hour)
	default:
		f.now = f.now.Add(time.Duration(f.r.IntN(8000)) * time.Millisecond)
	}
}

func (f *piFile) stamp() string { return f.now.Format("2006-01-02T15:04:05.000Z") }

func (f *piFile) line(v map[string]any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // of the test's own making
	}
	f.lines = append(f.lines, b)
}

// entry appends an entry.
func (f *piFile) entry(up *piEntry, typ string, more map[string]any) *piEntry {
	e := &piEntry{id: fmt.Sprintf("%08x", f.r.Uint32())}
	v := map[string]any{"type": typ, "id": e.id, "parentId": nil, "timestamp": f.stamp()}
	if up != nil {
		v["parentId"], e.calls, e.role, e.path = up.id, up.calls, up.role, up.path
	}
	e.path = append(e.path[:len(e.path):len(e.path)], e.id)
	for name, m := range more {
		v[name] = m
	}
	f.all = append(f.all, e)
	f.truth.Entries++
	f.truth.LastEntry = e.id
	f.line(v)
	return e
}

// ago is a time a little before now, in milliseconds, or now and then after it.
func (f *piFile) ago(most int) int64 {
	if f.r.IntN(30) == 0 {
		most = -most
		return f.now.UnixMilli() + int64(f.r.IntN(-most))
	}
	return f.now.UnixMilli() - int64(f.r.IntN(most))
}

// step appends what may come next.
func (f *piFile) step(up *piEntry) *piEntry {
	k := f.r.IntN(20)
	switch {
	case k < 4:
		return f.aside(up)
	case up != nil && len(up.calls) > 0 && k < 17:
		return f.result(up)
	case up == nil || up.role == "assistant" && k < 17 || up.role == "user" && k == 19:
		e := f.message(up, map[string]any{"role": "user", "content": "go", "timestamp": f.ago(9000)})
		e.role, e.calls = "user", nil
		return e
	}
	return f.assistant(up)
}

func (f *piFile) message(up *piEntry, m map[string]any) *piEntry {
	return f.entry(up, "message", map[string]any{"message": m})
}

func (f *piFile) usage() map[string]any {
	in, out, read, written := f.r.IntN(50), f.r.IntN(500), f.r.IntN(9000), f.r.IntN(900)
	cost := float64(f.r.IntN(1000)) / 4096
	f.truth.In += int64(in + read + written)
	f.truth.Out += int64(out)
	f.truth.Cost += cost
	return map[string]any{"input": in, "output": out, "cacheRead": read, "cacheWrite": written, "cost": map[string]any{"total": cost}}
}

func (f *piFile) assistant(up *piEntry) *piEntry {
	stops := []string{"stop", "stop", "toolUse", "toolUse", "toolUse", "toolUse", "error", "aborted", "length", "deferred", "other"}
	stop := stops[f.r.IntN(len(stops))]
	content := []any{map[string]any{"type": "text", "text": "well"}}
	var calls []string
	if stop == "toolUse" || f.r.IntN(5) == 0 {
		for range 1 + f.r.IntN(4) {
			id := fmt.Sprintf("call_%d", f.r.IntN(40)) // ids come again
			calls = append(calls, id)
			content = append(content, map[string]any{"type": "toolCall", "id": id, "name": "bash", "arguments": nil})
		}
	}
	m := map[string]any{
		"role": "assistant", "content": content, "provider": "p", "model": "m", "usage": f.usage(), "stopReason": stop,
		"timestamp": f.ago(9000),
	}
	if f.r.IntN(3) == 0 {
		m["durationMs"] = f.r.IntN(9000)
	}
	if f.r.IntN(2) == 0 {
		m["responseId"] = fmt.Sprintf("msg_%d", f.r.IntN(300))
	}
	e := f.message(up, m)
	e.role, e.calls = "assistant", calls
	f.truth.Chats++
	f.truth.Calls += len(calls)
	return e
}

func (f *piFile) result(up *piEntry) *piEntry {
	i := f.r.IntN(len(up.calls))
	m := map[string]any{
		"role": "toolResult", "toolCallId": up.calls[i], "content": []any{}, "isError": f.r.IntN(5) == 0, "timestamp": f.ago(300),
	}
	if f.r.IntN(2) == 0 {
		m["durationMs"] = f.r.IntN(4000)
	}
	if f.r.IntN(9) == 0 {
		m["usage"] = f.usage()
	}
	e := f.message(up, m)
	e.role = "toolResult"
	e.calls = append(append([]string(nil), up.calls[:i]...), up.calls[i+1:]...)
	return e
}

// aside appends something that is no turn.
func (f *piFile) aside(up *piEntry) *piEntry {
	some := "nobody"
	if len(f.all) > 0 {
		some = f.all[f.r.IntN(len(f.all))].id
	}
	switch f.r.IntN(12) {
	case 0:
		return f.entry(up, "model_change", map[string]any{"provider": "p", "modelId": "m"})
	case 1:
		return f.entry(up, "thinking_level_change", map[string]any{"thinkingLevel": "high"})
	case 2:
		return f.entry(up, "label", map[string]any{"targetId": some, "label": "here"})
	case 3:
		return f.entry(up, "session_info", map[string]any{"name": "named"})
	case 4:
		return f.entry(up, "usage", map[string]any{"kind": "cache_warm", "provider": "p", "model": "m", "usage": f.usage()})
	case 5:
		kept := some
		if up != nil && f.r.IntN(2) == 0 {
			kept = up.path[f.r.IntN(len(up.path))]
		}
		m := map[string]any{"summary": "s", "firstKeptEntryId": kept, "tokensBefore": f.r.IntN(9000)}
		if f.r.IntN(2) == 0 {
			m["usage"] = f.usage()
		}
		return f.entry(up, "compaction", m)
	case 6:
		return f.entry(up, "branch_summary", map[string]any{"fromId": some, "summary": "s", "usage": f.usage()})
	case 7:
		return f.entry(up, "custom_message", map[string]any{"customType": "x", "content": "c", "display": true})
	case 8:
		return f.entry(up, "context_edit", map[string]any{"targetId": some, "replacement": nil})
	case 9:
		return f.entry(up, "context_edit", map[string]any{"targetId": some, "replacement": map[string]any{"content": "short"}})
	case 10:
		return f.message(up, map[string]any{"role": "bashExecution", "command": "c", "exitCode": 1, "timestamp": f.ago(5)})
	}
	return f.entry(up, "from_the_future", nil)
}
