package format

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// runText sums a run up: its id, the entries of its segment, the reason computed, its calls, and those pending.
func runText(r *Run) string {
	var calls []string
	for _, c := range r.Calls() {
		calls = append(calls, c.ID()+":"+c.State.String())
	}
	cut := ""
	if r.End == nil {
		cut = " cut"
	}
	return fmt.Sprintf("%s%s %s-%s %s %v %v", r.ID(), cut, r.Segment[0].Base().ID, r.Segment[len(r.Segment)-1].Base().ID,
		r.ComputeReason(), calls, r.Pending())
}

func TestRuns(t *testing.T) {
	user, assistant := message("user"), []string{"item", `"item":{"type":"message","role":"assistant"}`, `"response":"r1"`}
	tests := []struct {
		name   string
		minors string // for which the answer is the same
		path   [][]string
		want   []string
	}{
		{"none", "2 3 9", [][]string{user, response("r1")}, nil},
		{"done", "2 3 9", [][]string{start("a"), user, assistant, response("r1"), end("a")}, []string{"a e1-e5 done [] []"}},
		{
			"what stands outside belongs to none", "2 3 9",
			[][]string{user, start("a"), response("r1"), end("a"), call("c1", "r2"), start("b"), response("r3"), end("b")},
			[]string{"a e2-e4 done [] []", "b e6-e8 done [] []"},
		},
		{"cut off at the end of the path", "2 3 9", [][]string{start("a"), user, response("r1")}, []string{"a cut e1-e3 done [] []"}},
		{"cut off by the next run", "2 3 9", [][]string{start("a"), user, start("b"), response("r1"), end("b")}, []string{"a cut e1-e2 aborted [] []", "b e3-e5 done [] []"}},
		{"an end of another run closes nothing", "2 3 9", [][]string{start("a"), end("b"), response("r1"), end("a"), end("a")}, []string{"a e1-e4 done [] []"}},
		{"an end without a start", "2 3 9", [][]string{end("a"), user}, nil},
		{"the same id twice", "2 3 9", [][]string{start("a"), response("r1"), end("a"), start("a"), end("a")}, []string{"a e1-e3 done [] []", "a e4-e5 aborted [] []"}},
		{"error", "2 3 9", [][]string{start("a"), call("c1", "r1"), response("r1", `"error":{"code":"x"}`), end("a")}, []string{"a e1-e4 error [c1:unknown] [c1]"}},
		{"an error that was retried", "2 3 9", [][]string{start("a"), response("r1", `"error":{"code":"x"}`), response("r2"), end("a")}, []string{"a e1-e4 done [] []"}},
		{"incomplete", "2 3 9", [][]string{start("a"), response("r1", `"incomplete":{"reason":"max_output_tokens"}`), end("a")}, []string{"a e1-e3 aborted [] []"}},
		{"no response", "2 3 9", [][]string{start("a"), user, end("a")}, []string{"a e1-e3 aborted [] []"}},
		{
			"input required", "2 3 9",
			[][]string{start("a"), call("c1", "r1"), response("r1"), decide("hold", "c1", "e2"), end("a")},
			[]string{"a e1-e5 input_required [c1:held] [c1]"},
		},
		{
			"one held, another in flight", "2 3 9",
			[][]string{start("a"), call("c1", "r1"), call("c2", "r1"), response("r1"), decide("hold", "c1", "e2"), dispatch("c2", "e3"), end("a")},
			[]string{"a e1-e7 aborted [c1:held c2:in_flight] [c1 c2]"},
		},
		{
			"one held, another not yet begun", "2 3 9",
			[][]string{start("a"), call("c1", "r1"), call("c2", "r1"), response("r1"), decide("hold", "c1", "e2"), end("a")},
			[]string{"a e1-e6 input_required [c1:held c2:unknown] [c1 c2]"},
		},
		{
			"held after a dispatch", "8 9",
			[][]string{start("a"), call("c1", "r1"), response("r1"), dispatch("c1", "e2"), decide("hold", "c1", "e2"), end("a")},
			[]string{"a e1-e6 input_required [c1:held] [c1]"},
		},
		{
			"held after a dispatch, before minor 8", "2 3 7",
			[][]string{start("a"), call("c1", "r1"), response("r1"), dispatch("c1", "e2"), decide("hold", "c1", "e2"), end("a")},
			[]string{"a e1-e6 aborted [c1:in_flight] [c1]"},
		},
		{"a call pending", "2 3 9", [][]string{start("a"), call("c1", "r1"), response("r1"), end("a")}, []string{"a e1-e4 aborted [c1:unknown] [c1]"}},
		{"stopped", "2 3 9", [][]string{start("a"), call("c1", "r1"), response("r1"), output("c1"), end("a")}, []string{"a e1-e5 stopped [c1:completed] []"}},
		{"done after a call", "2 3 9", [][]string{start("a"), call("c1", "r1"), response("r1"), output("c1"), response("r2"), end("a")}, []string{"a e1-e6 done [c1:completed] []"}},
		{"a response without an id has no calls", "2 3 9", [][]string{start("a"), call("c1", ""), response(""), output("c1"), end("a")}, []string{"a e1-e5 done [c1:completed] []"}},
		{
			"calls as they stood at the end", "9",
			[][]string{start("a"), call("c1", "r1"), response("r1"), end("a"), dispatch("c1", "e2"), output("c1")},
			[]string{"a e1-e4 aborted [c1:unknown] [c1]"},
		},

		{
			"a refusal on resume, in minor 2", "2",
			[][]string{start("a"), call("c1", "r1"), response("r1"), end("a"), start("b"), decide("reject", "c1", "e2"), output("c1"), end("b")},
			[]string{"a e1-e4 aborted [c1:unknown] [c1]", "b e5-e8 aborted [] []"},
		},
		{
			"a refusal on resume, from minor 3 on", "3 8",
			[][]string{start("a"), call("c1", "r1"), response("r1"), end("a"), start("b"), decide("reject", "c1", "e2"), output("c1"), end("b")},
			[]string{"a e1-e4 aborted [c1:unknown] [c1]", "b e5-e8 stopped [] []"},
		},
		{
			"a refusal on resume, from minor 9 on", "9 11",
			[][]string{start("a"), call("c1", "r1"), response("r1"), end("a"), start("b"), decide("reject", "c1", "e2"), output("c1"), end("b")},
			[]string{"a e1-e4 aborted [c1:unknown] [c1]", "b e5-e8 stopped [c1:completed] []"},
		},
		{
			"taken up and held again, from minor 9 on", "9",
			[][]string{start("a"), call("c1", "r1"), response("r1"), end("a"), start("b"), decide("hold", "c1", "e2"), end("b")},
			[]string{"a e1-e4 aborted [c1:unknown] [c1]", "b e5-e7 input_required [c1:held] [c1]"},
		},
		{
			"taken up and held again, before minor 9", "3 8",
			[][]string{start("a"), call("c1", "r1"), response("r1"), end("a"), start("b"), decide("hold", "c1", "e2"), end("b")},
			[]string{"a e1-e4 aborted [c1:unknown] [c1]", "b e5-e7 aborted [] []"},
		},
		{
			"taken up in another order than made", "9",
			[][]string{call("c1", "r1"), call("c2", "r1"), start("b"), output("c2"), output("c1"), end("b")},
			[]string{"b e3-e6 aborted [c1:completed c2:completed] []"},
		},
		{
			"not stopped while a call elsewhere on the path is pending", "3 9",
			[][]string{call("c1", "r1"), call("c2", "r1"), response("r1"), start("b"), output("c1"), end("b")},
			[]string{"b e4-e6 aborted"},
		},
		{"not stopped when nothing was answered", "3 9", [][]string{call("c1", "r1"), response("r1"), output("c1"), start("b"), user, end("b")}, []string{"b e4-e6 aborted [] []"}},
		{"the response of a call made before the run, in minor 2", "2", [][]string{call("c1", "r1"), start("b"), response("r1"), output("c1"), end("b")}, []string{"b e2-e5 done [] []"}},
		{"the response of a call made before the run", "3", [][]string{call("c1", "r1"), start("b"), response("r1"), output("c1"), end("b")}, []string{"b e2-e5 stopped [] []"}},
		{
			"a call id used again", "2 3 9",
			[][]string{start("a"), call("c1", "r1"), response("r1"), output("c1"), end("a"), start("b"), call("c1", "r2"), response("r2"), end("b")},
			[]string{"a e1-e5 stopped [c1:completed] []", "b e6-e9 aborted [c1:unknown] [c1]"},
		},
	}
	for _, test := range tests {
		for _, minor := range strings.Fields(test.minors) {
			t.Run(test.name+"/0."+minor, func(t *testing.T) {
				s := session(t, headerOf(minor), test.path...)
				runs, err := s.Runs(s.Leaf())
				if err != nil {
					t.Fatal(err)
				}
				if len(runs) != len(test.want) {
					t.Fatalf("%d runs, want %d", len(runs), len(test.want))
				}
				for i, r := range runs {
					if got := runText(r); !strings.HasPrefix(got, test.want[i]) {
						t.Errorf("got %q, want %q", got, test.want[i])
					}
				}
			})
		}
	}
}

// A path of many runs is divided in one pass: were each run a pass over the path before it, this would take minutes.
func TestManyRuns(t *testing.T) {
	const runs = 10_000
	var path []Entry
	for i := range runs {
		id := fmt.Sprint("r", i)
		for _, line := range chain(start(id), call("c"+id, id), response(id), output("c"+id), end(id)) {
			e, err := DecodeEntry([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			e.Base().ID = fmt.Sprint(id, "-", len(path))
			path = append(path, e)
		}
	}
	h := &Header{Format: "agentsession/0.9"}
	begin := time.Now()
	got := Runs(path, h)
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	reasons := map[string]int{}
	for _, r := range got {
		reasons[r.ComputeReason()]++
	}
	if diff := cmp.Diff(map[string]int{ReasonStopped: runs}, reasons); diff != "" {
		t.Error(diff)
	}
}
