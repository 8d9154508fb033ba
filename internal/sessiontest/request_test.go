package sessiontest

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

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
	set, input, kept := fields{}, []any{}, 0
	models := map[*line]any{} // in force when a piece of reasoning was written
	for _, l := range path {
		switch {
		case l.typ == "config":
			set = configure(set, l.m)
		case l.isItem("reasoning") && str(l.m["response"]) != "":
			models[l] = set["model"]
		case l.typ == "compaction":
			input, kept = []any{l.canon("summary")}, slices.Index(path, s.byID[str(l.m["first_kept"])])
			for _, p := range arr(l.m["pinned"]) {
				input = append(input, canon(jcs(p)))
			}
			set = maps.Clone(obj(l.m["config"]))
			set["extra"] = maps.Clone(obj(set["extra"]))
		}
	}
	omit := obj(set["omit"])
	for _, l := range path[kept:] {
		by := models[l]
		other := omit["reasoning"] == "other_models" && by != nil && set["model"] != nil && by != set["model"]
		if l.typ != "item" || !other && !slices.Contains(arr(omit["items"]), any(l.id)) {
			input = contribute(input, l, own)
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
	if delta["instructions"] != nil {
		delete(set, "instructions_parts")
	}
	if change := arr(delta["instructions_parts"]); change != nil {
		set["instructions_parts"] = resolved(change, arr(set["instructions_parts"]))
		var texts []string
		for _, p := range arr(set["instructions_parts"]) {
			texts = append(texts, str(obj(p)["text"]))
		}
		set["instructions"] = strings.Join(texts, "\n\n")
	}
	if change := obj(delta["omit"]); change != nil {
		omit := fields{}
		if len(change) > 0 {
			maps.Copy(omit, obj(set["omit"]))
			maps.Copy(omit, change)
			omit["items"] = slices.Concat(arr(obj(set["omit"])["items"]), arr(change["items"]))
		}
		set["omit"] = omit
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

// resolved follows a list of parts that refers to the one in force (C.1).
func resolved(change, before []any) []any {
	var out []any
	cursor := 0
	for _, c := range change {
		part := obj(c)
		if n := int(integer(part["keep"])); n > 0 {
			out = append(out, before[cursor:cursor+n]...)
			cursor += n
			continue
		}
		if i := slices.IndexFunc(before, func(b any) bool { return obj(b)["id"] == part["id"] }); i >= 0 {
			cursor = i + 1
			if text := str(obj(before[i])["text"]); part["hash"] == fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) {
				part = obj(before[i])
			}
		}
		out = append(out, part)
	}
	return out
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
