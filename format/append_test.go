package format

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sessionspan/sessionspan/format/openresponses"
)

// rewrite appends every entry of a session to a new one with the same header.
func rewrite(t *testing.T, s *Session) *Session {
	t.Helper()
	header := *s.Header()
	header.Base = "" // the entries before it are not the new session's to repeat
	w, err := NewSession(header)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.Entries() {
		e = Clone(e)
		if e.Base().Parent == "" {
			w.ResetLeaf()
		}
		if _, err := w.Append(e); err != nil {
			t.Fatalf("%s: %v", e.Base().ID, err)
		}
	}
	return w
}

// A session that is appended entry by entry says what the one says that was read, byte for byte where lines have one form.
func TestAppendFixtures(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(fixtureFacts)) {
		t.Run(name, func(t *testing.T) {
			s := readFixture(t, name)
			w := rewrite(t, s)
			if diff := cmp.Diff(s.Entries(), w.Entries()); diff != "" {
				t.Error(diff)
			}
			text := write(t, w)
			for i, line := range bytes.Split([]byte(write(t, s)), []byte("\n")) {
				again := bytes.Split([]byte(text), []byte("\n"))[i]
				switch {
				case i == 0 && s.Header().Base != "":
				case s.Header().Minor() >= 5 && !bytes.Equal(line, again):
					t.Errorf("line %d was\n%s, is\n%s", i+1, line, again)
				case len(line) > 0:
					before, err1 := openresponses.CanonicalJSON(line)
					after, err2 := openresponses.CanonicalJSON(again)
					if err1 != nil || err2 != nil || !bytes.Equal(before, after) {
						t.Errorf("line %d was\n%s, is\n%s (%v, %v)", i+1, line, again, err1, err2)
					}
				}
			}
			read := mustRead(t, text)
			if diff := cmp.Diff(w.Entries(), read.Entries()); diff != "" {
				t.Errorf("read again: %s", diff)
			}
			if read.Leaf() != s.Leaf() {
				t.Errorf("leaf %s, want %s", read.Leaf(), s.Leaf())
			}
		})
	}
}

const userHi = `{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi."}]}`

