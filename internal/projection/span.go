package projection

import (
	"time"

	"github.com/sessionspan/sessionspan/internal/names"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Type says what a span stands for. It is the value of the attribute agentsession.span.type.
type Type string

// The span types.
const (
	TypeSession    Type = "session"
	TypeRun        Type = "run"
	TypeChat       Type = "chat"
	TypeTool       Type = "tool"
	TypeApproval   Type = "approval"
	TypeCompaction Type = "compaction"
	TypeBranch     Type = "branch"
	TypeEvent      Type = "event"
)

// Span is one span in OpenTelemetry's terms. From Start to End of a [Sink] it belongs to the projector; after End
// nobody changes it any more.
type Span struct {
	TraceID trace.TraceID
	SpanID  trace.SpanID
	// Parent is zero for the root of a trace.
	Parent trace.SpanID
	Type   Type
	Name   string
	Kind   trace.SpanKind
	// Start is final when the span starts. End is zero while the span is open.
	Start, End time.Time
	Attributes []attribute.KeyValue
	Events     []Event
	Links      []Link
	Status     Status
	// DroppedAttributes, DroppedEvents and DroppedLinks count what was left out over the limit of 128.
	DroppedAttributes, DroppedEvents, DroppedLinks uint32
	// Session is the session whose file the span was read from; its resource is the span's.
	Session *Session
	// Seq numbers the spans of a session in the order in which they started.
	Seq uint32

	node    uint32     // the entry behind the span, for Projector.OnPath
	filling attributes // while attributes are added
}

// Event is something that happened at one moment of a span.
type Event struct {
	Name       string
	Time       time.Time
	Attributes []attribute.KeyValue
}

// Link points to another span.
type Link struct {
	TraceID    trace.TraceID
	SpanID     trace.SpanID
	Attributes []attribute.KeyValue
}

// Status is the outcome of a span: unset, or an error with a description.
type Status struct {
	Code        codes.Code
	Description string
}

// Session is what all spans of one session share.
type Session struct {
	// ID is the session's own id, Root that of the session at the top of its trace.
	ID, Root string
	// TraceID is the trace of what lies outside runs, and of everything unless each run has a trace of its own.
	TraceID trace.TraceID
	// Harness and Version name the program that wrote the session; they become service.name and service.version.
	Harness, Version string
	// Format is the name of the file format, e.g. "agentsession".
	Format string
	// Created is the time the header gives, or zero.
	Created time.Time
	// CWD is the working directory the header names, or "".
	CWD string

	common []attribute.KeyValue // what every span says of it
}

// Sink takes spans. Start is called when a span opens: ids, parent, name, kind, start, links and the attributes present
// then are final. End is called when it is complete. Every span that ends has started.
type Sink interface {
	Start(*Span)
	End(*Span)
}

func failed(description string) Status { return Status{Code: codes.Error, Description: description} }

// Types lists the span types in the order in which people think of them.
var Types = []Type{TypeSession, TypeRun, TypeChat, TypeTool, TypeApproval, TypeCompaction, TypeBranch, TypeEvent}

// Attribute returns the value of an attribute of the span.
func (s *Span) Attribute(key attribute.Key) attribute.Value {
	for i := len(s.Attributes) - 1; i >= 0; i-- {
		if s.Attributes[i].Key == key {
			return s.Attributes[i].Value
		}
	}
	return attribute.Value{}
}

// newSpan makes a span with what every span has.
func (p *Projector) newSpan(typ Type, id trace.SpanID, name string) *Span {
	s := &Span{SpanID: id, Type: typ, Name: cut(name, maxName), Kind: trace.SpanKindInternal, Session: p.owner, Seq: *p.seq}
	s.Attributes = make([]attribute.KeyValue, 0, usualAttributes(typ))
	*p.seq++
	if s.node = p.at; p.outer {
		s.node = root // what path of the file it is on, its tree does not say
	}
	if typ == TypeSession {
		s.Session = p.session
	}
	if s.Session.common == nil {
		s.Session.common = s.Session.attributes()
	}
	s.Attributes = append(append(s.Attributes, s.Session.common...), names.SpanType.String(string(typ)))
	return s
}

// attributes returns those that every span of the session has.
func (s *Session) attributes() []attribute.KeyValue {
	var a attributes
	a.string(names.SessionID, s.Root)
	a.string(names.ConversationID, s.ID)
	a.string(names.OwnSession, s.ID)
	return a.kv
}

// usualAttributes is how many attributes most spans of a type have at their end.
func usualAttributes(typ Type) int {
	switch typ {
	case TypeChat, TypeRun:
		return 20
	default:
		return 14
	}
}

// start sends a span of the current tip on its way, once its links are complete. The caller makes it the last span of the
// path.
func (p *Projector) start(s *Span) spanRef {
	t := p.cur
	if b := t.branch; b != nil {
		t.branch = nil
		if b.from.ok() {
			s.addLink(b.from.link(names.LinkBranch))
		}
		s.add(func(a *attributes) {
			a.flag(names.ParentLost, b.lost)
			if !b.lost {
				a.string(names.BranchPoint, b.entry)
			}
		})
	}
	t.st.due.put(s)
	p.sendStart(s)
	return spanRef{span: s.SpanID, trace: p.traceOf(s)}
}

// traceOf returns a lasting pointer to the trace id of a span.
func (p *Projector) traceOf(s *Span) *trace.TraceID {
	if s.TraceID == p.owner.TraceID {
		return &p.owner.TraceID
	}
	if run := p.cur.st.run; run != nil && run.trace == s.TraceID {
		return &run.trace
	}
	id := s.TraceID
	return &id
}

// placed gives a span its trace and its parent: the run the tip is in, else the session's mark.
func (p *Projector) placed(s *Span, in *segment) {
	if in != nil {
		s.TraceID, s.Parent = in.run.trace, in.ref.span
		return
	}
	s.TraceID, s.Parent = p.owner.TraceID, p.sessionMark()
}
