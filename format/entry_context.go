package format

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

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

// NewItem returns an entry for an input of the model: a message of the user, the output of a call.
func NewItem(item Item) *ItemEntry { return &ItemEntry{Item: item} }

// NewOutput returns an entry for a piece of the model's output, which belongs to the response with that id.
func NewOutput(item Item, responseID string) *ItemEntry {
	return &ItemEntry{Item: item, ResponseID: responseID}
}

// Hidden marks an item that the model sees and a renderer should not show, and returns the entry.
func (e *ItemEntry) Hidden() *ItemEntry {
	visible := false
	e.Visible = &visible
	return e
}

// Shown reports whether a renderer should show the item.
func (e *ItemEntry) Shown() bool { return e.Visible == nil || *e.Visible }

// IsOutput reports whether the item is a piece of a model's output.
func (e *ItemEntry) IsOutput() bool { return e.ResponseID != "" }

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

// NewResponse returns the entry that ends a model call. It has the id of the response, the model that answered, and the status.
func NewResponse(responseID, model, status string) *ResponseEntry {
	return &ResponseEntry{ResponseID: responseID, Model: model, Status: status}
}

// WithLatency sets the measured duration of the call in whole milliseconds, unless it is less than one, and returns the entry.
func (e *ResponseEntry) WithLatency(d time.Duration) *ResponseEntry {
	if ms := d.Milliseconds(); ms > 0 {
		e.LatencyMS = &ms
	}
	return e
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

// NewConfig returns a delta that changes the model and nothing else; a model of "" changes nothing. [ConfigFromRequest] makes
// one with full settings.
func NewConfig(model string) *ConfigEntry { return &ConfigEntry{Model: model} }

// SetExtra has the delta set a request member beyond the named ones, such as temperature, to a raw value.
func (e *ConfigEntry) SetExtra(name string, value jsontext.Value) { e.Extra.Set(name, value) }

// ClearExtra has the delta take a request member away.
func (e *ConfigEntry) ClearExtra(name string) { e.Extra.Set(name, jsontext.Value("null")) }

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

// InContext reports whether an entry gives the model an item: item, compaction and branch_summary do. Whether it is among those
// of a certain request is a question of the path ([Session.Context]).
func InContext(e Entry) bool {
	switch e.(type) {
	case *ItemEntry, *CompactionEntry, *BranchSummaryEntry:
		return true
	}
	return false
}
