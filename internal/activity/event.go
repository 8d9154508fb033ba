package activity

import "time"

// Event is one thing that an entry of a session says.
type Event struct {
	// Key is the stable key of the entry: the file's own id for it, else its ordinal.
	Key string
	// Parent is the key of the entry that this one continues, or "" for a root.
	Parent string
	// Part is 0 for the first event of an entry, which gives it its place in the tree. Later events of the same entry
	// count on from 1, whenever they come: they may be late, when a later line has shown what the entry meant.
	Part int
	// Owner is the id of the session to which the entry belongs when that is not the session of the file: history that
	// was copied into a fork. It builds the state that later entries go on from; its spans are those of its owner, and
	// are sent where the owner's own file is read.
	Owner string
	// Within is the id of the session that the entry is of, where that is another one in the same file; it begins with the
	// [Session] of it.
	Within string
	// Merged names the entries, of other branches or sessions, whose work is merged here. They give this one no place.
	Merged []Ref
	// Time is the time of the entry; zero when the file does not give a usable one.
	Time time.Time
	// Line and Offset place the entry in its file.
	Line   int
	Offset int64
	// Fact is what the entry says, or nil.
	Fact Fact
}

// Ref names an entry of a session, of the file's own one when Session is "".
type Ref struct{ Session, Key string }

// Fact is what an event says: one of the pointer types of this package.
type Fact interface{ fact() }

// Silence is how long nothing may happen in a session before what is open in it is taken to have ended.
const Silence = 24 * time.Hour

// Timing says how a time is known.
type Timing string

// How times are known.
const (
	// Measured: the file, or a duration in it, says so.
	Measured Timing = "measured"
	// Bounded: it cannot have started before, or ended after, this entry.
	Bounded Timing = "bounded"
	// Inferred: derived from what stands around it.
	Inferred Timing = "inferred"
)

// Session opens the file. It is the fact of the first event, whose Key is "" and which has no place in the tree.
type Session struct {
	ID string
	// Created is zero when the file does not say.
	Created time.Time
	// Format is the name of the source, FormatVersion the version that the file states.
	Format, FormatVersion string
	// Newer: the version is one that the source does not know. What it can it has read, by the rules of the newest it does.
	Newer            bool
	Harness, Version string
	CWD              string
	// Spawn ties a subsession to the call that spawned it; nil for a session that stands alone.
	Spawn *Spawn
	// Part: it is a part of the work of the session at the top, and nobody's own: that of an agent.
	Part bool
	// ForkOf is the id of the session that this one was forked from or continues; "" when there is none.
	ForkOf string
	// Base is the key of the entry with which the history ends that was copied from the session it was forked from or
	// spawned by; "" when none was.
	Base string
	// PromisesDispatch: a call without a dispatch was never handed to its tool.
	PromisesDispatch bool
	// TakesUp: the calls of a run are also the earlier ones that it decides about, hands to their tool or gets the result of.
	TakesUp bool
	// Repeats: an entry that comes again is the same entry, and no damage.
	Repeats bool
	// Loose: in files of this kind it is normal that parents are missing and that entries come twice. An entry whose parent
	// is unknown continues the one before it in the file, instead of becoming a root; neither is damage.
	Loose bool
	// InferRuns: the file may have no run records, and the projector is to infer runs from messages and responses.
	InferRuns bool
	// Attributes are further facts of the session, under the names of the projection's own namespace.
	Attributes []Attribute
}

// Spawn names the call of another session that spawned this one.
type Spawn struct {
	// Session and CallID name the spawning call.
	Session, CallID string
	// Root is the id of the session at the top, where the source knows it; else it is found by following Session.
	Root string
	// Background: the call returns before its session ends. The subsession hangs from the run RunID of the spawning session
	// and links to the call.
	Background bool
	RunID      string
}

// Input is a message that goes to the model and is not its own output.
type Input struct {
	// Role is user, system, developer or tool.
	Role string
}

// Queued is an input that waits until it is taken up.
type Queued struct {
	// Mode is steer, for the run that is going on, or followup, for the next one, or the file's own word.
	Mode    string
	Trigger Trigger
}

// Arrival says how the input of its entry came to the agent. It is a further part of that entry.
type Arrival struct {
	// Queued is the key of the entry with which it began to wait; "" when it did not wait, or no entry says so.
	Queued string
	// Since is when it began to wait, where no entry but the input itself says so; else zero.
	Since time.Time
	// Mode is how it was meant, as in [Queued]; "" where the file does not say.
	Mode    string
	Trigger Trigger
}

