package openresponses

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// ReasoningConfig is the member "reasoning" of a request.
type ReasoningConfig struct {
	Effort  string // none, minimal, low, medium, high, …
	Summary string // auto, concise, detailed
	Unknown Members
}

// JSON builds the object. It has both effort and summary, null when empty (A.8).
func (c ReasoningConfig) JSON() jsontext.Value {
	var b builder
	b.textOrNull("effort", c.Effort)
	b.textOrNull("summary", c.Summary)
	return b.end(c.Unknown)
}

// ParseReasoningConfig decodes the member "reasoning" of a request.
func ParseReasoningConfig(raw jsontext.Value) (*ReasoningConfig, error) {
	data, err := checked("reasoning", raw)
	if err != nil {
		return nil, err
	}
	var scan jsonscan.Scanner
	o := open("reasoning", data, &scan)
	c := &ReasoningConfig{Effort: o.text("effort"), Summary: o.text("summary"), Unknown: o.unknown()}
	return done(c, o)
}

// TextConfig is the member "text" of a request.
type TextConfig struct {
	// Format says what the model is to write; nil is {"type":"text"}.
	Format    jsontext.Value
	Verbosity string // low, medium, high
	Unknown   Members
}

// JSON builds the object. It always has a format (A.8).
func (c TextConfig) JSON() jsontext.Value {
	var b builder
	if len(c.Format) == 0 {
		c.Format = jsontext.Value(`{"type":"text"}`)
	}
	b.raw("format", c.Format)
	b.text("verbosity", c.Verbosity)
	return b.end(c.Unknown)
}

// ParseTextConfig decodes the member "text" of a request.
func ParseTextConfig(raw jsontext.Value) (*TextConfig, error) {
	data, err := checked("text", raw)
	if err != nil {
		return nil, err
	}
	var scan jsonscan.Scanner
	o := open("text", data, &scan)
	c := &TextConfig{Format: o.any("format"), Verbosity: o.text("verbosity"), Unknown: o.unknown()}
	return done(c, o)
}

// JSONSchema is a format for [TextConfig]: JSON that a schema describes.
func JSONSchema(name string, schema jsontext.Value, strict bool) jsontext.Value {
	var b builder
	b.fullText("type", "json_schema")
	b.fullText("name", name)
	b.raw("schema", schema)
	b.bool("strict", &strict)
	return b.end(nil)
}
