package tracker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/internal/follow"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/tracker"
)

// A compressed file that comes in two pieces is read when it is whole.
func TestCompressedFileWrittenWithAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		to := newCollector(t)
		tr := track(t, dir, tracker.Options{}, to)
		defer tr.Close()
		data := packed(t, sessionOf(t, "s", 5))
		p := filepath.Join(dir, "s.jsonl.gz")
		put(t, p, data[:5])
		passes(t, tr, 10*time.Second)
		put(t, p, data)
		passes(t, tr, 5*time.Minute)
		if to.names()["run"] != 5 {
			t.Errorf("%v", to.names())
		}
	})
}

// What a truncated compressed file gives comes once.
func TestTruncatedCompressedFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		to := newCollector(t)
		problems := 0
		tr := track(t, dir, tracker.Options{Problem: func(string, error, bool) { problems++ }}, to)
		defer tr.Close()
		data := packed(t, sessionOf(t, "s", 500))
		put(t, filepath.Join(dir, "s.jsonl.gz"), data[:len(data)-100])
		passes(t, tr, time.Hour)
		if len(to.spans) == 0 || to.times != len(to.spans) || problems == 0 || problems > 2 {
			t.Errorf("%d spans came %d times, and %d problems were told", len(to.spans), to.times, problems)
		}
	})
}

// A torn tail is cut off and a shorter line written in its place.
func TestTornTailThatIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		to := newCollector(t)
		tr := track(t, dir, tracker.Options{}, to)
		defer tr.Close()
		s := newSession(t, dir, "s")
		s.add(s.open("1")...)
		s.add(format.NewItem(openresponses.NewFunctionCallOutput("call-1", "done")))
		whole := int64(len(read(t, s.path)))
		s.write([]byte(`{"type":"item","x":"` + strings.Repeat("x", 2000)))
		passes(t, tr, 10*time.Second)
		if err := os.Truncate(s.path, whole); err != nil {
			t.Fatal(err)
		}
		s.add(format.NewRunEnd("1", format.ReasonDone, "", nil))
		passes(t, tr, 30*time.Minute)
		if to.names()["run"] != 1 {
			t.Errorf("%v", to.names())
		}
	})
}

// An agent that died while it wrote has ended.
func TestTornTailOfAnAgentThatDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		to := newCollector(t)
		tr := track(t, dir, tracker.Options{}, to)
		defer tr.Close()
		s := newSession(t, dir, "s")
		s.add(s.open("1")...)
		s.write([]byte(`{"type":"it`))
		passes(t, tr, 10*time.Second)
		time.Sleep(100 * time.Hour)
		passes(t, tr, 10*time.Second)
		if to.names()["run"] != 1 {
			t.Errorf("%v", to.names())
		}
	})
}

type failing struct {
	follow.OS
	fail *bool
}

func (f failing) Open(p string) (follow.File, error) {
	if *f.fail {
		return nil, os.ErrPermission
	}
	return f.OS.Open(p)
}

// A file that cannot be opened for a while is read when it can.
func TestFileThatCannotBeReadForAWhile(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint(restart), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir, kept := t.TempDir(), memory{}
				to := newCollector(t)
				fail := !restart
				fs := failing{fail: &fail}
				o := tracker.Options{Checkpoints: kept}
				o.Follow.FS = fs
				s := newSession(t, dir, "s")
				s.run("1")
				tr := track(t, dir, o, to)
				passes(t, tr, 10*time.Second)
				if restart {
					shut(t, tr)
					tr = track(t, dir, o, to)
					passes(t, tr, 5*time.Second)
					fail = true
					s.run("2")
					passes(t, tr, 5*time.Second)
				}
				fail = false
				s.run("3")
				passes(t, tr, 10*time.Minute)
				shut(t, tr)
				to.equals(t, replayed(t, projection.Options{}, dir))
			})
		})
	}
}

// A file that is no session becomes one.
func TestFileThatIsNoSessionYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		to := newCollector(t)
		tr := track(t, dir, tracker.Options{}, to)
		defer tr.Close()
		p := filepath.Join(dir, "s.jsonl")
		put(t, p, []byte("{}\n"))
		passes(t, tr, 10*time.Second)
		put(t, p, sessionOf(t, "s", 3))
		passes(t, tr, 10*time.Minute)
		if to.names()["run"] != 3 {
			t.Errorf("%v", to.names())
		}
	})
}

// An old session that was left open has ended when it is read for the first time.
func TestOldSessionThatWasLeftOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		to := newCollector(t)
		s := newSession(t, dir, "s")
		s.add(s.open("1")...)
		time.Sleep(100 * time.Hour)
		tr := track(t, dir, tracker.Options{}, to)
		defer tr.Close()
		passes(t, tr, time.Minute)
		if to.names()["run"] != 1 {
			t.Errorf("%v", to.names())
		}
	})
}

