package storetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/store"
)

// listed lists the ids of sessions.
func (s *suite) listed(f store.ListFilter) (ids []string) {
	s.Helper()
	for _, one := range s.summaries(f) {
		ids = append(ids, one.Header.ID)
	}
	return ids
}

func (s *suite) summaries(f store.ListFilter) (list []store.Summary) {
	s.Helper()
	for one, err := range s.store.List(s.Context(), f) {
		s.ok(err)
		list = append(list, one)
	}
	return list
}

func day(n int) time.Time { return time.Date(2026, 3, n, 12, 0, 0, 0, time.UTC) }

func (s *suite) list() {
	if list := s.listed(store.ListFilter{}); len(list) > 0 {
		s.Errorf("an empty store has %v", list)
	}
	for _, one := range []struct {
		id  string
		day int
	}{{"b", 2}, {"c", 3}, {"a", 1}, {"d2", 4}, {"d1", 4}} {
		s.new(format.Header{ID: one.id, CreatedAt: day(one.day), CWD: "/p" + one.id})
		s.say(one.id, "Hello.") // the time of the last change is not what counts
	}
	want := []string{"d1", "d2", "c", "b", "a"}
	check := func() {
		s.Helper()
		if got := s.listed(store.ListFilter{}); !slices.Equal(got, want) {
			s.Errorf("the list is %v, want %v", got, want)
		}
		for _, one := range s.summaries(store.ListFilter{}) {
			if one.Header.CWD != "/p"+one.Header.ID {
				s.Errorf("%+v", one)
			}
			if n := int64(len(content(s, s.get(one.Header.ID)))); one.Size != n {
				s.Errorf("session %s has %d bytes, and %d in the list", one.Header.ID, n, one.Size)
			}
			if ago := time.Since(one.Modified); ago < -time.Minute || ago > time.Hour {
				s.Errorf("session %s was changed at %v, says the list", one.Header.ID, one.Modified)
			}
		}
	}
	check()
	s.reopen()
	check()
}

func (s *suite) filters() {
	s.new(format.Header{ID: "a", CreatedAt: day(1), CWD: "/p"})
	s.new(format.Header{ID: "b", CreatedAt: day(2), CWD: "/p/q", ParentSession: "a"})
	s.new(format.Header{ID: "c", CreatedAt: day(3), CWD: "/p", ParentSession: "a"})
	s.new(format.Header{ID: "d", CreatedAt: day(4)})
	check := func() {
		s.Helper()
		for _, tc := range []struct {
			f    store.ListFilter
			want []string
		}{
			{store.ListFilter{CWD: "/p"}, []string{"c", "a"}},
			{store.ListFilter{CWD: "/P"}, nil},
			{store.ListFilter{CWD: "/p/"}, nil},
			{store.ListFilter{ParentSession: "a"}, []string{"c", "b"}},
			{store.ListFilter{ParentSession: "a", CWD: "/p"}, []string{"c"}},
			{store.ListFilter{After: day(2)}, []string{"d", "c"}},
			{store.ListFilter{Before: day(2)}, []string{"a"}},
			{store.ListFilter{After: day(1), Before: day(4)}, []string{"c", "b"}},
			{store.ListFilter{Limit: 2}, []string{"d", "c"}},
			{store.ListFilter{CWD: "/p", Limit: 1}, []string{"c"}},
			{store.ListFilter{Limit: 10}, []string{"d", "c", "b", "a"}},
			{store.ListFilter{Limit: 2, WithNames: true, Current: true}, []string{"d", "c"}},
		} {
			if got := s.listed(tc.f); !slices.Equal(got, tc.want) {
				s.Errorf("%+v lists %v, want %v", tc.f, got, tc.want)
			}
		}
	}
	check()
	s.reopen()
	check()
}

// What happens to the store while a list is read changes nothing of what it has, and the loop may end early.
func (s *suite) snapshot() {
	for i := range 5 {
		s.new(format.Header{ID: fmt.Sprint(i), CreatedAt: day(10 - i)})
	}
	var got []string
	for one, err := range s.store.List(s.Context(), store.ListFilter{}) {
		s.ok(err)
		if len(got) == 0 {
			s.new(format.Header{ID: "new", CreatedAt: day(3)})
			s.say("4", "Hello.")
		}
		got = append(got, one.Header.ID)
	}
	if want := []string{"0", "1", "2", "3", "4"}; !slices.Equal(got, want) {
		s.Errorf("the list is %v, want %v", got, want)
	}
	for range s.store.List(s.Context(), store.ListFilter{}) {
		break
	}
	later := s.store.List(s.Context(), store.ListFilter{})
	s.new(format.Header{ID: "newest", CreatedAt: day(20)})
	got = nil
	for one, err := range later {
		s.ok(err)
		if len(got) == 0 {
			s.ok(s.store.Delete(s.Context(), "2")) // which may still come, or not
		}
		got = append(got, one.Header.ID)
	}
	got = slices.DeleteFunc(got, func(id string) bool { return id == "2" })
	if want := []string{"newest", "0", "1", "3", "4", "new"}; !slices.Equal(got, want) {
		s.Errorf("the list is %v, want %v: as things are when it is begun to be read", got, want)
	}
}

