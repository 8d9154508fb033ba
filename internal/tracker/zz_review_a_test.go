package tracker_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/internal/follow"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/tracker"
)

func zip(t *testing.T, data []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

func put(t *testing.T, path string, data []byte) {
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func sess(t *testing.T, id string, n int) []byte {
	dir := t.TempDir()
	s := newSession(t, dir, id)
	for i := range n {
		s.run(fmt.Sprint(i))
	}
	data, _ := os.ReadFile(s.path)
	return data
}

func bubble(t *testing.T, f func(t *testing.T)) { synctest.Test(t, f) }

// 1 silence stored before acceptance
func TestZZSilenceStoredBeforeAccepted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		c := newCollector(t)
		tr := track(t, dir, tracker.Options{Checkpoints: kept}, c)
		s := newSession(t, dir, "s")
		s.add(s.open("1")...)
		passes(t, tr, time.Minute)
		c.refuse = func([]*projection.Span) error { return errAway }
		time.Sleep(25 * time.Hour)
		passes(t, tr, time.Minute)
		tr.Close() // killed
		c.refuse = nil
		tr = track(t, dir, tracker.Options{Checkpoints: kept}, c)
		defer tr.Close()
		passes(t, tr, time.Minute)
		time.Sleep(50 * time.Hour)
		passes(t, tr, time.Minute)
		if got := fmt.Sprint(c.names()); got != "map[chat:1 run:1 session:1 tool:1]" {
			t.Errorf("delivered: %s", got)
		}
	})
}

// 2 compressed mid-file position stored
func TestZZCompressedMidwayCrash(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		data := sess(t, "s", 8000)
		t.Log(len(data))
		put(t, filepath.Join(dir, "s.jsonl.gz"), zip(t, data))
		c := newCollector(t)
		n := 0
		ctx, stop := context.WithCancel(t.Context())
		c.refuse = func([]*projection.Span) error {
			if n++; n == 1 {
				stop() // SIGTERM during the first batch, which is accepted
				return nil
			}
			return errAway
		}
		tr := track(t, dir, tracker.Options{Checkpoints: kept, BatchBytes: 1}, c)
		for range 5 {
			time.Sleep(time.Second)
			if err := tr.Step(ctx); err != nil {
				t.Fatal(err)
			}
		}
		tr.Close()
		c.refuse = nil
		t.Log(len(c.spans), len(kept))
		tr = track(t, dir, tracker.Options{Checkpoints: kept}, c)
		defer tr.Close()
		passes(t, tr, time.Minute)
		if got := c.names()["run"]; got != 8000 {
			t.Errorf("%d of 8000 runs", got)
		}
	})
}

// 3 gz written in two pieces with a pause
func TestZZCompressedWrittenWithPause(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		c := newCollector(t)
		tr := track(t, dir, tracker.Options{}, c)
		defer tr.Close()
		data := zip(t, sess(t, "s", 5))
		p := filepath.Join(dir, "s.jsonl.gz")
		put(t, p, data[:5])
		passes(t, tr, 10*time.Second)
		put(t, p, data)
		passes(t, tr, 5*time.Minute)
		if c.names()["run"] != 5 {
			t.Errorf("%v", c.names())
		}
	})
}

// 4 truncated gz resent forever
func TestZZTruncatedGzResent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		c := newCollector(t)
		problems := 0
		tr := track(t, dir, tracker.Options{Problem: func(string, error, bool) { problems++ }}, c)
		defer tr.Close()
		data := zip(t, sess(t, "s", 500))
		put(t, filepath.Join(dir, "s.jsonl.gz"), data[:len(data)-100])
		passes(t, tr, time.Hour)
		t.Logf("%d spans known, %d times, %d problems", len(c.spans), c.times, problems)
		if c.times != len(c.spans) {
			t.Error("resent")
		}
	})
}

// 5 torn tail cut and a shorter line appended
func TestZZTornTailCutShorterLine(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		c := newCollector(t)
		tr := track(t, dir, tracker.Options{}, c)
		defer tr.Close()
		s := newSession(t, dir, "s")
		s.add(s.open("1")...)
		s.add(format.NewItem(openresponses.NewFunctionCallOutput("call-1", "done")))
		info, _ := os.Stat(s.path)
		s.write([]byte(`{"type":"item","x":"` + strings.Repeat("x", 2000)))
		passes(t, tr, 10*time.Second)
		os.Truncate(s.path, info.Size())
		s.add(format.NewRunEnd("1", format.ReasonDone, "", nil))
		passes(t, tr, 30*time.Minute)
		if c.names()["run"] != 1 {
			t.Errorf("%v", c.names())
		}
	})
}

