package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/store"
)

// Options say what is tested.
type Options struct {
	// New returns an empty store. It cleans up after itself with t.Cleanup.
	New func(t *testing.T) store.Store
	// Reopen closes the store and returns one over what it has kept. Nil: the store keeps nothing.
	Reopen func(t *testing.T, s store.Store) store.Store
	// Simulations is how many random histories are tried (8), each of so many Steps (300).
	Simulations, Steps int
	// Format is that of the sessions in the tests; "" is [format.DefaultFormat].
	Format string
}

// Run runs the suite.
func Run(t *testing.T, o Options) {
	if o.Simulations == 0 {
		o.Simulations = 8
	}
	if o.Steps == 0 {
		o.Steps = 300
	}
	for _, tc := range []struct {
		name string
		test func(*suite)
	}{
		{"create fills in the header", (*suite).create},
		{"create refuses an id that is taken", (*suite).createTwice},
		{"create refuses a header that is none", (*suite).createInvalid},
		{"open knows what is there", (*suite).open},
		{"sessions are shared", (*suite).shared},
		{"append continues the leaf", (*suite).appendAtLeaf},
		{"append takes an explicit parent", (*suite).appendAtParent},
		{"append refuses what the format refuses", (*suite).appendInvalid},
		{"what is appended to the session itself is kept", (*suite).appendToSession},
		{"appends of many goroutines have one order", (*suite).concurrent},
		{"goroutines on branches of their own", (*suite).branches},
		{"a leaf mark outlives the store", (*suite).leafMark},
		{"a model call is recorded", (*suite).response},
		{"every line comes back byte for byte", (*suite).bytes},
		{"a line of a megabyte", (*suite).longLine},
		{"the list is in order", (*suite).list},
		{"the list is filtered", (*suite).filters},
		{"the list is a snapshot", (*suite).snapshot},
		{"names and successors are listed", (*suite).names},
		{"a session is continued", (*suite).goOn},
		{"delete leaves nothing", (*suite).delete},
		{"a context that is done does nothing", (*suite).cancelled},
		{"a context that is done at any moment", (*suite).cancelledAtAnyMoment},
		{"a session that many open at once is one", (*suite).openedAtOnce},
		{"ids are what they are", (*suite).ids},
		{"headers are kept whole", (*suite).headers},
		{"times of any year are in order", (*suite).times},
		{"many sessions at once", (*suite).many},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.test(&suite{t, o, o.New(t)}) })
	}
	for seed := range uint64(o.Simulations) {
		t.Run(fmt.Sprint("simulation ", seed), func(t *testing.T) { simulate(&suite{t, o, o.New(t)}, seed) })
	}
}

// suite is one test with its store.
type suite struct {
	*testing.T
	o     Options
	store store.Store
}

// reopen goes on with what is kept. The test ends where nothing is.
func (s *suite) reopen() {
	s.Helper()
	if s.o.Reopen == nil {
		s.Skip("the store keeps nothing to be opened again")
	}
	s.store = s.o.Reopen(s.T, s.store)
}

func (s *suite) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// fails asks for an error that wraps another one.
func (s *suite) fails(err, want error) {
	s.Helper()
	if !errors.Is(err, want) {
		s.Errorf("the error is %v, want one that wraps %q", err, want)
	}
}

// new creates a session.
func (s *suite) new(h format.Header) *format.Session {
	s.Helper()
	h.Format = s.o.Format
	session, err := s.store.Create(s.Context(), h)
	s.ok(err)
	return session
}

// say appends a message and returns the id of its entry.
func (s *suite) say(id, text string) string {
	s.Helper()
	entry, err := s.store.Append(s.Context(), id, message(text))
	s.ok(err)
	return entry
}

func message(text string) *format.ItemEntry { return format.NewItem(openresponses.UserText(text)) }

// at is a message with a parent.
func at(parent, text string) *format.ItemEntry {
	e := message(text)
	e.Parent = parent
	return e
}

