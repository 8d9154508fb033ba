package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/store"
)

// simulation does the same things to the store and to the model.
type simulation struct {
	*suite
	r     *rand.Rand
	model *store.Memory
	clock time.Time
}

// simulate does random things to a store and to the model, and compares what can be seen of each.
func simulate(s *suite, seed uint64) {
	sim := &simulation{suite: s, r: rand.New(rand.NewPCG(seed, 1)), model: store.NewMemory(), clock: day(1)}
	for n := range s.o.Steps {
		sim.clock = sim.clock.Add(time.Duration(sim.r.IntN(5000)) * time.Millisecond)
		what := sim.step()
		if s.Failed() {
			s.Fatalf("in step %d: %s", n, what)
		}
		if n%50 == 49 {
			sim.compare()
		}
	}
	sim.compare()
}

// step does one thing.
func (s *simulation) step() string {
	id := s.session()
	switch n := s.r.IntN(100); {
	case n < 4:
		return s.create()
	case n < 6:
		return s.both("delete "+id, func(in store.Store) (string, error) { return "", in.Delete(s.Context(), id) })
	case n < 9 && s.o.Reopen != nil:
		s.store = s.o.Reopen(s.T, s.store)
		for _, id := range s.ids() { // which leaf the sessions in memory had is not kept: bring the model to what is
			s.reload(id)
		}
		return "reopen"
	case n < 17:
		return s.branch(id)
	case n < 20:
		return s.both("look for "+id, func(in store.Store) (string, error) {
			session, err := in.Open(s.Context(), id)
			if err != nil {
				return "", err
			}
			return session.Leaf() + fmt.Sprint(session.Len(), session.Leaves()), nil
		})
	}
	e := s.entry(id)
	return s.both(fmt.Sprintf("append to %s: %s", id, e.EntryType()), func(in store.Store) (string, error) {
		return in.Append(s.Context(), id, e)
	})
}

// both does something to both stores and compares what comes of it.
func (s *simulation) both(what string, do func(store.Store) (string, error)) string {
	s.Helper()
	want, wantErr := do(s.model)
	got, err := do(s.store)
	if got != want || !alike(err, wantErr) {
		s.Errorf("%s: %q, error %v; the model has %q, error %v", what, got, err, want, wantErr)
	}
	return what
}

// alike reports whether two errors are of one kind.
func alike(a, b error) bool {
	if (a == nil) != (b == nil) {
		return false
	}
	for _, kind := range []error{
		store.ErrNoSession, store.ErrSessionExists, format.ErrInvalidEntry, format.ErrNoParent, format.ErrDuplicateEntry,
		format.ErrNoEntry, format.ErrCallOrder, format.ErrCallRejected, format.ErrBase, format.ErrNoLeaf,
	} {
		if errors.Is(a, kind) != errors.Is(b, kind) {
			return false
		}
	}
	return true
}

func (s *simulation) ids() (ids []string) {
	for one, err := range s.model.List(s.Context(), store.ListFilter{}) {
		s.ok(err)
		ids = append(ids, one.Header.ID)
	}
	slices.Sort(ids)
	return ids
}

// session is the id of a session, which may be one that is not there.
func (s *simulation) session() string {
	ids := s.ids()
	if len(ids) == 0 || s.r.IntN(20) == 0 {
		return fmt.Sprint("s", s.r.IntN(12))
	}
	return ids[s.r.IntN(len(ids))]
}

func (s *simulation) create() string {
	h := format.Header{
		ID: fmt.Sprint("s", s.r.IntN(12)), CreatedAt: s.clock, Format: s.o.Format, CWD: []string{"", "/p", "/p/q", `C:\p`}[s.r.IntN(4)],
		ParentSession: []string{"", s.session()}[s.r.IntN(2)],
	}
	return s.both("create "+h.ID, func(in store.Store) (string, error) {
		_, err := in.Create(s.Context(), h)
		return "", err
	})
}

// branch moves the leaf of both.
func (s *simulation) branch(id string) string {
	to := s.someEntry(id)
	reset := s.r.IntN(6) == 0
	return s.both("branch "+id+" at "+to, func(in store.Store) (string, error) {
		session, err := in.Open(s.Context(), id)
		if err != nil {
			return "", err
		}
		if reset {
			session.ResetLeaf()
			return "", nil
		}
		return "", session.Branch(to)
	})
}

