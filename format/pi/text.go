package pi

import (
	"math"
	"time"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// words are the strings that come again and again, so that they are not made anew for each line.
var words = func() map[string]string {
	m := map[string]string{}
	for _, w := range []string{
		TypeSession, TypeMessage, TypeModelChange, TypeThinkingLevelChange, TypeActiveToolsChange, TypeUsage, TypeCompaction,
		TypeBranchSummary, TypeCustom, TypeCustomMessage, TypeContextEdit, TypeLabel, TypeSessionInfo, TypeLeaf,
		RoleUser, RoleAssistant, RoleToolResult, RoleBash, RoleHook, RoleSystem,
		StopDone, StopLength, StopToolUse, StopError, StopAborted, StopDeferred,
	} {
		m[w] = w
	}
	return m
}()

// text is what a raw string says. Bytes that are no UTF-8 become U+FFFD, as the agents read them.
func text(raw []byte) (string, bool) {
	if jsonscan.Kind(raw) != '"' || len(raw) < 2 {
		return "", false
	}
	if w, ok := words[string(raw[1:len(raw)-1])]; ok {
		return w, true
	}
	s, ok := jsonscan.String(raw)
	if !ok {
		s, ok = jsonscan.String(validText(raw))
	}
	return s, ok
}

// number is a raw number, and false for what is none or beyond what a double holds.
func number(raw []byte) (float64, bool) { return jsonscan.Float64(raw) }

// count is a raw number of tokens. A fraction is rounded; what is absurd is as far out as a count goes.
func count(raw []byte) (int64, bool) {
	if n, ok := jsonscan.Int64(raw); ok {
		return max(n, 0), true
	}
	f, ok := number(raw)
	if !ok {
		return 0, false
	}
	return int64(math.Round(min(max(f, 0), 1<<53))), true
}

// unixMilli is a raw number of milliseconds since 1970; zero for what is none.
func unixMilli(raw []byte) time.Time {
	f, ok := number(raw)
	if !ok || math.Abs(f) > 8.64e15 { // the range of a JavaScript date
		return time.Time{}
	}
	return time.UnixMilli(int64(f)).UTC()
}

// duration is a raw number of milliseconds; zero for what is none.
func duration(raw []byte) time.Duration {
	f, ok := number(raw)
	if !ok || f <= 0 {
		return 0
	}
	const most = float64(math.MaxInt64 / int64(time.Millisecond))
	if f >= most {
		return math.MaxInt64
	}
	return time.Duration(f * float64(time.Millisecond))
}

// date is a raw ISO time; zero for what is none.
func date(raw []byte) time.Time {
	if len(raw) < 2 || jsonscan.Kind(raw) != '"' {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, string(raw[1:len(raw)-1]))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// member finds the value of a member; of several of one name the last counts.
func member(members []jsonscan.Member, name string) []byte {
	for i := len(members) - 1; i >= 0; i-- {
		if string(members[i].Name) == name {
			return members[i].Value
		}
	}
	return nil
}