// get opens a session.
func (s *suite) get(id string) *format.Session {
	s.Helper()
	session, err := s.store.Open(s.Context(), id)
	s.ok(err)
	return session
}

// content is the file of a session.
func content(t testing.TB, s *format.Session) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := s.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func (s *suite) create() {
	before := time.Now().Add(-time.Second)
	session := s.new(format.Header{CWD: "/home/me/project", Harness: &format.Harness{Name: "h", Version: "1"}})
	h := session.Header()
	if h.ID == "" || h.Payload == "" || h.Format == "" || h.CWD != "/home/me/project" || h.Harness.Name != "h" {
		s.Errorf("the header is %+v", h)
	}
	if h.CreatedAt.Before(before) || h.CreatedAt.After(time.Now().Add(time.Second)) {
		s.Errorf("it was created at %v", h.CreatedAt)
	}
	when := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	given := s.new(format.Header{ID: "given", CreatedAt: when})
	if given.ID() != "given" || !given.Header().CreatedAt.Equal(when) {
		s.Errorf("the header is %+v", given.Header())
	}
	if given.Len() != 0 || given.Leaf() != "" {
		s.Errorf("a new session has %d entries", given.Len())
	}
	text := content(s, session)
	s.reopen()
	if got := content(s, s.get(session.ID())); got != text {
		s.Errorf("opened again it is\n%s\nand was\n%s", got, text)
	}
}

func (s *suite) createTwice() {
	s.new(format.Header{ID: "a"})
	s.say("a", "Hello.")
	for range 2 {
		_, err := s.store.Create(s.Context(), format.Header{ID: "a", CreatedAt: time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)})
		s.fails(err, store.ErrSessionExists)
	}
	if n := s.get("a").Len(); n != 1 {
		s.Errorf("the session has %d entries", n)
	}
	s.reopen()
	_, err := s.store.Create(s.Context(), format.Header{ID: "a"})
	s.fails(err, store.ErrSessionExists)
}

func (s *suite) createInvalid() {
	if _, err := s.store.Create(s.Context(), format.Header{ID: "a", Format: "agentsession/7.0"}); err == nil {
		s.Error("a session of a format that is not known was created")
	}
	_, err := s.store.Create(s.Context(), format.Header{ID: "b", Format: "agentsession/0.999"})
	s.fails(err, format.ErrNewerFormat)
	if list := s.listed(store.ListFilter{}); len(list) > 0 {
		s.Errorf("there are %v", list)
	}
}

func (s *suite) open() {
	s.new(format.Header{ID: "a"})
	for _, id := range []string{"b", "", "A", "a ", "..", "../a", "a/../a", `..\a`, "*", "a*", "?", "[a]", "\x00", "a\x00"} {
		_, err := s.store.Open(s.Context(), id)
		s.fails(err, store.ErrNoSession)
		_, err = s.store.Append(s.Context(), id, message("Hello."))
		s.fails(err, store.ErrNoSession)
		s.fails(s.store.Delete(s.Context(), id), store.ErrNoSession)
	}
	if session := s.get("a"); session.ID() != "a" {
		s.Errorf("the session is %q", session.ID())
	}
}

func (s *suite) shared() {
	created := s.new(format.Header{ID: "a"})
	first := s.say("a", "One.")
	s.say("a", "Two.")
	opened := s.get("a")
	if created != opened || created.Len() != 2 {
		s.Errorf("%d entries in what Create gave, and Open gives the same: %t", created.Len(), created == opened)
	}
	s.ok(created.Branch(first))
	third := s.say("a", "Three.")
	e, _ := opened.Entry(third)
	if e == nil || e.Base().Parent != first {
		s.Errorf("after a branch the parent is %+v, want %s", e, first)
	}
}

