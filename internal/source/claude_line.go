package source

import (
	"bytes"
	"iter"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// claudeLine is a view of one line of Claude Code. What is raw is valid until the next line is read.
type claudeLine struct {
	typ, uuid, parent, session string
	// chained: the line has a place in the tree.
	chained bool
	time    time.Time
	stamp   []byte // the same, raw
	// Flags of the envelope.
	sidechain, meta, summary, apiError bool
	// agent is the id of the agent whose line it is, "" for the session's own.
	agent string
	// forkedFrom is raw: where the line was copied from.
	forkedFrom []byte
	members    []jsonscan.Member
	message    []jsonscan.Member
	hasMessage bool
	content    []byte
	reader     *claudeReader
	listed     int // how many blocks of the content the reader has looked at; -1 where there are too many to keep
}

// claudeReader makes views of lines.
type claudeReader struct {
	scan   jsonscan.Scanner
	line   claudeLine
	blocks [maxBlocks]jsonscan.Scanner
	block  jsonscan.Scanner
}

// maxBlocks is how many blocks of a content are looked at once. Most have one.
const maxBlocks = 8

// read looks at a line. The error is a [*format.DamageError] without a place.
func (r *claudeReader) read(data []byte) (*claudeLine, error) {
	if err := r.scan.Scan(data, "message"); err != nil {
		return nil, damagedLine(data, err)
	}
	e := &r.line
	*e = claudeLine{members: r.scan.Members, reader: r}
	for i := range e.members {
		m := &e.members[i]
		switch string(m.Name) {
		case "type":
			e.typ = claudeWord(m.Value)
		case "uuid":
			e.uuid, _ = jsonscan.String(m.Value)
		case "parentUuid":
			e.parent, _ = jsonscan.String(m.Value)
			e.chained = true
		case "sessionId":
			e.session, _ = jsonscan.String(m.Value)
		case "timestamp":
			e.stamp = m.Value
			e.time = claudeTime(m.Value)
		case "isSidechain":
			e.sidechain, _ = jsonscan.Bool(m.Value)
		case "isMeta":
			e.meta, _ = jsonscan.Bool(m.Value)
		case "isCompactSummary":
			e.summary, _ = jsonscan.Bool(m.Value)
		case "isApiErrorMessage":
			e.apiError, _ = jsonscan.Bool(m.Value)
		case "agentId":
			e.agent, _ = jsonscan.String(m.Value)
		case "forkedFrom":
			e.forkedFrom = m.Value
		case "message":
			e.hasMessage = jsonscan.Kind(m.Value) == '{'
		}
	}
	e.chained = e.chained && e.uuid != ""
	if e.hasMessage {
		e.message = r.scan.Nested
		e.content = memberOf(e.message, "content")
	}
	return e, nil
}

// blocks are the members of each block of the content, in order; of none where it is no list. What is no object has no members.
func (e *claudeLine) blocks() iter.Seq[[]jsonscan.Member] {
	return func(yield func([]jsonscan.Member) bool) {
		r := e.reader
		if e.listed == 0 {
			for block := range jsonscan.Elements(e.content) {
				if e.listed == maxBlocks {
					e.listed = -1
					break
				}
				objectIn(&r.blocks[e.listed], block)
				e.listed++
			}
		}
		for i := range max(e.listed, 0) {
			if !yield(r.blocks[i].Members) {
				return
			}
		}
		if e.listed < 0 {
			for block := range jsonscan.Elements(e.content) {
				if !yield(objectIn(&r.block, block)) {
					return
				}
			}
		}
	}
}

// claudeWords are the kinds of lines, so that they need no memory each.
var claudeWords = []string{"user", "assistant", "system", "attachment", "progress", "file-history-snapshot", "queue-operation"}

func claudeWord(raw []byte) string {
	for _, w := range claudeWords {
		if len(raw) == len(w)+2 && string(raw[1:len(raw)-1]) == w {
			return w
		}
	}
	s, _ := jsonscan.String(raw)
	return s
}

// claudeTime reads a time as JavaScript writes it; anything else that RFC 3339 allows is read as well.
func claudeTime(raw []byte) time.Time {
	if len(raw) < 2 || raw[0] != '"' {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, string(raw[1:len(raw)-1]))
	if err != nil {
		return time.Time{}
	}
	return t
}

// memberOf returns the raw value of the last member of a name; nil when there is none.
func memberOf(members []jsonscan.Member, name string) []byte {
	for i := len(members) - 1; i >= 0; i-- {
		if string(members[i].Name) == name {
			return members[i].Value
		}
	}
	return nil
}

func textOf(members []jsonscan.Member, name string) string {
	s, _ := jsonscan.String(memberOf(members, name))
	return s
}

func flagOf(members []jsonscan.Member, name string) bool {
	v, _ := jsonscan.Bool(memberOf(members, name))
	return v
}

// countOf returns a member that is a whole number and not below zero; nil when it is none.
func countOf(members []jsonscan.Member, name string) *int64 {
	n, ok := jsonscan.Int64(memberOf(members, name))
	if !ok || n < 0 {
		return nil
	}
	return &n
}

func (e *claudeLine) raw(name string) []byte  { return memberOf(e.members, name) }
func (e *claudeLine) text(name string) string { return textOf(e.members, name) }

// objectIn scans an object that stands in a line; anything else has no members.
func objectIn(s *jsonscan.Scanner, raw []byte) []jsonscan.Member {
	if jsonscan.Kind(raw) != '{' || s.Scan(raw, "") != nil {
		s.Members = s.Members[:0]
	}
	return s.Members
}

// claudeInput is what a line of the kind user is.
type claudeInput uint8

const (
	claudePrompt       claudeInput = iota // what a person wrote
	claudeCommand                         // a slash command: the line after it tells whether the model gets to see it
	claudeLocal                           // what such a command, or a shell, printed, and what else the model is not asked about
	claudeShell                           // a shell command that a person typed
	claudeNotification                    // that an agent in the background has come to something
	claudeInterruption
	claudeInjected // text that Claude Code put in
	claudeSummary  // what a compaction came to
	claudeResults  // of tools
)

// claudeTexts tell by how the text of a line begins what it is.
var claudeTexts = []struct {
	prefix string
	kind   claudeInput
}{
	{"<command-", claudeCommand},
	{"<local-command-", claudeLocal},
	{"<user-memory-input>", claudeLocal},
	{"<bash-input>", claudeShell},
	{"<bash-stdout>", claudeLocal},
	{"<bash-stderr>", claudeLocal},
	{"<task-notification>", claudeNotification},
	{"[Request interrupted", claudeInterruption},
}

// input says what a line of the kind user is. first is the text that it begins with, raw.
func (e *claudeLine) input(s *jsonscan.Scanner) (kind claudeInput, first []byte) {
	if e.summary {
		return claudeSummary, nil
	}
	if first = e.content; jsonscan.Kind(e.content) == '[' {
		first = nil
	}
	for members := range e.blocks() {
		switch typ := memberOf(members, "type"); {
		case string(typ) == `"tool_result"`:
			return claudeResults, nil
		case string(typ) == `"text"` && first == nil:
			first = memberOf(members, "text")
		}
	}
	if e.meta {
		return claudeInjected, first
	}
	if textOf(objectIn(s, e.raw("origin")), "kind") == "task-notification" {
		return claudeNotification, first
	}
	for _, t := range claudeTexts {
		if beginsWith(first, t.prefix) {
			return t.kind, first
		}
	}
	return claudePrompt, first
}

// firstText is the text that a content begins with, raw: a string, or a list of blocks.
func firstText(s *jsonscan.Scanner, content []byte) []byte {
	if jsonscan.Kind(content) != '[' {
		return content
	}
	for block := range jsonscan.Elements(content) {
		if members := objectIn(s, block); string(memberOf(members, "type")) == `"text"` {
			return memberOf(members, "text")
		}
	}
	return nil
}

// beginsWith reports whether a raw string says something that begins so, in plain letters. It looks no further: strings are long.
func beginsWith(raw []byte, prefix string) bool {
	if len(raw) < 2 || raw[0] != '"' {
		return false
	}
	inside := raw[1 : len(raw)-1]
	if bytes.IndexByte(inside[:min(len(inside), len(prefix))], '\\') < 0 {
		return len(inside) >= len(prefix) && string(inside[:len(prefix)]) == prefix
	}
	for i := range len(prefix) { // a letter may be written as an escape, of six bytes
		if i >= len(inside) {
			return false
		}
		letter := inside[i]
		if letter == '\\' {
			s, ok := jsonscan.String([]byte(`"` + string(inside[i:min(i+6, len(inside))]) + `"`))
			if !ok || len(s) != 1 {
				return false
			}
			letter, inside = s[0], inside[5:]
		}
		if letter != prefix[i] {
			return false
		}
	}
	return true
}

// tagged returns what stands between a tag and its end in a text, "" without one.
func tagged(text, tag string) string {
	_, rest, found := strings.Cut(text, "<"+tag+">")
	if !found {
		return ""
	}
	inside, _, found := strings.Cut(rest, "</"+tag+">")
	if !found || len(inside) > 256 {
		return ""
	}
	return inside
}
