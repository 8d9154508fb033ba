package environment

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// run runs git, apart from whatever is configured on this machine, and returns what it prints.
func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(withoutGit(os.Environ()), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// withoutGit takes out what would lead git to another repository, as within a hook.
func withoutGit(environ []string) []string {
	var kept []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES":
		default:
			kept = append(kept, kv)
		}
	}
	return kept
}

// checkout makes a repository with two commits on the branch main.
func checkout(t *testing.T, options ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	dir := t.TempDir()
	run(t, dir, append([]string{"init", "--quiet", "--initial-branch=main"}, options...)...)
	commit(t, dir, "one")
	commit(t, dir, "two")
	return dir
}

func commit(t *testing.T, dir, message string) {
	t.Helper()
	run(t, dir, "commit", "--quiet", "--allow-empty", "--message", message)
}

// same checks that git says the same of a directory, and returns the revision.
func same(t *testing.T, dir string) string {
	t.Helper()
	want := run(t, dir, "rev-parse", "HEAD")
	got, err := Git(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got.System != "git" || got.Revision != want || got.Dirty != nil {
		t.Errorf("%s: %+v, git says %s", dir, got, want)
	}
	return want
}

func TestGitSaysTheSame(t *testing.T) {
	for _, test := range []struct {
		name    string
		options []string
		do      func(t *testing.T, dir string)
	}{
		{"a branch", nil, func(*testing.T, string) {}},
		{"SHA-256", []string{"--object-format=sha256"}, func(t *testing.T, dir string) {
			if id := same(t, dir); len(id) != 64 {
				t.Errorf("object id %s", id)
			}
		}},
		{"packed", nil, func(t *testing.T, dir string) {
			run(t, dir, "tag", "--annotate", "--message", "x", "v1")
			run(t, dir, "branch", "maint")
			run(t, dir, "pack-refs", "--all")
		}},
		{"packed, then another commit", nil, func(t *testing.T, dir string) {
			run(t, dir, "pack-refs", "--all")
			commit(t, dir, "three")
		}},
		{"packed below a name that is a folder", nil, func(t *testing.T, dir string) {
			run(t, dir, "switch", "--quiet", "--create", "topic")
			run(t, dir, "pack-refs", "--all")
			if err := os.MkdirAll(filepath.Join(dir, ".git/refs/heads/topic"), 0o700); err != nil {
				t.Fatal(err)
			}
		}},
		{"a branch with slashes", nil, func(t *testing.T, dir string) {
			run(t, dir, "switch", "--quiet", "--create", "ada/fix/größe.1")
			commit(t, dir, "three")
		}},
		{"detached", nil, func(t *testing.T, dir string) { run(t, dir, "switch", "--quiet", "--detach", "HEAD^") }},
		{"a branch that names another", nil, func(t *testing.T, dir string) {
			run(t, dir, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
			run(t, dir, "symbolic-ref", "HEAD", "refs/heads/alias")
		}},
		{"HEAD as a symbolic link", nil, func(t *testing.T, dir string) {
			head := filepath.Join(dir, ".git/HEAD")
			if err := errors.Join(os.Remove(head), os.Symlink("refs/heads/main", head)); err != nil {
				t.Fatal(err)
			}
		}},
		{"the git directory elsewhere", []string{"--separate-git-dir=../apart"}, func(*testing.T, string) {}},
		{"while bisecting", nil, func(t *testing.T, dir string) {
			commit(t, dir, "three")
			run(t, dir, "bisect", "start", "HEAD", "HEAD^^")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := checkout(t, test.options...)
			test.do(t, dir)
			same(t, dir)
			below := filepath.Join(dir, "a", "b")
			if err := os.MkdirAll(below, 0o700); err != nil {
				t.Fatal(err)
			}
			same(t, below)
		})
	}
}

func TestWorktreeAndSubmodule(t *testing.T) {
	dir := checkout(t)
	first := same(t, dir)

	tree := filepath.Join(t.TempDir(), "tree")
	run(t, dir, "worktree", "add", "--quiet", "-b", "side", tree)
	commit(t, tree, "on the side")
	if same(t, tree) == first || same(t, dir) != first {
		t.Error("the worktree and its repository have the same commit")
	}
	run(t, dir, "pack-refs", "--all")
	same(t, tree)
	run(t, tree, "switch", "--quiet", "--detach", "HEAD")
	same(t, tree)
	run(t, tree, "update-ref", "refs/worktree/mine", "HEAD^")
	run(t, tree, "symbolic-ref", "HEAD", "refs/worktree/mine")
	same(t, tree)

	super := checkout(t)
	run(t, super, "submodule", "--quiet", "add", dir, "sub")
	run(t, super, "commit", "--quiet", "--message", "with a submodule")
	if same(t, filepath.Join(super, "sub")) == same(t, super) {
		t.Error("the submodule has the commit of what it is in")
	}

	// A directory of a checkout that is reached by a link from elsewhere is in that checkout.
	link := filepath.Join(super, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	if got := same(t, link); got != first {
		t.Errorf("by a link: %s, want %s", got, first)
	}
}

func TestUnborn(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	dir := t.TempDir()
	run(t, dir, "init", "--quiet")
	if got, err := Git(dir); err != nil || got.System != "git" || got.Revision != "" {
		t.Errorf("%+v, %v", got, err)
	}
	dir = checkout(t)
	run(t, dir, "pack-refs", "--all")
	run(t, dir, "switch", "--quiet", "--orphan", "new")
	if got, err := Git(dir); err != nil || got.Revision != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCurrentDirectory(t *testing.T) {
	dir := checkout(t)
	want := same(t, dir)
	t.Chdir(dir)
	for _, here := range []string{"", ".", ".git/refs"} {
		if got, err := Git(here); err != nil || got.Revision != want {
			t.Errorf("%q: %+v, %v", here, got, err)
		}
	}
}

const id = "0123456789abcdef0123456789abcdef01234567"

// files writes a repository by hand, below a new directory.
func files(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{".git/objects", ".git/refs/heads"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range texts {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestBroken(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		files map[string]string
		err   error
	}{
		{"HEAD leads out of the repository", map[string]string{".git/HEAD": "ref: ../../etc/passwd\n"}, ErrBroken},
		{"HEAD leads out by refs", map[string]string{".git/HEAD": "ref: refs/../../../etc/passwd\n"}, ErrBroken},
		{"HEAD names a path", map[string]string{".git/HEAD": "ref: " + secret + "\n"}, ErrBroken},
		{"HEAD names no reference", map[string]string{".git/HEAD": "ref: HEAD\n"}, ErrBroken},
		{"HEAD is empty", map[string]string{".git/HEAD": ""}, ErrBroken},
		{"HEAD is text", map[string]string{".git/HEAD": "hunter2\n"}, ErrBroken},
		{"HEAD is cut", map[string]string{".git/HEAD": id[:39] + "\n"}, ErrBroken},
		{"HEAD is too large", map[string]string{".git/HEAD": strings.Repeat(id, 1000)}, ErrBroken},
		{"a branch is empty", map[string]string{".git/HEAD": "ref: refs/heads/main", ".git/refs/heads/main": ""}, ErrBroken},
		{"a branch names itself", map[string]string{".git/HEAD": "ref: refs/heads/a", ".git/refs/heads/a": "ref: refs/heads/a"}, ErrBroken},
		{
			"branches name one another",
			map[string]string{".git/HEAD": "ref: refs/heads/a", ".git/refs/heads/a": "ref: refs/heads/b", ".git/refs/heads/b": "ref: refs/heads/a"},
			ErrBroken,
		},
		{"packed-refs holds no id", map[string]string{".git/HEAD": "ref: refs/heads/a", ".git/packed-refs": "xyz refs/heads/a\n"}, ErrBroken},
		{
			"packed-refs has an endless line",
			map[string]string{".git/HEAD": "ref: refs/heads/a", ".git/packed-refs": strings.Repeat("x", 1<<20)},
			ErrBroken,
		},
		{"reftable", map[string]string{".git/HEAD": "ref: refs/heads/.invalid\n", ".git/reftable/tables.list": ""}, ErrReftable},
		{"a reftable's HEAD without one", map[string]string{".git/HEAD": "ref: refs/heads/.invalid\n"}, ErrBroken},
		{".git without HEAD", nil, ErrNotGit},
		{"a .git file that says nothing", map[string]string{"sub/.git": "hunter2\n"}, ErrBroken},
		{"a .git file that names nothing", map[string]string{"sub/.git": "gitdir: \n"}, ErrBroken},
		{"a .git file that names what is not there", map[string]string{"sub/.git": "gitdir: ../gone\n"}, ErrBroken},
		{"a .git file that names itself", map[string]string{"sub/.git": "gitdir: .git\n"}, ErrBroken},
		{"a .git file that is too large", map[string]string{"sub/.git": "gitdir: " + strings.Repeat("/x", 1<<20)}, nil},
		{
			"a commondir that is not there",
			map[string]string{"sub/.git": "gitdir: ../.git/worktrees/w", ".git/worktrees/w/HEAD": id, ".git/worktrees/w/commondir": "../gone"},
			ErrBroken,
		},
		{
			"an empty commondir",
			map[string]string{"sub/.git": "gitdir: ../.git/worktrees/w", ".git/worktrees/w/HEAD": id, ".git/worktrees/w/commondir": "\n"},
			ErrBroken,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := files(t, test.files)
			if _, ok := test.files["sub/.git"]; ok {
				dir = filepath.Join(dir, "sub")
			}
			got, err := Git(dir)
			if err == nil || test.err != nil && !errors.Is(err, test.err) {
				t.Fatalf("%+v, %v", got, err)
			}
			if strings.Contains(err.Error(), "hunter2") || len(err.Error()) > 1000 {
				t.Errorf("it tells too much: %v", err)
			}
		})
	}
	t.Run("HEAD is a link to any file", func(t *testing.T) {
		dir := files(t, nil)
		if err := os.Symlink(secret, filepath.Join(dir, ".git/HEAD")); err != nil {
			t.Skip(err)
		}
		if _, err := Git(dir); !errors.Is(err, ErrBroken) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("error %v", err)
		}
	})
}

func TestNotGit(t *testing.T) {
	dir := t.TempDir()
	if _, err := Git(dir); !errors.Is(err, ErrNotGit) {
		t.Errorf("a plain directory: %v", err)
	}
	if _, err := Git(filepath.Join(dir, "gone")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	path := filepath.Join(dir, "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Git(path); err == nil {
		t.Error("a file is taken for a directory")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	run(t, dir, "init", "--quiet", "--bare", "bare.git")
	if _, err := Git(filepath.Join(dir, "bare.git")); !errors.Is(err, ErrNotGit) {
		t.Errorf("a bare repository: %v", err)
	}
}

// FuzzGit: whatever stands in the files of a repository, the answer is an object id, nothing, or an error.
func FuzzGit(f *testing.F) {
	f.Add("ref: refs/heads/main\n", id+"\n", "")
	f.Add("ref: refs/heads/main\n", "ref: refs/heads/main", "# pack-refs with: peeled fully-peeled sorted \n"+id+" refs/heads/main\n^"+id+"\n")
	f.Add(id, "", "")
	f.Fuzz(func(t *testing.T, head, branch, packed string) {
		got, err := Git(files(t, map[string]string{".git/HEAD": head, ".git/refs/heads/main": branch, ".git/packed-refs": packed}))
		if (err == nil) == (got == nil) {
			t.Fatalf("%+v, %v", got, err)
		}
		if got != nil && got.Revision != "" && len(got.Revision) != 40 && len(got.Revision) != 64 {
			t.Errorf("revision %q", got.Revision)
		}
	})
}

// What validRef takes stays below refs; git is asked about the rest.
func TestValidRef(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git on this machine")
	}
	for _, name := range []string{
		"refs/heads/main", "refs/heads/a/b", "refs/heads/ä", "refs/heads/a..b", "refs/heads/.a", "refs/heads/a.", "refs/heads/a.lock",
		"refs/heads/a.lock/b", "refs/heads//a", "refs/heads/a/", "refs/heads/a b", "refs/heads/a~", "refs/heads/a^", "refs/heads/a:",
		"refs/heads/a?", "refs/heads/a*", "refs/heads/a[", `refs/heads/a\b`, "refs/heads/a@{b", "refs/heads/@", "refs/heads/a\x01",
		"refs/heads/a\x7f", "refs/", "refs/../x", "refs/heads/-a", "refs/heads/a./b",
	} {
		cmd := exec.CommandContext(t.Context(), "git", "check-ref-format", name)
		if want := cmd.Run() == nil; validRef(name) != want {
			t.Errorf("%q is valid: %v, git says %v", name, !want, want)
		}
	}
	for _, name := range []string{"", "HEAD", "heads/main", "/etc/passwd", "../x", "refs"} {
		if validRef(name) {
			t.Errorf("%q is valid", name)
		}
	}
}
