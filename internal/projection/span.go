package projection

import (
	"time"

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

	node uint32 // the entry behind the span, for Projector.OnPath
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
