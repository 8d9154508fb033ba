package format

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// checkText examines a session and returns its findings as "entry rule", notes with a question mark.
func checkText(t testing.TB, s *Session) []string {
	t.Helper()
	c, err := s.Check(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, f := range c.Findings {
		text := f.Entry + " " + string(f.Rule)
		if f.Note {
			text += "?"
		}
		list = append(list, text)
		if line, ok := s.Line(f.Entry); !ok || line.Number != f.Line || line.Offset != f.Offset {
			t.Errorf("%v: line %d, offset %d", f, line.Number, line.Offset)
		}
	}
	return list
}

func TestCheckRecords(t *testing.T) {
	call1, out1 := call("c1", "r1"), output("c1")
	for _, tt := range []struct {
		name    string
		minors  string // for which the answer is the same
		records string
		path    [][]string
		want    []string
	}{
		{"all is well", "2 3 9 11", "dispatch", [][]string{start("a"), call1, response("r1"), dispatch("c1", "e2"), out1, response("r2"), endAs("a", "done")}, nil},
		{"another reason", "2 3 9 11", "", [][]string{start("a"), response("r1"), endAs("a", "stopped")}, []string{"e3 run_reason"}},
		{"an error that was written stands", "2 3 9 11", "", [][]string{start("a"), response("r1"), endAs("a", "error")}, nil},
		{"interrupted stands", "2 3 9 11", "", [][]string{start("a"), response("r1"), endAs("a", "interrupted")}, nil},
		{"but not what it says is pending", "2 3 9 11", "", [][]string{start("a"), call1, response("r1"), endAs("a", "error")}, []string{"e4 run_reason"}},
		{"pending as a set", "2 3 9 11", "", [][]string{start("a"), call1, call("c2", "r1"), response("r1"), endAs("a", "aborted", "c2", "c1", "c2")}, nil},
		{"pending that is not", "2 3 9 11", "", [][]string{start("a"), response("r1"), endAs("a", "done", "c9")}, []string{"e3 run_reason"}},
		{"a dispatch after a reject", "2 3 8", "", [][]string{call1, response("r1"), decide("reject", "c1", "e1"), dispatch("c1", "e1")}, []string{"e4 rejected"}},
		{"no dispatch where one is promised", "2 3 8 11", "dispatch", [][]string{call1, response("r1"), out1}, []string{"e3 record"}},
		{"no dispatch where none is promised", "2 3 8 11", "", [][]string{call1, response("r1"), out1}, nil},
		{"a rejected call needs none", "2 3 8 11", "dispatch", [][]string{call1, response("r1"), decide("reject", "c1", "e1"), out1}, nil},
		{"a resume that takes up a call", "9 11", "", [][]string{call1, response("r1"), startAs("a", "resume"), dispatch("c1", "e1"), out1, response("r2"), endAs("a", "done")}, nil},
		{"a resume that takes up none", "9 11", "", [][]string{startAs("a", "resume"), call1, response("r1"), dispatch("c1", "e2"), out1, response("r2"), endAs("a", "done")}, []string{"e1 run_source"}},
		{"an empty resume", "9 11", "", [][]string{call1, response("r1"), startAs("a", "resume"), endAs("a", "error")}, nil},
		{"an input that takes one up", "9 11", "", [][]string{call1, response("r1"), start("a"), out1, response("r2"), endAs("a", "done")}, []string{"e3 run_source"}},
		{"a source of earlier minors is not looked at", "2 3 8", "", [][]string{startAs("a", "resume"), response("r1"), endAs("a", "done")}, nil},
		{"a decision after an answer", "8 11", "", [][]string{call1, dispatch("c1", "e1"), decide("answer", "c1", "e1"), decide("hold", "c1", "e1")}, []string{"e4 call_order"}},
		{"a dispatch after the output", "9 11", "", [][]string{call1, out1, dispatch("c1", "e1")}, []string{"e3 call_order"}},
		{"a reject after a dispatch", "9 11", "", [][]string{call1, dispatch("c1", "e1"), decide("reject", "c1", "e1")}, []string{"e3 call_order"}},
		{"a target that holds another call", "9 11", "", [][]string{call1, call("c2", "r1"), dispatch("c1", "e2")}, []string{"e3 call_order"}},
		{"a record of no call", "9 11", "", [][]string{dispatch("c1", "e1")}, []string{"e1 call_order"}},
		{"a record of no call, earlier", "2 3 8", "", [][]string{dispatch("c1", "e1")}, []string{"e1 reference?"}},
		{"a call id twice", "9 11", "", [][]string{call1, call("c1", "r2")}, []string{"e2 call_order"}},
		{"a call id twice, earlier", "2 3 8", "", [][]string{call1, call("c1", "r2")}, nil},
		{"an output of no call", "2 3 8 11", "", [][]string{out1}, []string{"e1 reference?"}},
		{"an end without a start", "2 3 8 11", "", [][]string{endAs("a", "done")}, []string{"e1 reference?"}},
		{"an end twice", "2 3 8 11", "", [][]string{start("a"), response("r1"), endAs("a", "done"), endAs("a", "done")}, []string{"e4 reference?"}},
		{"a run id twice", "2 3 8 11", "", [][]string{start("a"), response("r1"), endAs("a", "done"), start("a"), response("r2"), endAs("a", "done")}, []string{"e4 reference?"}},
		{"a dispatch behind the output, earlier", "2 3 8", "dispatch", [][]string{call1, response("r1"), out1, dispatch("c1", "e1")}, nil},
		{"a reject behind the output, earlier", "2 3 8", "dispatch", [][]string{call1, response("r1"), out1, decide("reject", "c1", "e1")}, nil},
		{"two calls of one id that are pending", "3 8", "", [][]string{start("a"), call1, call("c1", "r1"), response("r1"), endAs("a", "aborted", "c1")}, nil},
		{"one of two calls of one id that is pending", "3 8", "", [][]string{start("a"), call1, call("c1", "r1"), out1, response("r1"), endAs("a", "aborted", "c1")}, nil},
		{"a resume that only talks", "9 11", "", [][]string{call1, response("r1"), startAs("a", "resume"), message("user"), response("r2"), endAs("a", "done")}, []string{"e3 run_source"}},
		{"a run without a source", "9 11", "", [][]string{{"run", `"run_id":"a"`, `"phase":"start"`}, response("r2"), endAs("a", "done")}, []string{"e1 run_source"}},
		{"an answer of a call that never ran", "9 11", "dispatch", [][]string{call1, response("r1"), decide("answer", "c1", "e1")}, []string{"e3 call_order"}},
		{"an answer where no dispatch is promised", "9 11", "", [][]string{call1, response("r1"), decide("answer", "c1", "e1")}, nil},
	} {
		for _, minor := range strings.Fields(tt.minors) {
			t.Run(tt.name+" 0."+minor, func(t *testing.T) {
				header := headerOf(minor)
				if tt.records != "" {
					header = headerOf(minor, `"records":["`+tt.records+`"]`)
				}
				s := mustRead(t, file(append([]string{header}, chain(tt.path...)...)...))
				var got []string
				for _, f := range checkText(t, s) {
					if !strings.Contains(f, "content_id") && !strings.Contains(f, "canonical") { // the ids are no hashes
						got = append(got, f)
					}
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Error(diff)
				}
				err := s.VerifyRecords(s.Leaf())
				if want := len(tt.want) > 0 && tt.name != "a call id twice" && !strings.HasSuffix(tt.want[0], "?"); want != (err != nil) {
					t.Errorf("along the path: %v", err)
				}
			})
		}
	}
}

func endAs(id, reason string, pending ...string) []string {
	quoted := make([]string, len(pending))
	for i, p := range pending {
		quoted[i] = `"` + p + `"`
	}
	return []string{"run", `"run_id":"` + id + `"`, `"phase":"end"`, `"reason":"` + reason + `"`, `"pending":[` + strings.Join(quoted, ",") + `]`}
}

func startAs(id, source string) []string {
	return []string{"run", `"run_id":"` + id + `"`, `"phase":"start"`, `"source":"` + source + `"`}
}

func TestCheckReferences(t *testing.T) {
	summary := `"summary":` + userHi
	for _, tt := range []struct {
		name   string
		minors string
		lines  []string
		want   []string
	}{
		{"a label of nothing", "2 4", []string{entry("label", "a", "", `"target":"x"`, `"label":"l"`)}, []string{"a reference?"}},
		{"a queue that is the harness's own", "2", []string{info("a", ""), entry("item", "b", "a", `"item":`+userHi, `"queued_from":"inbox-17"`)}, nil},
		{"a target that is the harness's own", "2 4", []string{entry("link", "a", "", `"rel":"fork_of"`, `"session":"s2"`, `"target":"prod"`)}, nil},
		{"a judgement of nothing", "11", []string{entry("link", "a", "", `"rel":"judged_by"`, `"session":"s2"`, `"target":"prod"`)}, []string{"a canonical?", "a content_id", "a reference"}},
		{"a reject without a reason", "2 4", []string{entry("item", "a", "", `"item":{"type":"function_call","call_id":"c"}`), entry("decision", "b", "a", `"call_id":"c"`, `"target":"a"`, `"verdict":"reject"`)}, []string{"b member"}},
		{"an end without pending", "2 4", []string{entry("run", "a", "", `"run_id":"r"`, `"phase":"end"`, `"reason":"done"`)}, []string{"a member", "a reference?"}},
		{"an outcome of nothing", "2 4", []string{entry("outcome", "a", "", `"kind":"test"`, `"target":"x"`)}, []string{"a reference"}},
		{"an outcome in words", "1", []string{entry("outcome", "a", "", `"kind":"test"`, `"target":"the tests"`)}, nil},
		{"a summary of no branch", "2 4", []string{entry("branch_summary", "a", "", `"from":"x"`, summary)}, []string{"a reference"}},
		{"an item from no queue", "3 4", []string{info("a", ""), entry("item", "b", "a", `"item":`+userHi, `"queued_from":"a"`)}, []string{"b reference"}},
		{"an item from the queue", "3 4", []string{entry("queued", "a", "", `"mode":"steer"`, `"item":`+userHi), entry("item", "b", "a", `"item":`+userHi, `"queued_from":"a"`)}, nil},
		{"a compaction that keeps another branch", "2 4", []string{info("a", ""), info("b", "a"), entry("compaction", "c", "a", `"first_kept":"b"`, summary, `"config":{}`)}, []string{"c first_kept"}},
		{"a pinned item that is new", "3 4", []string{info("a", ""), info("b", "a"), entry("compaction", "c", "b", `"first_kept":"b"`, summary, `"config":{}`, `"pinned":[`+userHi+`]`)}, []string{"c item?"}},
		{"an item that names another", "4", []string{entry("item", "a", "", `"item":{"type":"item_reference","id":"i"}`)}, []string{"a item"}},
		{"an item that names another, earlier", "2 3", []string{entry("item", "a", "", `"item":{"type":"item_reference","id":"i"}`)}, nil},
		{"merged work that comes later", "4", []string{info("a", ""), info("b", "a", `"parents":[{"entry":"c"}]`), info("c", "a")}, []string{"b parents"}},
		{"merged work in order", "4", []string{info("a", ""), info("b", "a"), info("c", "a", `"parents":[{"entry":"b"},{"session":"s1","entry":"x"}]`)}, nil},
		{"the parent is merged", "4", []string{info("a", ""), info("b", "a", `"parents":[{"entry":"a"}]`)}, []string{"b parents"}},
	} {
		for _, minor := range strings.Fields(tt.minors) {
			t.Run(tt.name+" 0."+minor, func(t *testing.T) {
				s := mustRead(t, file(append([]string{headerOf(minor)}, tt.lines...)...))
				if diff := cmp.Diff(tt.want, checkText(t, s)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestCheckContent(t *testing.T) {
	s := newSession(t, "11")
	appendAll(t, s, &InfoEntry{Envelope: Envelope{Time: at(1)}, Name: "n"})
	good := strings.Split(write(t, s), "\n")[1]
	id := s.Leaf()
	for _, tt := range []struct {
		name, line string
		want       []string
	}{
		{"as it was appended", good, nil},
		{"another name", strings.Replace(good, `"n"`, `"m"`, 1), []string{"content_id"}},
		{"a member more", strings.Replace(good, `{`, `{"a":1,`, 1), []string{"content_id"}},
		{"another order", strings.Replace(strings.Replace(good, `,"type":"info"`, ``, 1), `{`, `{"type":"info",`, 1), []string{"canonical?"}},
		{"white space", strings.Replace(good, `,`, `, `, 1), []string{"canonical?"}},
		{"a zone", strings.Replace(good, `:01Z`, `:01+00:00`, 1), []string{"canonical", "content_id"}},
		{"a member twice", strings.Replace(good, `{`, `{"name":"n",`, 1), []string{"canonical"}},
		{"half a surrogate pair", strings.Replace(good, `"n"`, `"\ud800"`, 1), []string{"canonical"}},
		{"a number that a double does not hold", strings.Replace(good, `{`, `{"a":9007199254740993,`, 1), []string{"canonical", "content_id"}},
		{"a member that is reserved", strings.Replace(good, `{`, `{"content":1,`, 1), []string{"canonical"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var want []string
			for _, w := range tt.want {
				want = append(want, id+" "+w)
			}
			if diff := cmp.Diff(want, checkText(t, mustRead(t, file(headerOf("11"), tt.line)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCheckExactNumbers(t *testing.T) {
	for number, exact := range map[string]bool{
		"0": true, "1": true, "-9007199254740991": true, "9007199254740992": true, "9007199254740993": false,
		"9007199254740993.0": false, "9.007199254740993e15": false, "1152921504606847000": true, "1152921504606846976": true,
		"1152921504606846977": false, "1152921504606847e3": true, "1e300": true, "1e400": true, // short, and for others to refuse
		"0.1234567890123456789": true, "123456789012345678e-3": true, "100000000000000000000": true, "12345678901234567890": false,
		"1234567890123456789e400": false,
	} {
		err := checkExact([]byte(`{"a":"9007199254740993","n":[` + number + `]}`))
		if exact != (err == nil) || err != nil && !errors.Is(err, ErrNotCanonical) {
			t.Errorf("%s: %v", number, err)
		}
	}
}

// By the rules of a minor yet to come it may be right.
func TestCheckOfANewerFile(t *testing.T) {
	s := mustRead(t, file(headerOf("12"), entry("label", "a", "", `"target":"x"`, `"label":"l"`)))
	if diff := cmp.Diff([]string{"a reference?"}, checkText(t, s)); diff != "" {
		t.Error(diff)
	}
}

func TestCheckIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := mustRead(t, file(header02, info("a", ""))).Check(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestUnfamiliar(t *testing.T) {
	s := mustRead(t, file(headerOf("13"),
		entry("withdraw", "a", "", `"target":"q"`), entry("withdraw", "b", "a", `"target":"q"`), entry("acme:note", "c", "b"),
		entry("decision", "d", "c", `"call_id":"c1"`, `"target":"a"`, `"verdict":"defer"`, `"by":"cat"`),
		entry("run", "e", "d", `"run_id":"r"`, `"phase":"start"`, `"source":"whim"`),
		entry("outcome", "f", "e", `"kind":"vibes"`), entry("link", "g", "f", `"rel":"cousin"`, `"session":"s2"`),
		entry("queued", "h", "g", `"mode":"later"`, `"item":`+userHi), entry("env", "i", "h", `"workspace":{"kind":"moon"}`),
	))
	var got []string
	for _, u := range s.Unfamiliar() {
		got = append(got, fmt.Sprintf("%d %dx %s", u.Line, u.Count, u.What))
	}
	want := []string{
		`2 2x entry type "withdraw"`, `5 1x decider "cat"`, `5 1x verdict "defer"`,
		`6 1x run source "whim"`, `7 1x outcome kind "vibes"`, `8 1x link relation "cousin"`, `9 1x queue mode "later"`,
		`10 1x workspace kind "moon"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
