package openresponses

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// Request is what is sent for one model call. Items, tools and raw settings go in verbatim.
type Request struct {
	Model        string
	Instructions string
	// Reasoning and Text are objects, such as [ReasoningConfig.JSON] and [TextConfig.JSON] build them.
	Reasoning jsontext.Value
	Text      jsontext.Value
	Tools     []Tool
	Input     []Item
	// InputText is an input that is a bare string, which counts when Input is empty.
	InputText          string
	Store              *bool // nil is the default of the API, which is true
	PreviousResponseID string
	Stream             *bool
	Background         *bool
	// Extra are all other members, under their wire names. One of the name of a field above counts only when that field has
	// its zero value: a request that says "tools":[] or "instructions":null keeps saying so.
	Extra Members
}

// ParseRequest decodes a request. What it returns points into raw, which the caller may not change afterwards. An item
// without a type, which the API takes, is a message if it has a role and a reference if it has an id: its Raw stays without
// one.
func ParseRequest(raw jsontext.Value) (*Request, error) {
	data, err := checked("request", raw)
	if err != nil {
		return nil, err
	}
	var outer, inner jsonscan.Scanner
	o := open("request", data, &outer)
	r := &Request{
		Model:              o.text("model"),
		Instructions:       o.text("instructions"),
		Reasoning:          o.object("reasoning"),
		Text:               o.object("text"),
		Store:              o.bool("store"),
		PreviousResponseID: o.text("previous_response_id"),
		Stream:             o.bool("stream"),
		Background:         o.bool("background"),
	}
	r.Tools = list(o, "tools", math.MaxInt, &inner, toolView)
	if jsonscan.Kind(o.value("input")) == '"' {
		r.InputText = o.text("input")
	} else {
		r.Input = list(o, "input", math.MaxInt, &inner, inputView)
	}
	r.Extra = o.unknown()
	return done(r, o)
}

// JSON returns the request as one line. Members whose field is empty are left out, the others are in the order of A.8:
// model, instructions, reasoning, text, tools, input, store, then the rest.
func (r *Request) JSON() jsontext.Value {
	var b builder
	b.text("model", r.Model)
	b.text("instructions", r.Instructions)
	b.raw("reasoning", r.Reasoning)
	b.raw("text", r.Text)
	if len(r.Tools) > 0 {
		array(&b, "tools", r.Tools, appendTool)
	}
	if len(r.Input) > 0 {
		array(&b, "input", r.Input, appendItem)
	} else {
		b.text("input", r.InputText)
	}
	b.bool("store", r.Store)
	b.text("previous_response_id", r.PreviousResponseID)
	b.bool("stream", r.Stream)
	b.bool("background", r.Background)
	return b.end(r.Extra)
}

// perCall are the members that belong to one call and not to the settings (A.14).
var perCall = []string{"input", "previous_response_id", "store", "stream", "stream_options", "background"}

// Settings returns what is in force beyond this one call: the request without its input, and without previous_response_id,
// store, stream, stream_options and background (A.14). It shares values with r.
func (r *Request) Settings() *Request {
	s := &Request{
		Model: r.Model, Instructions: r.Instructions, Reasoning: r.Reasoning, Text: r.Text, Tools: slices.Clone(r.Tools),
	}
	for _, m := range r.Extra {
		if !slices.Contains(perCall, m.Name) {
			s.Extra = append(s.Extra, m)
		}
	}
	return s
}

// Canonical returns the request in canonical form; see [CanonicalJSON].
func (r *Request) Canonical() ([]byte, error) {
	canonical, err := CanonicalJSON(r.JSON())
	if err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	return canonical, nil
}

// Hash returns the request hash (A.8); see [HashJSON].
func (r *Request) Hash() (string, error) {
	hash, err := HashJSON(r.JSON())
	if err != nil {
		return "", fmt.Errorf("request: %w", err)
	}
	return hash, nil
}

// MarshalJSON is [Request.JSON].
func (r Request) MarshalJSON() ([]byte, error) { return r.JSON(), nil }

// UnmarshalJSON is [ParseRequest] with a copy of data.
func (r *Request) UnmarshalJSON(data []byte) error {
	request, err := ParseRequest(slices.Clone(data))
	if err == nil {
		*r = *request
	}
	return err
}