// Trigger says in the words of the harness what caused an input or a run: a kind of thing, which one, and where it came from.
// Fields are "" where the file does not say.
type Trigger struct{ Kind, Ref, Source string }

// Output is a piece of a model's output other than a call: a message, reasoning.
type Output struct {
	// ResponseID names the model call that made it; "" when the file does not say.
	ResponseID string
	// Reasoning: it is what the model thought, and not what it said.
	Reasoning bool
}

// Call is a tool call that a model asked for.
type Call struct {
	ID   string
	Name string
	// ResponseID names the model call that asked for it; "" when the file does not say.
	ResponseID string
	// Type is function (run by the client), extension (run by the provider or through MCP) or datastore; "" is function.
	Type string
}

// Dispatch hands a call to its tool.
type Dispatch struct {
	CallID string
	// Target is the key of the entry that holds the call; "" for the latest call of that id.
	Target         string
	IdempotencyKey string
}

// Verdicts of a decision.
const (
	Proceed = "proceed"
	Reject  = "reject"
	Hold    = "hold"
	Answer  = "answer"
)

// Dropped says of a call that it is not handed to its tool, since the harness gave up the output that asked for it.
type Dropped struct{ CallID string }

// Decision decides the fate of a call outside its tool.
type Decision struct {
	CallID string
	Target string
	// Verdict is one of the verdicts, or whatever else the file says.
	Verdict string
	By      string
	Reason  string
	// ArgsRewritten: the tool runs with other arguments than the model gave.
	ArgsRewritten bool
}

// Result is the output of a call.
type Result struct {
	CallID string
	// Failure says that the tool failed; nil when it did not, or the file does not say.
	Failure *Failure
	// Start, End and Duration are zero where the file does not give them.
	Start, End time.Time
	Duration   time.Duration
	// Timing says how they are known; "" is Measured.
	Timing     Timing
	Attributes []Attribute
}

// Failure says what went wrong.
type Failure struct {
	// Type is of low cardinality: a provider's error code, an exception type. "" when only the failure is known.
	Type string
	// Message is for people. It may hold content.
	Message string
}

// Response completes a model call.
type Response struct {
	// ID is the provider's id of the response, or "".
	ID string
	// Ref is what the calls and outputs of the response, which come before it, have as their ResponseID; "" when that is
	// ID.
	Ref string
	// Model is the model that answered; RequestModel the one asked for, where the file says so here and not by [Settings].
	Model, RequestModel string
	Provider            string
	// Purpose is why the call was made: "" for an ordinary turn, else compaction, branch_summary or other.
	Purpose string
	Usage   Usage
	// Cost is in US dollars; nil when the file does not say.
	Cost *float64
	// Failure is the error of the call; nil when there was none.
	Failure *Failure
	// Incomplete is why the output is not complete, in the file's own word; "" when it is.
	Incomplete string
	// FinishReasons in the words of the conventions (stop, length, content_filter, tool_call, error); nil when unknown.
	FinishReasons []string
	// Start is when the request was made; zero when the file does not say. Timing says how it is known; "" is Measured.
	Start  time.Time
	Timing Timing
	// End is when the response was complete, where that is not the time of the entry.
	End time.Time
	// Latency is the measured duration; zero when the file does not say.
	Latency time.Duration
	// Attempts counts the requests made, retries included; 0 when the file does not say.
	Attempts    int64
	RequestHash string
	Attributes  []Attribute
}

// Usage counts tokens. A nil count is one that the file does not state.
type Usage struct {
	// Input includes cached input. CacheRead and CacheCreation are parts of it.
	Input, CacheRead, CacheCreation *int64
	// Output includes reasoning. Reasoning is a part of it.
	Output, Reasoning *int64
	// LowerBound: the counts are known to be too small.
	LowerBound bool
}

// IsZero reports whether nothing is counted.
func (u Usage) IsZero() bool {
	return u.Input == nil && u.Output == nil && u.CacheRead == nil && u.CacheCreation == nil && u.Reasoning == nil
}

// Settings change the settings of the model calls that follow on the path. Fields that are nil or "" stay as they were.
type Settings struct {
	// Replace discards what was in force.
	Replace  bool
	Model    string
	Provider string
	// Reasoning is the reasoning level asked for, e.g. "high".
	Reasoning *string
	// Sampling parameters, as sent.
	Temperature, TopP, FrequencyPenalty, PresencePenalty *float64
	MaxTokens, Seed                                      *int64
	// Cleared names parameters that are no longer sent.
	Cleared []Parameter
	// Parts count what the instructions are composed of, Omitted what was left out of them; nil when that stays.
	Parts, Omitted *Listing
	// Omit says which items of the path are left out of requests; nil when that stays.
	Omit *Omit
}