func item(t testing.TB, text string) Item {
	t.Helper()
	i, err := openresponses.ParseItem(raw(text))
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func newSession(t testing.TB, minor string, records ...string) *Session {
	t.Helper()
	s, err := NewSession(Header{Format: "agentsession/0." + minor, ID: "s", CreatedAt: at(0), Records: records})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// appendAll appends entries and returns their ids.
func appendAll(t testing.TB, s *Session, entries ...Entry) []string {
	t.Helper()
	var ids []string
	for _, e := range entries {
		id, err := s.Append(e)
		if err != nil {
			t.Fatalf("%s: %v", e.EntryType(), err)
		}
		ids = append(ids, id)
	}
	return ids
}

func TestNewSessionFillsTheHeader(t *testing.T) {
	before := time.Now()
	s, err := NewSession(Header{Harness: &Harness{Name: "h"}})
	if err != nil {
		t.Fatal(err)
	}
	h := s.Header()
	if h.Format != DefaultFormat || h.Payload != DefaultPayload || h.CreatedAt.Before(before.Add(-time.Second)) || len(h.ID) != 36 || h.ID[14] != '7' {
		t.Errorf("%+v", h)
	}
	if read := mustRead(t, write(t, s)); read.ID() != h.ID || read.Header().Harness.Name != "h" || read.Leaf() != "" {
		t.Errorf("%+v", read.Header())
	}
}

func TestNewSessionRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		h    Header
		want error
	}{
		{"another format", Header{Format: "pi/3"}, ErrUnsupportedFormat},
		{"another major", Header{Format: "agentsession/1.0"}, ErrUnsupportedFormat},
		{"a minor that is not known", Header{Format: "agentsession/0.12"}, ErrNewerFormat},
		{"another payload", Header{Payload: "anthropic/1"}, ErrInvalidEntry},
		{"a base that is not there", Header{Format: "agentsession/0.5", Base: "x"}, ErrBase},
		{"an unknown member of a known name", Header{Unknown: members("id", `"x"`)}, ErrInvalidEntry},
		{"a line feed in a string", Header{Unknown: members("x", "\"a\nb\"")}, ErrInvalidEntry},
		{"an unknown member that is no JSON", Header{Unknown: members("x", `}`)}, ErrInvalidEntry},
		{"a base among the unknown members", Header{Format: "agentsession/0.11", Unknown: members("base", `"x"`)}, ErrBase},
		{"a number that a double does not hold", Header{Format: "agentsession/0.11", Unknown: members("n", `9007199254740993`)}, ErrInvalidEntry},
		{"another place for media", Header{Media: "cloud"}, ErrMember},
		{"a harness without a name", Header{Harness: &Harness{}}, ErrMember},
	} {
		if s, err := NewSession(tt.h); !errors.Is(err, tt.want) || s != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestAppendFillsTheEnvelope(t *testing.T) {
	s := newSession(t, "2")
	e := NewItem(item(t, userHi))
	first, err := s.Append(e)
	if err != nil {
		t.Fatal(err)
	}
	own, _ := s.Entry(first)
	if env := own.Base(); len(first) != 8 || env.Parent != "" || time.Since(env.Time) > time.Minute || env.Time.Location() != time.UTC {
		t.Errorf("%+v", env)
	}
	// What was given is not changed, and may be used again.
	second, err := s.Append(e)
	if err != nil || second == first {
		t.Errorf("%q, %v", second, err)
	}
	if diff := cmp.Diff(NewItem(item(t, userHi)), e); diff != "" {
		t.Error(diff)
	}
	if own, _ := s.Entry(second); own.Base().Parent != first || s.Leaf() != second || s.Len() != 2 {
		t.Errorf("%+v, leaf %s", own.Base(), s.Leaf())
	}
}

func TestAppendRefuses(t *testing.T) {
	call := `{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}`
	output := `{"type":"function_call_output","call_id":"c","output":""}`
	for _, tt := range []struct {
		name   string
		minors string
		before []Entry // the first is the call, e1
		e      Entry
		want   error
	}{
		{"no item", "2 11", nil, &ItemEntry{}, ErrInvalidEntry},
		{"an item that is no JSON", "2 11", nil, NewItem(Item{Raw: raw(`{`)}), ErrInvalidEntry},
		{"an item with a line feed in a string", "2 11", nil, NewItem(Item{Raw: raw("{\"type\":\"message\",\"x\":\"a\nb\"}")}), ErrInvalidEntry},
		{"an item without a type", "2 11", nil, NewItem(Item{Raw: raw(`{}`)}), ErrInvalidEntry},
		{"a parent that is not there", "2 11", nil, &InfoEntry{Envelope: Envelope{Parent: "x"}}, ErrNoParent},
		{"an id that is taken", "2", nil, &InfoEntry{Envelope: Envelope{ID: "e1"}}, ErrDuplicateEntry},
		{"an id that is no hash", "11", nil, &InfoEntry{Envelope: Envelope{ID: "e9"}}, ErrInvalidEntry},
		{"a year that has five digits", "2 11", nil, &InfoEntry{Envelope: Envelope{Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}}, ErrInvalidEntry},
		{"a run without an id", "2 11", nil, NewRunStart("", SourceInput, ""), ErrInvalidEntry},
		{"a source that is not listed", "2 11", nil, NewRunStart("r", "retry", ""), ErrInvalidEntry},
		{"a reason that is not listed", "2 11", nil, NewRunEnd("r", "tired", "", nil), ErrInvalidEntry},
		{"a reject without a reason", "2 11", nil, NewDecision("c", "e1", VerdictReject, ""), ErrInvalidEntry},
		{"a verdict that is not listed", "2 11", nil, NewDecision("c", "e1", "defer", ""), ErrInvalidEntry},
		{"a decider that is not listed", "2 11", nil, NewDecision("c", "e1", VerdictHold, "cat"), ErrInvalidEntry},
		{"an answer before there were any", "2 7", nil, NewDecision("c", "e1", VerdictAnswer, ""), ErrInvalidEntry},
		{"arguments that are no JSON", "2 11", nil, NewDecision("c", "e1", VerdictProceed, "").WithArgs(raw(`{`)), ErrInvalidEntry},
		{"a score that is no number", "2 11", nil, NewOutcome(OutcomeEval, "").WithScore(nan()), ErrInvalidEntry},
		{"an outcome of nothing", "2 11", nil, NewOutcome(OutcomeEval, "x"), ErrReference},
		{"an item from no queue", "3 11", nil, &ItemEntry{Item: Item{Raw: raw(userHi)}, QueuedFrom: "x"}, ErrReference},
		{"a kind that is not listed", "2 11", nil, NewOutcome("vibes", ""), ErrInvalidEntry},
		{"a relation that is not listed", "2 11", nil, NewLink("cousin", "s2"), ErrInvalidEntry},
		{"a mode that is not listed", "3 11", nil, NewQueued("later", Item{Raw: raw(userHi)}), ErrInvalidEntry},
		{"a compaction that keeps nothing", "2 11", nil, &CompactionEntry{FirstKept: "x", Summary: Item{Raw: raw(userHi)}, Config: raw(`{}`)}, ErrFirstKept},
		{"a compaction without a checkpoint", "2 11", nil, &CompactionEntry{FirstKept: "e1", Summary: Item{Raw: raw(userHi)}}, ErrInvalidEntry},
		{"a summary of no branch", "2 11", nil, &BranchSummaryEntry{From: "x", Summary: Item{Raw: raw(userHi)}}, ErrReference},
		{"a workspace that is not listed", "2 11", nil, &EnvEntry{Workspace: &Workspace{Kind: "moon"}}, ErrInvalidEntry},
		{"a type without a namespace", "2 11", nil, NewExtension("note", nil), ErrInvalidEntry},
		{"an unknown member of a known name", "2 11", nil, &InfoEntry{Envelope: Envelope{Unknown: members("name", `"n"`)}, Name: "m"}, ErrInvalidEntry},
		{"an unknown member in place of the id", "2 11", nil, &InfoEntry{Envelope: Envelope{Unknown: members("id", `"n"`)}}, ErrInvalidEntry},
		{"an item that only names another", "4 11", nil, NewItem(Item{Raw: raw(`{"type":"item_reference","id":"i"}`)}), ErrInvalidEntry},
		{"merged work before there was any", "2 3", nil, &InfoEntry{Envelope: Envelope{Parents: []Ref{{Entry: "e1"}}}}, ErrInvalidEntry},
		{"a queue before there was one", "2", nil, NewQueued(ModeSteer, Item{Raw: raw(userHi)}), ErrInvalidEntry},
		{"parts before there were any", "2", nil, &ConfigEntry{Parts: raw(`[]`)}, ErrInvalidEntry},
		{"attempts before they were counted", "6", nil, &ResponseEntry{Attempts: ptr[int64](2)}, ErrInvalidEntry},
		{"omit before there was any", "10", nil, &ConfigEntry{Omit: raw(`{}`)}, ErrInvalidEntry},
		{"a judge before there was one", "10", nil, NewLink(RelJudgedBy, "s2"), ErrInvalidEntry},
		{"merged work that is not there", "4 11", nil, &InfoEntry{Envelope: Envelope{Parents: []Ref{{Entry: "x"}}}}, ErrParents},
		{"merged work out of order", "4 11", nil, &InfoEntry{Envelope: Envelope{Parents: []Ref{{"b", "x"}, {"a", "x"}}}}, ErrParents},
		{"merged work twice", "4 11", nil, &InfoEntry{Envelope: Envelope{Parents: []Ref{{"b", "x"}, {"b", "x"}}}}, ErrParents},
		{
			"a dispatch after a reject", "2 8 11",
			[]Entry{NewDecision("c", "e1", VerdictReject, "").WithReason("no")},
			NewDispatch("c", "e1"), ErrCallRejected,
		},
		{
			"a dispatch after an answer", "8 11",
			[]Entry{NewDispatch("c", "e1"), NewDecision("c", "e1", VerdictAnswer, "")},
			NewDispatch("c", "e1"), ErrCallOrder,
		},
		{"a dispatch after the output", "9 11", []Entry{NewItem(Item{Raw: raw(output)})}, NewDispatch("c", "e1"), ErrCallOrder},
		{"a dispatch of no call", "9 11", nil, NewDispatch("d", "e1"), ErrCallOrder},
		{"a reject after a dispatch", "9 11", []Entry{NewDispatch("c", "e1")}, NewDecision("c", "e1", VerdictReject, "").WithReason("no"), ErrCallOrder},
		{"a call id that was used", "9 11", nil, NewItem(Item{Raw: raw(call)}), ErrCallOrder},
		{"a call without an id", "9 11", nil, NewItem(Item{Raw: raw(`{"type":"function_call","call_id":"","name":"n","arguments":""}`)}), ErrInvalidEntry},
		{"a number that no double holds", "5 11", nil, NewCustom("x", raw(`1e999`)), ErrNotCanonical},
		{"more than one value", "2 11", nil, NewCustom("x", raw(`1,"parent":"zz"`)), ErrInvalidEntry},
		{"a member more", "2 11", nil, &InfoEntry{Envelope: Envelope{Unknown: members("a", `1,"b":2`)}}, ErrInvalidEntry},
		{"no text", "2", nil, NewCustom("x", raw("\"a\xff\"")), ErrInvalidEntry},
		{"an escape that does not exist", "2 11", nil, NewItem(Item{Raw: raw(`{"type":"message","content":"\q"}`)}), ErrInvalidEntry},
		{"an id that is no text", "2", nil, &InfoEntry{Envelope: Envelope{ID: "a\xff"}}, ErrInvalidEntry},
		{"nothing", "2 11", nil, nil, ErrInvalidEntry},
		{"a run before there were any", "1", nil, NewRunStart("r", SourceInput, ""), ErrInvalidEntry},
		{"a kept part before there were any", "6", nil, &ConfigEntry{Parts: raw(`[{"keep":1}]`)}, ErrInvalidEntry},
		{"a kept omission before there were any", "8", nil, &ConfigEntry{Omitted: raw(`[{"keep":1}]`)}, ErrInvalidEntry},
		{"an omission kept of an earlier entry", "10", nil, &ConfigEntry{Omitted: raw(`[{"keep":1,"of":"e1"}]`)}, ErrInvalidEntry},
		{"a member twice", "5 11", nil, NewCustom("x", raw(`{"a":1,"a":2}`)), ErrNotCanonical},
	} {
		for _, minor := range strings.Fields(tt.minors) {
			t.Run(tt.name+" 0."+minor, func(t *testing.T) {
				s := newSession(t, minor)
				first := &ItemEntry{Envelope: Envelope{Time: at(1)}, Item: item(t, call)}
				if minor := s.Header().Minor(); minor < 5 {
					first.ID = "e1"
				}
				id1 := appendAll(t, s, first)[0]
				for _, e := range tt.before {
					appendAll(t, s, retarget(e, id1))
				}
				before := write(t, s)
				leaf := s.Leaf()
				id, err := s.Append(retarget(tt.e, id1))
				if !errors.Is(err, tt.want) || id != "" {
					t.Errorf("%q, %v, want %v", id, err, tt.want)
				}
				if write(t, s) != before || s.Leaf() != leaf {
					t.Error("something was appended")
				}
			})
		}
	}
}

// retarget returns a copy of the entry that names the first entry by the id it has got.
func retarget(e Entry, first string) Entry {
	if e == nil {
		return nil
	}
	e = Clone(e)
	to := func(id *string) {
		if *id == "e1" {
			*id = first
		}
	}
	switch e := e.(type) {
	case *DispatchEntry:
		to(&e.Target)
	case *DecisionEntry:
		to(&e.Target)
	case *CompactionEntry:
		to(&e.FirstKept)
	}
	return e
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

func TestAppendMovesTheLeaf(t *testing.T) {
	info := func(parent string) Entry { return &InfoEntry{Envelope: Envelope{Parent: parent}} }
	for _, minor := range []string{"2", "11"} {
		t.Run("0."+minor, func(t *testing.T) {
			s := newSession(t, minor)
			ids := appendAll(t, s, info(""), info(""))
			a, b := ids[0], ids[1]
			aside := appendAll(t, s, info(a))[0]
			want := aside // before minor 5 every append becomes the leaf
			if minor == "11" {
				want = b
			}
			if s.Leaf() != want {
				t.Errorf("after an append aside the leaf is %s, want %s", s.Leaf(), want)
			}
			if err := s.Branch(a); err != nil {
				t.Fatal(err)
			}
			mark, err := s.MarkLeaf()
			if err != nil {
				t.Fatal(err)
			}
			appendAll(t, s, mark)
			if s.Leaf() != a || mustRead(t, write(t, s)).Leaf() != a {
				t.Errorf("after the mark the leaf is %s, want %s", s.Leaf(), a)
			}
			c := appendAll(t, s, info(""))[0]
			if e, _ := s.Entry(c); e.Base().Parent != a || mustRead(t, write(t, s)).Leaf() != c {
				t.Errorf("%+v", e.Base())
			}
			s.ResetLeaf()
			if _, err := s.MarkLeaf(); err != ErrNoLeaf || s.Leaf() != "" {
				t.Errorf("leaf %s, %v", s.Leaf(), err)
			}
			if root := appendAll(t, s, info(""))[0]; len(s.Roots()) != 2 || s.Leaf() != root {
				t.Errorf("roots %v, leaf %s", s.Roots(), s.Leaf())
			}
			if err := s.Branch("x"); !errors.Is(err, ErrNoEntry) {
				t.Error(err)
			}
		})
	}
}

func TestAppendAboveTheBase(t *testing.T) {
	s := mustRead(t, file(headerOf("5", `"base":"b"`), info("a", ""), info("b", "a")))
	if _, err := s.Append(&InfoEntry{Envelope: Envelope{Parent: "a"}}); !errors.Is(err, ErrBase) {
		t.Error(err)
	}
	if err := s.Branch("a"); !errors.Is(err, ErrBase) {
		t.Error(err)
	}
	if s.ResetLeaf(); s.Leaf() != "b" {
		t.Errorf("leaf %s", s.Leaf())
	}
	if id := appendAll(t, s, NewInfo("n"))[0]; mustRead(t, write(t, s)).Leaf() != id {
		t.Error("not the leaf")
	}
}

func TestAppendToANewerFile(t *testing.T) {
	s := mustRead(t, file(headerOf("12"), info("a", "")))
	if _, err := s.Append(NewInfo("n")); !errors.Is(err, ErrNewerFormat) || s.Len() != 1 {
		t.Errorf("%v, %d entries", err, s.Len())
	}
}

func TestAppendAfterALineWithoutLineFeed(t *testing.T) {
	text := strings.TrimSuffix(file(header02, info("a", "")), "\n")
	s := mustRead(t, text)
	before := s.text
	appendAll(t, s, &InfoEntry{Envelope: Envelope{ID: "b", Time: at(1)}})
	if got, want := write(t, s), text+"\n"+info("b", "a")+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if line, _ := s.Line("b"); line.Number != 3 || line.Offset != int64(len(text))+1 {
		t.Errorf("%+v", line)
	}
	if before[1].Terminated {
		t.Error("a line that somebody may be reading was changed")
	}
}

func TestAppendAfterATornTail(t *testing.T) {
	text := file(header02, info("a", ""))
	s := mustRead(t, text+`{"type":"in`)
	appendAll(t, s, &InfoEntry{Envelope: Envelope{ID: "b", Time: at(1)}})
	if got, want := write(t, s), text+info("b", "a")+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A last line that is complete is nobody's to leave behind.
func TestAppendAfterACompleteLineThatIsNoEntry(t *testing.T) {
	s := mustRead(t, file(header02, info("a", ""), `{"type":"info"}`))
	if _, err := s.Append(NewInfo("n")); !errors.Is(err, ErrInvalidEntry) || s.Len() != 1 {
		t.Errorf("%v, %d entries", err, s.Len())
	}
}

// The same thing said twice within a tick of the clock is two entries.
func TestAppendTheSameAgain(t *testing.T) {
	s := newSession(t, "11")
	root := appendAll(t, s, NewInfo("n"))[0]
	for range 100 {
		if _, err := s.Append(&InfoEntry{Envelope: Envelope{Parent: root}, Name: "m"}); err != nil {
			t.Fatal(err)
		}
	}
	e := &InfoEntry{Envelope: Envelope{Parent: root, Time: at(9)}}
	appendAll(t, s, e)
	if _, err := s.Append(e); !errors.Is(err, ErrDuplicateEntry) {
		t.Errorf("a time that was given was changed: %v", err)
	}
}

// Appends of several goroutines have one order, and readers see each entry once.
func TestAppendConcurrently(t *testing.T) {
	s := newSession(t, "2")
	const writers, each = 8, 50
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				if _, err := s.Append(NewInfo(fmt.Sprint(w, ".", i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var seen []Entry
	group.Go(func() {
		for len(seen) < writers*each {
			seen = append(seen, s.Since(len(seen))...)
			_ = s.Leaf()
			_, _ = s.Context(s.Leaf())
		}
	})
	group.Wait()
	if diff := cmp.Diff(ids(s.Entries()), ids(seen)); diff != "" {
		t.Error(diff)
	}
	read := mustRead(t, write(t, s))
	if diff := cmp.Diff(ids(s.Entries()), ids(read.Entries())); diff != "" {
		t.Error(diff)
	}
	if path, err := s.Path(s.Leaf()); err != nil || len(path) != writers*each {
		t.Errorf("%d on the path, %v", len(path), err)
	}
}
