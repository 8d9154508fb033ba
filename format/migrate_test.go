package format

import (
	"context"
	"errors"
	"testing"
)

// The later fixtures that have legacy ids are the earlier ones, migrated.
func TestMigrateFixtures(t *testing.T) {
	for from, to := range map[string]string{
		"0.1/branch.jsonl": "0.10/branch.jsonl",
		"0.1/basic.jsonl":  "0.11/basic.jsonl",
		"0.2/runs.jsonl":   "0.10/runs.jsonl",
		"0.3/pinned.jsonl": "0.10/pinned.jsonl",
	} {
		t.Run(from, func(t *testing.T) {
			want := readFixture(t, to)
			got, err := readFixture(t, from).Migrate(want.Header().Format)
			if err != nil {
				t.Fatal(err)
			}
			if write(t, got) != write(t, want) {
				t.Errorf("%s\nwant\n%s", write(t, got), write(t, want))
			}
			if got.Leaf() != want.Leaf() {
				t.Errorf("leaf %s, want %s", got.Leaf(), want.Leaf())
			}
		})
	}
}

func TestMigrateKeepsRequests(t *testing.T) {
	for _, name := range []string{"0.1/compaction.jsonl", "0.1/extensions.jsonl", "0.3/instructions.jsonl"} {
		t.Run(name, func(t *testing.T) {
			s := readFixture(t, name)
			m, err := s.Migrate("agentsession/0.11")
			if err != nil {
				t.Fatal(err)
			}
			c, err := m.Check(context.Background())
			if err != nil || c.Hashes != fixtureChecks[name].Hashes || len(c.Findings) > 0 || c.IDs != s.Len() {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
}

func TestMigrateRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, to string
		text     string
		want     error
	}{
		{"a file with hashes", "agentsession/0.11", file(headerOf("5"), info("a", "")), ErrMigrate},
		{"to a format without hashes", "agentsession/0.4", file(header02, info("a", "")), ErrMigrate},
		{"to one that is not known", "agentsession/0.12", file(header02, info("a", "")), ErrNewerFormat},
		{"a label of nothing", "agentsession/0.11", file(header02, entry("label", "a", "", `"target":"x"`, `"label":"l"`)), ErrReference},
		{"an outcome of a task in words", "agentsession/0.11", file(headerOf("1"), entry("outcome", "a", "", `"kind":"task"`, `"target":"the tests"`)), ErrReference},
		{"merged work of another session", "agentsession/0.11", file(headerOf("4"), info("a", "", `"parents":[{"session":"s2","entry":"x"}]`)), ErrReference},
		{"an extension that names an entry", "agentsession/0.11", file(header02, info("a1", ""), entry("acme:note", "b", "a1", `"about":{"x":["a1"]}`)), ErrReference},
		{"application data that names an entry", "agentsession/0.11", file(header02, info("a1", ""), entry("custom", "b", "a1", `"ns":"x"`, `"data":"a1"`)), ErrReference},
		{"a legacy id of its own", "agentsession/0.11", file(header02, info("a1", "", `"legacy_id":"x"`)), ErrReference},
		{"a base among the unknown members", "agentsession/0.11", file(headerOf("2", `"base":"x"`), info("a1", "")), ErrBase},
		{"a number that a double does not hold", "agentsession/0.11", file(header02, info("a", "", `"n":9007199254740993`)), ErrNotCanonical},
	} {
		if m, err := mustRead(t, tt.text).Migrate(tt.to); !errors.Is(err, tt.want) || !errors.Is(err, ErrMigrate) || m != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
