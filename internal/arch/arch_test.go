package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	module = "github.com/sessionspan/sessionspan"
	root   = "../.."
)

// rule is a row of the table of packages in CONTRIBUTING.md.
type rule struct {
	pkg    string   // relative to the module
	ours   []string // relative to the module
	others []string // packages or modules, which cover what is below them
}

func TestImports(t *testing.T) {
	rules, packages := readRules(t), listPackages(t)
	var above []string
	for _, r := range rules {
		t.Run(r.pkg, func(t *testing.T) {
			for _, own := range r.ours {
				if !slices.Contains(above, own) {
					t.Errorf("the table lets it import %s, which does not stand above it", own)
				}
			}
			p, ok := packages[module+"/"+r.pkg]
			if !ok {
				t.Fatal("there is no such package")
			}
			for _, path := range p.Imports {
				own, isOwn := strings.CutPrefix(path, module+"/")
				switch {
				case packages[path].Standard, path == "C":
				case isOwn && slices.Contains(r.ours, own):
				case !isOwn && slices.ContainsFunc(r.others, func(other string) bool { return within(path, other) }):
				default:
					t.Errorf("it imports %s, which the table does not have", path)
				}
			}
		})
		above = append(above, r.pkg)
	}
	for path := range packages {
		if own, ok := strings.CutPrefix(path, module+"/"); ok && !slices.Contains(above, own) {
			t.Errorf("package %s has no row in the table of CONTRIBUTING.md", own)
		}
	}
}

// What a package reaches through others counts as well.
func TestReach(t *testing.T) {
	packages := listPackages(t)
	for _, tc := range []struct {
		name    string
		from    string // a package of ours and what is below it; "" for all
		allowed func(path string) bool
	}{
		{
			name: "format knows no telemetry",
			from: "format",
			allowed: func(path string) bool {
				return !within(path, "go.opentelemetry.io") && !within(path, module+"/internal/projection")
			},
		},
		{
			name:    "activity stands on the standard library alone",
			from:    "internal/activity",
			allowed: func(path string) bool { return packages[path].Standard },
		},
		{
			name: "the projection stands on the API of OpenTelemetry, not on an SDK",
			from: "internal/projection",
			allowed: func(path string) bool {
				return !within(path, "go.opentelemetry.io/otel/sdk") && !within(path, "google.golang.org")
			},
		},
		{
			name:    "nothing reaches the Collector",
			allowed: func(path string) bool { return !within(path, "go.opentelemetry.io/collector") },
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			found := false
			for from := range packages {
				if !within(from, strings.TrimSuffix(module+"/"+tc.from, "/")) {
					continue
				}
				found = true
				for path, by := range reach(packages, from) {
					if !tc.allowed(path) {
						t.Errorf("%s reaches %s, imported by %s", from, path, by)
					}
				}
			}
			if !found {
				t.Errorf("there is no package %s", tc.from)
			}
		})
	}
}

func TestDependencies(t *testing.T) {
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(goCommand(t, "mod", "edit", "-json"), &mod); err != nil {
		t.Fatal(err)
	}
	var rows, required []string
	for _, cells := range table(t, "| module | licence | why |") {
		if cells[1] == "" || cells[2] == "" {
			t.Errorf("the row of %s says too little", cells[0])
		}
		rows = append(rows, quoted(cells[0])...)
	}
	for _, r := range mod.Require {
		if within(r.Path, "go.opentelemetry.io/collector") {
			t.Errorf("go.mod requires %s", r.Path)
		}
		required = append(required, r.Path)
		if !r.Indirect && !slices.Contains(rows, r.Path) {
			t.Errorf("go.mod requires %s, which has no row in CONTRIBUTING.md", r.Path)
		}
	}
	for _, path := range rows {
		if !slices.Contains(required, path) {
			t.Errorf("CONTRIBUTING.md gives a reason for %s, which go.mod does not require", path)
		}
	}
}

// pkg is what go list says of a package.
type pkg struct {
	ImportPath string
	Standard   bool
	Imports    []string
}

// listPackages returns the packages of the root module and all that they reach, by import path.
func listPackages(t *testing.T) map[string]pkg {
	t.Helper()
	readFolders(t)
	d := json.NewDecoder(bytes.NewReader(goCommand(t, "list", "-deps", "-json=ImportPath,Standard,Imports", "./...")))
	packages := make(map[string]pkg)
	for {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
}

// readFolders reads the folders of Go files, so that the go command, which does not see what go list reads, knows when a
// cached result of these tests is stale.
func readFolders(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// reach returns what a package reaches without going through the standard library, each with one that imports it.
func reach(packages map[string]pkg, from string) map[string]string {
	by := map[string]string{from: from}
	for queue := []string{from}; len(queue) > 0; {
		at := queue[0]
		queue = queue[1:]
		if packages[at].Standard {
			continue
		}
		for _, path := range packages[at].Imports {
			if _, seen := by[path]; !seen {
				by[path] = at
				queue = append(queue, path)
			}
		}
	}
	delete(by, from)
	return by
}

func goCommand(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return out
}

func readRules(t *testing.T) []rule {
	t.Helper()
	var rules []rule
	for _, cells := range table(t, "| package | its one job | may import of ours | may import of others |") {
		name := quoted(cells[0])
		if len(name) != 1 {
			t.Fatalf("%q is not one package", cells[0])
		}
		rules = append(rules, rule{pkg: name[0], ours: quoted(cells[2]), others: quoted(cells[3])})
	}
	return rules
}

// table returns the cells of the table of CONTRIBUTING.md that has this head.
func table(t *testing.T, head string) [][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), head+"\n")
	if !ok {
		t.Fatalf("CONTRIBUTING.md has no table with the head %s", head)
	}
	var rows [][]string
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != strings.Count(head, "|")-1 {
			t.Fatalf("%d cells in the row %s", len(cells), line)
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	if len(rows) < 2 {
		t.Fatalf("the table with the head %s is empty", head)
	}
	return rows[1:] // the first is the line under the head
}

var code = regexp.MustCompile("`([^`]+)`")

// quoted returns what stands in backquotes.
func quoted(cell string) []string {
	var out []string
	for _, m := range code.FindAllStringSubmatch(cell, -1) {
		out = append(out, m[1])
	}
	return out
}

// within reports whether path is base or below it.
func within(path, base string) bool {
	return path == base || strings.HasPrefix(path, base+"/")
}
