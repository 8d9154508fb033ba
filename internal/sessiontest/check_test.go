package sessiontest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	m       fields
	input   canon // what the entry gives to the context, once asked for
}

type session struct {
	header   fields
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
			continue
		}
		l := &line{typ: str(m["type"]), id: str(m["id"]), no: i - 1, m: m}
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
			s.oneOf(l, "verdict", "proceed", "reject", "hold")
			if m["verdict"] == "reject" && str(m["reason"]) == "" {
				s.bad(l, "no reason")
			}
			if m["by"] != nil {
				s.oneOf(l, "by", "human", "policy", "agent")
			}
		}
	case "label":
		s.target(l, "target")
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
		s.oneOf(l, "rel", "subsession", "fork_of", "continued_in")
		if m["rel"] == "subsession" && m["session"] != derived(str(s.header["id"]), str(m["call_id"])) {
			s.bad(l, "the session id is not derived from the call")
		}
	default:
		if !strings.Contains(l.typ, ":") {
			s.bad(l, "unknown type")
		}
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
		if !began && l.typ == "item" {
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
			reason, pending := cascade(path[start : i+1])
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
				s.bad(l, "dispatched after a reject or an output")
			}
			dispatched[id] = true
		case l.typ == "decision":
			rejected[id] = rejected[id] || l.m["verdict"] == "reject"
		default:
			if outputs[id] || s.records["dispatch"] && !dispatched[id] && !rejected[id] {
				s.bad(l, "second output, or no dispatch")
			}
			outputs[id] = true
		}
	}
}

// cascade computes reason and pending calls of a run's segment (A.10).
func cascade(seg []*line) (string, []string) {
	outputs, flying, held := map[string]bool{}, map[string]bool{}, map[string]bool{}
	var pending []string
	var last *line
	asked := map[string]bool{} // response ids with calls
	for _, l := range seg {
		switch {
		case l.isItem("function_call_output"):
			outputs[l.about()] = true
		case l.isItem("function_call"):
			asked[str(l.m["response"])] = true
		case l.typ == "dispatch":
			flying[l.about()] = true
		case l.typ == "decision":
			held[l.about()] = l.m["verdict"] == "hold"
		case l.typ == "response":
			last = l
		}
	}
	anyHeld, anyFlying := false, false
	for _, l := range seg {
		if c := str(obj(l.m["item"])["call_id"]); l.isItem("function_call") && !outputs[c] {
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
	case len(pending) > 0 || last == nil || last.m["incomplete"] != nil:
		return "aborted", pending
	case !asked[str(last.m["response_id"])]:
		return "done", pending
	}
	return "stopped", pending
}

// requestHash rebuilds the request of a response from the path (A.7, A.8).
func (s *session) requestHash(resp *line) string {
	path := resp.path()
	path = path[:len(path)-1]
	own := map[*line]bool{}
	for i := len(path) - 1; i >= 0 && str(resp.m["response_id"]) != ""; i-- {
		if path[i].typ != "item" {
			continue
		}
		if path[i].m["response"] != resp.m["response_id"] {
			break
		}
		own[path[i]] = true
	}
	set, input, from := fields{}, []any{}, 0
	for i, l := range path {
		if l.typ == "compaction" {
			input, from = []any{l.canon("summary")}, i+1
			set = maps.Clone(obj(l.m["config"]))
			set["extra"] = maps.Clone(obj(set["extra"]))
			for _, k := range path[slices.Index(path, s.byID[str(l.m["first_kept"])]):i] {
				input = contribute(input, k, own)
			}
		}
	}
	for _, l := range path[from:] {
		input = contribute(input, l, own)
		if l.typ == "config" {
			set = configure(set, l.m)
		}
	}
	req := fields{"store": false}
	for _, name := range []string{"model", "instructions", "reasoning", "text", "tools"} {
		if v := set[name]; v != nil && v != "" && !(name == "tools" && len(arr(v)) == 0) {
			req[name] = v
		}
	}
	maps.Copy(req, obj(set["extra"]))
	if len(input) > 0 {
		req["input"] = input
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(jcs(req))))
}

func contribute(input []any, l *line, own map[*line]bool) []any {
	switch {
	case l.typ == "item" && !own[l]:
		return append(input, l.canon("item"))
	case l.typ == "branch_summary":
		return append(input, l.canon("summary"))
	}
	return input
}

// canon is a value in canonical form.
type canon string

// canon returns the canonical form of a member, and keeps it: every later request has it again.
func (l *line) canon(name string) canon {
	if l.input == "" {
		l.input = canon(jcs(l.m[name]))
	}
	return l.input
}

func configure(set, delta fields) fields {
	set = maps.Clone(set)
	if delta["replace"] == true {
		set = fields{}
	}
	for _, name := range []string{"model", "instructions", "reasoning", "text"} {
		if v := delta[name]; v != nil && !(name == "model" && v == "") {
			set[name] = v
		}
	}
	tools := slices.Clone(arr(set["tools"]))
	drop := func(name any) {
		tools = slices.DeleteFunc(tools, func(t any) bool { return name != nil && obj(t)["name"] == name })
	}
	for _, name := range arr(delta["tools_removed"]) {
		drop(name)
	}
	for _, t := range arr(delta["tools_added"]) {
		drop(obj(t)["name"])
		tools = append(tools, t)
	}
	set["tools"] = tools
	extra := fields{}
	maps.Copy(extra, obj(set["extra"]))
	maps.Copy(extra, obj(delta["extra"]))
	maps.DeleteFunc(extra, func(_ string, v any) bool { return v == nil })
	set["extra"] = extra
	return set
}

// jcs is the canonical form of values whose names are in the basic plane.
func jcs(v any) string {
	switch v := v.(type) {
	case canon:
		return string(v)
	case fields:
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, jcs(k)+":"+jcs(v[k]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, jcs(x))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case json.Number:
		f, _ := v.Float64()
		return strconv.FormatFloat(f, 'f', -1, 64)
	case string:
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			panic(err)
		}
		s := strings.TrimSuffix(b.String(), "\n")
		// encoding/json escapes these two, which the canonical form does not. A backslash before the escape is one of a
		// pair, so pairs are set aside first.
		s = strings.ReplaceAll(s, `\\`, "\x00")
		s = strings.ReplaceAll(strings.ReplaceAll(s, `\u2028`, "\u2028"), `\u2029`, "\u2029")
		return strings.ReplaceAll(s, "\x00", `\\`)
	default:
		b, _ := json.Marshal(v)
		return string(b)
	}
}
