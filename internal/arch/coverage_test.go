package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// coveragePackages are those that docs/coverage.md names; the first is the one of names without a package.
var coveragePackages = []string{"format", "format/openresponses", "format/environment", "store"}

// exported lists what packages export, as coverage.md writes it: Name, Type.Member, package.Name, package.Type.Member.
func exported(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for i, dir := range coveragePackages {
		prefix := filepath.Base(dir) + "."
		if i == 0 {
			prefix = ""
		}
		files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", dir, len(files), err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				for _, name := range declared(d) {
					names[prefix+name] = true
				}
			}
		}
	}
	return names
}

// declared lists the names of a declaration, with the fields of structs.
func declared(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		receiver := d.Recv.List[0].Type
		if star, ok := receiver.(*ast.StarExpr); ok {
			receiver = star.X
		}
		if ident, ok := receiver.(*ast.Ident); ok {
			return []string{ident.Name + "." + d.Name.Name}
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				for _, n := range spec.Names {
					names = append(names, n.Name)
				}
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
				if s, ok := spec.Type.(*ast.StructType); ok {
					for _, f := range s.Fields.List {
						for _, n := range f.Names {
							names = append(names, spec.Name.Name+"."+n.Name)
						}
					}
				}
			}
		}
	}
	return names
}

var coverageRow = regexp.MustCompile(`(?m)^\| (.*?) \| (.*?) ?\| (.*) \|$`)

// What docs/coverage.md says is here, is here; and it has every name of the reference's page, where that is at hand.
func TestCoverage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "coverage.md"))
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(page), "## Packages")
	have := exported(t)
	there := map[string]bool{}
	rows := coverageRow.FindAllStringSubmatch(text, -1)
	if len(rows) < 50 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		for _, name := range quoted(row[1]) {
			there[name] = true
		}
		for _, name := range quoted(row[2]) {
			if !have[name] {
				t.Errorf("%s is not here, in the row of %s", name, row[1])
			}
		}
	}
	reference, err := os.ReadFile(filepath.Join(root, "..", "shared", "reference", "agentsession-v0.0.5.txt"))
	if _, missing := err.(*fs.PathError); missing {
		t.Skip("the reference's page is not beside the repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range referenceNames(string(reference)) {
		if !there[name] && !there[name[strings.Index(name, ".")+1:]] {
			t.Errorf("coverage.md does not speak of %s", name)
		}
	}
}

var (
	referenceFunc  = regexp.MustCompile(`(?m)^func (?:\((?:\w+ )?\*?(\w+)\) )?(\w+)\(`)
	referenceType  = regexp.MustCompile(`(?m)^type (\w+) (?:struct|interface|int)`)
	referenceVar   = regexp.MustCompile(`(?m)^(?:var|const) (\w+) `)
	referenceConst = regexp.MustCompile(`(?m)^\t([A-Z]\w+)(?: +| CallState )= `)
)

func referenceNames(page string) (names []string) {
	_, page, _ = strings.Cut(page, "\nConstants\n")
	for _, m := range referenceFunc.FindAllStringSubmatch(page, -1) {
		name := m[2]
		if m[1] != "" && name != "EntryType" && name != "MarshalJSON" && name != "UnmarshalJSON" && name != "Base" {
			name = m[1] + "." + name
		}
		switch m[1] {
		case "MemoryStore", "TruncatedLine", "ListFilter":
			continue // named as a whole
		}
		names = append(names, name)
	}
	for _, re := range []*regexp.Regexp{referenceType, referenceVar, referenceConst} {
		for _, m := range re.FindAllStringSubmatch(page, -1) {
			names = append(names, m[1])
		}
	}
	return names
}
