package format

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Entry types that the format defines. Any other type, normally of the form "ns:name", is an [UnknownEntry].
const (
	TypeItem          = "item"
	TypeResponse      = "response"
	TypeConfig        = "config"
	TypeCompaction    = "compaction"
	TypeBranchSummary = "branch_summary"
	TypeRun           = "run"
	TypeDispatch      = "dispatch"
	TypeDecision      = "decision"
	TypeLabel         = "label"
	TypeInfo          = "info"
	TypeEnv           = "env"
	TypeOutcome       = "outcome"
	TypeLink          = "link"
	TypeCustom        = "custom"
	TypeQueued        = "queued" // from minor 3 on
)

// Entry is one line of a session after the header (A.3). The concrete types are pointers to the …Entry structs of
// this package, so that callers use a type switch.
type Entry interface {
	// Base returns the envelope that every entry has. It may be read and, before the entry is appended, written.
	Base() *Envelope
	// EntryType returns the member "type" as it stands on the line.
	EntryType() string
}

// Envelope holds the members that every entry has (A.3).
type Envelope struct {
	// ID is unique in the file; an opaque string.
	ID string
	// Parent is the id of the parent entry, or "" for a root.
	Parent string
	// Time is the member "ts", in UTC when read. It only places things; file order is the order.
	Time time.Time
	// Parents names merged work of other branches or sessions (from minor 4 on). It is never walked.
	Parents []Ref
	// Unknown holds, in file order, the members that this package does not define for the entry's type.
	Unknown Members
}

// Base returns the envelope itself, so that embedding it satisfies [Entry].
func (e *Envelope) Base() *Envelope { return e }

// Ref names an entry, in this file when Session is "".
type Ref struct {
	Session string
	Entry   string
}

// ItemEntry holds one payload item, verbatim (A.5). It is in the model's context.
type ItemEntry struct {
	Envelope
	Item Item
	// ResponseID names the response whose output the item is; "" when it is no output.
	ResponseID string
	// Visible is false for an item that a renderer should hide; nil means visible.
	Visible *bool
	// QueuedFrom is the id of the queued entry that the item was taken from (from minor 3 on).
	QueuedFrom string
	// Source is the raw trigger of the item (from minor 3 on), or nil.
	Source jsontext.Value
}

// ResponseEntry is the envelope of one model call, written after its output items (A.5).
type ResponseEntry struct {
	Envelope
	ResponseID  string
	Model       string
	Status      string // queued, in_progress, completed, incomplete, failed
	Usage       *Usage
	Incomplete  *Incomplete
	Error       *ResponseError
	RequestHash string
	// LatencyMS is the measured duration of the call in milliseconds; nil when the file does not say.
	LatencyMS *int64
	// Attempts counts the calls made, retries included (from minor 7 on); nil means one.
	Attempts *int64
}

// ConfigEntry is a delta to the request settings (A.5).
type ConfigEntry struct {
	Envelope
	// Model replaces the model in force unless it is "".
	Model string
	// Instructions replaces the instructions in force unless it is nil; "" clears them.
	Instructions *string
	// Reasoning and Text replace the whole object in force unless they are nil. They are raw JSON.
	Reasoning jsontext.Value
	Text      jsontext.Value
	// ToolsAdded are raw tool definitions; ToolsRemoved are names, dropped first.
	ToolsAdded   []jsontext.Value
	ToolsRemoved []string
	// Extra holds further request members under their wire names; a value null deletes the key.
	Extra Members
	// Replace discards all earlier settings before this delta applies.
	Replace bool
	// Parts, Omitted and Omit are raw members of later minors (instructions_parts, instructions_omitted, omit), or nil.
	Parts   jsontext.Value
	Omitted jsontext.Value
	Omit    jsontext.Value
}

// CompactionEntry replaces the context before FirstKept by a summary (A.5).
type CompactionEntry struct {
	Envelope
	FirstKept string
	Summary   Item
	// Config is the full settings checkpoint, raw JSON.
	Config       jsontext.Value
	TokensBefore *int64
	Usage        *Usage
	// Pinned are items placed after the summary (from minor 3 on).
	Pinned []Item
}

// BranchSummaryEntry carries context across a branch switch (A.5). From is the leaf that was left.
type BranchSummaryEntry struct {
	Envelope
	From    string
	Summary Item
	Usage   *Usage
}

// Phases of a [RunEntry].
const (
	PhaseStart = "start"
	PhaseEnd   = "end"
)

// Sources of a run, on its start entry (A.6).
const (
	SourceInput  = "input"
	SourceResume = "resume"
)

// Reasons of a run's end, on its end entry (A.6).
const (
	ReasonDone          = "done"
	ReasonStopped       = "stopped"
	ReasonInterrupted   = "interrupted"
	ReasonInputRequired = "input_required"
	ReasonAborted       = "aborted"
	ReasonError         = "error"
)

