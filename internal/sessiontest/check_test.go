package sessiontest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The checker reads a file with nothing but encoding/json, checks it against the rules of the format (A.1 to A.13), and
// counts what is in it. It shares no code with the generator.

type fields = map[string]any

type line struct {
	typ, id string
	parent  *line
	kids    []*line
	no      int // index in file order
	raw     string
	m       fields
	input   canon // what the entry gives to the context, once asked for
}

type session struct {
	header   fields
	minor    int
	records  map[string]bool
	lines    []*line
	byID     map[string]*line
	problems []string
}

func (s *session) bad(l *line, format string, args ...any) {
	where := "header"
	if l != nil {
		where = fmt.Sprintf("line %d (%s %s)", l.no+2, l.typ, l.id)
	}
	s.problems = append(s.problems, where+": "+fmt.Sprintf(format, args...))
}

// read parses a file; the error is about what keeps it from being a tree.
func read(data []byte) (*session, error) {
	s := &session{byID: map[string]*line{}, records: map[string]bool{}}
	if len(data) == 0 || data[len(data)-1] != '\n' {
		return nil, errors.New("no line feed at the end")
	}
	for i, b := range bytes.Split(data[:len(data)-1], []byte("\n")) {
		if !utf8.Valid(b) {
			return nil, fmt.Errorf("line %d: not UTF-8", i+1)
		}
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		var m fields
		if err := d.Decode(&m); err != nil || d.More() {
			return nil, fmt.Errorf("line %d: not one object: %v", i+1, err)
		}
		if i == 0 {
			s.header = m
			_, minor, _ := strings.Cut(str(m["format"]), "/0.")
			s.minor, _ = strconv.Atoi(minor)
			continue
		}
		l := &line{typ: str(m["type"]), id: str(m["id"]), no: len(s.lines), m: m, raw: string(b)}
		if same := s.byID[l.id]; same != nil && s.minor >= 5 && same.raw == l.raw {
			continue // the same entry once more
		}
		if l.id == "" || s.byID[l.id] != nil {
			return nil, fmt.Errorf("line %d: id %q is empty or taken", i+1, l.id)
		}
		if p, ok := m["parent"]; !ok {
			return nil, fmt.Errorf("line %d: no parent", i+1)
		} else if p != nil {
			if l.parent = s.byID[str(p)]; l.parent == nil {
				return nil, fmt.Errorf("line %d: parent %v is no earlier entry", i+1, p)
			}
			l.parent.kids = append(l.parent.kids, l)
		}
		s.byID[l.id], s.lines = l, append(s.lines, l)
	}
	return s, nil
}

func str(v any) string    { x, _ := v.(string); return x }
func obj(v any) fields    { x, _ := v.(fields); return x }
func arr(v any) []any     { x, _ := v.([]any); return x }
func integer(v any) int64 { n, _ := v.(json.Number); x, _ := n.Int64(); return x }

// path returns the entries from the root down to l.
func (l *line) path() []*line {
	var p []*line
	for ; l != nil; l = l.parent {
		p = append(p, l)
	}
	slices.Reverse(p)
	return p
}

func (l *line) under(a *line) bool {
	for ; l != nil; l = l.parent {
		if l == a {
			return true
		}
	}
	return false
}

func (l *line) isItem(typ string) bool { return l.typ == "item" && obj(l.m["item"])["type"] == typ }

// about returns the call id that an entry is about, or "".
func (l *line) about() string {
	switch {
	case l.typ == "dispatch" || l.typ == "decision":
		return str(l.m["call_id"])
	case l.isItem("function_call_output"):
		return str(obj(l.m["item"])["call_id"])
	}
	return ""
}

// check reports what is wrong with the session.
func (s *session) check() []string {
	s.checkHeader()
	for _, l := range s.lines {
		if _, err := time.Parse(time.RFC3339, str(l.m["ts"])); err != nil {
			s.bad(l, "ts: %v", err)
		}
		if l.parent == nil && l.typ != "config" {
			s.bad(l, "a root that is no config")
		}
		s.checkEntry(l)
		s.checkEnvelope(l)
		if len(l.kids) == 0 {
			s.checkPath(l.path())
		}
	}
	return s.problems
}

