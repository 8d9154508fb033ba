// Package names holds every name that goes on the wire: attributes, links and the words that are their values. The rules
// for where they stand are those of package projection.
package names

import "go.opentelemetry.io/otel/attribute"

// Names of attributes. Every name that goes on the wire stands in this file.
const (
	SessionID = attribute.Key("session.id")

	ConversationID    = attribute.Key("gen_ai.conversation.id")
	Operation         = attribute.Key("gen_ai.operation.name")
	Provider          = attribute.Key("gen_ai.provider.name")
	AgentName         = attribute.Key("gen_ai.agent.name")
	AgentVersion      = attribute.Key("gen_ai.agent.version")
	RequestModel      = attribute.Key("gen_ai.request.model")
	Temperature       = attribute.Key("gen_ai.request.temperature")
	TopP              = attribute.Key("gen_ai.request.top_p")
	FrequencyPenalty  = attribute.Key("gen_ai.request.frequency_penalty")
	PresencePenalty   = attribute.Key("gen_ai.request.presence_penalty")
	MaxTokens         = attribute.Key("gen_ai.request.max_tokens")
	Seed              = attribute.Key("gen_ai.request.seed")
	ReasoningLevel    = attribute.Key("gen_ai.request.reasoning.level")
	ResponseID        = attribute.Key("gen_ai.response.id")
	ResponseModel     = attribute.Key("gen_ai.response.model")
	FinishReasons     = attribute.Key("gen_ai.response.finish_reasons")
	InputTokens       = attribute.Key("gen_ai.usage.input_tokens")
	OutputTokens      = attribute.Key("gen_ai.usage.output_tokens")
	CacheReadTokens   = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	CacheCreateTokens = attribute.Key("gen_ai.usage.cache_creation.input_tokens") // to 1.41
	CacheWriteTokens  = attribute.Key("gen_ai.usage.cache_write.input_tokens")    // after it
	ReasoningTokens   = attribute.Key("gen_ai.usage.reasoning.output_tokens")
	Cost              = attribute.Key("gen_ai.usage.cost") // no convention; what viewers read
	ToolName          = attribute.Key("gen_ai.tool.name")
	ToolType          = attribute.Key("gen_ai.tool.type")
	ToolCallID        = attribute.Key("gen_ai.tool.call.id")
	ErrorType         = attribute.Key("error.type")

	SpanType       = attribute.Key("agentsession.span.type")
	OwnSession     = attribute.Key("agentsession.session.id")
	EntryID        = attribute.Key("agentsession.entry.id")
	ParentLost     = attribute.Key("agentsession.entry.parent_lost")
	Timing         = attribute.Key("agentsession.timing")
	ClockAdjusted  = attribute.Key("agentsession.clock.adjusted")
	Truncated      = attribute.Key("agentsession.truncated") // how many values were cut to the limit
	Link           = attribute.Key("agentsession.link")
	OriginalTime   = attribute.Key("agentsession.event.time")
	Format         = attribute.Key("agentsession.format")
	FormatVersion  = attribute.Key("agentsession.format.version")
	HarnessName    = attribute.Key("agentsession.harness.name")
	HarnessVersion = attribute.Key("agentsession.harness.version")
	SessionName    = attribute.Key("agentsession.session.name")
	SessionCWD     = attribute.Key("agentsession.session.cwd")
	ParentSession  = attribute.Key("agentsession.session.parent")
	SpawnedBy      = attribute.Key("agentsession.session.spawned_by")
	SessionBase    = attribute.Key("agentsession.session.base") // the last entry that was copied from the session forked from

	RunID            = attribute.Key("agentsession.run.id")
	RunSegment       = attribute.Key("agentsession.run.segment")
	RunInferred      = attribute.Key("agentsession.run.inferred")
	RunSource        = attribute.Key("agentsession.run.source")
	RunTrigger       = attribute.Key("agentsession.run.trigger")
	RunTriggerKind   = attribute.Key("agentsession.run.trigger.kind")
	RunTriggerSource = attribute.Key("agentsession.run.trigger.source")
	RunReason        = attribute.Key("agentsession.run.reason")
	RunCause         = attribute.Key("agentsession.run.cause")
	RunPending       = attribute.Key("agentsession.run.pending")
	RunCutBy         = attribute.Key("agentsession.run.cut_off_by")
	RunChats         = attribute.Key("agentsession.run.chats")
	RunCalls         = attribute.Key("agentsession.run.calls")
	RunWait          = attribute.Key("agentsession.run.wait_ms") // of the input that it began with
	RunQueued        = attribute.Key("agentsession.run.queued")  // inputs that waited when it ended
	LowerBound       = attribute.Key("agentsession.usage.lower_bound")

	ChatPurpose    = attribute.Key("agentsession.chat.purpose")
	ChatAttempts   = attribute.Key("agentsession.chat.attempts")
	ChatIncomplete = attribute.Key("agentsession.chat.incomplete")
	RequestHash    = attribute.Key("agentsession.request_hash")

	// What sources bring under the namespace and a picture shows as well.
	ChatKind      = attribute.Key("agentsession.chat.kind")      // of a call with the purpose other
	ModelID       = attribute.Key("agentsession.model.id")       // of a change of the model
	ThinkingLevel = attribute.Key("agentsession.thinking.level") // of a change of it
	LabelText     = attribute.Key("agentsession.label.text")
	ShellExitCode = attribute.Key("agentsession.shell.exit_code")
	ShellCanceled = attribute.Key("agentsession.shell.cancelled")
	ToolsActive   = attribute.Key("agentsession.tools.active")
	ToolsAdded    = attribute.Key("agentsession.tools.added")
	ToolsRemoved  = attribute.Key("agentsession.tools.removed")
	EditAction    = attribute.Key("agentsession.context_edit.action")
	CommandName   = attribute.Key("agentsession.command.name")
	TurnDuration  = attribute.Key("agentsession.turn.duration_ms")
	HooksFailed   = attribute.Key("agentsession.hooks.failed")
	APIErrorType  = attribute.Key("agentsession.api_error.type")
	UnknownKind   = attribute.Key("agentsession.unknown.kind")

	InstructionParts    = attribute.Key("agentsession.chat.instructions.parts")
	InstructionsOmitted = attribute.Key("agentsession.chat.instructions.omitted")
	OmittedOtherModels  = attribute.Key("agentsession.chat.omitted.other_models") // reasoning that other models wrote
	OmittedItems        = attribute.Key("agentsession.chat.omitted.items")        // items that were named

	QueuedMode          = attribute.Key("agentsession.queued.mode")
	QueuedTrigger       = attribute.Key("agentsession.queued.trigger")
	QueuedTriggerKind   = attribute.Key("agentsession.queued.trigger.kind")
	QueuedTriggerSource = attribute.Key("agentsession.queued.trigger.source")
	InputMode           = attribute.Key("agentsession.input.mode")
	InputQueuedFrom     = attribute.Key("agentsession.input.queued_from")
	InputWait           = attribute.Key("agentsession.input.wait_ms")
	InputTrigger        = attribute.Key("agentsession.input.trigger")
	InputTriggerKind    = attribute.Key("agentsession.input.trigger.kind")
	InputTriggerSource  = attribute.Key("agentsession.input.trigger.source")

	CallState          = attribute.Key("agentsession.call.state")
	CallDispatch       = attribute.Key("agentsession.call.dispatch")
	CallIdempotencyKey = attribute.Key("agentsession.call.idempotency_key")
	CallArgsRewritten  = attribute.Key("agentsession.call.args_rewritten")
	Subsession         = attribute.Key("agentsession.subsession.id")
	SubsessionMissing  = attribute.Key("agentsession.subsession.missing") // there is no file of it
	ApprovalWait       = attribute.Key("agentsession.approval.wait_ms")
	ApprovalCallID     = attribute.Key("agentsession.approval.call_id")
	ApprovalTool       = attribute.Key("agentsession.approval.tool")
	ApprovalVerdict    = attribute.Key("agentsession.approval.verdict")
	ApprovalBy         = attribute.Key("agentsession.approval.by")
	DecisionVerdict    = attribute.Key("agentsession.decision.verdict")
	DecisionBy         = attribute.Key("agentsession.decision.by")

	CompactionFirstKept    = attribute.Key("agentsession.compaction.first_kept")
	CompactionTokensBefore = attribute.Key("agentsession.compaction.tokens_before")
	CompactionPinned       = attribute.Key("agentsession.compaction.pinned")
	OriginalStart          = attribute.Key("agentsession.original.start") // of a span that was moved
	OriginalEnd            = attribute.Key("agentsession.original.end")
	BranchFrom             = attribute.Key("agentsession.branch.from")  // the leaf that a branch summary speaks of
	BranchPoint            = attribute.Key("agentsession.branch.point") // the entry from which a branch starts
	LinkRel                = attribute.Key("agentsession.link.rel")
	LinkSession            = attribute.Key("agentsession.link.session")
	LinkCallID             = attribute.Key("agentsession.link.call_id")
	LinkTarget             = attribute.Key("agentsession.link.target")
	LinkMissing            = attribute.Key("agentsession.link.missing") // there is no file of that session
	LinkEntry              = attribute.Key("agentsession.link.entry")   // of an OpenTelemetry link: the entry that the file names
)

