package openresponses

import "github.com/sessionspan/sessionspan/internal/jsonscan"

// FunctionCall is the model's request to run a tool.
type FunctionCall struct {
	ID     string
	Status string // in_progress, completed, incomplete
	// CallID joins the call and its output.
	CallID string
	Name   string
	// Arguments is JSON as the model wrote it, which need not be valid.
	Arguments string
	Unknown   Members
}

// NewFunctionCall is a call with nothing but what it needs. Arguments is JSON.
func NewFunctionCall(callID, name, arguments string) Item {
	return FunctionCall{CallID: callID, Name: name, Arguments: arguments}.Item()
}

// Item builds the item.
func (c FunctionCall) Item() Item {
	var b builder
	b.fullText("type", ItemFunctionCall)
	b.text("id", c.ID)
	b.text("status", c.Status)
	b.fullText("call_id", c.CallID)
	b.fullText("name", c.Name)
	b.fullText("arguments", c.Arguments)
	return built(ItemFunctionCall, b.end(c.Unknown))
}

// FunctionCall returns what a call holds. The error wraps [ErrItemType] for another item and [ErrInvalid] for a member of
// the wrong kind.
func (i Item) FunctionCall() (*FunctionCall, error) {
	var scan jsonscan.Scanner
	o, err := openType("item", ItemFunctionCall, i.Type, i.Raw, &scan)
	if err != nil {
		return nil, err
	}
	c := &FunctionCall{
		ID:        o.text("id"),
		Status:    o.text("status"),
		CallID:    o.fullText("call_id"),
		Name:      o.fullText("name"),
		Arguments: o.fullText("arguments"),
		Unknown:   o.unknown(),
	}
	return done(c, o)
}

// FunctionCallOutput is what a tool gave back, or what stands in its place when it did not run.
type FunctionCallOutput struct {
	ID     string
	Status string // in_progress, completed, incomplete
	CallID string
	// Output is the result as a string. It counts only when Parts is nil.
	Output  string
	Parts   []Part
	Unknown Members
}

// NewFunctionCallOutput is the output of a call as text.
func NewFunctionCallOutput(callID, text string) Item {
	return FunctionCallOutput{CallID: callID, Output: text}.Item()
}

// Item builds the item. Its output is an array where Parts is not nil, also an empty one, else a string.
func (f FunctionCallOutput) Item() Item {
	var b builder
	b.fullText("type", ItemFunctionCallOutput)
	b.text("id", f.ID)
	b.text("status", f.Status)
	b.fullText("call_id", f.CallID)
	if f.Parts != nil {
		array(&b, "output", f.Parts, appendPart)
	} else {
		b.fullText("output", f.Output)
	}
	return built(ItemFunctionCallOutput, b.end(f.Unknown))
}

// FunctionCallOutput returns what the output of a call holds. The error wraps [ErrItemType] for another item and
// [ErrInvalid] for a member of the wrong kind.
func (i Item) FunctionCallOutput() (*FunctionCallOutput, error) {
	var scan jsonscan.Scanner
	o, err := openType("item", ItemFunctionCallOutput, i.Type, i.Raw, &scan)
	if err != nil {
		return nil, err
	}
	f := &FunctionCallOutput{ID: o.text("id"), Status: o.text("status"), CallID: o.fullText("call_id")}
	switch jsonscan.Kind(o.value("output")) {
	case '[':
		if f.Parts = o.parts("output", true); f.Parts == nil {
			f.Parts = []Part{}
		}
	case 0, 'n', '"':
		f.Output = o.fullText("output")
	default:
		o.wrongKind("output", o.value("output"), "a string or an array")
	}
	f.Unknown = o.unknown()
	return done(f, o)
}
