package openresponses

import "github.com/go-json-experiment/json/jsontext"

// Item is one payload item as raw JSON behind a small view. Everything else about an item is decoded only when
// somebody asks for it.
type Item struct {
	// Raw is the item as written.
	Raw jsontext.Value
	// Type is one of the Item… constants, or a slug-prefixed extension such as "acme:note".
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

// Clone returns a copy that shares nothing with the item.
func (i Item) Clone() Item {
	i.Raw = i.Raw.Clone()
	return i
}
