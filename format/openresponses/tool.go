package openresponses

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// Tool is one tool definition as raw JSON behind a small view.
type Tool struct {
	// Raw is the definition as written.
	Raw jsontext.Value
	// Type is "function", or that of a tool which the provider runs.
	Type string
	// Name is the top-level name if that is a string (A.5), else "". A tool without a name cannot be replaced or removed.
	Name string
}

// ToolFunction is the type of a tool that the caller runs.
const ToolFunction = "function"

// ParseTool returns the tool that raw is: a JSON object with a type. The tool's Raw points into raw, which the caller may
// not change afterwards; [Tool.Clone] copies it.
func ParseTool(raw jsontext.Value) (Tool, error) {
	object, err := checked("tool", raw)
	if err != nil {
		return Tool{}, err
	}
	return toolView("tool", object, new(jsonscan.Scanner))
}

func toolView(what string, raw []byte, scan *jsonscan.Scanner) (Tool, error) {
	item, err := itemView(what, raw, scan)
	return Tool{Raw: item.Raw, Type: item.Type, Name: item.Name}, err
}

// ToolName returns the name of a tool by the rule of A.5, "" when it has none. It asks nothing else of raw.
func ToolName(raw jsontext.Value) string {
	var scan jsonscan.Scanner
	name, _ := jsonscan.String(open("tool", raw, &scan).value("name"))
	return name
}

// Clone returns a copy that shares nothing with the tool.
func (t Tool) Clone() Tool {
	t.Raw = t.Raw.Clone()
	return t
}

// MarshalJSON returns the tool as written.
func (t Tool) MarshalJSON() ([]byte, error) { return appendRaw(nil, t.Raw), nil }

// UnmarshalJSON is [ParseTool] with a copy of data.
func (t *Tool) UnmarshalJSON(data []byte) error {
	tool, err := ParseTool(slices.Clone(data))
	if err == nil {
		*t = tool
	}
	return err
}

func appendTool(dst []byte, t Tool) []byte { return appendRaw(dst, t.Raw) }

// FunctionTool is a tool that the caller runs.
type FunctionTool struct {
	Name        string
	Description string
	// Parameters is a JSON schema; nil is null.
	Parameters jsontext.Value
	// Strict says whether the model has to keep to the schema; nil leaves it out.
	Strict  *bool
	Unknown Members
}

// Tool builds the tool. It always has a description and parameters (A.8).
func (f FunctionTool) Tool() Tool {
	var b builder
	b.fullText("type", ToolFunction)
	b.fullText("name", f.Name)
	b.fullText("description", f.Description)
	if len(f.Parameters) == 0 {
		b.raw("parameters", null)
	} else {
		b.raw("parameters", f.Parameters)
	}
	b.bool("strict", f.Strict)
	item := built(ToolFunction, b.end(f.Unknown))
	return Tool{Raw: item.Raw, Type: item.Type, Name: item.Name}
}

// Function returns what a function tool holds. The error wraps [ErrItemType] for a tool of another type.
func (t Tool) Function() (*FunctionTool, error) {
	var scan jsonscan.Scanner
	o, err := openType("tool", ToolFunction, t.Type, t.Raw, &scan)
	if err != nil {
		return nil, err
	}
	f := &FunctionTool{
		Name:        o.fullText("name"),
		Description: o.fullText("description"),
		Parameters:  o.any("parameters"),
		Strict:      o.bool("strict"),
		Unknown:     o.unknown(),
	}
	return done(f, o)
}
