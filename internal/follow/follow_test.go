package follow_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessionspan/sessionspan/internal/follow"
	"github.com/sessionspan/sessionspan/internal/lines"
)

// reading follows files, and keeps the lines of each under the name that it was found by.
type reading struct {
	*testing.T
	*follow.Follower
	read  map[*follow.Tracked][]string
	first map[*follow.Tracked]string
	errs  []string
}

func newReading(t *testing.T, o follow.Options, include ...string) *reading {
	t.Helper()
	p, err := follow.NewPatterns(include, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Patterns = p
	r := &reading{T: t, Follower: follow.New(o, nil), read: map[*follow.Tracked][]string{}, first: map[*follow.Tracked]string{}}
	t.Cleanup(func() { r.Close() })
	return r
}

// look looks at the files for some seconds, and reads what there is.
func (r *reading) look() {
	r.Helper()
	for range 4 {
		time.Sleep(time.Second)
		n := r.Poll(r.Context())
		for path, err := range n.Errs {
			r.errs = append(r.errs, filepath.Base(path)+": "+err.Error())
		}
		for _, t := range n.New {
			r.first[t] = filepath.Base(t.Path)
		}
		for _, t := range n.Grown {
			r.readOn(t)
		}
		for _, t := range n.Gone {
			r.readOn(t)
			r.Release(t)
		}
	}
}

func (r *reading) readOn(t *follow.Tracked) {
	err := t.Read(r.Context(), 1<<20, func(l lines.Line) bool {
		r.read[t] = append(r.read[t], string(l.Data))
		return true
	})
	if errors.Is(err, follow.ErrChanged) {
		r.Again(t)
		r.read[t] = append(r.read[t], "AGAIN")
	} else if err != nil && !errors.Is(err, follow.ErrAway) {
		r.errs = append(r.errs, err.Error())
	}
}

// all are the lines of all files.
func (r *reading) all() string {
	var all []string
	for t, l := range r.read {
		all = append(all, r.first[t]+":"+strings.Join(l, ","))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func (r *reading) is(want string) {
	r.Helper()
	r.look()
	if got := r.all(); got != want {
		r.Errorf("read %s, want %s", got, want)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What may happen to files.
func TestFollow(t *testing.T) {
	for name, test := range map[string]func(r *reading, dir string){
		"a torn tail waits": func(r *reading, dir string) {
			put(r.T, dir+"/a.jsonl", "1\n2")
			r.is("a.jsonl:1")
			put(r.T, dir+"/a.jsonl", "3\n")
			r.is("a.jsonl:1,23")
		},
		"a folder that appears later": func(r *reading, dir string) {
			r.is("")
			put(r.T, dir+"/later/deep/a.jsonl", "1\n")
			r.is("a.jsonl:1")
		},
		"a file that is moved": func(r *reading, dir string) {
			put(r.T, dir+"/a.jsonl", "1\n")
			r.is("a.jsonl:1")
			ok(r.T, os.Rename(dir+"/a.jsonl", dir+"/b.jsonl"))
			put(r.T, dir+"/b.jsonl", "2\n")
			r.is("a.jsonl:1,2")
		},
		"a copy": func(r *reading, dir string) {
			put(r.T, dir+"/a.jsonl", "1\n")
			put(r.T, dir+"/b.jsonl", "1\n")
			r.is("a.jsonl:1 b.jsonl:1")
			put(r.T, dir+"/b.jsonl", "2\n")
			r.is("a.jsonl:1 b.jsonl:1,2")
		},
		"a file that is shortened": func(r *reading, dir string) {
			put(r.T, dir+"/a.jsonl", "1\n2\n3\n")
			r.is("a.jsonl:1,2,3")
			ok(r.T, os.Truncate(dir+"/a.jsonl", 2))
			r.is("a.jsonl:1,2,3,1")
		},
		"a file that is rewritten, and longer": func(r *reading, dir string) {
			put(r.T, dir+"/a.jsonl", "1\n2\n")
			r.is("a.jsonl:1,2")
			ok(r.T, os.WriteFile(dir+"/a.jsonl", []byte("4\n5\n6\n"), 0o600))
			r.is("a.jsonl:1,2,AGAIN,4,5,6")
		},
		"a file that is rewritten, and as long": func(r *reading, dir string) {
			put(r.T, dir+"/a.jsonl", "1\n2\n")
			r.is("a.jsonl:1,2")
			ok(r.T, os.WriteFile(dir+"/a.jsonl", []byte("1\n3\n"), 0o600))
			ok(r.T, os.Chtimes(dir+"/a.jsonl", time.Time{}, time.Unix(1e9, 0)))
			r.is("a.jsonl:1,2,1,3")
		},
		"a file that another one replaces": func(r *reading, dir string) {
			put(r.T, dir+"/a.jsonl", "1\n2\n")
			r.is("a.jsonl:1,2")
			put(r.T, dir+"/new", "4\n")
			ok(r.T, os.Rename(dir+"/new", dir+"/a.jsonl"))
			r.is("a.jsonl:1,2 a.jsonl:4")
		},
		"a file that is removed while it is open": func(r *reading, dir string) {
			put(r.T, dir+"/a.jsonl", "1\n")
			r.is("a.jsonl:1")
			put(r.T, dir+"/a.jsonl", "2\n")
			ok(r.T, os.Remove(dir+"/a.jsonl"))
			r.is("a.jsonl:1,2")
		},
		"a link to a file, and one in a circle": func(r *reading, dir string) {
			put(r.T, dir+"/../elsewhere.jsonl", "1\n")
			ok(r.T, os.Symlink(dir+"/../elsewhere.jsonl", dir+"/link.jsonl"))
			ok(r.T, os.Symlink(dir+"/loop.jsonl", dir+"/loop.jsonl"))
			ok(r.T, os.Symlink(dir, dir+"/folder"))
			put(r.T, dir+"/a.jsonl", "2\n")
			r.is("a.jsonl:2 link.jsonl:1")
			if len(r.errs) != 1 || !strings.HasPrefix(r.errs[0], "loop.jsonl: ") {
				r.Errorf("errors %q", r.errs)
			}
		},
		"a file under two names": func(r *reading, dir string) {
			put(r.T, dir+"/a.jsonl", "1\n")
			ok(r.T, os.Link(dir+"/a.jsonl", dir+"/b.jsonl"))
			r.is("a.jsonl:1")
			ok(r.T, os.Remove(dir+"/a.jsonl"))
			put(r.T, dir+"/b.jsonl", "2\n")
			r.is("a.jsonl:1,2")
		},
		"what is no file": func(r *reading, dir string) {
			ok(r.T, pipe(dir+"/pipe.jsonl"))
			ok(r.T, os.MkdirAll(dir+"/folder.jsonl", 0o700))
			put(r.T, dir+"/other.txt", "1\n")
			put(r.T, dir+"/.guard/a.jsonl", "1\n")
			r.is("")
			put(r.T, dir+"/a.jsonl", "1\n")
			r.is("a.jsonl:1")
			ok(r.T, os.Remove(dir+"/a.jsonl"))
			ok(r.T, pipe(dir+"/a.jsonl"))
			r.is("a.jsonl:1")
		},
		"many files, and few of them open": func(r *reading, dir string) {
			var want []string
			for i := range 50 {
				put(r.T, fmt.Sprintf("%s/%02d.jsonl", dir, i), "1\n")
				want = append(want, fmt.Sprintf("%02d.jsonl:1,2", i))
			}
			r.look()
			for i := range 50 {
				put(r.T, fmt.Sprintf("%s/%02d.jsonl", dir, i), "2\n")
			}
			r.is(strings.Join(want, " "))
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "followed")
				ok(t, os.MkdirAll(dir, 0o700))
				test(newReading(t, follow.Options{MaxOpen: 3}, dir), dir)
			})
		})
	}
}

// A file in which nothing happens is looked at seldom, and however long that lasts, what comes is found.
func TestFileInWhichNothingHappens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		counted := &counting{FS: follow.OS{}, at: map[string]int{}}
		r := newReading(t, follow.Options{FS: counted}, dir)
		for i := range 100 {
			put(t, fmt.Sprintf("%s/%02d.jsonl", dir, i), "1\n")
		}
		r.look()
		time.Sleep(time.Hour)
		r.Poll(t.Context())
		clear(counted.at)
		for range 300 { // five minutes
			time.Sleep(time.Second)
			r.Poll(t.Context())
		}
		if n := counted.at["stat"]; n > 100*(300/25)+300 {
			t.Errorf("%d looks at 100 files in five minutes", n)
		}
		if n := counted.at["open"]; n > 0 {
			t.Errorf("%d files were opened", n)
		}
		put(t, dir+"/07.jsonl", "2\n")
		for range 31 {
			time.Sleep(time.Second)
			for _, one := range r.Poll(t.Context()).Grown {
				r.readOn(one)
			}
		}
		if !strings.Contains(r.all(), "07.jsonl:1,2") {
			t.Error("what came after an hour was not found")
		}
	})
}