func (s *suite) names() {
	s.new(format.Header{ID: "a", CreatedAt: day(1)})
	s.new(format.Header{ID: "b", CreatedAt: day(2)})
	for _, e := range []format.Entry{
		format.NewInfo("First name"), message("Hello."), format.NewInfo("Second name"),
		format.NewLink(format.RelContinuedIn, "x"), format.NewLink(format.RelContinuedIn, "b"), format.NewLink(format.RelSubsession, "c"),
	} {
		_, err := s.store.Append(s.Context(), "a", e)
		s.ok(err)
	}
	s.new(format.Header{ID: "d", CreatedAt: day(3)})
	s.new(format.Header{ID: "e", CreatedAt: day(4)})
	_, err := s.store.Append(s.Context(), "e", format.NewLink(format.RelContinuedIn, "d"))
	s.ok(err)
	check := func() {
		s.Helper()
		list := s.summaries(store.ListFilter{WithNames: true, Before: day(3)})
		if len(list) != 2 || list[1].Name != "Second name" || list[1].SupersededBy != "b" || list[0].Name+list[0].SupersededBy != "" {
			s.Errorf("the list is %+v", list)
		}
		if got := s.listed(store.ListFilter{Current: true}); !slices.Equal(got, []string{"d", "b"}) {
			s.Errorf("current are %v", got)
		}
		if got := s.listed(store.ListFilter{Current: true, Limit: 1, Before: day(2)}); len(got) > 0 {
			s.Errorf("current and older are %v", got)
		}
		for _, one := range s.summaries(store.ListFilter{Current: true, WithNames: true}) {
			if want := map[string]string{"b": "", "d": ""}; one.Name != want[one.Header.ID] {
				s.Errorf("the name of %s is %q", one.Header.ID, one.Name)
			}
		}
		// The limit counts what is wanted: the newest may be superseded.
		if got := s.listed(store.ListFilter{Current: true, Limit: 1, After: day(2)}); !slices.Equal(got, []string{"d"}) {
			s.Errorf("the newest that is current is %v", got)
		}
	}
	check()
	s.reopen()
	check()
}

func (s *suite) goOn() {
	old := s.new(format.Header{
		ID: "a", CWD: "/p", Harness: &format.Harness{Name: "h"}, Records: []string{format.TypeRun}, Media: format.MediaInline,
	})
	config := format.NewConfig("gpt-5")
	config.SetExtra("temperature", []byte("0.5"))
	for _, e := range []format.Entry{config, format.NewInfo("The name"), message("Hello.")} {
		_, err := s.store.Append(s.Context(), "a", e)
		s.ok(err)
	}
	c, err := old.Context(old.Leaf())
	s.ok(err)
	next, err := store.Continue(s.Context(), s.store, "a", openresponses.UserText("What was before."))
	s.ok(err)
	check := func(next, old *format.Session) {
		s.Helper()
		h := next.Header()
		if h.ParentSession != "a" || h.CWD != "/p" || h.Harness.Name != "h" || !slices.Equal(h.Records, []string{format.TypeRun}) || h.Media != format.MediaInline {
			s.Errorf("the header is %+v", h)
		}
		after, err := next.Context(next.Leaf())
		s.ok(err)
		if string(after.Settings.Config()) != string(c.Settings.Config()) || len(after.Items) != 1 || next.Name() != "The name" {
			s.Errorf("the settings are %s, and were %s; %d items; the name is %q", after.Settings.Config(), c.Settings.Config(), len(after.Items), next.Name())
		}
		if old.SupersededBy() != next.ID() || next.SupersededBy() != "" {
			s.Errorf("the old one goes on in %q, the new one in %q", old.SupersededBy(), next.SupersededBy())
		}
		if got := s.listed(store.ListFilter{Current: true}); !slices.Equal(got, []string{next.ID()}) {
			s.Errorf("current are %v", got)
		}
	}
	check(next, old)
	_, err = store.RefuseSuperseded(s.store).Append(s.Context(), "a", message("Still here."))
	s.fails(err, store.ErrSuperseded)
	_, err = store.RefuseSuperseded(s.store).Append(s.Context(), next.ID(), message("Here."))
	s.ok(err)
	s.ok(next.Branch(next.Entries()[next.Len()-2].Base().ID))
	s.say("a", "Nothing keeps one from going on with the old one.")
	if _, err := store.Continue(s.Context(), s.store, "nobody", format.Item{}); err == nil {
		s.Error("nobody was continued")
	}
}
