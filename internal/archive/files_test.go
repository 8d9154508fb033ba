package archive_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/input"
)

// tree makes empty files in a new folder and goes there.
func tree(t *testing.T, paths ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, path := range paths {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

func TestFind(t *testing.T) {
	files := []string{
		"a.jsonl", "notes.txt", "s/b.jsonl", "s/deep/c.jsonl.gz", "s/deep/d.jsonl.zst", "s/deep/d.jsonl", "s/readme.md", "t/e.jsonl",
		"empty/x.txt", "folder.jsonl/f.jsonl", "odd[1].jsonl",
	}
	tests := []struct {
		name  string
		paths []string
		want  []string
		err   error
	}{
		{name: "a file", paths: []string{"a.jsonl"}, want: []string{"a.jsonl"}},
		{name: "a named file of any kind", paths: []string{"notes.txt"}, want: []string{"notes.txt"}},
		{name: "a folder, with a compressed twin left out", paths: []string{"s"}, want: []string{"s/b.jsonl", "s/deep/c.jsonl.gz", "s/deep/d.jsonl"}},
		{name: "a folder named like a file", paths: []string{"folder.jsonl"}, want: []string{"folder.jsonl/f.jsonl"}},
		{name: "a file named like a pattern", paths: []string{"odd[1].jsonl"}, want: []string{"odd[1].jsonl"}},
		{name: "a pattern", paths: []string{"*/*.jsonl"}, want: []string{"folder.jsonl/f.jsonl", "s/b.jsonl", "t/e.jsonl"}},
		{name: "a pattern of any depth", paths: []string{"s/**/*.gz"}, want: []string{"s/deep/c.jsonl.gz"}},
		{name: "a pattern that names folders", paths: []string{"s/d*"}, want: []string{"s/deep/c.jsonl.gz", "s/deep/d.jsonl"}},
		{name: "each once, in order", paths: []string{"t", "a.jsonl", "./t/e.jsonl", "-", "-"}, want: []string{"t/e.jsonl", "a.jsonl", "-"}},
		{name: "nothing there", paths: []string{"missing"}, err: fs.ErrNotExist},
		{name: "nothing in it", paths: []string{"empty"}, err: archive.ErrNoFiles},
		{name: "nothing matches", paths: []string{"*.zip"}, err: archive.ErrNoFiles},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree(t, files...)
			found, err := archive.Find(t.Context(), tt.paths)
			if len(found.Bad) > 0 {
				t.Errorf("could not look into %v", found.Bad)
			}
			if !errors.Is(err, tt.err) {
				t.Fatalf("got the error %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, slashed(found.Files)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func slashed(paths []string) []string {
	for i := range paths {
		paths[i] = filepath.ToSlash(paths[i])
	}
	return paths
}

func TestFindDoesNotFollowLinksToFolders(t *testing.T) {
	tree(t, "s/a.jsonl")
	if err := os.Symlink("..", "s/up"); err != nil {
		t.Skipf("this system has no symbolic links: %v", err)
	}
	found, err := archive.Find(t.Context(), []string{"s"})
	if err != nil || len(found.Files) != 1 || len(found.Bad) > 0 {
		t.Errorf("got %+v, %v", found, err)
	}
}

func TestFindGoesOnPastWhatItCannotRead(t *testing.T) {
	tree(t, "s/a.jsonl", "s/z/b.jsonl")
	for link, target := range map[string]string{"s/gone.jsonl": "nowhere", "s/linked.jsonl": "a.jsonl"} {
		if err := os.Symlink(target, link); err != nil {
			t.Skipf("this system has no symbolic links: %v", err)
		}
	}
	for _, path := range []string{"s", "s/*"} {
		found, err := archive.Find(t.Context(), []string{path})
		want := []string{"s/a.jsonl", "s/linked.jsonl", "s/z/b.jsonl"}
		if err != nil || len(found.Bad) != 1 || !errors.Is(found.Bad[0], fs.ErrNotExist) {
			t.Errorf("%s: could not look into %v, %v", path, found.Bad, err)
		}
		if diff := cmp.Diff(want, slashed(found.Files)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// A folder that is closed is said to be, under a pattern of any depth as under a folder's name.
func TestFindSaysWhichFoldersAreClosed(t *testing.T) {
	tree(t, "s/a.jsonl", "s/closed/b.jsonl", "s/deep/closed/c.jsonl")
	for _, dir := range []string{"s/closed", "s/deep/closed"} {
		if err := os.Chmod(dir, 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o700)
	}
	if _, err := os.ReadDir("s/closed"); err == nil {
		t.Skip("this user may read everything")
	}
	for path, want := range map[string][]string{
		"s":            {"s/closed", "s/deep/closed"},
		"s/**":         {"s/closed", "s/deep/closed"},
		"s/**/*.jsonl": {"s/closed", "s/deep/closed"},
		"s/*/*.jsonl":  {"s/closed"}, // the other is not looked into
		"s/*.jsonl":    nil,
	} {
		found, err := archive.Find(t.Context(), []string{path})
		if err != nil || len(found.Files) > 1 {
			t.Errorf("%s: %+v, %v", path, found, err)
		}
		var got []string
		for _, bad := range found.Bad {
			if e, ok := errors.AsType[*input.FileError](bad); ok && errors.Is(bad, fs.ErrPermission) {
				got = append(got, e.Path)
			}
		}
		if diff := cmp.Diff(want, slashed(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

func TestFindReadsTheRestWhenAPathLeadsNowhere(t *testing.T) {
	tree(t, "a.jsonl", "empty/x.txt")
	found, err := archive.Find(t.Context(), []string{"missing", "a.jsonl", "empty", "*.zip"})
	if err != nil || len(found.Files) != 1 {
		t.Fatalf("got %+v, %v", found, err)
	}
	want := []string{
		"missing: no such file or directory",
		"empty: no session files below it (looked for .jsonl, .jsonl.gz, .jsonl.zst)",
		"*.zip: no session files match it",
	}
	var got []string
	for _, bad := range found.Bad {
		got = append(got, bad.Error())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, err = archive.Find(t.Context(), []string{"missing", "empty", "*.zip"})
	if err == nil || err.Error() != strings.Join(want, "; ") {
		t.Errorf("no path leads anywhere: %v", err)
	}
}

// What is passed over in a folder is counted.
func TestFindNotesWhatItDoesNotRead(t *testing.T) {
	tree(t, "s/a.jsonl", "s/UPPER.JSONL", "s/b.json", "s/c.json", "s/d.jsonl.bak", "s/e.jsonl.xz", "s/README",
		"s/x.1", "s/x.2", "s/x.3", "s/z.averylongendingthatnobodycaresfor", "t/only.jsonl", "u/a.jsonl", "u/one.txt")
	found, err := archive.Find(t.Context(), []string{"s", "t", "u"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"s/UPPER.JSONL", "s/a.jsonl", "t/only.jsonl", "u/a.jsonl"}, slashed(found.Files)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	want := []archive.Note{
		{Path: "s", Text: "9 files (2 .json, 1 .1, 1 .2, 1 .3, 1 .bak, 3 other) are not read: the names do not end in .jsonl, .jsonl.gz, .jsonl.zst"},
		{Path: "u", Text: "1 file (1 .txt) is not read: the names do not end in .jsonl, .jsonl.gz, .jsonl.zst"},
	}
	if diff := cmp.Diff(want, found.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

// A compressed file is left out only if its plain twin holds the same.
func TestFindComparesTwins(t *testing.T) {
	tree(t, "s/x.txt")
	long := strings.Repeat("0123456789\n", 20_000)
	compressed := func(text string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		io.WriteString(w, text)
		w.Close()
		return b.Bytes()
	}
	for path, data := range map[string][]byte{
		"s/same.jsonl": []byte(long), "s/same.jsonl.gz": compressed(long),
		"s/grown.jsonl": []byte(long + "more\n"), "s/grown.jsonl.gz": compressed(long),
		"s/other.jsonl": []byte(long), "s/other.jsonl.gz": compressed("x" + long[1:]),
		"s/cut.jsonl": []byte(long), "s/cut.jsonl.gz": compressed(long)[:100],
		"s/not.jsonl": []byte("a"), "s/not.jsonl.gz": []byte("b"),
		"s/LOUD.JSONL": []byte("a"), "s/LOUD.JSONL.GZ": compressed("a"),
	} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, err := archive.Find(t.Context(), []string{"s"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"s/LOUD.JSONL", "s/cut.jsonl", "s/cut.jsonl.gz", "s/grown.jsonl", "s/grown.jsonl.gz",
		"s/not.jsonl", "s/not.jsonl.gz", "s/other.jsonl", "s/other.jsonl.gz", "s/same.jsonl",
	}
	if diff := cmp.Diff(want, slashed(found.Files)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	said := map[string]string{}
	for _, n := range found.Notes {
		said[filepath.ToSlash(n.Path)] = filepath.ToSlash(n.Text)
	}
	for path, want := range map[string]string{
		"s/same.jsonl.gz":  "not read: s/same.jsonl has the same content",
		"s/grown.jsonl.gz": "read beside s/grown.jsonl, which has other content",
		"s/cut.jsonl.gz":   "read beside s/cut.jsonl, which has other content",
	} {
		if said[path] != want {
			t.Errorf("%s: said %q, want %q", path, said[path], want)
		}
	}
}

// A link to a folder that is named is the folder; one that is found in a folder is not followed.
func TestFindThroughALink(t *testing.T) {
	tree(t, "real/a.jsonl")
	for to, link := range map[string]string{"real": "link", "..": "real/up"} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	for path, want := range map[string]string{"link": "link/a.jsonl", "link/": "link/a.jsonl", ".": "real/a.jsonl"} {
		found, err := archive.Find(t.Context(), []string{path})
		if err != nil || len(found.Files) != 1 || filepath.ToSlash(found.Files[0]) != want {
			t.Errorf("%s: found %q, error %v, want %s", path, found.Files, err, want)
		}
	}
}

// A file whose name is that of standard input is read by a longer one.
func TestFindAFileCalledDash(t *testing.T) {
	tree(t, "-")
	found, err := archive.Find(t.Context(), []string{"./-"})
	if err != nil || len(found.Files) != 1 || found.Files[0] == input.Stdin {
		t.Errorf("found %q, error %v", found.Files, err)
	}
}

// What a store of files has beside its sessions is not worth a note, and what is not its own is.
func TestFindDoesNotNoteWhatBelongsToASession(t *testing.T) {
	tree(t, "p/a.jsonl", "p/a.jsonl.lock", "p/.a.jsonl.new", "p/a.jsonl.torn-123", "p/a.jsonl.broken-20260101T000000Z", ".guard/a", "q/b.jsonl.gz")
	found, err := archive.Find(t.Context(), []string{"."})
	if err != nil || len(found.Files) != 2 || len(found.Notes) != 0 {
		t.Errorf("found %q, notes %v, error %v", found.Files, found.Notes, err)
	}
	tree(t, "a.jsonl", "notes.lock", "b.jsonl.lock.txt", "c.torn-1")
	found, err = archive.Find(t.Context(), []string{"."})
	if err != nil || len(found.Notes) != 1 || !strings.HasPrefix(found.Notes[0].Text, "3 files") {
		t.Errorf("found %q, notes %v, error %v", found.Files, found.Notes, err)
	}
}