// Listing counts a list that is given as a change of the one in force.
type Listing struct {
	// Given are the elements that the change itself holds, Kept those that it takes over from the list in force.
	Given, Kept int64
	// Unclear: it cannot be counted.
	Unclear bool
}

// Omit adds to what is left out of requests.
type Omit struct {
	// Clear ends all that was left out so far.
	Clear bool
	// OtherModels: reasoning that was written while another model was in force.
	OtherModels bool
	// Items are the keys of entries.
	Items []string
}

// Parameter names a sampling parameter of [Settings].
type Parameter string

// The sampling parameters.
const (
	Temperature      Parameter = "temperature"
	TopP             Parameter = "top_p"
	FrequencyPenalty Parameter = "frequency_penalty"
	PresencePenalty  Parameter = "presence_penalty"
	MaxTokens        Parameter = "max_tokens"
	Seed             Parameter = "seed"
)

// RunStart opens a run.
type RunStart struct {
	RunID string
	// Source is input or resume.
	Source  string
	Trigger Trigger
	// Agent names the agent that runs; "" for the session's harness.
	Agent string
	// Inferred: the file has no record of the run, and the source found it in what was said. One that ends and goes on all
	// the same starts again under its id.
	Inferred bool
}

// Reasons of a run's end.
const (
	ReasonDone          = "done"
	ReasonStopped       = "stopped"
	ReasonInterrupted   = "interrupted"
	ReasonInputRequired = "input_required"
	ReasonAborted       = "aborted"
	ReasonError         = "error"
	// ReasonCutOff is never in a file: the run was cut off by a crash, by a new start, by a branch or by silence.
	ReasonCutOff = "cut_off"
)

// RunEnd closes a run.
type RunEnd struct {
	RunID   string
	Reason  string
	Pending []string
	// Cause is the harness's own word for why.
	Cause string
}

// Compaction folds the context.
type Compaction struct {
	FirstKept    string
	TokensBefore *int64
	// Pinned counts the items that stay in the context though they stand before the first one kept.
	Pinned int
	// Call is the model call that made the summary; nil when the file records none.
	Call *Response
	// Settings in force from here on; nil when they stay.
	Settings   *Settings
	Attributes []Attribute
}

// BranchSummary carries context across a branch switch.
type BranchSummary struct {
	// From is the key of the leaf that was left.
	From string
	Call *Response
}

// Mark moves the leaf: work goes on from Target. Clear takes an earlier mark on Target back.
type Mark struct {
	Target string
	Clear  bool
}

// Move moves the leaf to Target, or to before the first entry when that is "". The entry that says so never is the leaf;
// entries that come later move it on as they always do.
type Move struct{ Target string }

// Name gives the session its display name.
type Name struct{ Name string }

// Link references another session.
type Link struct {
	// Rel is subsession, fork_of, continued_in, judged_by, or the file's own word.
	Rel     string
	Session string
	// CallID is the call that spawns a subsession.
	CallID string
	// Target is the entry of this session that is meant, or "".
	Target string
	// Missing: there is no file of that session, and so what it used is not counted.
	Missing bool
}

// Note is anything else that belongs on the trace: a change of environment, an outcome, an application's own mark.
type Note struct {
	// What names it, in few letters and of low cardinality: env, outcome, …
	What string
	// Target is the key of the entry that it is about, or "".
	Target     string
	Attributes []Attribute
}

// Attribute is a named value: string, bool, int64, float64 or []string. Names are in the projection's namespace and
// written without it: "env.cwd" becomes agentsession.env.cwd.
type Attribute struct {
	Name  string
	Value any
}

func (*Session) fact()       {}
func (*Input) fact()         {}
func (*Queued) fact()        {}
func (*Arrival) fact()       {}
func (*Output) fact()        {}
func (*Call) fact()          {}
func (*Dispatch) fact()      {}
func (*Dropped) fact()       {}
func (*Decision) fact()      {}
func (*Result) fact()        {}
func (*Response) fact()      {}
func (*Settings) fact()      {}
func (*RunStart) fact()      {}
func (*RunEnd) fact()        {}
func (*Compaction) fact()    {}
func (*BranchSummary) fact() {}
func (*Mark) fact()          {}
func (*Move) fact()          {}
func (*Name) fact()          {}
func (*Link) fact()          {}
func (*Note) fact()          {}
