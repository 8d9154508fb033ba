package storetest

import (
	"slices"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/store"
)

// Ids that look alike are not, and a store takes whatever is no path.
func (s *suite) ids() {
	ids := []string{"b", "with a space", "with.a.point", "trailing.", "-dash", "_", "a_b", "\u00e9", "e\u0301", "\u4f1a\u8bdd", "\U0001f980", "x;y&z'\"$(%)", "B"}
	for i, id := range ids {
		s.new(format.Header{ID: id, CreatedAt: day(30 - i)})
		s.say(id, id)
	}
	check := func() {
		s.Helper()
		if got := s.listed(store.ListFilter{}); !slices.Equal(got, ids) {
			s.Errorf("the list is %q, want %q", got, ids)
		}
		for _, id := range ids {
			if session := s.get(id); session.ID() != id || session.Len() != 1 {
				s.Errorf("session %q is %q with %d entries", id, session.ID(), session.Len())
			}
		}
	}
	check()
	s.reopen()
	check()
}

// What a header says comes back, in the session and in the list, with what only others know.
func (s *suite) headers() {
	h := format.Header{
		ID: "a", CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC), CWD: "/p", ParentSession: "parent", SpawnedBy: "call_1",
		Harness: &format.Harness{Name: "h", Version: "1.2"}, Records: []string{format.TypeRun, "acme:note"}, Media: format.MediaSidecar,
	}
	h.Unknown.Set("acme:thing", []byte(`{"a":[2],"b":1}`))
	s.new(h)
	check := func() {
		s.Helper()
		got := map[string]format.Header{"the session": *s.get("a").Header()}
		for _, one := range s.summaries(store.ListFilter{}) {
			got["the list"] = one.Header
		}
		if r, ok := s.store.(store.HeaderReader); ok {
			h, err := r.Header(s.Context(), "a")
			s.ok(err)
			got["the header read"] = *h
			_, err = r.Header(s.Context(), "none")
			s.fails(err, store.ErrNoSession)
		}
		for where, got := range got {
			if !got.CreatedAt.Equal(h.CreatedAt) || got.CWD != h.CWD || got.ParentSession != h.ParentSession || got.SpawnedBy != h.SpawnedBy ||
				got.Harness == nil || got.Harness.Name != "h" || got.Harness.Version != "1.2" || !slices.Equal(got.Records, h.Records) ||
				got.Media != h.Media || string(got.Unknown.Get("acme:thing")) != string(h.Unknown.Get("acme:thing")) {
				s.Errorf("%s has the header %+v", where, got)
			}
		}
	}
	check()
	s.reopen()
	check()
}

// Times are compared as they are, to the nanosecond, in years that no clock shows.
func (s *suite) times() {
	base := day(1)
	for _, one := range []struct {
		id string
		at time.Time
	}{
		{"b", base},
		{"a", base.Add(-time.Nanosecond)},
		{"c", base.Add(time.Nanosecond)},
		{"old", time.Date(1600, 1, 1, 0, 0, 0, 5, time.UTC)},
		{"far", time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)},
	} {
		s.new(format.Header{ID: one.id, CreatedAt: one.at})
	}
	check := func() {
		s.Helper()
		for _, tc := range []struct {
			f    store.ListFilter
			want []string
		}{
			{store.ListFilter{}, []string{"far", "c", "b", "a", "old"}},
			{store.ListFilter{After: base}, []string{"far", "c"}},
			{store.ListFilter{Before: base}, []string{"a", "old"}},
			{store.ListFilter{After: time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC)}, []string{"far", "c", "b", "a", "old"}},
			{store.ListFilter{Before: time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC), Limit: 2}, []string{"c", "b"}},
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