func (s *session) checkHeader() {
	h := s.header
	if h["type"] != "session" || !strings.HasPrefix(str(h["format"]), "agentsession/0.") || str(h["id"]) == "" ||
		!strings.HasPrefix(str(h["payload"]), "openresponses/") {
		s.bad(nil, "%v", h)
	}
	if _, err := time.Parse(time.RFC3339, str(h["created_at"])); err != nil {
		s.bad(nil, "created_at: %v", err)
	}
	for _, r := range arr(h["records"]) {
		s.records[str(r)] = true
	}
}

func (s *session) oneOf(l *line, name string, values ...string) {
	if !slices.Contains(values, str(l.m[name])) {
		s.bad(l, "%s is %v", name, l.m[name])
	}
}

func (s *session) target(l *line, name string) *line {
	t := s.byID[str(l.m[name])]
	if t == nil || t.no >= l.no {
		s.bad(l, "%s %v is no earlier entry", name, l.m[name])
	}
	return t
}

func (s *session) checkEntry(l *line) {
	m := l.m
	switch l.typ {
	case "item":
		s.checkItem(l, obj(m["item"]))
	case "response":
		s.checkUsage(l, m["usage"])
		if st, ok := m["status"]; ok && (st == "failed") != (m["error"] != nil) {
			s.bad(l, "status %v, error %v", st, m["error"])
		}
		if h := str(m["request_hash"]); h != "" && h != s.requestHash(l) {
			s.bad(l, "request hash")
		}
	case "config":
		for _, x := range []string{"model", "instructions"} {
			if _, isString := m[x].(string); m[x] != nil && !isString {
				s.bad(l, "%s is %v", x, m[x])
			}
		}
	case "compaction":
		if first := s.target(l, "first_kept"); first != nil && !l.parent.under(first) {
			s.bad(l, "first_kept is not on the path")
		}
		if str(obj(m["summary"])["type"]) == "" || m["config"] == nil {
			s.bad(l, "no summary or config")
		}
		s.checkUsage(l, m["usage"])
	case "branch_summary":
		s.target(l, "from")
		if str(obj(m["summary"])["type"]) == "" {
			s.bad(l, "no summary")
		}
		s.checkUsage(l, m["usage"])
	case "run":
		if s.oneOf(l, "phase", "start", "end"); m["phase"] == "start" {
			s.oneOf(l, "source", "input", "resume")
		} else {
			s.oneOf(l, "reason", "done", "stopped", "interrupted", "input_required", "aborted", "error")
		}
		if _, ok := m["pending"].([]any); str(m["run_id"]) == "" || m["phase"] == "end" && !ok {
			s.bad(l, "no run_id or pending")
		}
	case "decision", "dispatch":
		t := s.target(l, "target")
		if t != nil && (!l.under(t) || obj(t.m["item"])["call_id"] != m["call_id"] || !t.isItem("function_call")) {
			s.bad(l, "target does not hold the call")
		}
		if l.typ == "decision" {
			s.oneOf(l, "verdict", "proceed", "reject", "hold", "answer")
			if m["verdict"] == "reject" && str(m["reason"]) == "" {
				s.bad(l, "no reason")
			}
			if m["by"] != nil {
				s.oneOf(l, "by", "human", "policy", "agent")
			}
		}
	case "label":
		s.target(l, "target")
	case "queued":
		s.oneOf(l, "mode", "steer", "followup")
		s.checkItem(l, obj(m["item"]))
	case "info", "custom":
	case "env":
		if w := obj(m["workspace"]); w != nil && !slices.Contains([]string{"local", "container", "remote"}, str(w["kind"])) {
			s.bad(l, "workspace %v", w)
		}
	case "outcome":
		s.oneOf(l, "kind", "feedback", "test", "task", "tool_error", "eval", "custom")
		if m["target"] != nil {
			s.target(l, "target")
		}
	case "link":
		s.oneOf(l, "rel", "subsession", "fork_of", "continued_in", "judged_by")
		if m["target"] != nil {
			s.target(l, "target")
		}
		if m["rel"] == "subsession" && m["session"] != derived(str(s.header["id"]), str(m["call_id"])) {
			s.bad(l, "the session id is not derived from the call")
		}
	default:
		if !strings.Contains(l.typ, ":") {
			s.bad(l, "unknown type")
		}
	}
}

