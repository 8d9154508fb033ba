package tracker_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/tracker"
)

// session is one that is written to a file, entry by entry, with the times of its bubble.
type session struct {
	*testing.T
	*format.Session
	path string
}

func newSession(t *testing.T, dir, id string) *session {
	t.Helper()
	s, err := format.NewSession(format.Header{ID: id, Harness: &format.Harness{Name: "coder"}, Records: format.AllRecords(), CreatedAt: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	f := &session{t, s, filepath.Join(dir, id+".jsonl")}
	var b strings.Builder
	if _, err := s.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	f.write([]byte(b.String()))
	s.Attach(func(more []byte, _ format.Entry) error { f.write(more); return nil })
	return f
}

func (s *session) write(more []byte) {
	s.Helper()
	out, err := os.OpenFile(s.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = out.Write(more)
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		s.Fatal(err)
	}
}

func (s *session) add(entries ...format.Entry) {
	s.Helper()
	for _, e := range entries {
		if _, err := s.Append(e); err != nil {
			s.Fatal(err)
		}
	}
}

// run adds a run with a call.
func (s *session) run(name string) {
	s.Helper()
	s.add(s.open(name)...)
	s.add(format.NewItem(openresponses.NewFunctionCallOutput("call-"+name, "done")), format.NewRunEnd(name, format.ReasonDone, "", nil))
}

// open is a run whose call is with its tool.
func (s *session) open(name string) []format.Entry {
	call := format.NewOutput(openresponses.NewFunctionCall("call-"+name, "bash", "{}"), "resp-"+name)
	call.ID = "item-" + name
	return []format.Entry{
		format.NewRunStart(name, format.SourceInput, ""), call, format.NewResponse("resp-"+name, "gpt-5", "completed"),
		format.NewDispatch("call-"+name, "item-"+name),
	}
}

// names counts the spans that were delivered, by name.
func (c *collector) names() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]int{}
	for _, s := range c.spans {
		line := strings.Split(s, "\n")[2] // #1 type name (id)…
		words := strings.Fields(line)
		all[words[1]]++
	}
	return all
}

// passes lets some time pass, looking on.
func passes(t *testing.T, tr *tracker.Tracker, d time.Duration) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(min(d, 500*time.Millisecond))
		look(t, tr)
	}
}

// A call is delivered within moments of its end, while its run goes on.
func TestSpansComeAsTheFileGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		c := newCollector(t)
		tr := track(t, dir, tracker.Options{}, c)
		defer tr.Close()
		look(t, tr)
		s := newSession(t, dir, "s")
		s.add(s.open("1")...)
		passes(t, tr, 3*time.Second)
		if got := fmt.Sprint(c.names()); got != "map[chat:1 session:1]" {
			t.Errorf("delivered: %s", got)
		}
		s.add(format.NewItem(openresponses.NewFunctionCallOutput("call-1", "done")))
		passes(t, tr, 3*time.Second)
		if got := fmt.Sprint(c.names()); got != "map[chat:1 session:1 tool:1]" {
			t.Errorf("delivered: %s", got)
		}
	})
}

// A restart reads nothing of files that have not changed, and of one that has grown only that is delivered which is new.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		c := newCollector(t)
		var sessions []*session
		for i := range 20 {
			s := newSession(t, dir, fmt.Sprint("s", i))
			s.run("1")
			sessions = append(sessions, s)
		}
		tr := track(t, dir, tracker.Options{Checkpoints: kept}, c)
		passes(t, tr, 3*time.Second)
		if err := tr.Close(); err != nil {
			t.Fatal(err)
		}
		before := c.times

		tr = track(t, dir, tracker.Options{Checkpoints: kept}, c)
		defer tr.Close()
		passes(t, tr, time.Minute)
		if st := tr.Stats(); st.BytesRead+st.Reread > 0 || c.times != before || st.Files != 20 || st.Sessions != 20 {
			t.Errorf("%+v; %d spans were delivered again", st, c.times-before)
		}
		sessions[7].run("2")
		passes(t, tr, time.Minute)
		if got := c.times - before; got != 3 {
			t.Errorf("%d spans were delivered, want the 3 of the new run", got)
		}
		if st := tr.Stats(); st.Reread == 0 {
			t.Error("the file was not read again, and yet there are spans")
		}
		c.equals(t, replayed(t, projection.Options{}, dir))
	})
}

