package format

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sessionspan/sessionspan/format/openresponses"
)

func FuzzSession(f *testing.F) {
	f.Add([]byte(small()))
	for _, test := range entryTests {
		f.Add([]byte(file(headerOf("11"), test.line)))
	}
	for _, minor := range []string{"2", "3", "5", "8", "9", "11", "12"} {
		f.Add([]byte(file(append([]string{headerOf(minor, promise)}, chain(
			[]string{"config", `"model":"m","instructions_parts":[{"id":"a","text":"A"}],"tools_added":[{"name":"t"}],"extra":{"a":1}`},
			start("r"), message("user"), call("c1", "r1"), response("r1", `"request_hash":"sha256:00"`), decide("hold", "c1", "e4"),
			dispatch("c1", "e4"), output("c1"), endAs("r", "done", "c1"),
			[]string{"config", `"instructions_parts":[{"keep":1}],"instructions_omitted":[{"keep":1}],"omit":{"items":["e3"]}`},
			[]string{"compaction", `"first_kept":"e3"`, `"summary":` + userHi, `"config":{"model":"m"}`, `"pinned":[` + userHi + `]`},
			response("r2", `"request_hash":"sha256:00"`),
		)...)...)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		damaged := 0
		s, err := ReadSession(bytes.NewReader(data), WithDamage(func(*DamageError) { damaged++ }))
		if err != nil {
			return
		}
		operate(t, s, damaged)
	})
}

// operate does to a session whatever can be done to one, and checks what must hold of all.
func operate(t *testing.T, s *Session, damaged int) {
	t.Helper()
	for _, e := range s.Entries() {
		encodeAgain(t, s, e)
	}
	check, err := s.Check(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, f := range check.Findings {
		found[f.Entry] = true
		if f.Error() == "" || f.Rule == "" {
			t.Fatalf("%+v", f)
		}
	}
	leaves := s.Leaves()
	for _, leaf := range leaves[:min(len(leaves), 8)] {
		if finding, ok := errors.AsType[*Finding](s.VerifyRecords(leaf)); ok && !found[finding.Entry] {
			t.Fatalf("found along a path only: %v", finding)
		}
		c, err := s.Context(leaf)
		if err == nil {
			_ = settingsOf(c.Settings.Config())
			if req, err := c.Request(); err == nil {
				_, _ = req.Hash()
			}
		}
		_, _ = s.Owed(leaf)
		_, _ = s.OpenRun(leaf)
	}
	for _, e := range s.Entries() {
		if r, ok := e.(*ResponseEntry); ok && r.RequestHash != "" {
			if err := s.Verify(r.ID); (err != nil) != foundAt(check, r.ID, RuleRequestHash, RuleFirstKept) {
				t.Fatalf("%s: by itself %v, along the tree %v", r.ID, err, check.Findings)
			}
		}
	}
	if m, err := s.Migrate("agentsession/0.11"); err == nil {
		if c, err := m.Check(context.Background()); err != nil || c.Hashes != check.Hashes || c.IDs != s.Len() ||
			foundAny(c, RuleContentID, RuleCanonical) {
			t.Fatalf("migrated: %+v, %v", c.Findings, err)
		}
	}
	_ = s.Unfamiliar()
	before := s.Len()
	if id, err := s.Append(NewItem(openresponses.UserText("x"))); err == nil {
		var b bytes.Buffer
		if _, err := s.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		again, err := ReadSession(&b, WithDamage(func(*DamageError) { damaged-- }))
		if err != nil || again.Len() != before+1 {
			t.Fatalf("read again: %v", err)
		}
		if _, ok := again.Entry(id); !ok {
			t.Fatalf("%s is not there", id)
		}
	} else if s.Len() != before {
		t.Fatal("something was appended")
	}
}

func foundAt(c *Check, id string, rules ...Rule) bool {
	for _, f := range c.Findings {
		for _, r := range rules {
			if f.Entry == id && f.Rule == r {
				return true
			}
		}
	}
	return false
}

func foundAny(c *Check, rules ...Rule) bool {
	for _, f := range c.Findings {
		if foundAt(c, f.Entry, rules...) && !f.Note {
			return true
		}
	}
	return false
}

// encodeAgain checks that an entry that is encoded says what its line does.
func encodeAgain(t *testing.T, s *Session, e Entry) {
	t.Helper()
	line, err := EncodeEntry(e)
	if err != nil {
		return // it was damaged, or has two members of one name, of which one was of another kind
	}
	if own, _ := s.Line(e.Base().ID); !utf8.Valid(own.Data) {
		return // what is no text is written as U+FFFD
	}
	if bytes.IndexByte(line, '\n') >= 0 {
		t.Fatalf("more than a line: %q", line)
	}
	again, err := DecodeEntry(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	// Raw values may have had line feeds, and summed-up objects members of no interest.
	if diff := cmp.Diff(e, again, cmp.Comparer(sameRaw), notRaw(cmpopts.EquateEmpty())); diff != "" {
		own, _ := s.Line(e.Base().ID)
		t.Fatalf("%s\nis\n%s\n%s", own.Data, line, diff)
	}
}

func notRaw(o cmp.Option) cmp.Option {
	return cmp.FilterPath(func(p cmp.Path) bool { return p.Last().Type() != reflect.TypeFor[jsontext.Value]() }, o)
}

func sameRaw(a, b jsontext.Value) bool {
	space := strings.NewReplacer("\n", " ", "\r", " ")
	return space.Replace(string(a)) == space.Replace(string(b))
}
