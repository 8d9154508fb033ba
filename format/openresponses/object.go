package openresponses

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

var (
	// ErrInvalid is wrapped by the error about JSON that is not what it should be: broken, or with a member of the wrong kind.
	// The text says which member of what.
	ErrInvalid = errors.New("not valid in Open Responses")
	// ErrItemType is wrapped by the error of a view that was asked of an item of another type.
	ErrItemType = errors.New("an item of another type")
)

func invalid(what, format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", what, fmt.Sprintf(format, args...), ErrInvalid)
}

// object hands the members of one JSON object to fields, and knows which of them no field has taken. The first member of the
// wrong kind is its error.
type object struct {
	what    string // such as "function_call item", for errors
	members []jsonscan.Member
	taken   []bool
	few     [16]bool // what taken is when there are few members
	err     error
}

// open finds the members of an object. They point into raw and are valid until the scanner is used again.
func open(what string, raw []byte, scan *jsonscan.Scanner) *object {
	o := &object{what: what}
	if err := scan.Scan(raw, ""); err != nil {
		o.fail("%v", err)
		return o
	}
	if o.members = scan.Members; len(o.members) <= len(o.few) {
		o.taken = o.few[:len(o.members)]
	} else {
		o.taken = make([]bool, len(o.members))
	}
	return o
}

func (o *object) fail(format string, args ...any) {
	if o.err == nil {
		o.err = invalid(o.what, format, args...)
	}
}

// value returns the last member of that name, nil when there is none.
func (o *object) value(name string) []byte {
	for i := len(o.members) - 1; i >= 0; i-- {
		if string(o.members[i].Name) == name {
			return o.members[i].Value
		}
	}
	return nil
}

// take says that a field holds what the members of that name say.
func (o *object) take(name string) {
	for i := range o.members {
		if string(o.members[i].Name) == name {
			o.taken[i] = true
		}
	}
}

// unknown returns what no field has taken, in order. A field whose zero value means absence does not take a null, an empty
// string or an empty array, which therefore stay here, so that they are written again.
func (o *object) unknown() Members {
	var unknown Members
	for i, m := range o.members {
		if !o.taken[i] {
			unknown = append(unknown, Member{string(m.Name), m.Value})
		}
	}
	return unknown
}

var kinds = map[byte]string{
	'{': "an object", '[': "an array", '"': "a string", '0': "a number", 't': "a boolean", 'f': "a boolean", 'n': "null",
}

// wrongKind notes that a member is of another kind than the wanted one.
func (o *object) wrongKind(name string, raw []byte, want string) {
	o.fail("%q is %s and not %s", name, kinds[jsonscan.Kind(raw)], want)
}

func (o *object) unquote(name string, raw []byte) string {
	s, ok := jsonscan.String(raw)
	switch {
	case jsonscan.Kind(raw) != '"':
		o.wrongKind(name, raw, "a string")
	case !ok:
		o.fail("%q is no valid text", name)
	}
	return s
}

// text is for a string that is left out when it is empty.
func (o *object) text(name string) string {
	raw := o.value(name)
	if raw == nil || jsonscan.IsNull(raw) {
		return ""
	}
	s := o.unquote(name, raw)
	if s != "" {
		o.take(name)
	}
	return s
}

// fullText is for a string that is always written; null is an empty one.
func (o *object) fullText(name string) string {
	raw := o.value(name)
	o.take(name)
	if raw == nil || jsonscan.IsNull(raw) {
		return ""
	}
	return o.unquote(name, raw)
}

// any is for a member of whatever kind, null included.
func (o *object) any(name string) jsontext.Value {
	o.take(name)
	return o.value(name)
}

// object is for an optional object.
func (o *object) object(name string) jsontext.Value {
	raw := o.value(name)
	switch jsonscan.Kind(raw) {
	case 0, 'n':
		return nil
	case '{':
		o.take(name)
		return raw
	}
	o.wrongKind(name, raw, "an object")
	return nil
}

func (o *object) bool(name string) *bool {
	raw := o.value(name)
	if raw == nil || jsonscan.IsNull(raw) {
		return nil
	}
	b, ok := jsonscan.Bool(raw)
	if !ok {
		o.wrongKind(name, raw, "a boolean")
		return nil
	}
	o.take(name)
	return &b
}

// int is for an optional integer. One in another spelling than the plain one is returned and not taken, so that it keeps its
// spelling.
func (o *object) int(name string) *int64 {
	raw := o.value(name)
	if raw == nil || jsonscan.IsNull(raw) {
		return nil
	}
	n, ok := jsonscan.Int64(raw)
	switch {
	case jsonscan.Kind(raw) != '0':
		o.wrongKind(name, raw, "a number")
		return nil
	case !ok: // a fraction, or beyond 64 bits
		return nil
	case strconv.FormatInt(n, 10) == string(raw):
		o.take(name)
	}
	return &n
}

// viewFunc makes a view of an element of an array; what names it in errors.
type viewFunc[E any] func(what string, raw []byte, scan *jsonscan.Scanner) (E, error)

// list takes an optional array of at most limit elements, unless it is empty.
func list[E any](o *object, name string, limit int, scan *jsonscan.Scanner, view viewFunc[E]) []E {
	raw := o.value(name)
	switch jsonscan.Kind(raw) {
	case 0, 'n':
		return nil
	case '[':
	default:
		o.wrongKind(name, raw, "an array")
		return nil
	}
	n := 0
	for range jsonscan.Elements(raw) {
		if n++; n > limit {
			o.fail("%q has more than %d elements", name, limit)
			return nil
		}
	}
	if n == 0 {
		return nil
	}
	o.take(name)
	elements := make([]E, 0, n)
	for raw := range jsonscan.Elements(raw) {
		element, err := view("", raw, scan)
		if err != nil { // once more, with the name that makes the loop slow
			_, err = view(fmt.Sprintf("%s: %s[%d]", o.what, name, len(elements)), raw, scan)
			o.err = cmp.Or(o.err, err)
			return nil
		}
		elements = append(elements, element)
	}
	return elements
}

// checked returns a JSON object without white space around it if all of it is valid. Two things are accepted that the request
// hash is not defined for: the escape of half a surrogate pair, which programs write where they cut a text, and members of
// the same name.
func checked(what string, raw []byte) ([]byte, error) {
	raw = trim(raw)
	switch err := new(jsonscan.Scanner).Scan(raw, ""); {
	case err != nil && len(raw) > 0 && raw[0] != '{' && jsontext.Value(raw).IsValid():
		return nil, invalid(what, "is %s and not an object", kinds[jsonscan.Kind(raw)])
	case err != nil:
		return nil, invalid(what, "%v", err)
	case !utf8.Valid(raw) ||
		!jsontext.Value(raw).IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)):
		return nil, invalid(what, "a string in it is not UTF-8, or has a control character or an escape that does not exist")
	}
	return raw, nil
}

func trim(raw []byte) []byte {
	space := func(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
	for len(raw) > 0 && space(raw[0]) {
		raw = raw[1:]
	}
	for len(raw) > 0 && space(raw[len(raw)-1]) {
		raw = raw[:len(raw)-1]
	}
	return raw
}
