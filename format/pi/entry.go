package pi

import (
	"fmt"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// The types of values. Unknown ones are normal: they have a place in the tree and say nothing.
const (
	TypeSession             = "session"
	TypeMessage             = "message"
	TypeModelChange         = "model_change"
	TypeThinkingLevelChange = "thinking_level_change"
	TypeActiveToolsChange   = "active_tools_change"
	TypeUsage               = "usage"
	TypeCompaction          = "compaction"
	TypeBranchSummary       = "branch_summary"
	TypeCustom              = "custom"
	TypeCustomMessage       = "custom_message"
	TypeContextEdit         = "context_edit"
	TypeLabel               = "label"
	TypeSessionInfo         = "session_info"
	TypeLeaf                = "leaf"
)

// Entry is a view of one object of a file. Members of the wrong kind count as absent. It is valid, like everything that it
// gives but strings, until the line is.
type Entry struct {
	// Type is "" where the object has none.
	Type string
	// ID is "" in version 1.
	ID string
	// Parent is the id of the entry that this one continues; "" for a root.
	Parent string
	// Time is when the entry was appended; zero when it does not say.
	Time time.Time

	members []jsonscan.Member
	message Message
	has     bool // it has a message
}

// Message returns the message of an entry; nil where it has none, or one that is no object.
func (e *Entry) Message() *Message {
	if !e.has {
		return nil
	}
	return &e.message
}

// Raw returns the raw value of a member; nil when there is none.
func (e *Entry) Raw(name string) []byte { return member(e.members, name) }

// Text returns a member that is a string, else "".
func (e *Entry) Text(name string) string {
	s, _ := text(e.Raw(name))
	return s
}

// Flag reports whether a member is true.
func (e *Entry) Flag(name string) bool {
	v, _ := jsonscan.Bool(e.Raw(name))
	return v
}

// Count returns a member that is a number, rounded; false where there is none.
func (e *Entry) Count(name string) (int64, bool) { return count(e.Raw(name)) }

// Texts returns the strings of a member that is an array.
func (e *Entry) Texts(name string) []string { return texts(e.Raw(name)) }

func texts(raw []byte) []string {
	var list []string
	for el := range jsonscan.Elements(raw) {
		if s, ok := text(el); ok {
			list = append(list, s)
		}
	}
	return list
}

// Usage returns what the entry itself spent, apart from its message; false where it does not say.
func (e *Entry) Usage() (Usage, bool) { return DecodeUsage(e.Raw("usage")) }

// Decoder decodes lines. The zero value is ready for use.
type Decoder struct {
	scan  jsonscan.Scanner
	entry Entry
}

// Decode looks at a line. The entry is valid until the next call. The error is a [*format.DamageError] without a place: the
// line is not one JSON object.
func (d *Decoder) Decode(line []byte) (*Entry, error) {
	if err := d.scan.Scan(line, "message"); err != nil {
		return nil, damage(line, err)
	}
	e := &d.entry
	*e = Entry{members: d.scan.Members}
	for i := range d.scan.Members {
		m := &d.scan.Members[i]
		switch string(m.Name) {
		case "type":
			e.Type, _ = text(m.Value)
		case "id":
			e.ID, _ = text(m.Value)
		case "parentId":
			e.Parent, _ = text(m.Value)
		case "timestamp":
			e.Time = date(m.Value)
		case "message":
			e.has = jsonscan.Kind(m.Value) == '{'
		}
	}
	if e.has {
		e.message.set(d.scan.Nested)
	}
	return e, nil
}

func damage(line []byte, err error) *format.DamageError {
	d := &format.DamageError{Err: format.ErrSyntax, Detail: err.Error(), Data: line}
	if s, ok := err.(*jsonscan.SyntaxError); ok {
		d.At, d.Detail = s.Offset, s.What
	}
	return d
}

// Header is the first value of a file.
type Header struct {
	// Version is 1 where the header does not say.
	Version int
	ID      string
	// Time is when the header was made. A fork has older entries behind it.
	Time time.Time
	CWD  string
	// ParentSession is the path, as a rule, of the file that this one was forked from; BranchedFrom the same in version 1.
	ParentSession, BranchedFrom string
	// Provider, ModelID and ThinkingLevel are those at the start, in version 1.
	Provider, ModelID, ThinkingLevel string
}

// Newest is the newest version there is.
const Newest = 3

// IsHeader reports whether a value is a header: of type session, with a string for an id.
func (e *Entry) IsHeader() bool {
	_, ok := text(e.Raw("id"))
	return e.Type == TypeSession && ok
}

// Header decodes a header. The error wraps [format.ErrNoHeader].
func (e *Entry) Header() (*Header, error) {
	if !e.IsHeader() {
		return nil, fmt.Errorf("%w: the first value is not {\"type\":\"session\",…} with a string as id", format.ErrNoHeader)
	}
	h := &Header{
		Version: 1, ID: e.ID, Time: e.Time, CWD: e.Text("cwd"),
		ParentSession: e.Text("parentSession"), BranchedFrom: e.Text("branchedFrom"),
		Provider: e.Text("provider"), ModelID: e.Text("modelId"), ThinkingLevel: e.Text("thinkingLevel"),
	}
	if v, ok := jsonscan.Int64(e.Raw("version")); ok {
		h.Version = int(min(max(v, 1), 1<<30))
	}
	return h, nil
}