// reload gives the model the session as a reader of its text has it.
func (s *simulation) reload(id string) {
	session, err := s.model.Open(s.Context(), id)
	s.ok(err)
	read, err := format.ReadSession(strings.NewReader(content(s, session)))
	s.ok(err)
	if leaf := read.Leaf(); leaf == "" {
		session.ResetLeaf()
	} else {
		s.ok(session.Branch(leaf))
	}
}

// someEntry is the id of an entry of a session, now and then of none.
func (s *simulation) someEntry(id string) string {
	session, err := s.model.Open(s.Context(), id)
	if err != nil || session.Len() == 0 || s.r.IntN(15) == 0 {
		return "none"
	}
	entries := session.Entries()
	return entries[s.r.IntN(len(entries))].Base().ID
}

// entry makes an entry with everything in it that would be filled in otherwise.
func (s *simulation) entry(id string) format.Entry {
	call := fmt.Sprint("call_", s.r.IntN(6))
	var e format.Entry
	switch s.r.IntN(14) {
	case 0, 1, 2, 3:
		e = message(strings.Repeat("text é ", s.r.IntN(100)))
	case 4:
		e = format.NewConfig(fmt.Sprint("model-", s.r.IntN(3)))
	case 5:
		e = format.NewRunStart(fmt.Sprint("run-", s.r.IntN(5)), format.SourceInput, "")
	case 6:
		e = format.NewRunEnd(fmt.Sprint("run-", s.r.IntN(5)), format.ReasonDone, "", nil)
	case 7:
		e = format.NewItem(openresponses.NewFunctionCall(call, "f", "{}"))
	case 8:
		e = format.NewDispatch(call, s.someEntry(id))
	case 9:
		e = format.NewItem(openresponses.NewFunctionCallOutput(call, "done"))
	case 10:
		e = format.NewInfo(fmt.Sprint("Name ", s.r.IntN(100)))
	case 11:
		e = format.NewLink(format.RelContinuedIn, s.session())
	case 12:
		e = format.NewLabel(s.someEntry(id), []string{"here", format.LeafLabel}[s.r.IntN(2)])
	case 13:
		e = format.NewExtension("acme:note", nil)
	}
	b := e.Base()
	b.Time = s.clock
	if s.o.Format == "" { // in later formats the id is the hash
		b.ID = fmt.Sprintf("%08x", s.r.Uint32N(1<<20))
	}
	if s.r.IntN(6) == 0 {
		b.Parent = s.someEntry(id)
	}
	return e
}

// compare holds everything of the store against the model.
func (s *simulation) compare() {
	s.Helper()
	for _, id := range s.ids() {
		want, err := s.model.Open(s.Context(), id)
		s.ok(err)
		got, err := s.store.Open(s.Context(), id)
		s.ok(err)
		if content(s, got) != content(s, want) || got.Leaf() != want.Leaf() {
			s.Fatalf("session %s has the leaf %s and\n%s\nthe model %s and\n%s", id, got.Leaf(), content(s, got), want.Leaf(), content(s, want))
		}
	}
	for _, f := range []store.ListFilter{
		{},
		{WithNames: true},
		{Current: true},
		{CWD: "/p"},
		{CWD: `C:\p`, Current: true, Limit: 1},
		{ParentSession: "s1", WithNames: true},
		{After: day(1).Add(10 * time.Minute)},
		{Before: day(1).Add(10 * time.Minute), Limit: 3},
	} {
		s.both(fmt.Sprintf("list %+v", f), func(in store.Store) (string, error) {
			var b strings.Builder
			for one, err := range in.List(s.Context(), f) {
				if err != nil {
					return b.String(), err
				}
				fmt.Fprintf(&b, "%s %s %s", one.Header.ID, one.Header.CreatedAt, one.Header.CWD)
				if f.WithNames || f.Current {
					fmt.Fprintf(&b, " %s %s", one.Name, one.SupersededBy)
				}
				b.WriteString("\n")
			}
			return b.String(), nil
		})
	}
}
