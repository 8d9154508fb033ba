package pi

import "fmt"

// Statistics sums up sessions: all entries, on whatever branch, compacted or not.
type Statistics struct {
	// Messages counts all entries that are messages; the others those of a role.
	Messages, User, Assistant, ToolResults int
	// ToolCalls counts what assistants' messages ask for.
	ToolCalls int
	// Tokens and Cost are those of everything that says what it used.
	Input, Output, CacheRead, CacheWrite int64
	Cost                                 float64
	// CacheHitRate, from 0 to 1, is that of the last assistant's message; HasRate is false where that used nothing.
	CacheHitRate float64
	HasRate      bool
}

// Total is the sum of the tokens.
func (t *Statistics) Total() int64 { return t.Input + t.Output + t.CacheRead + t.CacheWrite }

// Statistics sums up the session, with what was copied into it when it was forked.
func (s *Session) Statistics() Statistics { return Sum(s) }

// Sum sums up sessions. What several of them have, since one was forked from the other, counts once. The hit rate is that of the
// last session.
func Sum(sessions ...*Session) Statistics {
	var t Statistics
	seen := map[string]bool{}
	for _, s := range sessions {
		t.HasRate = false
		own := map[string]bool{} // a session may well say the same twice
		for _, e := range s.entries {
			if id := e.identity(); !seen[id] {
				own[id] = true
				t.add(e)
			}
			t.rate(e)
		}
		for id := range own {
			seen[id] = true
		}
	}
	return t
}

// identity names an entry wherever it was copied to: by what a provider calls the response, else by itself and what it used.
func (e *Entry) identity() string {
	m := e.Message()
	if m == nil || e.Type != TypeMessage {
		return fmt.Sprintf("%q %q %d %s", e.Type, e.ID, e.Time.UnixMilli(), e.Raw("usage"))
	}
	if id := m.Text("responseId"); id != "" {
		return fmt.Sprintf("response %q %q", m.Text("provider"), id)
	}
	at := m.Time
	if at.IsZero() {
		at = e.Time
	}
	u, _ := m.Usage()
	return fmt.Sprintf("message %q %q %d %q %q %v", m.Role, e.ID, at.UnixMilli(), m.Text("provider"), m.Text("model"), u)
}

func (t *Statistics) add(e *Entry) {
	spend := func(u Usage, ok bool) {
		if ok {
			t.Input += u.Input
			t.Output += u.Output
			t.CacheRead += u.CacheRead
			t.CacheWrite += u.CacheWrite
			t.Cost += u.Cost
		}
	}
	switch e.Type {
	case TypeCompaction, TypeBranchSummary, TypeUsage:
		spend(e.Usage())
		return
	case TypeMessage:
		t.Messages++
	default:
		return
	}
	m := e.Message()
	if m == nil {
		return
	}
	switch m.Role {
	case RoleUser:
		t.User++
	case RoleAssistant:
		t.Assistant++
		for range m.ToolCalls() {
			t.ToolCalls++
		}
		spend(m.Usage())
	case RoleToolResult:
		t.ToolResults++
		spend(m.Usage())
	}
}

// rate takes the hit rate of an assistant's message.
func (t *Statistics) rate(e *Entry) {
	m := e.Message()
	if e.Type != TypeMessage || m == nil || m.Role != RoleAssistant {
		return
	}
	u, _ := m.Usage()
	t.CacheHitRate, t.HasRate = 0, u.Prompt() > 0
	if t.HasRate {
		t.CacheHitRate = float64(u.CacheRead) / float64(u.Prompt())
	}
}
