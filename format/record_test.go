package format

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/sessionspan/sessionspan/format/openresponses"
)

// recorder drives a session as a harness would, at random, and records the true hash of every request.
type recorder struct {
	t   testing.TB
	r   *rand.Rand
	s   *Session
	n   int // of things made, for names
	at  time.Time
	ids []string // of entries that work can go back to
}

func (r *recorder) append(e Entry) string {
	r.at = r.at.Add(time.Duration(r.r.IntN(1000)) * time.Millisecond)
	e.Base().Time = r.at
	id := appendAll(r.t, r.s, e)[0]
	r.ids = append(r.ids, id)
	return id
}

func (r *recorder) name(of string) string {
	r.n++
	return fmt.Sprint(of, r.n)
}

func (r *recorder) settings() {
	c := &ConfigEntry{}
	switch r.r.IntN(7) {
	case 0:
		c.Model = []string{"m1", "m2"}[r.r.IntN(2)]
	case 1:
		text := r.name("Be brief. ")
		c.Instructions = &text
	case 2:
		c.ToolsAdded = []jsontext.Value{raw(fmt.Sprintf(`{"type":"function","name":"t%d","parameters":{"b":1,"a":%d}}`, r.r.IntN(3), r.r.IntN(5)))}
	case 3:
		c.Extra = members([]string{"a", "temperature", "z", "input_mode"}[r.r.IntN(4)], fmt.Sprint(r.r.IntN(5)))
	case 4:
		c.Replace, c.Model = true, "m1"
	case 5:
		if r.s.Header().Minor() < 3 {
			break
		}
		c.Parts = EncodeParts([]InstructionPart{{ID: "a", Text: r.name("part ")}, {ID: "b", Text: "B"}})
	case 6:
		if r.s.Header().Minor() < 11 {
			break
		}
		if c.Omit = raw(`{"reasoning":"other_models"}`); len(r.ids) > 0 && r.r.IntN(2) == 0 {
			c.Omit = raw(`{"items":["` + r.ids[r.r.IntN(len(r.ids))] + `"]}`)
		}
	}
	r.append(c)
}

func (r *recorder) turn() {
	r.append(NewItem(openresponses.UserText(r.name("Say ") + " \u2028 <é\U0001F600>")))
	c, err := r.s.Context(r.s.Leaf())
	if err != nil {
		r.t.Fatal(err)
	}
	req, err := c.Request()
	if err != nil {
		r.t.Fatal(err)
	}
	resp := &openresponses.Response{ID: r.name("resp"), Model: "m1-2026", Status: openresponses.StatusCompleted}
	for range r.r.IntN(3) {
		resp.Output = append(resp.Output, r.output())
	}
	if r.r.IntN(8) == 0 {
		resp.ID = "" // some providers give none; then nothing is an output of it
		resp.Output = nil
	}
	entries, err := ResponseEntries(&req, resp, time.Duration(r.r.IntN(3))*time.Second)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range entries {
		r.append(e)
		if r.r.IntN(6) == 0 && e.EntryType() == TypeItem {
			r.append(NewCustom("x", raw(`{"progress":1}`))) // records may stand between outputs
		}
	}
}

func (r *recorder) output() Item {
	switch r.r.IntN(3) {
	case 0:
		return openresponses.AssistantText(r.name("Said "))
	case 1:
		return openresponses.NewFunctionCall(r.name("call"), "t1", `{"a":1}`)
	}
	return openresponses.Reasoning{ID: r.name("rs"), Summary: []openresponses.Part{openresponses.SummaryText("hm")}}.Item()
}

func (r *recorder) compact() {
	c, err := r.s.Context(r.s.Leaf())
	if err != nil || len(c.Items) < 2 {
		return
	}
	e, err := r.s.CompactKeeping(1+r.r.IntN(len(c.Items)-1), openresponses.SystemText(r.name("Summary ")))
	if err != nil { // an index on an earlier summary or on what it pinned
		return
	}
	if r.r.IntN(2) == 0 && r.s.Header().Minor() >= 3 {
		for _, from := range c.ItemEntries {
			if item, ok := from.(*ItemEntry); ok && item.ID != e.FirstKept {
				e.Pinned = append(e.Pinned, item.Item)
				break
			}
		}
	}
	r.append(e)
}

func (r *recorder) branch() {
	if len(r.ids) == 0 {
		return
	}
	left := r.s.Leaf()
	if err := r.s.Branch(r.ids[r.r.IntN(len(r.ids))]); err != nil {
		r.t.Fatal(err)
	}
	if r.r.IntN(2) == 0 && left != "" {
		e, err := r.s.SummarizeBranch(left, openresponses.UserText(r.name("Left ")))
		if err != nil {
			r.t.Fatal(err)
		}
		r.append(e)
	}
}

