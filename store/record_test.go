package store_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/store"
)

// one is a store of a single session that can fail.
type one struct {
	session *format.Session
	left    int // appends until it fails; less than 0 for never
}

var errFull = errors.New("full")

func (o *one) Append(_ context.Context, id string, e format.Entry) (string, error) {
	if id != o.session.ID() {
		return "", fmt.Errorf("no session %s", id)
	}
	if o.left == 0 {
		return "", errFull
	}
	o.left--
	return o.session.Append(e)
}

func record(t *testing.T, left int, resp *openresponses.Response) (*format.Session, string, error) {
	t.Helper()
	s, err := format.NewSession(format.Header{ID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Context(s.Leaf())
	if err != nil {
		t.Fatal(err)
	}
	req, err := c.Request()
	if err != nil {
		t.Fatal(err)
	}
	id, err := store.RecordResponse(context.Background(), &one{s, left}, "s", &req, resp, 1500*time.Millisecond)
	return s, id, err
}

func TestRecordResponse(t *testing.T) {
	s, id, err := record(t, -1, &openresponses.Response{
		ID: "r1", Model: "m", Status: openresponses.StatusCompleted, Output: []openresponses.Item{
			openresponses.AssistantText("Hi."), openresponses.NewFunctionCall("c1", "f", "{}"),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, e := range s.Entries() {
		types = append(types, e.EntryType())
		if item, ok := e.(*format.ItemEntry); ok && item.ResponseID != "r1" {
			t.Errorf("%+v", item)
		}
	}
	if got := strings.Join(types, " "); got != "item item response" || s.Leaf() != id {
		t.Errorf("%s, leaf %s, id %s", got, s.Leaf(), id)
	}
	e, _ := s.Entry(id)
	if r := e.(*format.ResponseEntry); *r.LatencyMS != 1500 || r.Model != "m" || r.Status != "completed" || s.Verify(id) != nil {
		t.Errorf("%+v, %v", r, s.Verify(id))
	}
}

func TestRecordResponseFails(t *testing.T) {
	hi := openresponses.AssistantText("Hi.")
	for _, tt := range []struct {
		name string
		left int
		resp *openresponses.Response
		want error
		text string
		have int
	}{
		{"no response", -1, nil, format.ErrNoResponse, "session s", 0},
		{"the second append", 1, &openresponses.Response{ID: "r", Output: []openresponses.Item{hi, hi}}, errFull, "entry 2 of 3", 1},
		{"an output that is none", -1, &openresponses.Response{ID: "r", Output: []openresponses.Item{hi, {}}}, nil, "output 1", 0},
	} {
		s, id, err := record(t, tt.left, tt.resp)
		if err == nil || id != "" || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) || s.Len() != tt.have {
			t.Errorf("%s: %q, %v, %d entries", tt.name, id, err, s.Len())
		}
	}
}

func ExampleRecordResponse() {
	ctx := context.Background()
	s, err := format.NewSession(format.Header{ID: "s1", Harness: &format.Harness{Name: "my-agent"}})
	if err != nil {
		log.Fatal(err)
	}
	sessions := &one{s, -1}
	for _, e := range []format.Entry{format.NewConfig("gpt-5"), format.NewItem(openresponses.UserText("What is 2+2?"))} {
		if _, err := sessions.Append(ctx, "s1", e); err != nil {
			log.Fatal(err)
		}
	}
	c, err := s.Context(s.Leaf())
	if err != nil {
		log.Fatal(err)
	}
	request, err := c.Request()
	if err != nil {
		log.Fatal(err)
	}
	// Send request.JSON(), parse what comes back with openresponses.ParseResponse.
	response := &openresponses.Response{
		ID: "resp_1", Model: "gpt-5", Status: openresponses.StatusCompleted,
		Output: []openresponses.Item{openresponses.AssistantText("4")},
	}
	id, err := store.RecordResponse(ctx, sessions, "s1", &request, response, 300*time.Millisecond)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Len(), "entries; verified:", s.Verify(id) == nil)
	// Output: 4 entries; verified: true
}
