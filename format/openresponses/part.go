package openresponses

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// Part is one part of a message, of the output of a call, or of reasoning. Which fields mean something depends on the type.
type Part struct {
	Type string // one of the Part… constants, or another
	// Text is that of input_text, output_text, text, summary_text and reasoning_text.
	Text    string
	Refusal string
	// ImageURL, FileURL and VideoURL may be data URLs, or point to a file beside the session.
	ImageURL string
	Detail   string // of an image: auto, low, high
	FileID   string
	Filename string
	FileData string // base64
	FileURL  string
	VideoURL string
	// Annotations and Logprobs are those of output_text, arrays as written.
	Annotations jsontext.Value
	Logprobs    jsontext.Value
	Unknown     Members
}

// Types of parts (A.5).
const (
	PartInputText     = "input_text"
	PartInputImage    = "input_image"
	PartInputFile     = "input_file"
	PartInputVideo    = "input_video"
	PartOutputText    = "output_text"
	PartRefusal       = "refusal"
	PartText          = "text"
	PartSummaryText   = "summary_text"
	PartReasoningText = "reasoning_text"
)

// InputText is text for the model.
func InputText(text string) Part { return Part{Type: PartInputText, Text: text} }

// OutputText is text of the model.
func OutputText(text string) Part { return Part{Type: PartOutputText, Text: text} }

// InputImage is an image for the model. With no detail it is "auto".
func InputImage(url, detail string) Part {
	return Part{Type: PartInputImage, ImageURL: url, Detail: detail}
}

// InputFile is a file for the model, its data in base64.
func InputFile(name, data string) Part {
	return Part{Type: PartInputFile, Filename: name, FileData: data}
}

// Refusal says why the model refuses.
func Refusal(text string) Part { return Part{Type: PartRefusal, Refusal: text} }

// SummaryText is a part of [Reasoning.Summary].
func SummaryText(text string) Part { return Part{Type: PartSummaryText, Text: text} }

// ReasoningText is a part of [Reasoning.Content].
func ReasoningText(text string) Part { return Part{Type: PartReasoningText, Text: text} }

func hasText(partType string) bool {
	switch partType {
	case PartInputText, PartOutputText, PartText, PartSummaryText, PartReasoningText:
		return true
	}
	return false
}

// appendPart appends the normal form of a part (A.8): the text of a text part, also an empty one; annotations of an
// output_text; url and detail of an image.
func appendPart(dst []byte, p Part) []byte {
	var b builder
	b.fullText("type", p.Type)
	if hasText(p.Type) {
		b.fullText("text", p.Text)
	} else {
		b.text("text", p.Text)
	}
	switch p.Type {
	case PartOutputText:
		if len(p.Annotations) == 0 {
			p.Annotations = emptyArray
		}
	case PartRefusal:
		b.fullText("refusal", p.Refusal)
		p.Refusal = ""
	case PartInputImage:
		b.fullText("image_url", p.ImageURL)
		p.ImageURL = ""
		if p.Detail == "" {
			p.Detail = "auto"
		}
	case PartInputVideo:
		b.fullText("video_url", p.VideoURL)
		p.VideoURL = ""
	}
	b.raw("annotations", p.Annotations)
	b.raw("logprobs", p.Logprobs)
	b.text("refusal", p.Refusal)
	b.text("image_url", p.ImageURL)
	b.text("detail", p.Detail)
	b.text("filename", p.Filename)
	b.text("file_data", p.FileData)
	b.text("file_url", p.FileURL)
	b.text("file_id", p.FileID)
	b.text("video_url", p.VideoURL)
	return append(dst, b.end(p.Unknown)...)
}

func partView(what string, raw []byte, scan *jsonscan.Scanner) (Part, error) {
	if jsonscan.Kind(raw) != '{' {
		return Part{}, invalid(what, "is %s and not an object", kinds[jsonscan.Kind(raw)])
	}
	o := open(what, raw, scan)
	p := Part{Type: o.text("type")}
	if o.err == nil && p.Type == "" {
		o.fail("has no type")
	}
	need := func(name string, always bool) string {
		if always {
			return o.fullText(name)
		}
		return o.text(name)
	}
	p.Text = need("text", hasText(p.Type))
	p.Refusal = need("refusal", p.Type == PartRefusal)
	p.ImageURL = need("image_url", p.Type == PartInputImage)
	p.VideoURL = need("video_url", p.Type == PartInputVideo)
	p.Detail, p.FileID, p.Filename = o.text("detail"), o.text("file_id"), o.text("filename")
	p.FileData, p.FileURL = o.text("file_data"), o.text("file_url")
	p.Annotations, p.Logprobs = o.any("annotations"), o.any("logprobs")
	p.Unknown = o.unknown()
	return p, o.err
}

// maxParts is how many parts one list may have. Each takes some twenty times the memory of the shortest JSON of one.
const maxParts = 65_536

// parts takes an array of parts. An empty one is taken, too, if it is always written.
func (o *object) parts(name string, always bool) []Part {
	var scan jsonscan.Scanner
	parts := list(o, name, maxParts, &scan, partView)
	if always {
		o.take(name)
	}
	return parts
}