// 6 torn tail keeps silence away
func TestZZTornTailNoSilence(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		c := newCollector(t)
		tr := track(t, dir, tracker.Options{}, c)
		defer tr.Close()
		s := newSession(t, dir, "s")
		s.add(s.open("1")...)
		s.write([]byte(`{"type":"it`))
		passes(t, tr, 10*time.Second)
		time.Sleep(100 * time.Hour)
		passes(t, tr, 10*time.Second)
		if c.names()["run"] != 1 {
			t.Errorf("%v", c.names())
		}
	})
}

// 7 transient error after restart
type failing struct {
	follow.OS
	fail *bool
	open map[string]int
}

func (f failing) Open(p string) (follow.File, error) {
	if *f.fail {
		return nil, os.ErrPermission
	}
	return f.OS.Open(p)
}

func TestZZTransientErrorForEver(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint(restart), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				dir, kept := t.TempDir(), memory{}
				c := newCollector(t)
				fail := !restart
				fs := failing{fail: &fail}
				o := tracker.Options{Checkpoints: kept}
				o.Follow.FS = fs
				s := newSession(t, dir, "s")
				s.run("1")
				tr := track(t, dir, o, c)
				passes(t, tr, 10*time.Second)
				if restart {
					tr.Close()
					tr = track(t, dir, o, c)
					passes(t, tr, 5*time.Second)
					fail = true
					s.run("2")
					passes(t, tr, 5*time.Second)
				}
				fail = false
				s.run("3")
				passes(t, tr, 10*time.Minute)
				tr.Close()
				c.equals(t, replayed(t, projection.Options{}, dir))
			})
		})
	}
}

// 8 unknown first line replaced in place by something longer
func TestZZBadHeaderReplaced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		c := newCollector(t)
		tr := track(t, dir, tracker.Options{}, c)
		defer tr.Close()
		p := filepath.Join(dir, "s.jsonl")
		put(t, p, []byte("{}\n"))
		passes(t, tr, 10*time.Second)
		put(t, p, sess(t, "s", 3))
		passes(t, tr, 10*time.Minute)
		if c.names()["run"] != 3 {
			t.Errorf("%v", c.names())
		}
	})
}

// 9 FromNow: quiet file rewritten in place with a new, shorter session
func TestZZFromNowRewrittenShorter(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		c := newCollector(t)
		p := filepath.Join(dir, "s.jsonl")
		put(t, p, sess(t, "old", 5))
		tr := track(t, dir, tracker.Options{FromNow: true}, c)
		defer tr.Close()
		passes(t, tr, 10*time.Second)
		put(t, p, sess(t, "new", 2))
		passes(t, tr, 10*time.Minute)
		if c.names()["run"] != 2 {
			t.Errorf("%v", c.names())
		}
	})
}

// 10 FromNow: quiet file moved / compressed
func TestZZFromNowMoved(t *testing.T) {
	for _, how := range []string{"moved", "compressed"} {
		t.Run(how, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				dir := t.TempDir()
				c := newCollector(t)
				p := filepath.Join(dir, "s.jsonl")
				data := sess(t, "old", 5)
				put(t, p, data)
				tr := track(t, dir, tracker.Options{FromNow: true}, c)
				defer tr.Close()
				passes(t, tr, 10*time.Second)
				if how == "moved" {
					os.Rename(p, filepath.Join(dir, "t.jsonl"))
				} else {
					put(t, p+".gz", zip(t, data))
					os.Remove(p)
				}
				passes(t, tr, time.Minute)
				if len(c.names()) != 0 {
					t.Errorf("%v", c.names())
				}
			})
		})
	}
}

// 11 FromNow over a restart
func TestZZFromNowRestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		c := newCollector(t)
		s := newSession(t, dir, "s")
		s.run("1")
		o := tracker.Options{FromNow: true, Checkpoints: kept}
		tr := track(t, dir, o, c)
		passes(t, tr, 10*time.Second)
		tr.Flush(t.Context())
		tr.Close()
		s.run("2") // while nobody watches
		newSession(t, dir, "n").run("1")
		tr = track(t, dir, o, c)
		defer tr.Close()
		passes(t, tr, 10*time.Second)
		s.run("3")
		passes(t, tr, time.Minute)
		if c.names()["run"] != 3 {
			t.Errorf("%v", c.names())
		}
	})
}