// Whatever a session goes through, every request can be rebuilt: from the root, and along the tree.
func TestRecordedRequestsAreRebuilt(t *testing.T) {
	seeds := 60
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		minor := []string{"2", "3", "11"}[seed%3]
		t.Run(fmt.Sprint(minor, " seed ", seed), func(t *testing.T) {
			r := &recorder{t: t, r: rand.New(rand.NewPCG(uint64(seed), 1)), s: newSession(t, minor), at: at(0)}
			for range 60 {
				switch r.r.IntN(8) {
				case 0, 1:
					r.settings()
				case 2:
					r.compact()
				case 3:
					r.branch()
				case 4:
					if r.r.IntN(6) == 0 {
						r.s.ResetLeaf()
					}
				default:
					r.turn()
				}
			}
			s := mustRead(t, write(t, r.s))
			c, err := s.Check(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range c.Findings {
				if !f.Note || f.Rule != RuleItem { // what is pinned may come from an earlier branch of the context
					t.Errorf("%v", f)
				}
			}
			if c.Hashes == 0 {
				t.Error("nothing was checked")
			}
			verifyOneByOne(t, s, c.Hashes)
		})
	}
}

// A request that was changed afterwards is found along the tree as it is from the root.
func TestChangedRequestsAreFound(t *testing.T) {
	for seed := range 20 {
		r := &recorder{t: t, r: rand.New(rand.NewPCG(uint64(seed), 2)), s: newSession(t, "2"), at: at(0)}
		for range 30 {
			switch r.r.IntN(5) {
			case 0:
				r.settings()
			case 1:
				r.branch()
			default:
				r.turn()
			}
		}
		lines := slices.Collect(func(yield func(Line) bool) {
			for _, e := range r.s.Entries() {
				if line, ok := r.s.Line(e.Base().ID); ok && !yield(line) {
					return
				}
			}
		})
		at := lines[r.r.IntN(len(lines))]
		text := []byte(write(t, r.s))
		for i := at.Offset; i < at.Offset+at.Size; i++ {
			if text[i] == 'S' { // of "Say" or "Said"
				text[i] = 'T'
			}
		}
		s := mustRead(t, string(text))
		var want, got []string
		for _, e := range s.Entries() {
			if _, ok := e.(*ResponseEntry); ok && errors.Is(s.Verify(e.Base().ID), ErrHashMismatch) {
				want = append(want, e.Base().ID+" request_hash")
			}
		}
		got = checkText(t, s)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
	}
}

func TestConfigFromRequest(t *testing.T) {
	req, err := openresponses.ParseRequest(raw(`{"model":"m","instructions":"i","input":"hi","tools":[{"type":"function","name":"f"}],
		"reasoning":{"effort":"low"},"text":{"verbosity":"low"},"temperature":0.50,"store":true,"stream":true,"stream_options":{},
		"background":false,"previous_response_id":"r"}`))
	if err != nil {
		t.Fatal(err)
	}
	line, err := EncodeEntry(ConfigFromRequest(req))
	if err == nil || !errors.Is(err, ErrInvalidEntry) { // it has no id yet
		t.Errorf("%s, %v", line, err)
	}
	c := ConfigFromRequest(req)
	c.ID, c.Time = "c1", at(1)
	line, err = EncodeEntry(c)
	want := `{"type":"config","id":"c1","parent":null,"ts":"2026-09-20T12:00:01Z","replace":true,"model":"m","instructions":"i",` +
		`"reasoning":{"effort":"low"},"text":{"verbosity":"low"},"tools_added":[{"type":"function","name":"f"}],"extra":{"temperature":0.50}}`
	if err != nil || string(line) != want {
		t.Errorf("%s, %v, want\n%s", line, err, want)
	}
}

func TestResponseEntriesRefuses(t *testing.T) {
	req := &openresponses.Request{Model: "m"}
	if _, err := ResponseEntries(req, nil, 0); !errors.Is(err, ErrNoResponse) {
		t.Error(err)
	}
	if _, err := ResponseEntries(nil, &openresponses.Response{}, 0); !errors.Is(err, ErrNoResponse) {
		t.Error(err)
	}
	if _, err := ResponseEntries(req, &openresponses.Response{Output: []Item{openresponses.UserText("x")}}, 0); !errors.Is(err, ErrNoResponse) {
		t.Errorf("outputs of a response without an id were taken: %v", err)
	}
	if _, err := ResponseEntries(req, &openresponses.Response{ID: "r", Output: []Item{{}}}, 0); err == nil {
		t.Error("an output that is none was taken")
	}
	if _, err := ResponseEntries(&openresponses.Request{Extra: members("a", `"\ud800"`)}, &openresponses.Response{}, 0); err == nil {
		t.Error("a request that has no hash was taken")
	}
}