// RunEntry marks the start or the end of a run; the two share a RunID (A.6).
type RunEntry struct {
	Envelope
	RunID  string
	Phase  string // PhaseStart or PhaseEnd
	Source string // on a start
	Reason string // on an end
	// Pending lists, on an end, the call ids without an output.
	Pending []string
	// Ref is opaque: what triggered the run, or why it ended.
	Ref string
	// Trigger says what started the run (from minor 6 on), or is nil.
	Trigger *Trigger
}

// Trigger says in the harness's terms what caused an input (from minor 3 on).
type Trigger struct {
	Kind    string
	Ref     string
	Source  string
	Unknown Members
}

// DispatchEntry records that a call was handed to its tool (A.6). Target is the item entry that holds the call.
type DispatchEntry struct {
	Envelope
	CallID         string
	Target         string
	IdempotencyKey string // from minor 8 on
}

// Verdicts of a [DecisionEntry] (A.6; answer from minor 8 on).
const (
	VerdictProceed = "proceed"
	VerdictReject  = "reject"
	VerdictHold    = "hold"
	VerdictAnswer  = "answer"
)

// DecisionEntry records that the fate of a call was decided outside the tool (A.6).
type DecisionEntry struct {
	Envelope
	CallID  string
	Target  string
	Verdict string
	Reason  string
	By      string // human, policy, agent
	// Args are the arguments the tool ran with after a rewrite, raw JSON, or nil.
	Args jsontext.Value
}

// LeafLabel is the reserved label that makes a leaf durable (A.4).
const LeafLabel = "leaf"

// LabelEntry bookmarks another entry; a nil Label clears (A.6).
type LabelEntry struct {
	Envelope
	Target string
	Label  *string
}

// InfoEntry carries display metadata (A.6). Further members are in Unknown.
type InfoEntry struct {
	Envelope
	Name string
}

// EnvEntry is a snapshot of the environment, in force from its place on the path to the next (A.6).
type EnvEntry struct {
	Envelope
	CWD       string
	VCS       *VCS
	Files     *FileHashes
	Tools     map[string]string
	Workspace *Workspace
}

// VCS is the version control state of the working directory.
type VCS struct {
	System   string
	Revision string
	Dirty    *bool // nil when the file does not say
	Unknown  Members
}

// FileHashes maps paths to content hashes.
type FileHashes struct {
	Read    map[string]string
	Written map[string]string
	Unknown Members
}

// Workspace says which file system the working directory lies in: kind local, container or remote.
type Workspace struct {
	Kind    string
	Ref     string
	Unknown Members
}

// Kinds of an [OutcomeEntry] (A.6).
const (
	OutcomeFeedback  = "feedback"
	OutcomeTest      = "test"
	OutcomeTask      = "task"
	OutcomeToolError = "tool_error"
	OutcomeEval      = "eval"
	OutcomeCustom    = "custom"
)

// OutcomeEntry is a judgement of the session or a part of it (A.6).
type OutcomeEntry struct {
	Envelope
	Kind    string
	Target  string
	Score   *float64
	Pass    *bool
	Label   string
	Details jsontext.Value
}

// Relations of a [LinkEntry] (A.6; judged_by from minor 11 on).
const (
	RelSubsession  = "subsession"
	RelForkOf      = "fork_of"
	RelContinuedIn = "continued_in"
	RelJudgedBy    = "judged_by"
)

// LinkEntry references another session (A.6).
type LinkEntry struct {
	Envelope
	Rel     string
	Session string
	CallID  string
	Target  string // from minor 11 on
}

// CustomEntry is application state outside the context (A.6).
type CustomEntry struct {
	Envelope
	NS     string
	CallID string // from minor 6 on
	Data   jsontext.Value
}

// QueuedEntry is an input that waits for its turn (C.7, from minor 3 on).
type QueuedEntry struct {
	Envelope
	Mode    string // steer, followup
	Item    Item
	Trigger *Trigger
	Ref     string
}

// UnknownEntry is an entry of a type that this package does not define. Its members are in Unknown.
type UnknownEntry struct {
	Envelope
	Type string
}

func (*ItemEntry) EntryType() string          { return TypeItem }
func (*ResponseEntry) EntryType() string      { return TypeResponse }
func (*ConfigEntry) EntryType() string        { return TypeConfig }
func (*CompactionEntry) EntryType() string    { return TypeCompaction }
func (*BranchSummaryEntry) EntryType() string { return TypeBranchSummary }
func (*RunEntry) EntryType() string           { return TypeRun }
func (*DispatchEntry) EntryType() string      { return TypeDispatch }
func (*DecisionEntry) EntryType() string      { return TypeDecision }
func (*LabelEntry) EntryType() string         { return TypeLabel }
func (*InfoEntry) EntryType() string          { return TypeInfo }
func (*EnvEntry) EntryType() string           { return TypeEnv }
func (*OutcomeEntry) EntryType() string       { return TypeOutcome }
func (*LinkEntry) EntryType() string          { return TypeLink }
func (*CustomEntry) EntryType() string        { return TypeCustom }
func (*QueuedEntry) EntryType() string        { return TypeQueued }
func (e *UnknownEntry) EntryType() string     { return e.Type }
