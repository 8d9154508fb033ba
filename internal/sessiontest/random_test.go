package sessiontest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// verify reads and checks every file of a case and compares it with its truth.
func verify(t *testing.T, c *Case) {
	t.Helper()
	bySession := map[string]*session{}
	for _, f := range c.Files {
		s, err := read(f.Data)
		if err != nil {
			t.Fatalf("session %s: %v", f.SessionID, err)
		}
		for _, p := range s.check() {
			t.Errorf("session %s: %s", f.SessionID, p)
		}
		h := s.header
		got := [3]string{str(h["id"]), str(h["parent_session"]), str(h["spawned_by"])}
		if want := [3]string{f.SessionID, f.ParentSession, f.SpawnedBy}; got != want {
			t.Errorf("header says %v, want %v", got, want)
		}
		opts := cmp.Options{
			cmpopts.EquateEmpty(),
			cmpopts.IgnoreFields(CallTruth{}, "Background"),
		}
		if d := cmp.Diff(s.recount(), f.Truth, opts); d != "" {
			t.Errorf("session %s: truth differs from a recount (-recount +truth):\n%s", f.SessionID, d)
		}
		bySession[f.SessionID] = s
	}
	for _, f := range c.Files[1:] {
		parent := bySession[f.ParentSession]
		if parent == nil {
			t.Fatalf("session %s comes before its parent, or there is none", f.SessionID)
		}
		if f.SessionID != derived(f.ParentSession, f.SpawnedBy) {
			t.Errorf("session %s is not that of call %s", f.SessionID, f.SpawnedBy)
		}
	}
	for _, f := range c.Files {
		for _, id := range f.Truth.Links {
			if bySession[id] == nil && !f.Truth.endsInLink(id) {
				t.Errorf("session %s links to %s, which is not there", f.SessionID, id)
			}
		}
	}
}

// endsInLink says that the session of a link was never started, since its call was not.
func (t Truth) endsInLink(session string) bool {
	return slices.ContainsFunc(t.Calls, func(c CallTruth) bool { return c.Session == session && c.HandOffs == 0 })
}

// seeds is the number of cases that a test looks at.
func seeds() uint64 {
	if testing.Short() {
		return 100
	}
	return 150
}

func TestRandomIsValid(t *testing.T) {
	for seed := range seeds() {
		r := seeded(seed)
		o := All(r)
		c := Random(r, o)
		if verify(t, c); t.Failed() {
			t.Fatalf("seed %d, options %+v", seed, o)
		}
	}
}

func TestEachOptionIsValid(t *testing.T) {
	for name, o := range map[string]Options{
		"plain":       {},
		"records":     {Records: true},
		"no runs":     {NoRuns: true, Records: true, Interrupted: true, Decisions: true},
		"decisions":   {Records: true, Decisions: true},
		"retries":     {Records: true, Retries: true},
		"interrupted": {Records: true, Interrupted: true},
		"branches":    {Records: true, Branches: true, Hashes: true},
		"alternating": {Records: true, Alternating: true},
		"marks":       {LeafMarks: true},
		"compactions": {Compactions: true, Hashes: true},
		"subsessions": {Records: true, Subsessions: 3, Retries: true},
		"extensions":  {Extensions: true, Asides: true, Hashes: true},
		"spellings":   {Spellings: true, Hashes: true},
		"times":       {Silences: true, ClockSteps: true},
		"one entry":   {Entries: 1, Interrupted: true},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				verify(t, Random(seeded(seed), o))
			}
		})
	}
}

func TestRandomIsDeterministic(t *testing.T) {
	for seed := range uint64(40) {
		a, b := seeded(seed), seeded(seed)
		if !reflect.DeepEqual(Random(a, All(a)), Random(b, All(b))) {
			t.Fatalf("seed %d gives two cases", seed)
		}
	}
	if a, b := Random(seeded(1), Options{}), Random(seeded(2), Options{}); bytes.Equal(a.Files[0].Data, b.Files[0].Data) {
		t.Error("two seeds give the same session")
	}
}