// counting counts what is asked of a file system, and may refuse it.
type counting struct {
	follow.FS
	at     map[string]int
	closed string // a folder that cannot be looked into
}

func (c *counting) Stat(path string) (follow.Info, error) {
	c.at["stat"]++
	return c.FS.Stat(path)
}

func (c *counting) Open(path string) (follow.File, error) {
	c.at["open"]++
	return c.FS.Open(path)
}

func (c *counting) ReadDir(path string) ([]fs.DirEntry, error) {
	if c.closed != "" && path == c.closed {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	}
	return c.FS.ReadDir(path)
}

// A folder that is closed for a while is told once, and what is in it is not gone.
func TestFolderThatIsClosedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		files := &counting{FS: follow.OS{}, at: map[string]int{}}
		r := newReading(t, follow.Options{FS: files}, dir)
		put(t, dir+"/in/a.jsonl", "1\n")
		r.is("a.jsonl:1")
		files.closed = dir + "/in"
		r.look()
		r.look()
		if len(r.errs) != 1 {
			t.Errorf("errors %q", r.errs)
		}
		files.closed = ""
		put(t, dir+"/in/a.jsonl", "2\n")
		time.Sleep(time.Minute)
		r.is("a.jsonl:1,2")
	})
}

// A long line that comes in many pieces is read once.
func TestLongLineInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r := newReading(t, follow.Options{}, dir)
		piece := strings.Repeat("x", 100<<10)
		for range 20 {
			put(t, dir+"/a.jsonl", piece)
			r.look()
		}
		put(t, dir+"/a.jsonl", "\n")
		r.look()
		for _, l := range r.read {
			if len(l) != 1 || len(l[0]) != 20*len(piece) {
				t.Errorf("%d lines", len(l))
			}
		}
		if len(r.read) != 1 {
			t.Error("nothing was read")
		}
	})
}