// An unreadable file with open work is told of once, not with each look.
func TestUnreadableFileIsToldOfOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, kept := t.TempDir(), memory{}
		to := newCollector(t)
		s := newSession(t, dir, "s")
		s.add(s.open("1")...)
		tr := track(t, dir, tracker.Options{Checkpoints: kept}, to)
		passes(t, tr, 5*time.Second)
		shut(t, tr)
		time.Sleep(30 * time.Hour)
		fail, n := true, 0
		o := tracker.Options{Checkpoints: kept, Problem: func(string, error, bool) { n++ }}
		o.Follow.FS = failing{fail: &fail}
		tr = track(t, dir, o, to)
		defer tr.Close()
		passes(t, tr, 10*time.Minute)
		if n > 3 {
			t.Errorf("%d problems told in 10 minutes", n)
		}
	})
}

// An old session that somebody copies, and that is seen in the middle of a line, has not ended there.
func TestOldSessionThatIsCopiedInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		to := newCollector(t)
		s := newSession(t, t.TempDir(), "s")
		s.run("1")
		s.add(s.open("2")...)
		upTo := len(read(t, s.path)) + 20
		s.add(format.NewItem(openresponses.NewFunctionCallOutput("call-2", "done")), format.NewRunEnd("2", format.ReasonDone, "", nil))
		data := read(t, s.path)
		time.Sleep(100 * time.Hour)
		path := filepath.Join(dir, "s.jsonl")
		put(t, path, data[:upTo])
		tr := track(t, dir, tracker.Options{}, to)
		defer tr.Close()
		passes(t, tr, 10*time.Minute)
		put(t, path, data)
		passes(t, tr, time.Hour)
		to.equals(t, replayed(t, projection.Options{}, dir))
		if to.times != len(to.spans) {
			t.Errorf("%d spans came %d times", len(to.spans), to.times)
		}
	})
}

// A folder that is away for a while, as a disk that is not mounted, goes on where it was.
func TestFolderThatIsAwayForAWhile(t *testing.T) {
	for _, lasting := range []bool{true, false} {
		t.Run(fmt.Sprint("checkpoints ", lasting), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "disk")
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				to := newCollector(t)
				var o tracker.Options
				if lasting {
					o.Checkpoints = memory{}
				}
				tr := track(t, dir, o, to)
				defer tr.Close()
				s := newSession(t, dir, "s")
				s.add(s.open("1")...)
				s.add(format.NewRunEnd("1", format.ReasonDone, "", nil))
				passes(t, tr, time.Minute)
				before := to.times
				for range 3 {
					away := dir + ".away"
					if err := os.Rename(dir, away); err != nil {
						t.Fatal(err)
					}
					passes(t, tr, 10*time.Minute)
					if n := tr.Stats().Files; n != 0 {
						t.Fatalf("%d files are followed", n)
					}
					if err := os.Rename(away, dir); err != nil {
						t.Fatal(err)
					}
					passes(t, tr, 10*time.Minute)
				}
				if to.times != before || before == 0 {
					t.Errorf("%d spans came, and then %d more", before, to.times-before)
				}
				s.add(s.open("2")...)
				s.add(format.NewRunEnd("2", format.ReasonDone, "", nil))
				passes(t, tr, time.Minute)
				to.equals(t, replayed(t, projection.Options{}, dir))
			})
		})
	}
}

// While a backend is away no more compressed files are held open than there is memory for their lines; in the end all have come.
func TestCompressedFilesWaitForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		for i := range 6 {
			put(t, filepath.Join(dir, fmt.Sprintf("%d.jsonl.gz", i)), packed(t, sessionOf(t, fmt.Sprint(i), 50)))
		}
		to := newCollector(t)
		to.refuse = func([]*projection.Span) error { return errAway }
		fs := &counting{}
		o := tracker.Options{BatchBytes: 1000, LineBytes: 2 << 20}
		o.Source.MaxLine = 1 << 20
		o.Follow.FS, o.Follow.MaxOpen = fs, 1
		tr := track(t, dir, o, to)
		defer tr.Close()
		passes(t, tr, 5*time.Minute)
		if n := fs.open.Load(); n != 2 {
			t.Errorf("%d files are open", n)
		}
		to.refuse = nil
		passes(t, tr, 10*time.Minute)
		to.equals(t, replayed(t, projection.Options{}, dir))
		if n := fs.most.Load(); n > 4 { // and those that are looked into
			t.Errorf("%d files were open", n)
		}
	})
}

// counting is the file system of the machine, and counts which files are open.
type counting struct {
	follow.OS
	open, most atomic.Int64
}

type counted struct {
	follow.File
	of *counting
}

func (c *counting) Open(path string) (follow.File, error) {
	f, err := c.OS.Open(path)
	if err != nil {
		return nil, err
	}
	c.most.Store(max(c.most.Load(), c.open.Add(1)))
	return &counted{f, c}, nil
}

func (c *counted) Close() error {
	c.of.open.Add(-1)
	return c.File.Close()
}
