package source_test

import (
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/source"
)

// A choice of what is in force already says nothing. One of a model by which another answered does.
func TestPiChoices(t *testing.T) {
	const (
		model  = `"type":"model_change","provider":"p","modelId":`
		level  = `"type":"thinking_level_change","thinkingLevel":`
		answer = `"type":"message","message":{"role":"assistant","provider":"p","stopReason":"toolUse","model":`
	)
	for _, tc := range []struct {
		name, header string
		entries      []string
		changes      string // the keys of the entries that change something
	}{
		{"again", "", []string{model + `"m"`, model + `"m"`, level + `"high"`, level + `"high"`, level + `"low"`, level + `"high"`}, "a c e f"},
		{"another provider", "", []string{model + `"m"`, `"type":"model_change","provider":"q","modelId":"m"`}, "a b"},
		{"after an answer", "", []string{model + `"m"`, answer + `"m"}`, model + `"m"`}, "a"},
		{"after an answer by another", "", []string{model + `"auto"`, answer + `"m"}`, model + `"m"`, model + `"m"`}, "a c"},
		{"what nobody chose", "", []string{answer + `"m"}`, model + `"m"`}, "b"},
		{"after an answer at another level", "", []string{level + `"low"`, answer + `"m","thinkingLevel":"high"}`, level + `"low"`}, "a b c"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := `{"type":"session","version":3,"id":"s"}` + "\n"
			parent := "null"
			for i, e := range tc.entries {
				id := `"` + string(rune('a'+i)) + `"`
				file += "{" + e + `,"id":` + id + `,"parentId":` + parent + "}\n"
				parent = id
			}
			var changes []string
			eachFact(t, file, func(ev *activity.Event) {
				if _, ok := ev.Fact.(*activity.Settings); ok {
					changes = append(changes, ev.Key)
				}
			})
			if got := strings.Join(changes, " "); got != tc.changes {
				t.Errorf("changes at %s, want %s", got, tc.changes)
			}
		})
	}

	// The header of version 1 says what is in force at the beginning, which is said once.
	var levels []string
	eachFact(t, `{"type":"session","id":"s","provider":"p","modelId":"m","thinkingLevel":"low"}
{"type":"thinking_level_change","thinkingLevel":"low"}
{"type":"model_change","provider":"p","modelId":"m"}
{"type":"thinking_level_change","thinkingLevel":"high"}
`, func(ev *activity.Event) {
		if s, ok := ev.Fact.(*activity.Settings); ok {
			levels = append(levels, ev.Key+" "+s.Model+" "+*s.Reasoning)
		}
	})
	if got := strings.Join(levels, ", "); got != "1 m low, 3  high" {
		t.Errorf("version 1: %s", got)
	}
}

func eachFact(t *testing.T, file string, each func(*activity.Event)) {
	t.Helper()
	rd, err := source.NewReader(strings.NewReader(file), source.Options{Format: source.Pi.Name})
	if err != nil {
		t.Fatal(err)
	}
	defer rd.Close()
	for err == nil {
		err = rd.Read(each, func(d *format.DamageError) { t.Error(d) })
	}
}

// A header may have an empty id, and the session is one of its own all the same.
func TestPiEmptyID(t *testing.T) {
	id := func(file string) (id string) {
		eachFact(t, file, func(ev *activity.Event) {
			if s, ok := ev.Fact.(*activity.Session); ok {
				id = s.ID
			}
		})
		return id
	}
	const one, other = `{"type":"session","id":"","cwd":"/a"}`, `{"type":"session","id":"","cwd":"/b"}`
	if a, b := id(one), id(other); a == "" || a == b {
		t.Errorf("ids %q and %q", a, b)
	}
	if a, b := id(one), id(one+"\r\n"+`{"type":"custom","id":"a"}`+"\n"); a != b {
		t.Errorf("%q becomes %q as the file grows", a, b)
	}
}
