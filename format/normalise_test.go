package format

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// What the fixture's writer had to respell is respelled in the same way, and recorded so, down to the ids.
func TestAppendNormalises(t *testing.T) {
	want := readFixture(t, "0.10/normalised.jsonl")
	s, err := NewSession(*want.Header())
	if err != nil {
		t.Fatal(err)
	}
	at := func(second int) Envelope {
		return Envelope{Time: time.Date(2026, 9, 28, 10, 0, second, 0, time.UTC)}
	}
	info := &InfoEntry{Envelope: at(1), Name: "spellings"}
	info.Unknown = members("acme:digits", `9007199254740993`, "acme:exponent", `9.007199254740993e15`,
		"acme:fraction", `9007199254740993.0`, "acme:pow60", `1152921504606847000`)
	response := NewResponse("resp_1", "", "completed")
	response.Envelope, response.LatencyMS = at(3), ptr[int64](9007199254740993)
	custom := NewCustom("acme", raw(`{"text":"cut \ud83d"}`))
	custom.Envelope = at(4)
	hi := NewItem(item(t, `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`))
	hi.Envelope = at(2)
	odd := NewItem(Item{Raw: raw("{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"bytes \xe2\x82 end\"}]}")})
	odd.Envelope = at(5)
	appendAll(t, s, info, hi, response, custom, odd)
	if got := write(t, s); got != write(t, want) {
		t.Errorf("%s\nwant\n%s", got, write(t, want))
	}
}

func TestAppendNormalisesNoMoreThanItMust(t *testing.T) {
	s := newSession(t, "11")
	id := appendAll(t, s, NewCustom("x", raw(`{"a":"\u00e9\ud83d\ude00","n":[1152921504606846976,0.1234567890123456789,12345678901234567]}`)))[0]
	e, _ := s.Entry(id)
	got := string(e.Base().Unknown.Get("normalised"))
	if want := `[{"at":"/data/n/2","was":"12345678901234567"}]`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, err := s.Append(NewCustom("x", raw(`{"a":1,"a":2}`))); !errors.Is(err, ErrNotCanonical) {
		t.Error(err)
	}
	if line, _ := s.Line(id); strings.Contains(string(line.Data), `\u`) {
		t.Errorf("%s", line.Data)
	}
}
