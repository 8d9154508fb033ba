package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/internal/lockfile"
)

// torn is a file that needs a repair, and what it is afterwards.
var torn, mended = header + "\n" + entry("a", "") + "\n" + entry("b", "a")[:50], header + "\n" + entry("a", "") + "\n"

func TestWrite(t *testing.T) {
	path := put(t, torn)
	rep, err := write(t, path, Options{})
	if err != nil || !rep.Written || read(t, path) != mended {
		t.Fatalf("%v, report %+v, file:\n%s", err, rep, read(t, path))
	}
	if want := path + ".broken-20260920T120000Z"; rep.SideFile != want {
		t.Errorf("side file %s, want %s", rep.SideFile, want)
	}
	want := `{"file":"s.jsonl","size":` + fmt.Sprint(len(torn)) + `,"time":"2026-09-20T12:00:00Z"}
{"line":3,"offset":` + fmt.Sprint(len(mended)) + `,"kind":"torn","bytes":"eyJ0eXBlIjoiaXRlbSIsImlkIjoiYiIsInBhcmVudCI6ImEiLCJ0cyI6IjIwMjYtMDE="}
`
	if got := read(t, rep.SideFile); got != want {
		t.Errorf("file of broken bytes:\n%s\nwant:\n%s", got, want)
	}
	for _, name := range []string{path, rep.SideFile} {
		if info, err := os.Stat(name); err != nil || info.Mode() != 0o640 {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
	}
	if _, err := os.Stat(path + ".lock"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock is still there: %v", err)
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	path := put(t, torn)
	rep, err := File(t.Context(), path, Options{Now: now}, func(Finding) {})
	if err != nil || rep.Written || !rep.Changes() || rep.SideFile != path+".broken-20260920T120000Z" {
		t.Errorf("%v, report %+v", err, rep)
	}
	files, _ := os.ReadDir(filepath.Dir(path))
	if len(files) != 1 || read(t, path) != torn {
		t.Errorf("the folder has %v, the file is\n%s", files, read(t, path))
	}
}

func TestAFileThatNeedsNothingIsNotTouched(t *testing.T) {
	for _, data := range []string{mended, header + "\n" + entry("a", "lost") + "\n"} {
		path := put(t, data)
		then := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		rep, err := write(t, path, Options{})
		after, serr := os.Stat(path)
		if err != nil || serr != nil || rep.Written || rep.SideFile != "" {
			t.Fatalf("%v, %v, report %+v", err, serr, rep)
		}
		if !os.SameFile(before, after) || !after.ModTime().Equal(then) {
			t.Error("the file was touched")
		}
	}
}

// A repair that sets nothing aside needs no second file.
func TestOnlyALineFeed(t *testing.T) {
	path := put(t, strings.TrimSuffix(mended, "\n"))
	rep, err := write(t, path, Options{})
	if err != nil || !rep.Written || rep.SideFile != "" || read(t, path) != mended {
		t.Errorf("%v, report %+v", err, rep)
	}
}

func TestAnEarlierSideFileStays(t *testing.T) {
	path := put(t, torn)
	first := path + ".broken-20260920T120000Z"
	if err := os.WriteFile(first, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	rep, err := write(t, path, Options{})
	if err != nil || rep.SideFile != first+"-2" || read(t, first) != "mine" {
		t.Errorf("%v, report %+v, the first file of broken bytes: %s", err, rep, read(t, first))
	}
	path = put(t, torn)
	first = path + ".broken-20260920T120000Z"
	for i := range maxSideFiles {
		name := first
		if i > 0 {
			name += fmt.Sprint("-", i+1)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if rep, err := write(t, path, Options{}); !errors.Is(err, fs.ErrExist) || rep.Written {
		t.Errorf("with every name taken: %v, report %+v", err, rep)
	}
}

func TestSymbolicLinkStays(t *testing.T) {
	path := put(t, torn)
	link := filepath.Join(t.TempDir(), "link.jsonl")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	rep, err := write(t, link, Options{})
	if err != nil || read(t, path) != mended || filepath.Dir(rep.SideFile) != filepath.Dir(path) {
		t.Errorf("%v, report %+v", err, rep)
	}
	if to, err := os.Readlink(link); err != nil || to != path {
		t.Errorf("the link points at %q, %v", to, err)
	}
}

func TestRefused(t *testing.T) {
	for _, test := range []struct {
		name, file string
		err        error
		says       string
	}{
		{"empty", "", ErrEmpty, ""},
		{"gzip", "\x1f\x8b\x08\x00abc", ErrCompressed, "gzip -d"},
		{"zstd", "\x28\xb5\x2f\xfdabc", ErrCompressed, "zstd -d"},
		{"foreign", "hello\n", ErrNoSession, "agentsession"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := write(t, put(t, test.file), Options{})
			if !errors.Is(err, test.err) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v", err)
			}
		})
	}
	if _, err := File(t.Context(), t.TempDir(), Options{Write: true}, nil); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a folder: %v", err)
	}
	if _, err := File(t.Context(), os.DevNull, Options{Write: true}, nil); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a device: %v", err)
	}
	if _, err := File(t.Context(), filepath.Join(t.TempDir(), "gone"), Options{}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestAFileThatChangesIsLeftAlone(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(path string) error
	}{
		{"appended to", func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("}\n")
			return errors.Join(err, f.Close())
		}},
		{"another file", func(path string) error {
			other := path + ".new"
			return errors.Join(os.WriteFile(other, []byte(torn), 0o640), os.Rename(other, path))
		}},
		{"written over", func(path string) error {
			return errors.Join(os.WriteFile(path, []byte(torn), 0o640), os.Chtimes(path, now, now))
		}},
		{"taken away", func(path string) error { return os.Rename(path, path+".old") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := put(t, torn)
			_, err := File(t.Context(), path, Options{Write: true, Now: now}, func(Finding) {
				if err := test.change(path); err != nil {
					t.Fatal(err)
				}
			})
			if !errors.Is(err, ErrChanged) {
				t.Errorf("error %v", err)
			}
			sides, _ := filepath.Glob(path + ".broken*")
			if len(sides) > 0 {
				t.Errorf("left over: %v", sides)
			}
		})
	}
}

// What changes between the reading and the writing is noticed, and both files are taken back.
func TestAFileThatChangesBeforeItIsReplaced(t *testing.T) {
	for name, changed := range map[string]string{
		"longer": torn + "\n", "shorter": torn[:len(torn)-60], "as long": strings.ToUpper(torn), "empty": "",
	} {
		t.Run(name, func(t *testing.T) {
			path := put(t, torn)
			f, info, err := open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			p, err := scan(f, 0, func(Finding) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(changed), 0o640); err != nil {
				t.Fatal(err)
			}
			w := &writer{ctx: t.Context(), src: f, info: info, target: path, sum: p.sum, now: now}
			if _, err := w.write(); !errors.Is(err, ErrChanged) {
				t.Errorf("error %v", err)
			}
			files, _ := os.ReadDir(filepath.Dir(path))
			if len(files) != 1 || read(t, path) != changed {
				t.Errorf("the folder has %v, the file is\n%s", files, read(t, path))
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	path := put(t, torn)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := File(ctx, path, Options{Write: true, Now: now}, func(Finding) { cancel() })
	files, _ := os.ReadDir(filepath.Dir(path))
	if !errors.Is(err, context.Canceled) || len(files) != 1 || read(t, path) != torn {
		t.Errorf("error %v, the folder has %v", err, files)
	}
}

func TestLock(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	since := time.Now().UTC().Format(time.RFC3339)
	holder := func(pid int, host string) string {
		text, err := json.Marshal(lockfile.Holder{PID: pid, Host: host, Since: since})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, test := range []struct{ name, lock, says, not string }{
		{"of a process that runs", holder(os.Getpid(), host), fmt.Sprintf("held by process %d on %s since", os.Getpid(), host), "not running"},
		{"of a process that has ended", holder(1<<30, host), "not running any more", "\x00"},
		{"of another host", holder(1<<30, "elsewhere"), "on elsewhere", "not running"},
		{"empty", "", ".lock is there", "held"},
		{"of something else", `["x"]`, ".lock is there", "held"},
		{"endless", strings.Repeat("[", 1<<20), ".lock is there", "held"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := put(t, torn)
			if err := os.WriteFile(path+".lock", []byte(test.lock), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := write(t, path, Options{})
			if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), test.not) {
				t.Errorf("error %v", err)
			}
			rep, err := File(t.Context(), path, Options{Now: now}, func(Finding) {})
			if err != nil || !strings.Contains(rep.Lock, test.says) {
				t.Errorf("a dry run: %v, lock %q", err, rep.Lock)
			}
			rep, err = write(t, path, Options{Force: true})
			if err != nil || !rep.Written || read(t, path+".lock") != test.lock {
				t.Errorf("by force: %v, report %+v", err, rep)
			}
		})
	}
	t.Run("beside a link", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "link.jsonl")
		if err := os.Symlink(put(t, torn), link); err != nil {
			t.Skip(err)
		}
		if err := os.WriteFile(link+".lock", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := write(t, link, Options{}); !errors.Is(err, ErrLocked) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a folder in its place", func(t *testing.T) {
		path := put(t, torn)
		if err := os.Mkdir(path+".lock", 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := write(t, path, Options{}); !errors.Is(err, ErrLocked) {
			t.Errorf("error %v", err)
		}
	})
}

func TestReadOnlyFolder(t *testing.T) {
	path := put(t, torn)
	dir := filepath.Dir(path)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if f, err := os.Create(filepath.Join(dir, "x")); err == nil {
		f.Close()
		t.Skip("permissions do not hold this user back")
	}
	for _, force := range []bool{false, true} {
		if rep, err := write(t, path, Options{Force: force}); !errors.Is(err, fs.ErrPermission) || rep.Written {
			t.Errorf("%v, report %+v", err, rep)
		}
	}
}