// Of what is there already only that comes which ends from now on, with the start that it had.
func TestFromNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		c := newCollector(t)
		old, open := newSession(t, dir, "old"), newSession(t, dir, "open")
		old.run("1")
		open.run("1")
		open.add(open.open("2")...)
		tr := track(t, dir, tracker.Options{FromNow: true}, c)
		defer tr.Close()
		passes(t, tr, 3*time.Second)
		if st := tr.Stats(); len(c.names()) > 0 || st.BytesRead > 0 {
			t.Errorf("delivered at once: %v, %d bytes read", c.names(), st.BytesRead)
		}
		open.add(format.NewItem(openresponses.NewFunctionCallOutput("call-2", "done")), format.NewRunEnd("2", format.ReasonDone, "", nil))
		later := newSession(t, dir, "later")
		later.run("1")
		passes(t, tr, time.Minute)
		if got := fmt.Sprint(c.names()); got != "map[chat:1 run:2 session:1 tool:2]" {
			t.Errorf("delivered: %s", got)
		}
		all := replayed(t, projection.Options{}, dir)
		for id, span := range c.spans {
			if all[id] != span {
				t.Errorf("it is not as a replay has it:\n%s", span)
			}
		}
	})
}

// The backend is away for days: nothing is lost, and what is held does not grow.
func TestConsumerThatRefusesForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		c := newCollector(t)
		c.refuse = func([]*projection.Span) error { return errAway }
		tr := track(t, dir, tracker.Options{BatchBytes: 20_000, Retries: 2, Problem: func(string, error, bool) {}}, c)
		defer tr.Close()
		var sessions []*session
		for i := range 10 {
			sessions = append(sessions, newSession(t, dir, fmt.Sprint("s", i)))
		}
		most := 0
		for round := range 60 {
			for _, s := range sessions {
				s.run(fmt.Sprint(round))
			}
			passes(t, tr, 20*time.Minute)
			most = max(most, tr.Stats().Retrying)
		}
		if most > 400 {
			t.Errorf("%d spans were held", most)
		}
		if len(c.spans) > 0 {
			t.Error("something was delivered")
		}
		c.refuse = nil
		passes(t, tr, 5*time.Minute)
		c.equals(t, replayed(t, projection.Options{}, dir))
		if c.times != len(c.spans) {
			t.Errorf("%d spans were delivered twice", c.times-len(c.spans))
		}
	})
}

// One file whose spans are never accepted holds up no other.
func TestFileThatIsNeverAccepted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		c := newCollector(t)
		c.refuse = func(spans []*projection.Span) error {
			for _, s := range spans {
				if s.Session.ID == "bad" {
					return errAway
				}
			}
			return nil
		}
		tr := track(t, dir, tracker.Options{}, c)
		defer tr.Close()
		bad, good := newSession(t, dir, "bad"), newSession(t, dir, "good")
		for round := range 5 {
			bad.run(fmt.Sprint(round))
			good.run(fmt.Sprint(round))
			passes(t, tr, 2*time.Minute)
			if got := c.names()["run"]; got != round+1 {
				t.Fatalf("round %d: %d runs were delivered", round, got)
			}
		}
		c.refuse = nil
		passes(t, tr, 2*time.Minute)
		c.equals(t, replayed(t, projection.Options{}, dir))
	})
}