// Names of metrics, and of the attributes that only they have.
const (
	MetricRuns  = "agentsession.runs"
	MetricCalls = "agentsession.calls"

	MetricTokenUsage        = "gen_ai.client.token.usage"        // to 1.41
	MetricOperationDuration = "gen_ai.client.operation.duration" // to 1.41, of model calls and tools

	MetricInferenceDuration = "gen_ai.client.inference.duration" // after it, and all below
	MetricToolDuration      = "gen_ai.execute_tool.duration"
	MetricOperationInput    = "gen_ai.client.inference.operation.input_tokens"
	MetricOperationOutput   = "gen_ai.client.inference.operation.output_tokens"
	MetricInputTokens       = "gen_ai.client.inference.usage.input_tokens"
	MetricOutputTokens      = "gen_ai.client.inference.usage.output_tokens"
	MetricCacheReadTokens   = "gen_ai.client.inference.usage.cache_read.input_tokens"
	MetricCacheWriteTokens  = "gen_ai.client.inference.usage.cache_write.input_tokens"
	MetricReasoningTokens   = "gen_ai.client.inference.usage.reasoning.output_tokens"

	TokenType       = attribute.Key("gen_ai.token.type")
	TokensInput     = "input"
	TokensOutput    = "output"
	TokenModality   = attribute.Key("gen_ai.token.modality")
	ModalityUnknown = "unknown"
)

