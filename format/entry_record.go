package format

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

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

// NewRunStart returns the entry that opens a run; its source is [SourceInput] or [SourceResume]. The ref, what triggered it in
// the harness's own terms, may be "".
func NewRunStart(runID, source, ref string) *RunEntry {
	return &RunEntry{RunID: runID, Phase: PhaseStart, Source: source, Ref: ref}
}

// NewRunEnd returns the entry that closes a run, with the ids of the calls left without output. The ref, what caused the end,
// may be "". [Session.EndRun] makes one from the path.
func NewRunEnd(runID, reason, ref string, pending []string) *RunEntry {
	return &RunEntry{RunID: runID, Phase: PhaseEnd, Reason: reason, Ref: ref, Pending: pending}
}

// IsStart reports whether the entry opens a run.
func (e *RunEntry) IsStart() bool { return e.Phase == PhaseStart }

// IsEnd reports whether the entry closes a run.
func (e *RunEntry) IsEnd() bool { return e.Phase == PhaseEnd }

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

// NewDispatch returns the record that a call, held by the item entry target, is handed to its tool. It is to be durable before
// the tool runs.
func NewDispatch(callID, target string) *DispatchEntry {
	return &DispatchEntry{CallID: callID, Target: target}
}

// Verdicts of a [DecisionEntry] (A.6; answer from minor 8 on).
const (
	VerdictProceed = "proceed"
	VerdictReject  = "reject"
	VerdictHold    = "hold"
	VerdictAnswer  = "answer"
)

// Who decides: the closed list for [DecisionEntry.By].
const (
	ByHuman  = "human"
	ByPolicy = "policy"
	ByAgent  = "agent"
)

// DecisionEntry records that the fate of a call was decided outside the tool (A.6).
type DecisionEntry struct {
	Envelope
	CallID  string
	Target  string
	Verdict string
	Reason  string
	By      string // one of the By… constants, or ""
	// Args are the arguments the tool ran with after a rewrite, raw JSON, or nil.
	Args jsontext.Value
}

// NewDecision returns a decision on a call, held by the item entry target. Who decided may be "". A reject needs a reason.
func NewDecision(callID, target, verdict, by string) *DecisionEntry {
	return &DecisionEntry{CallID: callID, Target: target, Verdict: verdict, By: by}
}

// WithReason sets the decider's words, which for a reject are what the model sees as the output, and returns the entry.
func (e *DecisionEntry) WithReason(reason string) *DecisionEntry {
	e.Reason = reason
	return e
}

// WithArgs sets the arguments that the tool runs with instead of the model's own, raw JSON, and returns the entry.
func (e *DecisionEntry) WithArgs(args jsontext.Value) *DecisionEntry {
	e.Args = args
	return e
}

// LeafLabel is the reserved label that makes a leaf durable (A.4).
const LeafLabel = "leaf"

// LabelEntry bookmarks another entry; a nil Label clears (A.6).
type LabelEntry struct {
	Envelope
	Target string
	Label  *string
}

// NewLabel returns a label for another entry.
func NewLabel(target, label string) *LabelEntry { return &LabelEntry{Target: target, Label: &label} }

// ClearLabel returns the entry that takes the label of another entry away.
func ClearLabel(target string) *LabelEntry { return &LabelEntry{Target: target} }

// InfoEntry carries display metadata (A.6). Further members are in Unknown.
type InfoEntry struct {
	Envelope
	Name string
}

// NewInfo returns an entry that gives the session a display name.
func NewInfo(name string) *InfoEntry { return &InfoEntry{Name: name} }

// EnvEntry is a snapshot of the environment, in force from its place on the path to the next (A.6).
type EnvEntry struct {
	Envelope
	CWD       string
	VCS       *VCS
	Files     *FileHashes
	Tools     map[string]string
	Workspace *Workspace
}

// NewEnv returns a snapshot of a working directory. Package format reads no files; format/environment finds out what goes into
// the rest.
func NewEnv(cwd string) *EnvEntry { return &EnvEntry{CWD: cwd} }

// AddRead records the content hash of a file that the session read.
func (e *EnvEntry) AddRead(path, hash string) { set(&e.files().Read, path, hash) }