// 12 compressed twin, after acceptance of it a restart sends everything again
func TestZZTwinRestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		c := newCollector(t)
		p := filepath.Join(dir, "s.jsonl")
		data := sess(t, "old", 5)
		put(t, p, data)
		tr := track(t, dir, tracker.Options{Checkpoints: kept}, c)
		passes(t, tr, 10*time.Second)
		put(t, p+".gz", zip(t, data))
		passes(t, tr, 10*time.Second)
		os.Remove(p)
		passes(t, tr, 10*time.Second)
		before := c.times
		tr.Flush(t.Context())
		tr.Close()
		tr = track(t, dir, tracker.Options{Checkpoints: kept}, c)
		defer tr.Close()
		passes(t, tr, 10*time.Second)
		if c.times != before {
			t.Errorf("%d again", c.times-before)
		}
	})
}

// 13 twin of a plain file whose spans are not accepted
func TestZZTwinUnaccepted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		c := newCollector(t)
		p := filepath.Join(dir, "s.jsonl")
		data := sess(t, "old", 5)
		half := bytes.LastIndexByte(data[:len(data)/2], '\n') + 1
		put(t, p, data[:half])
		c.refuse = func([]*projection.Span) error { return errAway }
		tr := track(t, dir, tracker.Options{Checkpoints: kept, MostWait: time.Hour, FirstWait: time.Hour}, c)
		passes(t, tr, 10*time.Second)
		put(t, p+".gz", zip(t, data))
		os.Remove(p)
		c.refuse = nil
		passes(t, tr, 60*time.Second)
		tr.Close() // killed
		t.Log(c.names(), kept)
		tr = track(t, dir, tracker.Options{Checkpoints: kept}, c)
		defer tr.Close()
		passes(t, tr, time.Minute)
		if c.names()["run"] != 5 {
			t.Errorf("%v", c.names())
		}
	})
}

// 14 same-length rewrite while a batch of the former generation waits
func TestZZOldGenerationAccepted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		c := newCollector(t)
		p := filepath.Join(dir, "s.jsonl")
		put(t, p, sess(t, "aaa", 5))
		refuse := func([]*projection.Span) error { return errAway }
		c.refuse = refuse
		tr := track(t, dir, tracker.Options{Checkpoints: kept, FirstWait: 20 * time.Second}, c)
		passes(t, tr, 10*time.Second)
		put(t, p, sess(t, "bbb", 5))
		c.refuse = func(s []*projection.Span) error {
			if s[0].Session.ID == "bbb" {
				return errAway
			}
			return nil
		}
		passes(t, tr, 60*time.Second)
		tr.Close() // killed
		t.Log(c.names(), kept)
		c.refuse = nil
		tr = track(t, dir, tracker.Options{Checkpoints: kept}, c)
		defer tr.Close()
		passes(t, tr, time.Minute)
		if c.names()["run"] != 10 {
			t.Errorf("%v", c.names())
		}
	})
}

// 15 same path, other inode (restored folder, other device number) after a restart
func TestZZOtherInodeSameContent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		c := newCollector(t)
		p := filepath.Join(dir, "s.jsonl")
		put(t, p, sess(t, "aaa", 5))
		tr := track(t, dir, tracker.Options{Checkpoints: kept}, c)
		passes(t, tr, 10*time.Second)
		tr.Close()
		data, _ := os.ReadFile(p)
		put(t, p+".x", data)
		os.Rename(p+".x", p)
		before := c.times
		tr = track(t, dir, tracker.Options{Checkpoints: kept}, c)
		defer tr.Close()
		passes(t, tr, time.Minute)
		if c.times != before || len(kept) != 1 {
			t.Errorf("%d again, %d records", c.times-before, len(kept))
		}
	})
}

// 16 interrupt while a request is under way: nothing is sent with a healthy backend
func TestZZInterruptDuringConsume(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "s.jsonl"), sess(t, "aaa", 5))
		c := slow{newCollector(t)}
		tr := track(t, dir, tracker.Options{}, c)
		ctx, stop := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer stop()
		tr.Run(ctx)
		if tr.Stats().Retrying > 0 {
			t.Errorf("%+v", tr.Stats())
		}
		tr.Close()
	})
}