// Namespace precedes the names of attributes and events that sources bring.
const Namespace = "agentsession."

// Values of gen_ai.operation.name.
const (
	OperationChat        = "chat"
	OperationInvokeAgent = "invoke_agent"
	OperationExecuteTool = "execute_tool"
)

// Kinds of links: the values of agentsession.link.
const (
	LinkPreviousTurn    = "previous_turn"    // chat to the chat before it on the path
	LinkPreviousRun     = "previous_run"     // run to the run before it, with a trace for each run
	LinkPreviousSegment = "previous_segment" // run to its own segment before this one
	LinkProducedBy      = "produced_by"      // tool to the chat that asked for it
	LinkDispatchedAgain = "dispatched_again" // tool to the hand-off before it
	LinkFollowsHandOff  = "follows_hand_off" // tool to the hand-off whose late outcome it records
	LinkBranch          = "branch"           // first span of a branch to the span nearest above the branching point
	LinkBranchFrom      = "branch_from"      // branch summary to the span nearest above the leaf that was left
	LinkSpawnedBy       = "spawned_by"       // subsession to its call, where it hangs from the run; with a trace for each run, to the session of the call
	LinkSubsession      = "subsession"       // call to the session it spawned
	LinkForkOf          = "fork_of"          // session to the session it was forked from
	LinkBase            = "base"             // first span after copied history to the session it was copied from
	LinkConverged       = "converged"        // to the span nearest an entry, or the session, whose work is merged
	LinkQueued          = "queued"           // input to the span nearest the entry with which it began to wait
	LinkJudgedBy        = "judged_by"        // link to the session that judges
	LinkCaller          = "caller"           // session, run to the span in the context of the harness that began it; live only
	LinkAbout           = "about"            // link, outcome to the span of the entry that it is about
)

// States of a call: the values of agentsession.call.state.
const (
	StateCompleted    = "completed"
	StateHeld         = "held"
	StateInFlight     = "in_flight"
	StateNeverStarted = "never_started"
	StateUnknown      = "unknown"
	StateRejected     = "rejected"
	StateAnswered     = "answered"
)

// What cut a run off: the values of agentsession.run.cut_off_by.
const (
	CutByStart   = "start"
	CutByBranch  = "branch"
	CutBySilence = "silence"
	CutByFinish  = "finish"
)

// What ended a wait for a person without a word: a value of agentsession.approval.verdict beside those of a decision.
const (
	VerdictDispatch = "dispatch"
	VerdictResult   = "result"
)
