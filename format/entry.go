package format

import (
	"cmp"
	"time"
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

// compare orders references as they have to be listed: by session, those of the file first, then by entry.
func (r Ref) compare(other Ref) int {
	return cmp.Or(cmp.Compare(r.Session, other.Session), cmp.Compare(r.Entry, other.Entry))
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