func (s *suite) appendAtLeaf() {
	session := s.new(format.Header{ID: "a"})
	parent := ""
	for i := range 5 {
		e := message(fmt.Sprint(i))
		id, err := s.store.Append(s.Context(), "a", e)
		s.ok(err)
		if e.ID != "" || e.Parent != "" || !e.Time.IsZero() {
			s.Errorf("the entry that was given has changed: %+v", e.Envelope)
		}
		got, ok := session.Entry(id)
		if !ok || got.Base().Parent != parent || got.Base().Time.IsZero() || session.Leaf() != id {
			s.Errorf("entry %s is %+v, the leaf is %s", id, got, session.Leaf())
		}
		parent = id
	}
	text := content(s, session)
	s.reopen()
	again := s.get("a")
	if got := content(s, again); got != text || again.Leaf() != parent {
		s.Errorf("opened again it is\n%s\nand was\n%s", got, text)
	}
	next, _ := again.Entry(s.say("a", "More."))
	if next.Base().Parent != parent {
		s.Errorf("it goes on from %s, want %s", next.Base().Parent, parent)
	}
}

func (s *suite) appendAtParent() {
	session := s.new(format.Header{ID: "a"})
	root := s.say("a", "Root.")
	s.say("a", "On the leaf.")
	id, err := s.store.Append(s.Context(), "a", at(root, "Beside it."))
	s.ok(err)
	if e, _ := session.Entry(id); e.Base().Parent != root || !slices.Contains(session.Children(root), id) {
		s.Errorf("%+v", e)
	}
}

func (s *suite) appendInvalid() {
	session := s.new(format.Header{ID: "a"})
	s.say("a", "Hello.")
	text := content(s, session)
	for _, tc := range []struct {
		name string
		e    format.Entry
		want error
	}{
		{"a parent that is not there", at("nowhere", "x"), format.ErrNoParent},
		{"nothing", nil, format.ErrInvalidEntry},
		{"an item without a type", format.NewItem(format.Item{}), format.ErrInvalidEntry},
		{"a word that the format does not know", &format.RunEntry{RunID: "r", Phase: format.PhaseStart, Source: "boredom"}, format.ErrInvalidEntry},
	} {
		_, err := s.store.Append(s.Context(), "a", tc.e)
		if err == nil || (tc.e != nil && !errors.Is(err, tc.want)) {
			s.Errorf("%s: error %v, want %v", tc.name, err, tc.want)
		}
	}
	if got := content(s, session); got != text {
		s.Errorf("it is\n%s\nand was\n%s", got, text)
	}
	s.say("a", "And on.")
	text = content(s, session)
	s.reopen()
	if got := content(s, s.get("a")); got != text {
		s.Errorf("opened again it is\n%s\nand was\n%s", got, text)
	}
}

func (s *suite) appendToSession() {
	session := s.new(format.Header{ID: "a"})
	for i := range 3 {
		if _, err := session.Append(message(fmt.Sprint(i))); err != nil {
			s.Fatal(err)
		}
		s.say("a", fmt.Sprint("and ", i))
	}
	text := content(s, session)
	s.reopen()
	if got := content(s, s.get("a")); got != text {
		s.Errorf("opened again it is\n%s\nand was\n%s", got, text)
	}
}

func (s *suite) leafMark() {
	session := s.new(format.Header{ID: "a"})
	first := s.say("a", "One.")
	s.say("a", "Two.")
	s.ok(session.Branch(first))
	mark, err := session.MarkLeaf()
	s.ok(err)
	_, err = s.store.Append(s.Context(), "a", mark)
	s.ok(err)
	if session.Leaf() != first {
		s.Errorf("the leaf is %s, want %s", session.Leaf(), first)
	}
	s.reopen()
	again := s.get("a")
	if again.Leaf() != first {
		s.Errorf("opened again the leaf is %s, want %s", again.Leaf(), first)
	}
	e, _ := again.Entry(s.say("a", "Three."))
	if e.Base().Parent != first {
		s.Errorf("it goes on from %s, want %s", e.Base().Parent, first)
	}
}