// checkEnvelope checks what later minors ask of every entry: ids that are hashes of canonical lines, and what is merged (C.4).
func (s *session) checkEnvelope(l *line) {
	seen := map[string]bool{str(l.m["parent"]): true}
	for _, p := range arr(l.m["parents"]) {
		r := obj(p)
		entry := s.byID[str(r["entry"])]
		if r["session"] == nil && (entry == nil || entry.no >= l.no || seen[entry.id]) {
			s.bad(l, "merges %v", r)
		}
		seen[str(r["entry"])] = true
	}
	if from := l.m["queued_from"]; from != nil {
		q := s.target(l, "queued_from")
		if q == nil || q.typ != "queued" || !l.under(q) || jcs(q.m["item"]) != jcs(l.m["item"]) {
			s.bad(l, "is not what waited")
		}
		for up := l.parent; up != nil; up = up.parent {
			if up.m["queued_from"] == from {
				s.bad(l, "is taken twice")
			}
		}
	}
	if s.minor < 5 {
		return
	}
	head, content := fields{}, fields{}
	for name, v := range l.m {
		switch name {
		case "id":
		case "type", "parent", "parents", "ts":
			head[name] = v
		default:
			content[name] = v
		}
	}
	hash := func(v any) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(jcs(v)))) }
	head["content"] = hash(content)
	if id := hash(head); l.id != id {
		s.bad(l, "has the id of another entry than %s", id)
	}
	if line := jcs(l.m); line != l.raw {
		s.bad(l, "is not canonical: %s", line)
	}
}

func (s *session) checkItem(l *line, it fields) {
	switch t := str(it["type"]); t {
	case "message":
		if !slices.Contains([]string{"user", "assistant", "system", "developer"}, str(it["role"])) || it["content"] == nil {
			s.bad(l, "message %v", it)
		}
	case "function_call":
		if str(it["call_id"]) == "" || str(it["name"]) == "" || !json.Valid([]byte(str(it["arguments"]))) {
			s.bad(l, "call %v", it)
		}
	case "function_call_output":
		_, isString := it["output"].(string)
		if str(it["call_id"]) == "" || !isString && arr(it["output"]) == nil {
			s.bad(l, "output %v", it)
		}
	case "reasoning", "compaction":
	default:
		if !strings.Contains(t, ":") {
			s.bad(l, "item type %q", t)
		}
	}
}

func (s *session) checkUsage(l *line, v any) {
	if v == nil {
		return
	}
	u := obj(v)
	in, out := integer(u["input_tokens"]), integer(u["output_tokens"])
	cached := integer(obj(u["input_tokens_details"])["cached_tokens"])
	reasoning := integer(obj(u["output_tokens_details"])["reasoning_tokens"])
	if in+out != integer(u["total_tokens"]) || cached > in || reasoning > out || min(in, out, cached, reasoning) < 0 {
		s.bad(l, "usage %v", u)
	}
}