// Everything that the options promise does happen, within a reasonable number of seeds.
func TestRandomIsVaried(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(300) {
		r := seeded(seed)
		c := Random(r, All(r))
		seen["subsession"] += len(c.Files) - 1
		for _, f := range c.Files {
			tr := f.Truth
			for typ, n := range tr.ByType {
				seen[typ] += n
			}
			for _, x := range tr.RunTruths {
				seen["run "+x.Source]++
				seen["left or cut off"] += count(len(x.Ends) == 0)
				seen["ended twice"] += count(len(x.Ends) > 1)
				for _, e := range x.Ends {
					seen["end "+e.Reason]++
				}
			}
			for _, x := range tr.Calls {
				seen["rejected"] += count(x.Rejected)
				seen["call answered"] += count(x.Answered)
				seen["rewritten"] += count(x.ArgsRewritten)
				seen["held, then completed"] += count(x.Holds > 0 && x.Completed)
				seen["handed off again"] += count(x.HandOffs > 2)
				seen["two outputs"] += count(x.Outputs > 1)
				seen["background"] += count(x.Background)
			}
			for _, state := range tr.States {
				seen[state]++
			}
			seen["hash"] += tr.Hashes
			seen["failed"] += tr.Failed
			seen["incomplete"] += tr.Incomplete
			seen["other usage"] += tr.OtherCalls
			seen["taken"] += tr.Taken
			seen["merges"] += tr.Merges
			seen["roots"] += tr.Roots - 1
			seen["leaves"] += len(tr.Leaves) - 1
			s, err := read(f.Data)
			if err != nil {
				t.Fatal(err)
			}
			seen[fmt.Sprint("minor ", s.minor)]++
			for _, l := range s.lines {
				for _, name := range []string{"attempts", "omit", "pinned", "instructions_parts", "instructions_omitted", "trigger", "source", "idempotency_key"} {
					seen["member "+name] += count(l.m[name] != nil)
				}
				for _, p := range arr(l.m["instructions_parts"]) {
					seen["kept part"] += count(obj(p)["keep"] != nil)
					seen["part by hash"] += count(obj(p)["hash"] != nil)
				}
				seen["judged"] += count(l.m["rel"] == "judged_by")
				seen["omitted items"] += len(arr(obj(l.m["omit"])["items"]))
			}
			last := s.lines[len(s.lines)-1]
			seen["marked leaf"] += count(last.id != tr.Leaf && !isMark(last))
			seen["grandchild"] += count(f.ParentSession != "" && f.ParentSession != c.Files[0].SessionID)
		}
	}
	for _, want := range []string{
		"item", "response", "config", "compaction", "branch_summary", "run", "dispatch", "decision", "label", "info", "env",
		"outcome", "link", "custom", "acme:checkpoint", "acme:progress", "subsession", "grandchild", "background",
		"run input", "run resume", "end done", "end stopped", "end interrupted", "end input_required", "end aborted", "end error",
		"left or cut off", "ended twice", "rejected", "rewritten", "held, then completed", "handed off again", "two outputs",
		"completed", "held", "in_flight", "never_started", "unknown", "hash", "failed", "incomplete", "other usage",
		"roots", "leaves", "marked leaf", "minor 2", "minor 4", "minor 11", "queued", "taken", "merges", "call answered", "judged",
		"member attempts", "member omit", "member pinned", "member instructions_parts", "member instructions_omitted",
		"member trigger", "member source", "member idempotency_key", "kept part", "part by hash", "omitted items",
	} {
		if seen[want] < 10 {
			t.Errorf("%s: seen %d times", want, seen[want])
		}
	}
	t.Logf("%v", seen)
}

