package format

import "github.com/go-json-experiment/json/jsontext"

// Item is one payload item as raw JSON behind a small view. Everything else about an item is decoded only when
// somebody asks for it.
type Item struct {
	// Raw is the item as written.
	Raw jsontext.Value
	// Type is "message", "function_call", "function_call_output", "reasoning", "compaction", "item_reference", or a
	// slug-prefixed extension such as "acme:note".
	Type string
	// Role is the role of a message: user, assistant, system, developer.
	Role string
	// CallID joins a call and its output.
	CallID string
	// Name is the tool name of a function call.
	Name string
}

// Item types of the payload profile (A.5).
const (
	ItemMessage            = "message"
	ItemFunctionCall       = "function_call"
	ItemFunctionCallOutput = "function_call_output"
	ItemReasoning          = "reasoning"
	ItemCompaction         = "compaction"
	ItemReference          = "item_reference"
)

// Usage is the token count of one model call (A.5). A nil count is one that the file does not state.
type Usage struct {
	InputTokens  *int64 // cached input included
	OutputTokens *int64 // reasoning included
	TotalTokens  *int64
	// CachedTokens and CacheCreationTokens are parts of InputTokens; CacheCreation1hTokens is part of the latter.
	CachedTokens          *int64
	CacheCreationTokens   *int64
	CacheCreation1hTokens *int64
	// ReasoningTokens is part of OutputTokens.
	ReasoningTokens *int64
	// Raw is the object as written, with whatever else it holds.
	Raw jsontext.Value
}

// Incomplete says why a response is incomplete.
type Incomplete struct {
	Reason string // max_output_tokens, content_filter, …
	Raw    jsontext.Value
}

// ResponseError is the error of a failed model call.
type ResponseError struct {
	Type    string
	Code    string
	Message string
	Raw     jsontext.Value
}

// DecodeUsage decodes a usage object that stands somewhere else than in an entry's "usage"; nil when raw is no object. What
// is of the wrong kind inside it is left nil.
func DecodeUsage(raw jsontext.Value) *Usage {
	if raw.Kind() != jsontext.KindBeginObject {
		return nil
	}
	return new(Decoder).usage(found{raw: raw})
}