// AddWritten records the content hash of a file that the session wrote.
func (e *EnvEntry) AddWritten(path, hash string) { set(&e.files().Written, path, hash) }

// AddTool records the version of a tool that the session could use.
func (e *EnvEntry) AddTool(name, version string) { set(&e.Tools, name, version) }

// SetWorkspace says which file system the working directory lies in: a Workspace… constant, and what the harness finds it by,
// such as the digest of an image.
func (e *EnvEntry) SetWorkspace(kind, ref string) { e.Workspace = &Workspace{Kind: kind, Ref: ref} }

func (e *EnvEntry) files() *FileHashes {
	if e.Files == nil {
		e.Files = &FileHashes{}
	}
	return e.Files
}

func set(m *map[string]string, key, value string) {
	if *m == nil {
		*m = map[string]string{}
	}
	(*m)[key] = value
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

// Kinds of a [Workspace] (A.6).
const (
	WorkspaceLocal     = "local"
	WorkspaceContainer = "container"
	WorkspaceRemote    = "remote"
)

// Workspace says which file system the working directory lies in.
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

// NewOutcome returns a judgement of an entry, usually the last one of what is judged, or with "" of the session as a whole.
func NewOutcome(kind, target string) *OutcomeEntry { return &OutcomeEntry{Kind: kind, Target: target} }

// WithScore sets a number on the judge's own scale, which the label names, and returns the entry.
func (e *OutcomeEntry) WithScore(score float64) *OutcomeEntry {
	e.Score = &score
	return e
}

// WithPass sets the verdict and returns the entry.
func (e *OutcomeEntry) WithPass(pass bool) *OutcomeEntry {
	e.Pass = &pass
	return e
}

// WithLabel names the judge's scale and returns the entry.
func (e *OutcomeEntry) WithLabel(label string) *OutcomeEntry {
	e.Label = label
	return e
}

// WithDetails sets further details, raw JSON, and returns the entry.
func (e *OutcomeEntry) WithDetails(details jsontext.Value) *OutcomeEntry {
	e.Details = details
	return e
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

// NewLink returns a reference to another session; rel is one of the Rel… constants.
func NewLink(rel, session string) *LinkEntry { return &LinkEntry{Rel: rel, Session: session} }

// NewSubsessionLink returns the link to the session that a call spawns ([SubsessionID]). It should be durable before the call's
// dispatch.
func NewSubsessionLink(session, callID string) *LinkEntry {
	return &LinkEntry{Rel: RelSubsession, Session: session, CallID: callID}
}

// CustomEntry is application state outside the context (A.6).
type CustomEntry struct {
	Envelope
	NS     string
	CallID string // from minor 6 on
	Data   jsontext.Value
}

// NewCustom returns an entry with application state, raw JSON or nil, in a namespace.
func NewCustom(ns string, data jsontext.Value) *CustomEntry { return &CustomEntry{NS: ns, Data: data} }

// Modes of a [QueuedEntry] (C.7).
const (
	ModeSteer    = "steer"
	ModeFollowup = "followup"
)

// QueuedEntry is an input that waits for its turn (C.7, from minor 3 on).
type QueuedEntry struct {
	Envelope
	Mode    string // ModeSteer or ModeFollowup
	Item    Item
	Trigger *Trigger
	Ref     string
}

// NewQueued returns an entry for an input that waits. The item that takes it up names it in [ItemEntry.QueuedFrom].
func NewQueued(mode string, item Item) *QueuedEntry { return &QueuedEntry{Mode: mode, Item: item} }

// UnknownEntry is an entry of a type that this package does not define. Its members are in Unknown.
type UnknownEntry struct {
	Envelope
	Type string
}

// NewExtension returns an entry of a type of its own, "ns:name", with its members.
func NewExtension(typ string, members Members) *UnknownEntry {
	return &UnknownEntry{Envelope: Envelope{Unknown: members}, Type: typ}
}

// IsExtension reports whether a type is that of an extension, "ns:name" (A.3).
func IsExtension(entryType string) bool {
	ns, name, ok := strings.Cut(entryType, ":")
	return ok && ns != "" && name != ""
}
