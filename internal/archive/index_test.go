package archive_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/archive"
	"github.com/sessionspan/sessionspan/internal/projection"
)

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
	ix := archive.NewIndex(t.Context(), []string{grandchild, other, child, fork, root, copied, lone, ring, ring2}, nil, archive.Options{}.Source)

	var got []string
	for _, group := range ix.Traces() {
		var ids []string
		for _, f := range group {
			ids = append(ids, f.Session.ID+" "+filepath.Base(f.Path))
		}
		got = append(got, strings.Join(ids, ", "))
	}
	want := []string{"root 5.jsonl, root 6.jsonl, grandchild 1.jsonl, child 3.jsonl", "other 2.jsonl", "fork 4.jsonl", "lone 7.jsonl", "ring 8.jsonl", "ring2 9.jsonl"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]archive.Copied{{ID: "root", Paths: []string{root, copied}}}, ix.Copies()); diff != "" {
		t.Errorf("copies (-want +got):\n%s", diff)
	}
	for id, want := range map[string]string{
		"child": "grandchild child", "root": "grandchild child root root", "ring": "ring ring2", "elsewhere": "lone", "nobody": "",
	} {
		var got []string
		below := ix.Below(id)
		for _, f := range ix.Files {
			if below(f) {
				got = append(got, f.Session.ID)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("below %s are %q, want %q", id, got, want)
		}
	}
}

// chain says who spawned whom, one step at a time, as headers do.
type chain map[string]string

func (c chain) Ancestor(id string) (parent string, known bool) {
	parent, known = c[id]
	return parent, known
}

// The index answers in one step what following the headers answers in many, for every kind of family there is.
func TestIndexFindsTheRootsThatHeadersLeadTo(t *testing.T) {
	families := chain{
		"a0": "", "a1": "a0", "a2": "a1", "a3": "a2", // a chain
		"b1": "b0", "b2": "b1", "b3": "b1", // whose top is not among the files
		"c1": "c3", "c2": "c1", "c3": "c2", // a circle
		"d1": "c2", "d2": "d1", // below it
		"e1": "e1", // its own parent
	}
	var paths []string
	for id, parent := range families {
		call := ""
		if parent != "" {
			call = "call"
		}
		paths = append(paths, header(t, id+".jsonl", id, parent, call))
	}
	ix := archive.NewIndex(t.Context(), paths, nil, archive.Options{}.Source)
	if len(ix.Files) != len(families) {
		t.Fatal(ix.Bad)
	}
	for _, f := range ix.Files {
		want, ring := projection.RootOf(f.Session.ID, f.Session.Spawn, families)
		if got, gotRing := projection.RootOf(f.Session.ID, f.Session.Spawn, ix); got != want || gotRing != ring || f.Root != want {
			t.Errorf("%s: the root is %s (circle %t), in the index %s; want %s (%t)", f.Session.ID, got, gotRing, f.Root, want, ring)
		}
	}
	for id := range families {
		want, _ := projection.RootOf("elsewhere", &activity.Spawn{Session: id}, families)
		if got, _ := projection.RootOf("elsewhere", &activity.Spawn{Session: id}, ix); got != want {
			t.Errorf("a session that %s spawned: the root is %s, want %s", id, got, want)
		}
	}
}

// BenchmarkIndex is of sessions each of which spawned the next, and of one session that has many copies.
func BenchmarkIndex(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		dir := b.TempDir()
		var chain, ring, copies []string
		write := func(name, id, parent string) string {
			path := filepath.Join(dir, name)
			line := `{"type":"session","format":"agentsession/0.2","id":"` + id + `","created_at":"2026-01-01T00:00:00Z","payload":"p/1"`
			if parent != "" {
				line += `,"parent_session":"` + parent + `","spawned_by":"c"`
			}
			if err := os.WriteFile(path, []byte(line+"}\n"), 0o600); err != nil {
				b.Fatal(err)
			}
			return path
		}
		for i := range n {
			parent := ""
			if i > 0 {
				parent = fmt.Sprint(i - 1)
			}
			chain = append(chain, write(fmt.Sprint("chain", i), fmt.Sprint(i), parent))
			ring = append(ring, write(fmt.Sprint("ring", i), fmt.Sprint(i), fmt.Sprint((i+n-1)%n)))
			copies = append(copies, write(fmt.Sprint("copy", i), "s", ""))
		}
		for name, paths := range map[string][]string{"chain": chain, "ring": ring, "copies": copies} {
			b.Run(fmt.Sprintf("%s=%d", name, n), func(b *testing.B) {
				for b.Loop() {
					ix := archive.NewIndex(b.Context(), paths, nil, archive.Options{}.Source)
					ix.Traces()
					ix.Copies()
					for _, f := range ix.Files {
						projection.RootOf(f.Session.ID, f.Session.Spawn, ix)
					}
					below := ix.Below("0")
					for _, f := range ix.Files {
						below(f)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/file")
			})
		}
	}
}
