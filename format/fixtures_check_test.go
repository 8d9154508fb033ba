package format

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessionspan/sessionspan/format/openresponses"
)

// checked is what an examination has to come to: hashes compared, responses without one, runs ended, ids compared.
type checked struct {
	Hashes, NoHash, Runs, IDs int
	Findings                  string
}

var fixtureChecks = map[string]checked{
	"0.1/basic.jsonl":         {Hashes: 2},
	"0.1/branch.jsonl":        {Hashes: 3},
	"0.1/compaction.jsonl":    {Hashes: 3},
	"0.1/extensions.jsonl":    {Hashes: 1, NoHash: 1},
	"0.2/runs.jsonl":          {Hashes: 2, Runs: 2},
	"0.3/instructions.jsonl":  {Hashes: 2},
	"0.3/pinned.jsonl":        {Hashes: 3},
	"0.4/converge.jsonl":      {Hashes: 2, Runs: 1},
	"0.5/interleaved.jsonl":   {Hashes: 2, IDs: 11},
	"0.5/resume.jsonl":        {Hashes: 2, Runs: 3, IDs: 16},
	"0.10/runs.jsonl":         {Hashes: 2, Runs: 2, IDs: 22},
	"0.10/branch.jsonl":       {Hashes: 3, IDs: 15},
	"0.10/pinned.jsonl":       {Hashes: 3, IDs: 13},
	"0.10/normalised.jsonl":   {NoHash: 1, IDs: 5},
	"0.11/basic.jsonl":        {Hashes: 2, IDs: 9},
	"0.11/fork.jsonl":         {Hashes: 2, IDs: 8},
	"0.11/omit.jsonl":         {Hashes: 4, IDs: 20},
	"0.11/replay.jsonl":       {Hashes: 3, Runs: 3, IDs: 27},
	"0.11/empty-resume.jsonl": {Hashes: 2, Runs: 4, IDs: 18},
	"0.11/judged.jsonl":       {NoHash: 1, IDs: 6},
	"0.11/bad-records.jsonl":  {NoHash: 1, IDs: 5, Findings: "6 record"},
}

func TestFixtureChecks(t *testing.T) {
	for name := range fixtureFacts {
		t.Run(name, func(t *testing.T) {
			s := readFixture(t, name)
			c, err := s.Check(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			var findings []string
			for _, f := range c.Findings {
				findings = append(findings, fmt.Sprint(f.Line, " ", f.Rule))
				t.Log(f)
			}
			got := checked{Hashes: c.Hashes, NoHash: c.NoHash, Runs: c.Runs, IDs: c.IDs, Findings: strings.Join(findings, "; ")}
			if diff := cmp.Diff(fixtureChecks[name], got); diff != "" {
				t.Error(diff)
			}
			if len(c.Unfamiliar) > 0 {
				t.Errorf("unfamiliar: %v", c.Unfamiliar)
			}
			verifyOneByOne(t, s, c.Hashes)
			for _, leaf := range s.Leaves() {
				err := s.VerifyRecords(leaf)
				if bad := name == "0.11/bad-records.jsonl"; bad != errors.Is(err, ErrRecordMissing) || !bad && err != nil {
					t.Errorf("records at %s: %v", leaf, err)
				}
			}
		})
	}
}

// verifyOneByOne has each response verified by itself, which rebuilds its request from the root.
func verifyOneByOne(t *testing.T, s *Session, hashes int) {
	t.Helper()
	verified := 0
	for _, e := range s.Entries() {
		if r, ok := e.(*ResponseEntry); ok {
			switch err := s.Verify(r.ID); {
			case err == nil:
				verified++
			case !errors.Is(err, ErrNoHash) || r.RequestHash != "":
				t.Errorf("%s: %v", r.ID, err)
			}
		}
	}
	if verified != hashes {
		t.Errorf("%d verified, want %d", verified, hashes)
	}
}

// contextFile is what a *.context.json holds for one leaf.
type contextFile struct {
	Settings    any      `json:"settings"`
	Items       []any    `json:"items"`
	Entries     []string `json:"entries"`
	ItemEntries []string `json:"item_entries"`
	Omitted     []any    `json:"omitted"`
}

func TestFixtureContexts(t *testing.T) {
	if _, err := os.Stat(fixtures); err != nil {
		t.Skip("the fixtures of other projects are not beside the repository")
	}
	files, err := filepath.Glob(filepath.Join(fixtures, "*", "*.context.json"))
	if err != nil || len(files) != 10 {
		t.Fatalf("%d context files, %v", len(files), err)
	}
	for _, path := range files {
		name := filepath.Base(filepath.Dir(path)) + "/" + strings.TrimSuffix(filepath.Base(path), ".context.json")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var leaves map[string]contextFile
			if err := json.Unmarshal(data, &leaves); err != nil {
				t.Fatal(err)
			}
			s := readFixture(t, name+".jsonl")
			for leaf, want := range leaves {
				c, err := s.Context(leaf)
				if err != nil {
					t.Fatal(err)
				}
				got := contextFile{Settings: parsed(t, c.Settings.Config()), Entries: ids(c.Entries)}
				for _, item := range c.Items {
					got.Items = append(got.Items, parsed(t, item.Raw))
				}
				if want.ItemEntries != nil { // old files lack it
					got.ItemEntries = ids(c.ItemEntries)
				}
				for _, o := range c.Omitted {
					got.Omitted = append(got.Omitted, map[string]any{"entry": o.Entry.ID, "reason": o.Reason})
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: %s", leaf, diff)
				}
			}
		})
	}
}

func parsed(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestHashVectors(t *testing.T) {
	var vectors []struct {
		Name    string          `json:"name"`
		Request json.RawMessage `json:"request"`
		Hash    string          `json:"hash"`
	}
	if err := json.Unmarshal(fixture(t, "hash-vectors.json"), &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		hash, err := openresponses.HashJSON(v.Request)
		if err != nil || hash != v.Hash {
			t.Errorf("%s: %s, %v, want %s", v.Name, hash, err, v.Hash)
		}
		// Taken apart into settings and input, and built again.
		req, err := openresponses.ParseRequest([]byte(v.Request))
		if err != nil {
			t.Fatal(err)
		}
		rebuilt, err := Settings{}.Apply(ConfigFromRequest(req)).Request(req.Input)
		if err != nil {
			t.Fatal(err)
		}
		if req.Store == nil {
			rebuilt.Store = nil
		}
		if hash, err := rebuilt.Hash(); err != nil || hash != v.Hash {
			t.Errorf("%s, rebuilt: %s, %v, want %s", v.Name, hash, err, v.Hash)
		}
	}
}
