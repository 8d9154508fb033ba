package archive_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessionspan/sessionspan/internal/archive"
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
			got, bad, err := archive.Find(tt.paths)
			if len(bad) > 0 {
				t.Errorf("could not look into %v", bad)
			}
			if !errors.Is(err, tt.err) {
				t.Fatalf("got the error %v, want %v", err, tt.err)
			}
			for i := range got {
				got[i] = filepath.ToSlash(got[i])
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFindDoesNotFollowLinksToFolders(t *testing.T) {
	tree(t, "s/a.jsonl")
	if err := os.Symlink("..", "s/up"); err != nil {
		t.Skipf("this system has no symbolic links: %v", err)
	}
	got, bad, err := archive.Find([]string{"s"})
	if err != nil || len(got) != 1 || len(bad) > 0 {
		t.Errorf("got %v, %v, %v", got, bad, err)
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
		got, bad, err := archive.Find([]string{path})
		want := []string{"s/a.jsonl", "s/linked.jsonl", "s/z/b.jsonl"}
		if err != nil || len(bad) != 1 || !errors.Is(bad[0], fs.ErrNotExist) {
			t.Errorf("%s: could not look into %v, %v", path, bad, err)
		}
		for i := range got {
			got[i] = filepath.ToSlash(got[i])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// header writes a session file with nothing but a header and one entry.
func header(t *testing.T, path, id, parent, call string) string {
	t.Helper()
	path = filepath.Join(t.TempDir(), path)
	line := `{"type":"session","format":"agentsession/0.2","id":"` + id + `","created_at":"2026-01-01T00:00:00Z","payload":"openresponses/1"`
	if parent != "" {
		line += `,"parent_session":"` + parent + `"`
	}
	if call != "" {
		line += `,"spawned_by":"` + call + `"`
	}
	line += "}\n" + entry("a", "null", `"type":"config","model":"m"`) + "\n"
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestIndexGroupsSessionsByTrace(t *testing.T) {
	grandchild := header(t, "1.jsonl", "grandchild", "child", "c2")
	other := header(t, "2.jsonl", "other", "", "")
	child := header(t, "3.jsonl", "child", "root", "c1")
	fork := header(t, "4.jsonl", "fork", "root", "")
	root := header(t, "5.jsonl", "root", "", "")
	copied := header(t, "6.jsonl", "root", "", "")
	lone := header(t, "7.jsonl", "lone", "elsewhere", "c9")
	ring := header(t, "8.jsonl", "ring", "ring2", "c")
	ring2 := header(t, "9.jsonl", "ring2", "ring", "c")
	ix := archive.NewIndex([]string{grandchild, other, child, fork, root, copied, lone, ring, ring2}, nil, archive.Options{}.Source)

	var got []string
	for _, group := range ix.Traces() {
		var ids []string
		for _, f := range group {
			ids = append(ids, f.Session.ID)
		}
		got = append(got, strings.Join(ids, " "))
	}
	want := []string{"root root grandchild child", "other", "fork", "lone", "ring", "ring2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string][]string{"root": {root, copied}}, ix.Copies()); diff != "" {
		t.Errorf("copies (-want +got):\n%s", diff)
	}
	below := 0
	for _, f := range ix.Files {
		if ix.Below(f, "child") {
			below++
		}
	}
	if below != 2 {
		t.Errorf("%d sessions are below child, want it and its own child", below)
	}
}