// What is refused for good is told, counted and passed.
func TestSpansThatAreRefusedForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		c := newCollector(t)
		c.refuse = func(spans []*projection.Span) error { return &tracker.Refusal{Spans: len(spans), Err: errAway} }
		var told []string
		problem := func(path string, err error, note bool) {
			if errors.Is(err, errAway) && !note {
				told = append(told, filepath.Base(path))
			}
		}
		tr := track(t, dir, tracker.Options{Checkpoints: kept, Problem: problem}, c)
		s := newSession(t, dir, "s")
		s.run("1")
		passes(t, tr, 3*time.Second)
		if st := tr.Stats(); st.Refused != 4 || st.Retrying != 0 || fmt.Sprint(told) != "[s.jsonl]" {
			t.Errorf("%+v, told of %v", st, told)
		}
		tr.Close()
		c.refuse = nil
		tr = track(t, dir, tracker.Options{Checkpoints: kept}, c)
		defer tr.Close()
		s.run("2")
		passes(t, tr, time.Minute)
		if got := fmt.Sprint(c.names()); got != "map[chat:1 run:1 tool:1]" {
			t.Errorf("delivered: %s", got)
		}
	})
}

// What is open in a session in which nothing happens for a day has ended, whoever looks, and once.
func TestSilence(t *testing.T) {
	for name, restart := range map[string]bool{"while it is followed": false, "over a restart": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, kept := t.TempDir(), memory{}
				c := newCollector(t)
				tr := track(t, dir, tracker.Options{Checkpoints: kept}, c)
				s := newSession(t, dir, "s")
				s.add(s.open("1")...)
				passes(t, tr, time.Minute)
				if restart {
					tr.Close()
					time.Sleep(23 * time.Hour)
					tr = track(t, dir, tracker.Options{Checkpoints: kept}, c)
				}
				time.Sleep(22 * time.Hour)
				if !restart {
					look(t, tr)
					if got := fmt.Sprint(c.names()); got != "map[chat:1 session:1]" {
						t.Errorf("delivered after 22 hours: %s", got)
					}
				}
				time.Sleep(3 * time.Hour)
				passes(t, tr, time.Minute)
				if got := fmt.Sprint(c.names()); got != "map[chat:1 run:1 session:1 tool:1]" {
					t.Errorf("delivered: %s", got)
				}
				before := c.times
				tr.Close()
				tr = track(t, dir, tracker.Options{Checkpoints: kept}, c)
				defer tr.Close()
				passes(t, tr, time.Minute)
				if c.times != before {
					t.Error("it was delivered again")
				}
				s.run("2")
				passes(t, tr, time.Minute)
				c.equals(t, replayed(t, projection.Options{}, dir))
				if c.times != len(c.spans) {
					t.Errorf("%d spans were delivered again", c.times-len(c.spans))
				}
			})
		})
	}
}

// Other options make other spans: what they were made of is read again under them.
func TestOptionsThatChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		newSession(t, dir, "s").run("1")
		for _, naming := range []projection.Naming{projection.NamingGenAI, projection.NamingAgentsession} {
			c := newCollector(t)
			o := projection.Options{Naming: naming}
			tr := track(t, dir, tracker.Options{Checkpoints: kept, Projection: o}, c)
			passes(t, tr, 3*time.Second)
			tr.Close()
			c.equals(t, replayed(t, o, dir))
		}
	})
}

// Damage is told with its place, and the good lines come.
func TestDamage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		c := newCollector(t)
		var told []string
		tr := track(t, dir, tracker.Options{Problem: func(_ string, err error, note bool) {
			if d, ok := errors.AsType[*format.DamageError](err); ok && !note {
				told = append(told, fmt.Sprint("line ", d.Line))
			}
		}}, c)
		defer tr.Close()
		s := newSession(t, dir, "s")
		s.write([]byte("{broken\n"))
		s.run("1")
		if err := os.WriteFile(filepath.Join(dir, "none.jsonl"), []byte("no session\nat all\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		passes(t, tr, time.Minute)
		if fmt.Sprint(told) != "[line 2]" || c.names()["run"] != 1 {
			t.Errorf("told of %v; delivered: %v", told, c.names())
		}
	})
}