// checkPath checks runs and calls, which are read off a path.
func (s *session) checkPath(path []*line) {
	calls, outputs, dispatched, rejected := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	linked := map[string]bool{}
	start := -1
	began := true // the run has done something
	var pendingAtStart map[string]bool
	for i, l := range path {
		id := l.about()
		if s.minor >= 9 && l.typ == "item" {
			began = began || id == "" // which says nothing
		}
		if !began && (l.typ == "item" || s.minor >= 9 && id != "") {
			if began = true; pendingAtStart[id] != (path[start].m["source"] == "resume") {
				s.bad(path[start], "source is %v", path[start].m["source"])
			}
		}
		switch {
		case l.typ == "run" && l.m["phase"] == "start":
			start, pendingAtStart = i, map[string]bool{}
			for c := range calls {
				pendingAtStart[c] = !outputs[c]
			}
			began = false
		case l.typ == "run":
			if start < 0 || path[start].m["run_id"] != l.m["run_id"] {
				s.bad(l, "an end without a start")
				break
			}
			reason, pending := s.cascade(path[:i+1], start)
			if w := str(l.m["reason"]); w != reason && w != "error" && w != "interrupted" {
				s.bad(l, "reason %s, computed %s", w, reason)
			}
			var written []string
			for _, p := range arr(l.m["pending"]) {
				written = append(written, str(p))
			}
			slices.Sort(written)
			if !slices.Equal(written, pending) {
				s.bad(l, "pending %v, computed %v", written, pending)
			}
			start, began = -1, true
		case l.isItem("function_call"):
			c := str(obj(l.m["item"])["call_id"])
			if calls[c] {
				s.bad(l, "call id %s twice", c)
			}
			calls[c] = true
		case l.typ == "link" && l.m["rel"] == "subsession":
			c := str(l.m["call_id"])
			if dispatched[c] {
				s.bad(l, "linked after its dispatch")
			}
			linked[c] = true
		case id == "":
		case !calls[id]:
			s.bad(l, "no call %s on the path", id)
		case l.typ == "dispatch":
			if rejected[id] || outputs[id] {
				s.bad(l, "dispatched after what ends the call")
			}
			dispatched[id] = true
		case l.typ == "decision":
			if s.minor >= 9 && (outputs[id] || rejected[id] || dispatched[id] && l.m["verdict"] == "reject") {
				s.bad(l, "decided after what ends the call")
			}
			rejected[id] = rejected[id] || l.m["verdict"] == "reject" || l.m["verdict"] == "answer"
		default:
			if outputs[id] || s.records["dispatch"] && !dispatched[id] && !rejected[id] {
				s.bad(l, "second output, or no dispatch")
			}
			outputs[id] = true
		}
	}
}

// cascade computes reason and pending calls of the run that starts at a place of the path and ends with it (A.10, C.3).
func (s *session) cascade(path []*line, start int) (string, []string) {
	outputs, flying, held := map[string]bool{}, map[string]bool{}, map[string]bool{}
	own := map[string]bool{}
	var pending []string
	var last, lastOfPath *line
	asked := map[string]bool{} // response ids with calls
	open, answers := 0, false
	for i, l := range path {
		in := i >= start
		if id := l.about(); id != "" && in && s.minor >= 9 {
			own[id] = true
		}
		switch {
		case l.isItem("function_call_output"):
			outputs[l.about()] = true
			open--
			answers = answers || in
		case l.isItem("function_call"):
			asked[str(l.m["response"])] = true
			open++
			own[str(obj(l.m["item"])["call_id"])] = in
		case l.typ == "dispatch":
			flying[l.about()] = true
		case l.typ == "decision":
			held[l.about()] = l.m["verdict"] == "hold"
			if s.minor >= 8 && (held[l.about()] || l.m["verdict"] == "answer") {
				flying[l.about()] = false
			}
			answers = answers || in
		case l.typ == "response":
			lastOfPath = l
			if in {
				last = l
			}
		}
	}
	anyHeld, anyFlying := false, false
	for c, is := range own {
		if is && !outputs[c] {
			pending = append(pending, c)
			anyFlying = anyFlying || flying[c]
			anyHeld = anyHeld || held[c] && !flying[c]
		}
	}
	slices.Sort(pending)
	switch {
	case last != nil && last.m["error"] != nil:
		return "error", pending
	case anyHeld && !anyFlying:
		return "input_required", pending
	case len(pending) > 0 || last == nil && s.minor < 3 || last != nil && last.m["incomplete"] != nil:
		return "aborted", pending
	case last != nil && !asked[str(last.m["response_id"])]:
		return "done", pending
	case s.minor < 3 || lastOfPath != nil && asked[str(lastOfPath.m["response_id"])] && open == 0 && answers:
		return "stopped", pending
	}
	return "aborted", pending
}
