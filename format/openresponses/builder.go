package openresponses

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/internal/jsonwrite"
)

// builder writes one object and remembers the names in it, so that a member of a field comes before an unknown one of the
// same name. Raw values without any bytes are left out: they would not be JSON.
type builder struct {
	object jsonwrite.Object
	names  []string
}

func (b *builder) fullText(name, value string) {
	b.names = append(b.names, name)
	b.object.Text(name, value)
}

func (b *builder) text(name, value string) {
	if value != "" {
		b.fullText(name, value)
	}
}

// textOrNull writes null for an empty string.
func (b *builder) textOrNull(name, value string) {
	if value == "" {
		b.raw(name, null)
		return
	}
	b.fullText(name, value)
}

func (b *builder) raw(name string, value jsontext.Value) {
	if len(value) > 0 {
		b.names = append(b.names, name)
		b.object.Raw(name, value)
	}
}

func (b *builder) bool(name string, value *bool) {
	if value != nil {
		b.names = append(b.names, name)
		b.object.Bool(name, value)
	}
}

func (b *builder) int(name string, value *int64) {
	if value != nil {
		b.names = append(b.names, name)
		b.object.Int(name, value)
	}
}

func array[E any](b *builder, name string, elements []E, appendTo func([]byte, E) []byte) {
	b.names = append(b.names, name)
	jsonwrite.Array(&b.object, name, elements, appendTo)
}

// end adds the unknown members and returns the object.
func (b *builder) end(unknown Members) jsontext.Value {
	for _, m := range unknown {
		if len(m.Value) > 0 && !slices.Contains(b.names, m.Name) {
			b.object.Raw(m.Name, m.Value)
		}
	}
	return b.object.Bytes()
}

var (
	null       = jsontext.Value("null")
	emptyArray = jsontext.Value("[]")
)

// appendRaw appends a raw value on one line; one without any bytes is null, so that a list keeps its length.
func appendRaw(dst []byte, raw jsontext.Value) []byte {
	if len(raw) == 0 {
		raw = null
	}
	return jsonwrite.AppendRaw(dst, raw)
}
