package jsonwrite

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// Object is a JSON object in the making. The zero value has no members.
type Object struct {
	buf []byte
	// AnyBytes: strings in raw values may hold bytes that are no UTF-8.
	AnyBytes bool
	strict   bool
	bad      string // the first member whose raw value is not one JSON value
}

// NewStrict returns an object that looks at the raw values it is given.
func NewStrict() *Object { return &Object{strict: true} }

// Err says which raw value was not one valid JSON value, of an object made by [NewStrict].
func (o *Object) Err() error {
	if o.bad == "" {
		return nil
	}
	return fmt.Errorf("%q is not one JSON value", o.bad)
}

// check looks at what was appended from a place on.
func (o *Object) check(name string, from int) {
	if !o.strict || o.bad != "" {
		return
	}
	// Half a surrogate pair, which JavaScript writes, is spelled in ASCII and so can be written.
	if !jsonscan.Valid(o.buf[from:], o.AnyBytes) {
		o.bad = name
	}
}

// Bytes closes the object and returns it. No member can be added after that.
func (o *Object) Bytes() []byte {
	if len(o.buf) == 0 {
		return []byte("{}")
	}
	return append(o.buf, '}')
}

// Raw adds a member with a raw value, on one line ([AppendRaw]).
func (o *Object) Raw(name string, value []byte) {
	o.name(name)
	from := len(o.buf)
	o.buf = AppendRaw(o.buf, value)
	o.check(name, from)
}

// OptionalRaw adds a member unless its value is nil.
func (o *Object) OptionalRaw(name string, value []byte) {
	if value != nil {
		o.Raw(name, value)
	}
}

// Text adds a string. Bytes of it that are no UTF-8 become U+FFFD.
func (o *Object) Text(name, value string) {
	o.name(name)
	o.buf = AppendText(o.buf, value)
}

// OptionalText adds a string unless it is empty.
func (o *Object) OptionalText(name, value string) {
	if value != "" {
		o.Text(name, value)
	}
}

// Texts adds an array of strings, [] for an empty one.
func (o *Object) Texts(name string, values []string) {
	Array(o, name, values, AppendText)
}

// Int adds an integer unless it is nil.
func (o *Object) Int(name string, value *int64) {
	if value != nil {
		o.name(name)
		o.buf = strconv.AppendInt(o.buf, *value, 10)
	}
}

// Bool adds a boolean unless it is nil.
func (o *Object) Bool(name string, value *bool) {
	if value != nil {
		o.name(name)
		o.buf = strconv.AppendBool(o.buf, *value)
	}
}

// Array adds an array of elements, each of which is appended to the bytes so far, by a function that is given both.
func Array[E any](o *Object, name string, elements []E, appendTo func([]byte, E) []byte) {
	o.name(name)
	o.buf = append(o.buf, '[')
	for i, e := range elements {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		from := len(o.buf)
		o.buf = appendTo(o.buf, e)
		o.check(name, from)
	}
	o.buf = append(o.buf, ']')
}

// AppendRaw appends a raw value as one line: line feeds and carriage returns that are white space become spaces. One inside a
// string, where JSON has none, stays, so that nothing is healed that is broken.
func AppendRaw(dst, value []byte) []byte {
	start := len(dst)
	dst = append(dst, value...)
	if bytes.IndexByte(value, '\n') < 0 && bytes.IndexByte(value, '\r') < 0 {
		return dst
	}
	inString := false
	for i := start; i < len(dst); i++ {
		switch c := dst[i]; {
		case c == '"':
			inString = !inString
		case inString && c == '\\':
			i++
		case !inString && (c == '\n' || c == '\r'):
			dst[i] = ' '
		}
	}
	return dst
}

// AppendText appends a string as JSON, in its shortest form; nothing is escaped that need not be.
func AppendText(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // the error says that U+FFFD was put in, which is what is wanted
	return dst
}

func (o *Object) name(name string) {
	if len(o.buf) == 0 {
		o.buf = append(o.buf, '{')
	} else {
		o.buf = append(o.buf, ',')
	}
	if isPlain(name) {
		o.buf = append(append(append(o.buf, '"'), name...), '"', ':')
		return
	}
	o.buf = append(AppendText(o.buf, name), ':')
}

// isPlain reports whether a name is one of those that formats define, and needs no escaping.
func isPlain(name string) bool {
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && c != '_' {
			return false
		}
	}
	return true
}

// Grow makes room for so many bytes.
func (o *Object) Grow(n int) { o.buf = slices.Grow(o.buf, n) }
