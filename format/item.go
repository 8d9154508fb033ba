package format

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/format/openresponses"
)

// The payload of a session is that of the Open Responses profile: package openresponses has its types, of which entries use
// these.
type (
	// Item is one payload item as raw JSON behind a small view.
	Item = openresponses.Item
	// Usage is the token count of one model call.
	Usage = openresponses.Usage
	// Incomplete says why a response is incomplete.
	Incomplete = openresponses.Incomplete
	// ResponseError is the error of a failed model call.
	ResponseError = openresponses.Error
	// Members are JSON members in the order in which they were written.
	Members = openresponses.Members
	// Member is one member of a JSON object.
	Member = openresponses.Member
)

// Item types of the payload profile (A.5).
const (
	ItemMessage            = openresponses.ItemMessage
	ItemFunctionCall       = openresponses.ItemFunctionCall
	ItemFunctionCallOutput = openresponses.ItemFunctionCallOutput
	ItemReasoning          = openresponses.ItemReasoning
	ItemCompaction         = openresponses.ItemCompaction
	ItemReference          = openresponses.ItemReference
)

// DecodeUsage decodes a usage object that stands somewhere else than in an entry's "usage"; nil when raw is no object. What
// is of the wrong kind inside it is left nil.
func DecodeUsage(raw jsontext.Value) *Usage {
	if raw.Kind() != jsontext.KindBeginObject {
		return nil
	}
	return new(Decoder).usage(found{raw: raw})
}
