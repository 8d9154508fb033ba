package format_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/sessiontest"
)

// What is read of random sessions is what their generator wrote, and written again they are the same bytes (promise P3).
func TestRandomSessions(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 7))
		for i, f := range sessiontest.Random(r, sessiontest.All(r)).Files {
			t.Run(fmt.Sprintf("seed %d file %d", seed, i), func(t *testing.T) { checkTruth(t, f) })
		}
		if t.Failed() {
			return
		}
	}
}

func checkTruth(t *testing.T, f sessiontest.File) {
	s, err := format.ReadSession(bytes.NewReader(f.Data))
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if _, err := s.WriteTo(&again); err != nil || !bytes.Equal(again.Bytes(), f.Data) {
		t.Errorf("written again the file differs (%v)", err)
	}
	type facts struct {
		Entries    int
		Leaf, Name string
		Roots      int
		States     map[string]string
	}
	truth := f.Truth
	want := facts{
		Entries: truth.Entries, Leaf: truth.Leaf, Name: truth.Name, Roots: truth.Roots, States: truth.States,
	}
	got := facts{
		Entries: s.Len(), Leaf: s.Leaf(), Name: s.Name(), Roots: len(s.Roots()), States: map[string]string{},
	}
	calls, err := s.Calls(s.Leaf())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		got.States[c.ID()] = c.State.String()
	}
	if len(want.States) == 0 {
		want.States = map[string]string{}
	}
	for _, leaf := range truth.Leaves { // an entry below which only a leaf mark hangs is one here as well
		if !slices.Contains(s.Leaves(), leaf) {
			t.Errorf("%s is not among the leaves", leaf)
		}
	}
	// A run that ends says why: what its segment gives, unless the writer knew better.
	for _, leaf := range s.Leaves() {
		runs, err := s.Runs(leaf)
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range runs {
			if run.End == nil {
				continue
			}
			if reason := run.End.Reason; reason != format.ReasonError && reason != format.ReasonInterrupted && reason != run.ComputeReason() {
				t.Errorf("run %s ends %q, its segment says %q", run.ID(), reason, run.ComputeReason())
			}
			pending, written := slices.Sorted(slices.Values(run.Pending())), slices.Sorted(slices.Values(run.End.Pending))
			if !slices.Equal(pending, written) {
				t.Errorf("run %s leaves %v pending, its end says %v", run.ID(), pending, written)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}
