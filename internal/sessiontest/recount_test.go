package sessiontest

import (
	"crypto/sha1"
	"fmt"
	"slices"
)

// derived returns the id of the subsession of a call (A.13).
func derived(parent, call string) string {
	b := sha1.Sum(append(make([]byte, 16), parent+"/"+call...))
	b[6], b[8] = b[6]%16+0x50, b[8]%64+0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// recount builds from a file what the ledger of the generator should hold.
func (s *session) recount() Truth {
	t := Truth{ByType: map[string]int{}, States: map[string]string{}}
	runs, calls, index := map[string]int{}, map[string]int{}, map[*line]string{}
	for _, l := range s.lines {
		m := l.m
		t.Entries++
		t.ByType[l.typ]++
		t.Roots += count(l.parent == nil)
		if len(l.kids) == 0 && !isMark(l) {
			t.Leaves = append(t.Leaves, l.id)
		}
		usage := obj(m["usage"])
		if l.typ == "custom" {
			usage = obj(obj(m["data"])["usage"])
		}
		t.Taken += count(m["queued_from"] != nil)
		t.Merges += count(m["parents"] != nil)
		in, out := integer(usage["input_tokens"]), integer(usage["output_tokens"])
		switch {
		case l.typ == "response":
			t.Responses++
			t.Failed += count(m["error"] != nil)
			t.Incomplete += count(m["incomplete"] != nil)
			t.Hashes += count(m["request_hash"] != nil)
			t.InputTokens += in
			t.OutputTokens += out
			t.CachedTokens += integer(obj(usage["input_tokens_details"])["cached_tokens"])
			t.ReasoningTokens += integer(obj(usage["output_tokens_details"])["reasoning_tokens"])
		case usage != nil:
			t.OtherCalls++
			t.OtherInputTokens += in
			t.OtherOutputTokens += out
		}
		call := &CallTruth{}
		if i, ok := calls[l.about()]; ok {
			call = &t.Calls[i]
		}
		switch {
		case l.typ == "run" && m["phase"] == "start":
			runs[str(m["run_id"])] = t.Runs
			t.RunTruths = append(t.RunTruths, RunTruth{ID: str(m["run_id"]), EntryID: l.id, Source: str(m["source"])})
			t.Runs++
		case l.typ == "run":
			end := RunEndTruth{EntryID: l.id, Reason: str(m["reason"])}
			for _, p := range arr(m["pending"]) {
				end.Pending = append(end.Pending, str(p))
			}
			slices.Sort(end.Pending)
			if i, ok := runs[str(m["run_id"])]; ok {
				t.RunTruths[i].Ends = append(t.RunTruths[i].Ends, end)
			}
		case l.isItem("function_call"):
			it := obj(m["item"])
			id := str(it["call_id"])
			calls[id] = len(t.Calls)
			index[l] = id
			t.Calls = append(t.Calls, CallTruth{ID: id, Name: str(it["name"]), EntryID: l.id, ResponseID: str(m["response"])})
		case l.typ == "queued":
			t.Queued++
		case l.isItem("function_call_output"):
			call.Outputs++
			call.Completed = true
		case l.typ == "dispatch":
			call.HandOffs++
		case l.typ == "decision":
			call.Holds += count(m["verdict"] == "hold")
			call.Rejected = call.Rejected || m["verdict"] == "reject"
			call.Answered = call.Answered || m["verdict"] == "answer"
			call.ArgsRewritten = call.ArgsRewritten || m["args"] != nil
		case l.typ == "link" && m["rel"] == "subsession":
			t.Links = append(t.Links, str(m["session"]))
			if i, ok := calls[str(m["call_id"])]; ok {
				t.Calls[i].Session = str(m["session"])
			}
		case l.typ == "info" && str(m["name"]) != "":
			t.Name = str(m["name"])
		}
	}
	if leaf := s.leaf(); leaf != nil {
		t.Leaf = leaf.id
		for _, l := range leaf.path() {
			if id, ok := index[l]; ok {
				t.States[id] = s.callState(l, leaf.path())
			}
		}
	}
	return t
}

// callState returns the state of the call that l holds, on a path (A.11).
func (s *session) callState(l *line, path []*line) string {
	id := obj(l.m["item"])["call_id"]
	state, verdict, dispatched := "unknown", any(nil), false
	handedOver := func(x *line) bool { return x.typ == "dispatch" && x.m["call_id"] == id }
	if s.records["dispatch"] && (s.minor < 10 || !slices.ContainsFunc(s.lines, handedOver)) {
		state = "never_started"
	}
	for _, x := range path {
		switch {
		case x.about() != id:
		case x.isItem("function_call_output"):
			return "completed"
		case x.typ == "dispatch":
			dispatched = true
		case x.typ == "decision":
			verdict = x.m["verdict"]
		}
	}
	switch {
	case verdict == "answer":
		return "answered"
	case verdict == "reject" && s.minor >= 9:
		return "rejected"
	case dispatched:
		return "in_flight"
	case verdict == "hold":
		return "held"
	}
	return state
}

func isMark(l *line) bool { return l.typ == "label" && l.m["label"] == "leaf" }

// leaf finds the entry to go on from (A.4).
func (s *session) leaf() *line {
	current := map[string]*line{} // the label entry in force, by target
	var mark *line
	for _, l := range s.lines {
		if l.typ == "label" {
			current[str(l.m["target"])] = l
			if isMark(l) {
				mark = l
			}
		}
	}
	if len(s.lines) == 0 {
		return nil
	}
	leaf := s.lines[len(s.lines)-1]
	if mark != nil && current[str(mark.m["target"])] == mark {
		target := s.byID[str(mark.m["target"])]
		leaf = target
		for _, l := range s.lines[mark.no+1:] {
			if l.under(target) {
				leaf = l
			}
		}
	}
	for leaf != nil && isMark(leaf) {
		leaf = leaf.parent
	}
	return leaf
}
