package pi_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/pi"
)

const fixtures = "../../../shared/fixtures/pi"

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtures, name+".jsonl"))
	if os.IsNotExist(err) {
		t.Skip("the fixtures of other projects are not beside the repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// facts are what the fixtures' own README states of a file.
type facts struct {
	Version               int
	Lines, Blank, Damaged int
	Values                int    // that are no objects
	Types                 string // entries by type, and messages by role
	Assistant, Calls      int
	Results               int
	Last                  string
	Roots, Leaves         int
	In, Out               int64 // of everything with usage
}

const largeTypes = "bashExecution 3, compaction 2, model_change 5, thinking_level_change 5, user 55"

var fixtureFacts = map[string]facts{
	"header-only":          {Version: 3, Lines: 1},
	"v1-before-compaction": {Version: 1, Lines: 1003, Types: largeTypes, Assistant: 484, Calls: 454, Results: 448, In: 3689, Out: 187895},
	"v1-large":             {Version: 1, Lines: 640, Types: "model_change 1, thinking_level_change 86, user 50", Assistant: 272, Calls: 247, Results: 230, In: 652, Out: 53788},
	"v1-small":             {Version: 1, Lines: 12, Types: "compaction 1, model_change 1, thinking_level_change 1, user 3", Assistant: 4, Calls: 1, Results: 1, In: 12, Out: 80},
	"v2-hook-message":      {Version: 2, Lines: 7, Types: "compaction 1, hookMessage 1, user 2", Assistant: 2, Last: "e5936e6e", Roots: 1, Leaves: 1, In: 24, Out: 160},
	"v3-before-compaction": {Version: 3, Lines: 1003, Types: largeTypes, Assistant: 484, Calls: 454, Results: 448, Last: "08d2b1cf", Roots: 1, Leaves: 1, In: 3689, Out: 187895},
	"v3-branched":          {Version: 3, Lines: 25, Types: "branch_summary 1, label 3, model_change 1, session_info 2, thinking_level_change 1, user 5", Assistant: 8, Calls: 3, Results: 3, Last: "8a84ca68", Roots: 2, Leaves: 4, In: 996, Out: 760},
	"v3-compactions":       {Version: 3, Lines: 24, Types: "compaction 3, user 7", Assistant: 10, Calls: 3, Results: 3, Last: "d318ce62", Roots: 1, Leaves: 1, In: 5320, Out: 1200},
	"v3-context-edit":      {Version: 3, Lines: 20, Types: "context_edit 6, custom_message 1, system 1, user 4", Assistant: 6, Calls: 1, Results: 1, Last: "1e802e0d", Roots: 1, Leaves: 2, In: 100, Out: 8592},
	"v3-errors-aborts":     {Version: 3, Lines: 28, Types: "bashExecution 2, custom_message 1, user 6", Assistant: 12, Calls: 8, Results: 6, Last: "cba40703", Roots: 1, Leaves: 1, In: 138, Out: 8912},
	"v3-fork-child":        {Version: 3, Lines: 5, Types: "user 2", Assistant: 2, Last: "e9279ff1", Roots: 1, Leaves: 1, In: 24, Out: 160},
	"v3-fork-parent":       {Version: 3, Lines: 7, Types: "user 2", Assistant: 3, Calls: 1, Results: 1, Last: "24f0dd23", Roots: 1, Leaves: 1, In: 36, Out: 240},
	"v3-leaf-active-tools": {Version: 3, Lines: 12, Types: "active_tools_change 2, compaction 1, leaf 2, user 3", Assistant: 3, Last: "d8bc2449", Roots: 1, Leaves: 2, In: 36, Out: 240},
	"v3-malformed":         {Version: 3, Lines: 26, Blank: 2, Damaged: 3, Values: 5, Types: "(no type) 1, from_the_future 1, label 1, null 1, somethingNew 1, user 7", Assistant: 2, Last: "labl0001", Roots: 3, Leaves: 3, In: 12, Out: 80},
	"v3-newest-fields":     {Version: 3, Lines: 19, Types: "custom 3, model_change 1, system 2, thinking_level_change 1, usage 2, user 2", Assistant: 4, Calls: 3, Results: 3, Last: "2eca78dc", Roots: 1, Leaves: 1, In: 755, Out: 476},
	"v3-real-small":        {Version: 3, Lines: 19, Types: "model_change 1, thinking_level_change 1, user 3", Assistant: 8, Calls: 5, Results: 5, Last: "01eddb3a", Roots: 1, Leaves: 1, In: 5168, Out: 620},
	"v3-two-writers":       {Version: 3, Lines: 22, Types: "session_info 1, user 10", Assistant: 10, Last: "990dc720", Roots: 1, Leaves: 2, In: 120, Out: 800},
}

// factsOf reads the facts off a session.
func factsOf(s *pi.Session) facts {
	f := facts{
		Version: s.Header().Version, Lines: len(s.Lines()), Blank: s.Count(pi.Blank), Damaged: s.Count(pi.Damaged), Values: s.Count(pi.Value),
		Roots: len(s.Roots()), Leaves: len(s.Leaves()),
	}
	types := map[string]int{}
	for _, e := range s.Entries() {
		if e.ID != "" {
			f.Last = e.ID
		}
		switch m := e.Message(); {
		case e.Type == "":
			types["(no type)"]++
		case e.Type == pi.TypeMessage && m == nil:
			types["null"]++
		case e.Type != pi.TypeMessage:
			types[e.Type]++
		case m.Role != pi.RoleAssistant && m.Role != pi.RoleToolResult:
			types[m.Role]++
		}
	}
	f.Types = listed(types)
	sum := s.Statistics()
	f.Assistant, f.Calls, f.Results, f.In, f.Out = sum.Assistant, sum.ToolCalls, sum.ToolResults, sum.Input, sum.Output
	return f
}

func TestFixtures(t *testing.T) {
	for name, want := range fixtureFacts {
		t.Run(name, func(t *testing.T) {
			data := fixture(t, name)
			s, err := pi.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, factsOf(s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var out bytes.Buffer
			if n, err := s.WriteTo(&out); err != nil || n != int64(len(data)) || !bytes.Equal(out.Bytes(), data) {
				t.Errorf("%d bytes written, %v: not what was read", n, err)
			}
		})
	}
}

func TestFixturesThatAreNoSessions(t *testing.T) {
	for _, name := range []string{"header-id-not-string", "not-a-session"} {
		if s, err := pi.Parse(fixture(t, name)); !isError(err, format.ErrNoHeader) || s != nil {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}

// A session of version 1 that was migrated by the agents is what this makes of it, when it takes the same ids.
func TestFixturesMigrated(t *testing.T) {
	want := fixture(t, "v3-before-compaction")
	migrated, err := pi.Parse(want)
	if err != nil {
		t.Fatal(err)
	}
	old, err := pi.Parse(fixture(t, "v1-before-compaction"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	got, err := old.Migrated(func() string {
		n++
		return migrated.Entries()[n-1].ID
	})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := got.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	have, wanted := bytes.Split(out.Bytes(), []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(have), len(wanted)) {
		if i >= len(have) || i >= len(wanted) || !bytes.Equal(have[i], wanted[i]) {
			t.Fatalf("line %d differs", i+1)
		}
	}
}