func (s *suite) response() {
	session := s.new(format.Header{ID: "a"})
	_, err := s.store.Append(s.Context(), "a", format.NewConfig("gpt-5"))
	s.ok(err)
	s.say("a", "Hello.")
	c, err := session.Context(session.Leaf())
	s.ok(err)
	req, err := c.Request()
	s.ok(err)
	id, err := store.RecordResponse(s.Context(), s.store, "a", &req, &openresponses.Response{
		ID: "r1", Model: "gpt-5-2026", Status: openresponses.StatusCompleted, Output: []openresponses.Item{openresponses.AssistantText("Hi.")},
	}, time.Second)
	s.ok(err)
	s.ok(session.Verify(id))
	s.reopen()
	s.ok(s.get("a").Verify(id))
}

// What a later version or an extension says is kept as it was given.
func (s *suite) bytes() {
	session := s.new(format.Header{ID: "a"})
	e := format.NewExtension("acme:thing", nil)
	e.Unknown.Set("emoji", []byte(`"\u00e9 \ud83d\ude00 <&>\u2028"`))
	e.Unknown.Set("number", []byte(`1e2`))
	e.Unknown.Set("nested", []byte(`{"z":[1, 2 ,{}],"a":null}`))
	_, err := s.store.Append(s.Context(), "a", e)
	s.ok(err)
	s.say("a", "a\tline\nwith \x7f and \u0000 in it")
	text := content(s, session)
	s.reopen()
	if got := content(s, s.get("a")); got != text {
		s.Errorf("opened again it is\n%s\nand was\n%s", got, text)
	}
}

func (s *suite) longLine() {
	session := s.new(format.Header{ID: "a"})
	id := s.say("a", string(bytes.Repeat([]byte("0123456789abcdef"), 1<<16)))
	s.say("a", "And on.")
	text := content(s, session)
	s.reopen()
	again := s.get("a")
	if _, ok := again.Entry(id); !ok || content(s, again) != text {
		s.Errorf("opened again it has %d bytes, and had %d", len(content(s, again)), len(text))
	}
}

func (s *suite) delete() {
	session := s.new(format.Header{ID: "a"})
	s.new(format.Header{ID: "b"})
	s.say("a", "Hello.")
	s.ok(s.store.Delete(s.Context(), "a"))
	gone := func() {
		s.Helper()
		_, err := s.store.Open(s.Context(), "a")
		s.fails(err, store.ErrNoSession)
		_, err = s.store.Append(s.Context(), "a", message("Hello."))
		s.fails(err, store.ErrNoSession)
		s.fails(s.store.Delete(s.Context(), "a"), store.ErrNoSession)
		if list := s.listed(store.ListFilter{}); !slices.Equal(list, []string{"b"}) {
			s.Errorf("the list is %v", list)
		}
	}
	gone()
	n := session.Len()
	if _, err := session.Append(message("Is anybody there?")); err == nil || session.Len() != n {
		s.Errorf("a session that was deleted takes more, error %v", err)
	}
	if s.o.Reopen != nil {
		s.reopen()
		gone()
	}
	s.new(format.Header{ID: "a"})
	if n := s.get("a").Len(); n != 0 {
		s.Errorf("a session of the same id begins with %d entries", n)
	}
}

func (s *suite) cancelled() {
	session := s.new(format.Header{ID: "a"})
	ctx, cancel := context.WithCancel(s.Context())
	cancel()
	_, err := s.store.Create(ctx, format.Header{ID: "b"})
	s.fails(err, context.Canceled)
	_, err = s.store.Open(ctx, "a")
	s.fails(err, context.Canceled)
	_, err = s.store.Append(ctx, "a", message("Hello."))
	s.fails(err, context.Canceled)
	s.fails(s.store.Delete(ctx, "a"), context.Canceled)
	answers := 0
	for _, err := range s.store.List(ctx, store.ListFilter{}) {
		answers++
		s.fails(err, context.Canceled)
	}
	if answers != 1 {
		s.Errorf("the list gave %d answers, want the error", answers)
	}
	if list := s.listed(store.ListFilter{}); !slices.Equal(list, []string{"a"}) || session.Len() != 0 {
		s.Errorf("the list is %v, the session has %d entries", list, session.Len())
	}
}
