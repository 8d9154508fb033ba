package jsonl_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/store/jsonl"
)

var kills = flag.Int("kills", 25, "how many writers are killed")

// writerDir, in the environment, makes the test binary a writer.
const writerDir = "SESSIONSPAN_TEST_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerDir); dir != "" {
		if err := writeForEver(dir, os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// writeForEver appends to session s by several goroutines, each on a branch of its own, and says on standard output which entries
// were acknowledged, with their parents.
func writeForEver(dir, name string) error {
	for i, policy := range policies {
		if policy.String() != name {
			continue
		}
		s, err := jsonl.Open(dir, jsonl.WithSync(policies[i]))
		if err != nil {
			return err
		}
		if _, err := s.Open(context.Background(), "s"); err != nil {
			return err
		}
		fmt.Println("ready")
		var out sync.Mutex
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				parent := ""
				for n := 0; err == nil; n++ {
					e := format.NewExtension("acme:note", nil)
					e.Parent = parent
					e.Unknown.Set("text", []byte(`"`+strings.Repeat("x", 1+(n*w*37)%3000)+`"`))
					id, appendErr := s.Append(context.Background(), "s", e)
					if appendErr != nil {
						fmt.Fprintln(os.Stderr, appendErr)
						os.Exit(1)
					}
					out.Lock()
					fmt.Println(id, e.Parent)
					out.Unlock()
					parent = id
				}
			})
		}
		wg.Wait()
	}
	return fmt.Errorf("no policy %q", name)
}

var policies = []jsonl.Sync{jsonl.Always, jsonl.OnResponse, jsonl.Group, jsonl.Never}

// A process that is killed at any moment loses nothing that was acknowledged, whatever the policy; no two lines become one; and
// the next one goes on, having taken over the lock and set a torn tail aside.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts many processes")
	}
	r := rand.New(rand.NewPCG(uint64(*kills), 7))
	dir := t.TempDir()
	taken, torn := 0, 0
	s := open(t, dir)
	session, err := s.Create(t.Context(), format.Header{ID: "s", CWD: "/p"})
	must(t, err)
	acked := map[string]string{} // parents by entry; "-" where the leaf was the parent
	for n := range *kills {
		must(t, s.Release("s"))
		if n%50 == 49 { // else it takes longer each time
			must(t, s.Delete(t.Context(), "s"))
			_, err = s.Create(t.Context(), format.Header{ID: "s", CWD: "/p"})
			must(t, err)
			must(t, s.Release("s"))
			acked = map[string]string{}
		}
		for _, line := range killWriter(t, dir, policies[n%len(policies)], time.Duration(r.IntN(40_000))*time.Microsecond) {
			id, parent, _ := strings.Cut(line, " ")
			acked[id] = parent
		}
		s = open(t, dir, jsonl.WithTakeover(func(jsonl.Takeover) { taken++ }), jsonl.WithTornTail(func(one jsonl.TornTail) {
			torn++
			if tail := read(t, one.Aside); strings.Contains(tail, "\n") || int64(len(tail)) != one.Size {
				t.Errorf("set aside were %d bytes in lines: %.200q", len(tail), tail)
			}
		}))
		session, err = s.Open(t.Context(), "s")
		if err != nil {
			t.Fatalf("after kill %d: %v", n, err)
		}
		for id, parent := range acked {
			e, ok := session.Entry(id)
			if !ok || parent != "" && e.Base().Parent != parent {
				t.Fatalf("after kill %d: entry %s, which was acknowledged, is %+v; its parent is to be %q", n, id, e, parent)
			}
		}
	}
	if taken != *kills {
		t.Errorf("%d locks were taken over from %d processes", taken, *kills)
	}
	t.Logf("%d kills, %d entries acknowledged in the last file of %d, %d torn tails", *kills, len(acked), session.Len(), torn)
	if len(acked) == 0 {
		t.Error("nothing was ever acknowledged")
	}
	left, err := filepath.Glob(filepath.Join(dir, "p", ".*"))
	must(t, err)
	if slices.ContainsFunc(left, func(path string) bool { return strings.HasSuffix(path, ".new") }) {
		t.Errorf("left are %v", left)
	}
}

// killWriter starts a writer, kills it that long after it has begun, and returns what it has said was acknowledged.
func killWriter(t *testing.T, dir string, policy jsonl.Sync, after time.Duration) (acked []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], policy.String())
	cmd.Env = append(os.Environ(), writerDir+"="+dir, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewReader(out)
	if first, err := lines.ReadString('\n'); err != nil || first != "ready\n" {
		t.Fatalf("the writer said %q: %v", first, err)
	}
	time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	for {
		line, err := lines.ReadString('\n')
		if err != nil { // what is cut off was not said
			break
		}
		acked = append(acked, strings.TrimSuffix(line, "\n"))
	}
	_, _ = io.Copy(io.Discard, lines)
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() == 1 {
		t.Fatalf("the writer ended by itself: %v", err)
	}
	return acked
}
