package verify_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/internal/input"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
	"github.com/sessionspan/sessionspan/internal/stored"
	"github.com/sessionspan/sessionspan/internal/verify"
)

func check(t *testing.T, data string, o stored.Options) *verify.Report {
	t.Helper()
	f, err := stored.Load(t.Context(), input.Stdin, strings.NewReader(data), o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := verify.File(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// said lists findings as line, rule, entry, with a star for a note.
func said(r *verify.Report) []string {
	var list []string
	for _, f := range r.Findings {
		s := fmt.Sprintf("%d %s %s", f.Line, f.Rule, f.Entry)
		if f.Note {
			s += "*"
		}
		list = append(list, strings.TrimSpace(s))
	}
	return list
}

func TestRandomSessionsAreAllRight(t *testing.T) {
	hashes := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		o := sessiontest.All(r)
		o.Hashes = true
		for _, f := range sessiontest.Random(r, o).Files {
			rep := check(t, string(f.Data), stored.Options{})
			if rep.Broken() > 0 {
				t.Errorf("seed %d: %v", seed, said(rep))
			}
			if rep.Hashes != f.Truth.Hashes || rep.Entries != f.Truth.Entries || !rep.Known {
				t.Errorf("seed %d: %+v, want %d hashes, %d entries", seed, rep, f.Truth.Hashes, f.Truth.Entries)
			}
			hashes += rep.Hashes
		}
	}
	if hashes == 0 {
		t.Error("no session has a request hash")
	}
}

func TestDamageHasTheRuleThatItBreaks(t *testing.T) {
	for name, want := range map[string][]string{
		"torn-tail":           {"20 torn_tail"},
		"broken-middle":       {"8 damage", "9 parent r2-1", "11 reference run1-end*", "12 damage"},
		"duplicate-id":        {"11 duplicate_id r2", "13 duplicate_id t1"},
		"self-parent":         {"13 parent u2", "20 reference run2-end*"},
		"missing-parent":      {"12 parent run2"},
		"empty-entry-id":      {"12 damage"},
		"number-out-of-range": {"6 damage r1", "21 damage o1"},
		"bom":                 nil,
		"crlf":                nil,
		"no-final-newline":    {"20 line_feed *"},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile("../../testdata/agentsession/damaged/" + name + ".jsonl")
			if err != nil {
				t.Fatal(err)
			}
			r := check(t, string(data), stored.Options{})
			if got := said(r); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			broken := len(want)
			for _, one := range want {
				if strings.HasSuffix(one, "*") {
					broken--
				}
			}
			if r.Broken() != broken {
				t.Errorf("%d findings that are no notes, want %d", r.Broken(), broken)
			}
			lines := strings.SplitAfter(string(data), "\n")
			for _, f := range r.Findings {
				if at := int64(len(strings.Join(lines[:f.Line-1], ""))); f.Offset != at {
					t.Errorf("line %d is at %d, not %d", f.Line, at, f.Offset)
				}
			}
		})
	}
}

const header = `{"type":"session","format":"agentsession/%s","id":"s","created_at":"2026-01-02T03:04:05Z",` +
	`"payload":"openresponses/2026-04-24"%s}` + "\n"

func TestNotesAreNoFindings(t *testing.T) {
	for _, tc := range []struct {
		name, data, want, text string
	}{
		{
			"a newer minor", fmt.Sprintf(header, "0.99", ""), "1 unfamiliar *", "not checked under its own rules",
		},
		{
			"an unknown word",
			fmt.Sprintf(header, "0.2", "") +
				`{"type":"outcome","id":"a","parent":null,"ts":"2026-01-02T03:04:05Z","kind":"mood"}` + "\n" +
				`{"type":"outcome","id":"b","parent":"a","ts":"2026-01-02T03:04:05Z","kind":"mood"}` + "\n",
			"2 unfamiliar *", `outcome kind "mood" is not known to this version, and was not checked (on 2 lines)`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := check(t, tc.data, stored.Options{})
			if got := strings.Join(said(r), ", "); got != tc.want || r.Broken() != 0 || !strings.Contains(r.Findings[0].What, tc.text) {
				t.Errorf("got %s: %+v", got, r.Findings)
			}
			want := int64(strings.Index(tc.data, "\n") + 1)
			if r.Findings[0].Line == 1 {
				want = 0
			}
			if got := r.Findings[0].Offset; got != want {
				t.Errorf("offset %d, want %d", got, want)
			}
			if !r.Empty() {
				t.Errorf("something was checked: %+v", r)
			}
		})
	}
}

func TestTheBaseRuleHasAName(t *testing.T) {
	r := check(t, fmt.Sprintf(header, "0.5", `,"base":"nothing"`), stored.Options{})
	if got := strings.Join(said(r), ", "); got != "1 base" {
		t.Errorf("got %s", got)
	}
}

// Of other formats there is nothing to check, and damage is told all the same.
func TestOtherFormats(t *testing.T) {
	r := check(t, fmt.Sprintf(header, "0.2", "")+"{\n{}\n{\n", stored.Options{AsEvents: true})
	if got := strings.Join(said(r), ", "); got != "2 damage, 3 damage, 4 torn_tail" || r.Known || !r.Empty() || r.Broken() != 3 {
		t.Errorf("%+v", r)
	}
}

// A file may have any number of findings; all are counted, and some kept.
func TestFindingsAreCapped(t *testing.T) {
	unknown := ""
	for i := range 20 {
		unknown += fmt.Sprintf(`{"type":"outcome","id":"%d","parent":null,"ts":"2026-01-02T03:04:05Z","kind":"k%d"}`+"\n", i, i)
	}
	for _, lines := range []int{verify.MaxFindings - 10, verify.MaxFindings, verify.MaxFindings + 7} {
		for _, asEvents := range []bool{false, true} {
			data := fmt.Sprintf(header, "0.2", "") + strings.Repeat("{}\n", lines) + unknown
			r := check(t, data, stored.Options{AsEvents: asEvents})
			notes := 20
			if asEvents {
				notes = 0
			}
			if all := len(r.Findings) + r.MoreFindings + r.MoreNotes; r.Broken() != lines || all != lines+notes ||
				len(r.Findings) != min(all, verify.MaxFindings) {
				t.Errorf("%d lines, as events %v: %d broken, %d listed, %d findings and %d notes more", lines, asEvents, r.Broken(),
					len(r.Findings), r.MoreFindings, r.MoreNotes)
			}
		}
	}
}

func TestTheContextEndsIt(t *testing.T) {
	f, err := stored.Load(t.Context(), "../../testdata/agentsession/quickstart.jsonl", nil, stored.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := verify.File(ctx, f); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