func TestAllReachesEveryOption(t *testing.T) {
	var mask [2]int
	for seed := range uint64(50) {
		o := All(seeded(seed))
		for i, b := range []bool{
			o.Records, o.NoRuns, o.Decisions, o.Retries, o.Interrupted, o.Branches, o.Alternating, o.LeafMarks,
			o.Compactions, o.Silences, o.ClockSteps, o.Asides, o.Extensions, o.Hashes, o.Spellings, o.Subsessions > 0,
		} {
			mask[count(b)] |= 1 << i
		}
	}
	if mask != [2]int{1<<16 - 1, 1<<16 - 1} {
		t.Errorf("off %b, on %b", mask[0], mask[1])
	}
}

// The checker itself finds nothing in the files of the format's own repository, request hashes included, and does find
// what is wrong in a damaged one.
func TestCheckerAgreesWithFixtures(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "fixtures", "agentsession")
	for _, name := range []string{"0.1/basic", "0.1/compaction", "0.2/runs"} {
		data, err := os.ReadFile(filepath.Join(dir, name+".jsonl"))
		if err != nil {
			t.Skipf("the third-party fixtures are not beside the repository: %v", err)
		}
		s, err := read(data)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, p := range s.check() {
			t.Errorf("%s: %s", name, p)
		}
	}
}

func TestCheckerFindsMistakes(t *testing.T) {
	good := string(Random(seeded(7), Options{Records: true, Hashes: true, Entries: 60}).Files[0].Data)
	for name, edit := range map[string][2]string{
		"reason":       {`"reason":"done"`, `"reason":"aborted"`},
		"pending":      {`"pending":[]`, `"pending":["call_1_0"]`},
		"hash":         {`"request_hash":"sha256:`, `"request_hash":"sha256:0`},
		"dispatch":     {`"type":"dispatch"`, `"type":"acme:dispatch"`},
		"target":       {`"target":"`, `"target":"x`},
		"time":         {`"ts":"2026`, `"ts":"26`},
		"instructions": {`"instructions":"`, `"instructions":"x`},
		"usage":        {`"total_tokens":`, `"total_tokens":1`},
	} {
		t.Run(name, func(t *testing.T) {
			bad := bytes.Replace([]byte(good), []byte(edit[0]), []byte(edit[1]), 1)
			if string(bad) == good {
				t.Fatal("nothing to damage")
			}
			s, err := read(bad)
			if err == nil && len(s.check()) == 0 {
				t.Error("not found")
			}
		})
	}
	later := string(Random(seeded(3), Options{Minor: 11, Records: true, Hashes: true, Branches: true, Entries: 300}).Files[0].Data)
	for name, edit := range map[string][2]string{
		"content":         {`"role":"user"`, `"role":"system"`},
		"spelling":        {`{"content":[{`, `{"content": [{`},
		"queued from":     {`"queued_from":"sha256:`, `"queued_from":"sha256:0`},
		"merged":          {`"parents":[{"entry":"sha256:`, `"parents":[{"entry":"sha256:0`},
		"instructions of": {`"instructions_parts":[{"id":"part-`, `"instructions_parts":[{"id":"part-x`},
	} {
		t.Run(name, func(t *testing.T) {
			bad := bytes.Replace([]byte(later), []byte(edit[0]), []byte(edit[1]), 1)
			if string(bad) == later {
				t.Fatal("nothing to damage")
			}
			s, err := read(bad)
			if err == nil && len(s.check()) == 0 {
				t.Error("not found")
			}
		})
	}
	for name, bad := range map[string]string{
		"no line feed": good[:len(good)-1],
		"id twice":     good + good[bytes.LastIndexByte([]byte(good[:len(good)-1]), '\n')+1:],
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := read([]byte(bad)); err == nil {
				t.Error("not found")
			}
		})
	}
}

func TestSubsessionID(t *testing.T) {
	const parent, want = "01995b2a-0000-7000-8000-000000000001", "91d0242a-bd8b-551a-a26c-d3b0d4889b4f"
	if got := subsessionID(parent, "call_1"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := derived(parent, "call_1"); got != want {
		t.Errorf("the checker has %s, want %s", got, want)
	}
}
