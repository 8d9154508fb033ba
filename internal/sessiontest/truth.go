package sessiontest

// Case is a session with the subsessions below it.
type Case struct {
	// Files holds the root session first, then the subsessions, each after the one that spawned it.
	Files []File
}

// File is one session file.
type File struct {
	SessionID string
	// ParentSession and SpawnedBy name the session and the call that a subsession was spawned by; "" for the root.
	ParentSession, SpawnedBy string
	Data                     []byte
	Truth                    Truth
}

// Truth is what the generator knows of a file: a ledger kept while writing, never read back from the bytes.
type Truth struct {
	// Entries counts the lines after the header.
	Entries int
	// ByType counts the entries of each type.
	ByType map[string]int
	// Responses counts the response entries; Failed those with an error, Incomplete those cut short.
	Responses, Failed, Incomplete int
	// Runs counts the run starts.
	Runs int

	// Tokens are summed over the responses; one without usage adds nothing.
	InputTokens, OutputTokens, CachedTokens, ReasoningTokens int64
	// OtherCalls counts the usages that stand elsewhere: on compactions, branch summaries and custom entries.
	OtherCalls                          int
	OtherInputTokens, OtherOutputTokens int64
	// Hashes counts the responses with a request hash.
	Hashes int

	// Calls holds every call, RunTruths every run, in file order.
	Calls     []CallTruth
	RunTruths []RunTruth
	// Queued counts the inputs that waited, Taken the items that were taken from them, Merges the entries that name parents.
	Queued, Taken, Merges int
	// Links holds, in file order, the ids of the subsessions that links name.
	Links []string

	// Roots counts the entries without a parent.
	Roots int
	// Leaves holds the entries without a child, in file order, leaf labels left out.
	Leaves []string
	// Leaf is the entry that a reader goes on from (A.4, the newer rule); "" in a file without entries.
	Leaf string
	// States holds, for each call on the path to Leaf, its state (A.11).
	States map[string]string
	// Name is the last non-empty name of the session.
	Name string
}

// CallTruth is what happened to one call, on whatever path of the file.
type CallTruth struct {
	ID, Name string
	// EntryID is the item entry that holds the call, ResponseID the response it belongs to.
	EntryID, ResponseID string
	// HandOffs counts its dispatch entries, Outputs its output items, Holds its hold decisions.
	HandOffs, Outputs, Holds int
	// Completed: it has an output.
	Completed bool
	// Rejected: a decision rejected it. ArgsRewritten: one changed its arguments.
	Rejected, ArgsRewritten bool
	// Answered: a decision ended it without its tool.
	Answered bool
	// Session is the id of the subsession it spawned, or "".
	Session string
	// Background: it returned before that session ended.
	Background bool
}

// RunTruth is one run.
type RunTruth struct {
	ID string
	// EntryID is the entry of the start, Source its source.
	EntryID, Source string
	// Ends are its end entries: none when it was cut off, left or is open; more than one when a branch left it and both
	// sides ended it.
	Ends []RunEndTruth
}

// RunEndTruth is one end of a run.
type RunEndTruth struct {
	EntryID, Reason string
	// Pending is sorted; in the file the ids stand in any order.
	Pending []string
}
