package pi_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/format/pi"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
)

// What is true of a random tree is read off it, and it is written as it was read.
func TestRandomSessions(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		data, truth := sessiontest.RandomPi(r, 1+r.IntN(150))
		s, err := pi.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		sum := s.Statistics()
		got := sessiontest.PiTruth{
			Entries: len(s.Entries()), Chats: sum.Assistant, Calls: sum.ToolCalls, In: sum.Input + sum.CacheRead + sum.CacheWrite,
			Out: sum.Output, Cost: truth.Cost,
		}
		got.LastEntry, _ = s.Leaf()
		if got != truth || math.Abs(sum.Cost-truth.Cost) > 1e-9 {
			t.Fatalf("seed %d: got %+v, cost %v, want %+v", seed, got, sum.Cost, truth)
		}
		writesItself(t, s, data)
		looksSane(t, s)
	}
}

// writesItself holds that a session is written byte for byte.
func writesItself(t *testing.T, s *pi.Session, data []byte) {
	t.Helper()
	var out bytes.Buffer
	if n, err := s.WriteTo(&out); err != nil || n != int64(out.Len()) || !bytes.Equal(out.Bytes(), data) {
		t.Fatalf("written %d bytes, %v; they are not those that were read", n, err)
	}
}

// looksSane holds the tree of a session against itself, and its contexts against their paths.
func looksSane(t *testing.T, s *pi.Session) {
	t.Helper()
	under := 0
	for _, e := range s.Entries() {
		if e.ID == "" || s.Entry(e.ID) != e {
			continue
		}
		under += len(s.Children(e.ID))
		path := s.Path(e.ID)
		if path[len(path)-1] != e {
			t.Fatalf("the path to %q ends with %q", e.ID, path[len(path)-1].ID)
		}
		for i, p := range path[1:] {
			if p.Parent != path[i].ID || !slices.Contains(s.Children(path[i].ID), p) && p.Parent != p.ID {
				t.Fatalf("%q does not follow %q", p.ID, path[i].ID)
			}
		}
		for _, m := range s.Context(e.ID).Messages {
			if !slices.Contains(path, m.Entry) {
				t.Fatalf("the context at %q has a message of %q, which is not on the path", e.ID, m.Entry.ID)
			}
		}
	}
	if unique := under + len(s.Roots()); len(s.Entries()) < unique {
		t.Fatalf("%d entries hang from something or nothing, of %d", unique, len(s.Entries()))
	}
}

// A fork adds nothing but what is new in it, whatever the order.
func TestForksCountOnce(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		data, _ := sessiontest.RandomPi(r, 5+r.IntN(80))
		parent, err := pi.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		if repeats(parent) {
			continue // a response id that comes twice in one session is two calls there, and cannot be told from a copy
		}
		_, rest, _ := strings.Cut(string(data), "\n")
		own := `{"type":"message","id":"own","parentId":null,"timestamp":"2027-01-01T00:00:00.000Z",` +
			`"message":{"role":"assistant","content":[],"usage":{"input":7,"output":5,"cost":{"total":0.5}},"timestamp":1}}`
		child := parse(t, header, strings.TrimSuffix(rest, "\n"), own)
		want := parent.Statistics()
		for _, order := range [][]*pi.Session{{parent, child}, {child, parent}, {parent, child, child}} {
			got := pi.Sum(order...)
			if got.Input != want.Input+7 || got.Output != want.Output+5 || got.Assistant != want.Assistant+1 || got.Messages != want.Messages+1 ||
				math.Abs(got.Cost-want.Cost-0.5) > 1e-9 {
				t.Fatalf("seed %d: %+v, want %+v and one more", seed, got, want)
			}
		}
	}
}

// repeats reports whether a session has a response id more than once.
func repeats(s *pi.Session) bool {
	seen := map[string]bool{}
	for _, e := range s.Entries() {
		m := e.Message()
		if m == nil || m.Text("responseId") == "" {
			continue
		}
		if seen[m.Text("responseId")] {
			return true
		}
		seen[m.Text("responseId")] = true
	}
	return false
}

func TestCacheHitRate(t *testing.T) {
	message := func(usage string) string {
		return entry("message", "a", "", `"message":{"role":"assistant","usage":`+usage+`}`)
	}
	s := parse(t, header, message(`{"input":10,"cacheRead":30,"cacheWrite":20}`))
	if got := s.Statistics(); !got.HasRate || got.CacheHitRate != 0.5 || got.Total() != 60 {
		t.Errorf("%+v", got)
	}
	s = parse(t, header, message(`{"input":10,"cacheRead":30}`), message(`{}`))
	if got := s.Statistics(); got.HasRate || got.CacheHitRate != 0 {
		t.Errorf("after a call that used nothing: %+v", got)
	}
}

// A file that is damaged is read as far as it can be, and written as it is.
func TestDamage(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		data, _ := sessiontest.RandomPi(r, 1+r.IntN(30))
		from := bytes.IndexByte(data, '\n') + 1
		for range 1 + r.IntN(6) {
			at := from + r.IntN(len(data)-from)
			data[at] = byte(r.IntN(256))
		}
		s, err := pi.Parse(data)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		writesItself(t, s, data)
		looksSane(t, s)
	}
}

// FuzzParse has any bytes read: nothing panics, a session is written as it was read, and migrated it has the same entries.
func FuzzParse(f *testing.F) {
	for seed := range uint64(5) {
		data, _ := sessiontest.RandomPi(rand.New(rand.NewPCG(seed, 4)), 12)
		f.Add(data)
	}
	f.Add([]byte(`{"type":"session","id":"s"}` + "\n" + `{"type":"compaction","firstKeptEntryIndex":1}` + "\n[]\n{\n\n"))
	f.Add([]byte(fmt.Sprintf("%s\n%s\n%s", header, message("a", "b", "user", `"x"`), message("b", "a", "assistant", `[{"type":"toolCall"}]`))))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := pi.Parse(data)
		if err != nil {
			return
		}
		writesItself(t, s, data)
		looksSane(t, s)
		s.Statistics()
		s.Check()
		m, err := s.Migrated(nil)
		if err != nil || len(m.Entries()) != len(s.Entries()) || m.Header().Version < pi.Newest {
			t.Fatalf("migrated: %v", err)
		}
	})
}