type slow struct{ *collector }

func (s slow) Consume(ctx context.Context, spans []*projection.Span) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(2 * time.Second):
	}
	return s.collector.Consume(ctx, spans)
}

// 17 permanent error of one file takes the others of its batch with it
func TestZZPermanentTakesOthers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		c := newCollector(t)
		c.refuse = func(spans []*projection.Span) error {
			for _, s := range spans {
				if s.Session.ID == "bad" {
					return tracker.Permanent(errAway)
				}
			}
			return nil
		}
		put(t, filepath.Join(dir, "bad.jsonl"), sess(t, "bad", 2))
		put(t, filepath.Join(dir, "good.jsonl"), sess(t, "good", 2))
		tr := track(t, dir, tracker.Options{}, c)
		defer tr.Close()
		passes(t, tr, time.Minute)
		if c.names()["run"] != 2 {
			t.Errorf("%v", c.names())
		}
	})
}

// 18 one big file never accepted stops all
func TestZZBigPoison(t *testing.T) {
	bubble(t, func(t *testing.T) {
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
		put(t, filepath.Join(dir, "bad.jsonl"), sess(t, "bad", 8000))
		tr := track(t, dir, tracker.Options{}, c)
		defer tr.Close()
		passes(t, tr, 10*time.Second)
		put(t, filepath.Join(dir, "good.jsonl"), sess(t, "good", 2))
		passes(t, tr, 10*time.Minute)
		if c.names()["run"] != 2 {
			t.Errorf("%v %+v", c.names(), tr.Stats())
		}
	})
}

// 19 starts and ends of the sink match, by pointer
type matching struct{ open map[*projection.Span]bool }

func (m matching) Start(s *projection.Span) { m.open[s] = true }
func (m matching) End(s *projection.Span)   { delete(m.open, s) }

func TestZZSinkOpen(t *testing.T) {
	for _, how := range []string{"evicted", "rewritten", "removed"} {
		t.Run(how, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				dir := t.TempDir()
				m := matching{map[*projection.Span]bool{}}
				tr := track(t, dir, tracker.Options{Sink: m, StateBytes: 1}, newCollector(t))
				defer tr.Close()
				s := newSession(t, dir, "s")
				s.add(s.open("1")...)
				passes(t, tr, 5*time.Second)
				switch how {
				case "evicted":
					newSession(t, dir, "o").run("1")
				case "rewritten":
					put(t, s.path, sess(t, "x", 1))
				case "removed":
					os.Remove(s.path)
				}
				passes(t, tr, 10*time.Second)
				if how == "evicted" {
					s.add(format.NewItem(openresponses.NewFunctionCallOutput("call-1", "done")), format.NewRunEnd("1", format.ReasonDone, "", nil))
					passes(t, tr, 10*time.Second)
				}
				for s := range m.open {
					if s.Type != projection.TypeSession {
						t.Errorf("still open: %s", s.Name)
					}
				}
			})
		})
	}
}

// 20 old sessions that were left open, read from the start for the first time
func TestZZOldOpenFirstRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir := t.TempDir()
		c := newCollector(t)
		s := newSession(t, dir, "s")
		s.add(s.open("1")...)
		time.Sleep(100 * time.Hour)
		tr := track(t, dir, tracker.Options{}, c)
		defer tr.Close()
		passes(t, tr, time.Minute)
		if c.names()["run"] != 1 {
			t.Errorf("%v", c.names())
		}
	})
}

// 21 an unreadable file with open work
func TestZZQuietProblemSpam(t *testing.T) {
	bubble(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		c := newCollector(t)
		s := newSession(t, dir, "s")
		s.add(s.open("1")...)
		tr := track(t, dir, tracker.Options{Checkpoints: kept}, c)
		passes(t, tr, 5*time.Second)
		tr.Close()
		time.Sleep(30 * time.Hour)
		fail, n := true, 0
		o := tracker.Options{Checkpoints: kept, Problem: func(string, error, bool) { n++ }}
		o.Follow.FS = failing{fail: &fail}
		tr = track(t, dir, o, c)
		defer tr.Close()
		passes(t, tr, 10*time.Minute)
		if n > 3 {
			t.Errorf("%d problems told in 10 minutes", n)
		}
	})
}
