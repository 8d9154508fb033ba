package jsonl_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/format/openresponses"
	"github.com/sessionspan/sessionspan/store"
	"github.com/sessionspan/sessionspan/store/jsonl"
)

const (
	header = `{"type":"session","format":"agentsession/0.2","id":"s","created_at":"2026-01-02T03:04:05.006Z","payload":"openresponses/2026-04-24","cwd":"/home/me"}` + "\n"
	first  = `{"type":"info","id":"a","parent":null,"ts":"2026-01-02T03:04:05Z","name":"One"}` + "\n"
	second = `{"type":"info","id":"b","parent":"a","ts":"2026-01-02T03:04:06Z","name":"Two"}` + "\n"
	// name is where the reference puts that session (A.15).
	name = "home-me/2026-01-02T03-04-05.006Z_s.jsonl"
)

// put writes the file of the session s.
func put(t *testing.T, text string) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	path = filepath.Join(dir, name)
	write(t, path, text)
	return dir, path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// names lists the files of a folder, but for what begins with a point.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), ".") {
			list = append(list, f.Name())
		}
	}
	return list
}

func say(text string) format.Entry { return format.NewItem(openresponses.UserText(text)) }

// What a crash leaves at the end of a file, and what becomes of it when it is opened for writing.
func TestOpenMendsTheEnd(t *testing.T) {
	for _, tc := range []struct {
		name    string
		tail    string // after the first entry
		entries int
		aside   string
		refused bool
		err     error
	}{
		{name: "nothing", tail: "", entries: 1},
		{name: "an entry", tail: second, entries: 2},
		{name: "an entry without its line feed", tail: strings.TrimSpace(second), entries: 2},
		{name: "half an entry", tail: second[:40], entries: 1, aside: second[:40]},
		{name: "the first byte of an entry", tail: "{", entries: 1, aside: "{"},
		{name: "an entry without its last byte", tail: second[:len(second)-2], entries: 1, aside: second[:len(second)-2]},
		{name: "zero bytes", tail: strings.Repeat("\x00", 512), entries: 1, aside: strings.Repeat("\x00", 512)},
		{name: "a character cut in two", tail: second[:70] + "\xc3", entries: 1, aside: second[:70] + "\xc3"},
		{name: "a complete line that is no entry", tail: `{"type":"info","id":7}` + "\n", entries: 1, refused: true},
		{name: "the same without its line feed", tail: `{"type":"info","id":7}`, entries: 1, refused: true},
		{name: "a complete line that is no JSON", tail: second[:40] + "\n", entries: 1, refused: true},
		{name: "JSON that is no object", tail: `17`, entries: 1, refused: true},
		{name: "a complete line that is no JSON, and blanks behind it", tail: second[:40] + "\n   ", entries: 1, refused: true},
		{name: "damage in the middle", tail: second[:40] + "\n" + second, err: format.ErrSyntax},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir, path := put(t, header+first+tc.tail)
			var torn []jsonl.TornTail
			s := open(t, dir, jsonl.WithTornTail(func(one jsonl.TornTail) { torn = append(torn, one) }))
			session, err := s.Open(t.Context(), "s")
			if !errors.Is(err, tc.err) {
				t.Fatalf("error %v, want %v", err, tc.err)
			}
			if tc.err != nil {
				if got := read(t, path); got != header+first+tc.tail {
					t.Errorf("the file has changed:\n%s", got)
				}
				return
			}
			if session.Len() != tc.entries {
				t.Errorf("%d entries, want %d", session.Len(), tc.entries)
			}
			if tc.aside != "" {
				offset := int64(len(header + first))
				if len(torn) != 1 || torn[0].Offset != offset || torn[0].Size != int64(len(tc.aside)) || read(t, torn[0].Aside) != tc.aside {
					t.Errorf("%+v", torn)
				}
				if want := path + ".torn-" + strconv.FormatInt(offset, 10); torn[0].Aside != want {
					t.Errorf("it is in %s, want %s", torn[0].Aside, want)
				}
			} else if len(torn) > 0 {
				t.Errorf("%+v", torn)
			}
			_, err = s.Append(t.Context(), "s", say("And on."))
			if tc.refused {
				if err == nil || read(t, path) != header+first+tc.tail {
					t.Errorf("error %v, the file is\n%s", err, read(t, path))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			text := read(t, path)
			again, err := format.ReadSession(strings.NewReader(text))
			if err != nil || again.Len() != tc.entries+1 || again.Torn() != nil || !strings.HasPrefix(text, header+first) {
				t.Errorf("error %v, the file is\n%s", err, text)
			}
		})
	}
}