func TestPatterns(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	for _, f := range []string{"a/x.jsonl", "a/b/y.jsonl", "a/b/c/z.jsonl", "a/other.txt", "weird[1].jsonl"} {
		put(t, filepath.Join(dir, f), "1\n")
	}
	for _, tc := range []struct {
		name             string
		include, exclude []string
		want             string
	}{
		{"a folder", []string{dir}, nil, "weird[1].jsonl x.jsonl y.jsonl z.jsonl"},
		{"of the home", []string{"~/a"}, nil, "x.jsonl y.jsonl z.jsonl"},
		{"a file", []string{dir + "/a/other.txt"}, nil, "other.txt"},
		{"a file that looks like a pattern", []string{dir + "/weird[1].jsonl"}, nil, "weird[1].jsonl"},
		{"one level", []string{dir + "/a/*.jsonl"}, nil, "x.jsonl"},
		{"two levels", []string{dir + "/a/*/*.jsonl"}, nil, "y.jsonl"},
		{"any level", []string{dir + "/**/*.jsonl"}, []string{dir + "/a/b"}, "weird[1].jsonl x.jsonl"},
		{"alternatives", []string{dir + "/a/{b,none}/*"}, nil, "y.jsonl z.jsonl"},
		{"what is excluded", []string{dir}, []string{dir + "/**/[xy].jsonl"}, "weird[1].jsonl z.jsonl"},
		{"twice", []string{dir + "/a", dir + "/a/x.jsonl"}, nil, "x.jsonl y.jsonl z.jsonl"},
		{"nothing that is there", []string{dir + "/none/*"}, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := follow.NewPatterns(tc.include, tc.exclude)
			ok(t, err)
			f := follow.New(follow.Options{Patterns: p}, nil)
			defer f.Close()
			var got []string
			for _, one := range f.Poll(t.Context()).New {
				got = append(got, filepath.Base(one.Path))
			}
			slices.Sort(got)
			if text := strings.Join(got, " "); text != tc.want {
				t.Errorf("found %s, want %s", text, tc.want)
			}
		})
	}
	for _, bad := range []string{dir + "/[", dir + "/a/{b"} {
		if _, err := follow.NewPatterns([]string{bad}, nil); err == nil {
			t.Errorf("include %q was taken", bad)
		}
		if _, err := follow.NewPatterns(nil, []string{bad}); err == nil {
			t.Errorf("exclude %q was taken", bad)
		}
	}
}

// The system tells of what changes, and a closed notifier of nothing.
func TestNotifier(t *testing.T) {
	n, err := follow.NewNotifier()
	ok(t, err)
	dir := t.TempDir()
	n.Watch([]string{dir, filepath.Join(dir, "none")})
	put(t, filepath.Join(dir, "a.jsonl"), "1\n")
	select {
	case path := <-n.Changed():
		if path != filepath.Join(dir, "a.jsonl") {
			t.Errorf("told of %s", path)
		}
	case <-time.After(20 * time.Second):
		t.Skip("this system tells of nothing")
	}
	n.Watch(nil)
	ok(t, n.Close())
	ok(t, n.Close())
}