// A tail that was set aside before the crash came again does not lose the one before.
func TestTornTailsAtOneOffset(t *testing.T) {
	dir, path := put(t, header+first+second[:30])
	write(t, path+".torn-"+strconv.Itoa(len(header+first)), "earlier")
	var torn []jsonl.TornTail
	s := open(t, dir, jsonl.WithTornTail(func(one jsonl.TornTail) { torn = append(torn, one) }))
	if _, err := s.Open(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if len(torn) != 1 || read(t, torn[0].Aside) != second[:30] || read(t, path+".torn-"+strconv.Itoa(len(header+first))) != "earlier" {
		t.Errorf("%+v", torn)
	}
}

// Reading writes nothing, locks nothing, and says what is torn.
func TestReadOnly(t *testing.T) {
	dir, path := put(t, header+first+second[:40])
	s := open(t, dir, jsonl.WithReadOnly())
	session, err := s.Open(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if session.Torn() == nil || session.Len() != 1 {
		t.Errorf("%d entries, torn %v", session.Len(), session.Torn())
	}
	for op, err := range map[string]error{
		"append":                func() error { _, err := s.Append(t.Context(), "s", say("x")); return err }(),
		"create":                func() error { _, err := s.Create(t.Context(), format.Header{}); return err }(),
		"delete":                s.Delete(t.Context(), "s"),
		"break":                 s.Break(t.Context(), "s"),
		"append to the session": func() error { _, err := session.Append(say("x")); return err }(),
	} {
		if err == nil || op != "append to the session" && !errors.Is(err, store.ErrReadOnly) {
			t.Errorf("%s: error %v", op, err)
		}
	}
	if got := names(t, filepath.Dir(path)); len(got) != 1 || read(t, path) != header+first+second[:40] {
		t.Errorf("there are %v", got)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"home-me"}) {
		t.Errorf("there are %v", got)
	}
	// Somebody else goes on writing, and Open sees it.
	write(t, path, header+first+second)
	if session, err = s.Open(t.Context(), "s"); err != nil || session.Len() != 2 {
		t.Errorf("%d entries, error %v", session.Len(), err)
	}
}

// Files of the reference have their names from the header, and ours are where it looks for them.
func TestLayout(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	h, err := format.DecodeHeader([]byte(strings.TrimSpace(header)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), *h); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	for cwd, want := range map[string]string{
		"": "default", "/": "default", "//srv/x": "srv-x", `C:\Users\me`: "C--Users-me", "a:b/c": "a-b-c", "..": "default", "/..": "default",
		"/.hidden": ".hidden", "/.guard": "default", ".GUARD": "default", strings.Repeat("x", 300): strings.Repeat("x", 255),
	} {
		session, err := s.Create(t.Context(), format.Header{CWD: cwd})
		if err != nil {
			t.Fatalf("%q: %v", cwd, err)
		}
		if files, _ := filepath.Glob(filepath.Join(dir, want, "*_"+session.ID()+".jsonl")); len(files) != 1 {
			t.Errorf("%q is not in %s", cwd, want)
		}
	}
}

// Ids that would lead somewhere else, or to several files, name nothing.
func TestIDsStayInTheFolder(t *testing.T) {
	dir, _ := put(t, header)
	outside := filepath.Join(filepath.Dir(dir), "2026_out.jsonl")
	write(t, outside, header)
	t.Cleanup(func() { os.Remove(outside) })
	s := open(t, dir)
	for _, id := range []string{"", ".", "..", "../out", "a/b", `a\b`, "*", "?", "[s]", "s\x00", strings.Repeat("x", 300)} {
		if _, err := s.Create(t.Context(), format.Header{ID: id}); err == nil && id != "" {
			t.Errorf("%q was created", id)
		}
		if id == "" {
			continue
		}
		if _, err := s.Open(t.Context(), id); !errors.Is(err, store.ErrNoSession) {
			t.Errorf("%q: error %v", id, err)
		}
	}
}

// A file is what its header says, whatever its name.
func TestNamesAreNotTrusted(t *testing.T) {
	dir, path := put(t, header)
	write(t, filepath.Join(filepath.Dir(path), "2026-01-02T03-04-05.006Z_other.jsonl"), header)
	write(t, filepath.Join(dir, "p", "2026-01-02T03-04-05.006Z_x_s.jsonl"), strings.Replace(header, `"s"`, `"x_s"`, 1)+first)
	s := open(t, dir)
	if _, err := s.Open(t.Context(), "other"); !errors.Is(err, store.ErrNoSession) {
		t.Errorf("error %v", err)
	}
	for id, n := range map[string]int{"s": 0, "x_s": 1} {
		if session, err := s.Open(t.Context(), id); err != nil || session.Len() != n {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestDeleteTakesEverythingOfASession(t *testing.T) {
	sidecar := strings.Replace(header, `"cwd"`, `"media":"sidecar","cwd"`, 1)
	dir, path := put(t, sidecar+first)
	folder := filepath.Dir(path)
	write(t, filepath.Join(folder, "s", "image.png"), "png")
	write(t, path+".torn-12", "tail")
	write(t, path+".broken-20260101T000000Z", "bytes")
	write(t, filepath.Join(folder, "keep.txt"), "mine")
	s := open(t, dir)
	if _, err := s.Append(t.Context(), "s", say("Hello.")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(folder, "s", "image.png")); got != "png" {
		t.Errorf("the media are %q", got)
	}
	if err := s.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if got := names(t, folder); !slices.Equal(got, []string{"keep.txt"}) {
		t.Errorf("left are %v", got)
	}
	// A link in the place of the folder is nobody's to follow.
	elsewhere := t.TempDir()
	write(t, filepath.Join(elsewhere, "photo"), "mine")
	write(t, path, sidecar)
	if err := os.Symlink(elsewhere, filepath.Join(folder, "s")); err != nil {
		t.Skip(err)
	}
	if err := s.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(elsewhere, "photo")); got != "mine" {
		t.Errorf("what was elsewhere is %q", got)
	}
}
