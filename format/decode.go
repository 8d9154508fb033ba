package format

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// DecodeEntry decodes one line. See [Decoder] for many.
func DecodeEntry(line []byte) (Entry, error) {
	return new(Decoder).Decode(line)
}

// Decoder decodes lines into entries. It keeps what it can use again, so that an entry costs little more than its own
// struct and strings. The zero value is ready for use.
type Decoder struct {
	line  jsonscan.Scanner // the line, and the item in it
	part  jsonscan.Scanner // an object in the line
	cell  jsonscan.Scanner // an object in that object
	words words
	last  string // id of the previous entry, normally the parent of the next

	// Of the line at hand:
	rest     []*jsonscan.Member // not of the envelope; "parents" is among them and refs says whether it is
	refs     bool
	found    []found
	unusable bool   // a member is missing without which the entry is not one of its type
	at       int    // where the first trouble was seen
	trouble  string // what it was; "" for none
}

// Decode decodes the line of one entry; a line feed is not part of it. Raw values in the entry point into the line.
//
// The error is a [*DamageError] that wraps [ErrSyntax] or [ErrInvalidEntry], without Line and Offset.
func (d *Decoder) Decode(line []byte) (Entry, error) {
	if err := d.line.Scan(line, "item"); err != nil {
		return nil, syntaxDamage(line, err)
	}
	d.refs, d.unusable, d.at, d.trouble = false, false, 0, ""
	env, typ := d.envelope()
	if typ == "" || env.ID == "" {
		return nil, &DamageError{At: d.at, Err: ErrInvalidEntry, Detail: d.trouble, Data: line}
	}
	d.last = env.ID
	e := d.entry(typ, env)
	if d.unusable {
		e = d.unknown(typ, env)
	}
	if d.trouble != "" {
		return nil, &DamageError{At: d.at, Err: ErrInvalidEntry, Detail: d.trouble, Data: line, Entry: e}
	}
	return e, nil
}

func syntaxDamage(line []byte, err error) *DamageError {
	damage := &DamageError{Err: ErrSyntax, Data: line}
	if e, ok := errors.AsType[*jsonscan.SyntaxError](err); ok {
		damage.At, damage.Detail = e.Offset, e.What
	}
	return damage
}

// complain notes the first trouble of the line.
func (d *Decoder) complain(at int, format string, args ...any) {
	if d.trouble == "" {
		d.at, d.trouble = at, fmt.Sprintf(format, args...)
	}
}

// envelope decodes what every entry has (A.3), and lists the members that are left for the entry's own type. Without a
// type or an id there is no entry.
func (d *Decoder) envelope() (env Envelope, typ string) {
	var buf [5]found
	f := find(buf[:], nil, envelopeFields)
	d.rest = d.rest[:0]
	for i := range d.line.Members {
		m := &d.line.Members[i]
		place := 0
		switch string(m.Name) {
		case "type":
		case "id":
			place = 1
		case "parent":
			place = 2
		case "ts":
			place = 3
		case "parents":
			place = 4
			d.rest = append(d.rest, m)
		default:
			d.rest = append(d.rest, m)
			continue
		}
		f[place].raw, f[place].at = m.Value, m.Offset
	}
	typ = d.should(f[0])
	if id := f[1]; jsonscan.Kind(id.raw) == '"' && len(id.raw) > 2 {
		// It is not one of the words: it comes once, and then as the parent of the next entry.
		var ok bool
		if env.ID, ok = jsonscan.String(id.raw); !ok {
			d.complain(id.at, invalidText, id.name)
		}
	} else {
		d.should(id)
	}
	env.Parent = d.parent(f[2])
	env.Time = d.time(f[3])
	env.Parents, d.refs = d.references(f[4].raw)
	return env, typ
}

var envelopeFields = []field{{name: "type"}, {name: "id"}, {name: "parent"}, {name: "ts"}, {name: "parents"}}

func (d *Decoder) parent(f found) string {
	if jsonscan.IsNull(f.raw) {
		return ""
	}
	if len(f.raw) > 2 && f.raw[0] == '"' && bytes.IndexByte(f.raw, '\\') < 0 {
		if id := f.raw[1 : len(f.raw)-1]; string(id) == d.last {
			return d.last
		}
	}
	return d.should(f)
}

func (d *Decoder) time(f found) time.Time {
	if jsonscan.Kind(f.raw) != '"' {
		d.should(f)
		return time.Time{}
	}
	text := f.raw[1 : len(f.raw)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		text = []byte(d.unquote(f, f.raw))
	}
	t, ok := parseTime(text)
	if !ok {
		d.complain(f.at, "%q is not an RFC 3339 time with a zone", f.name)
	}
	return t
}

// references decodes "parents" (C, 0.4). In a file of an earlier minor a member of that name can be anything.
func (d *Decoder) references(raw []byte) (refs []Ref, ok bool) {
	if jsonscan.Kind(raw) != '[' {
		return nil, false
	}
	for element := range jsonscan.Elements(raw) {
		if len(refs) == maxElements || d.part.Scan(element, "") != nil {
			return nil, false
		}
		var buf [2]found
		f := find(buf[:], d.part.Members, refFields)
		ref := Ref{Session: d.text(f[0]), Entry: d.text(f[1])}
		if ref.Entry == "" {
			return nil, false
		}
		refs = append(refs, ref)
	}
	return refs, true
}

var refFields = []field{{"session", '"'}, {"entry", '"'}}

// unknown is the entry of a type, or in a state, that has only an envelope for this package.
func (d *Decoder) unknown(typ string, env Envelope) *UnknownEntry {
	e := &UnknownEntry{Envelope: env, Type: typ}
	d.fields(&e.Envelope, nil)
	return e
}

// field is a member that an object may have.
type field struct {
	name string
	// kind is that of the value, as [jsonscan.Kind] tells it but 't' for both booleans and 'i' for an integer, where a member of another kind is
	// just an unknown one: it is part of an optional object, or a later minor defined it and an earlier file may use the
	// name for something else. 0 leaves the judgement to who decodes the member.
	kind byte
}

func (f *field) is(m *jsonscan.Member) bool {
	if string(m.Name) != f.name {
		return false
	}
	kind := jsonscan.Kind(m.Value)
	if f.kind == 'i' {
		_, whole := jsonscan.Int64(m.Value)
		return whole
	}
	return f.kind == 0 || f.kind == kind || f.kind == 't' && kind == 'f'
}

// found is a member in its place of a list of fields. Its raw value is nil when the object does not have it.
type found struct {
	name string
	raw  []byte
	at   int // where the value stands in the line; 0 for a member that is missing
}

// null reports whether the member is missing or null, which is the same for every optional one.
func (f found) null() bool { return f.raw == nil || jsonscan.IsNull(f.raw) }

// find returns the last member for each of the fields, in buf, which has room for them.
func find(buf []found, members []jsonscan.Member, fields []field) []found {
	buf = buf[:0]
	for _, f := range fields {
		buf = append(buf, found{name: f.name})
	}
	for i := range members {
		match(buf, &members[i], fields)
	}
	return buf
}

// fields returns the last member for each of the fields of an entry's own type. All others go to the envelope.
func (d *Decoder) fields(env *Envelope, fields []field) []found {
	d.found = find(d.found, nil, fields)
	for _, m := range d.rest {
		if d.refs && string(m.Name) == "parents" {
			continue
		}
		if !match(d.found, m, fields) {
			env.Unknown = d.append(env.Unknown, m)
		}
	}
	return d.found
}

// match puts a member where its field is.
func match(list []found, m *jsonscan.Member, fields []field) bool {
	for i := range fields {
		if fields[i].is(m) {
			list[i].raw, list[i].at = m.Value, m.Offset
			return true
		}
	}
	return false
}

func (d *Decoder) append(members Members, m *jsonscan.Member) Members {
	return append(members, Member{Name: string(m.Name), Value: jsontext.Value(m.Value)})
}

// must returns a string without which the entry is not one of its type.
func (d *Decoder) must(f found) string {
	s := d.should(f)
	if s == "" {
		d.unusable = true
	}
	return s
}

// should returns a required string; it complains when there is none.
func (d *Decoder) should(f found) string {
	switch {
	case f.raw == nil:
		d.complain(0, "%q is missing", f.name)
	case jsonscan.Kind(f.raw) != '"':
		d.complain(f.at, "%q is not a string", f.name)
	case len(f.raw) == 2:
		d.complain(f.at, "%q is empty", f.name)
	default:
		return d.unquote(f, f.raw)
	}
	return ""
}

const invalidText = "%q has invalid UTF-8, a control character or an escape that does not exist"

// unquote returns what a raw string in a member says; it complains when that is no text.
func (d *Decoder) unquote(f found, raw []byte) string {
	s, ok := d.words.unquote(raw)
	if !ok {
		d.complain(f.at, invalidText, f.name)
	}
	return s
}

// text returns an optional string.
func (d *Decoder) text(f found) string {
	if f.null() {
		return ""
	}
	if jsonscan.Kind(f.raw) != '"' {
		d.complain(f.at, "%q is not a string", f.name)
		return ""
	}
	return d.unquote(f, f.raw)
}

func (d *Decoder) optionalText(f found) *string {
	if f.null() {
		return nil
	}
	if jsonscan.Kind(f.raw) != '"' {
		d.complain(f.at, "%q is not a string", f.name)
		return nil
	}
	s := d.unquote(f, f.raw)
	return &s
}

func (d *Decoder) texts(f found) []string {
	if !d.is(f, '[', "an array") {
		return nil
	}
	list := []string{} // not nil: an empty list was written
	for element := range jsonscan.Elements(f.raw) {
		if d.isFull(f, len(list)) {
			return nil
		}
		if jsonscan.Kind(element) != '"' {
			d.complain(f.at, "%q has an element that is not a string", f.name)
			return nil
		}
		list = append(list, d.unquote(f, element))
	}
	return list
}

// maxElements is how many elements a list of an entry may have. One of a few bytes takes many times as much once it is
// decoded.
const maxElements = 65_536

// isFull reports, and complains, that a list has another element than it may have.
func (d *Decoder) isFull(f found, have int) bool {
	if have == maxElements {
		d.complain(f.at, "%q has more than %d elements", f.name, maxElements)
	}
	return have == maxElements
}

func (d *Decoder) bool(f found) *bool {
	if f.null() {
		return nil
	}
	b, ok := jsonscan.Bool(f.raw)
	if !ok {
		d.complain(f.at, "%q is not a boolean", f.name)
		return nil
	}
	return &b
}

func (d *Decoder) integer(f found) *int64 {
	if f.null() {
		return nil
	}
	n, ok := jsonscan.Int64(f.raw)
	if !ok {
		d.complain(f.at, "%q is not an integer of 64 bits", f.name)
		return nil
	}
	return &n
}

func (d *Decoder) number(f found) *float64 {
	if f.null() {
		return nil
	}
	n, ok := jsonscan.Float64(f.raw)
	if !ok {
		d.complain(f.at, "%q is not a finite number", f.name)
		return nil
	}
	return &n
}

// value returns an optional member of any kind.
func (d *Decoder) value(f found) jsontext.Value {
	if f.null() {
		return nil
	}
	return f.raw
}

// is reports whether an optional member is there and of its kind. It complains about one of another kind.
func (d *Decoder) is(f found, kind byte, name string) bool {
	if f.null() {
		return false
	}
	if jsonscan.Kind(f.raw) != kind {
		d.complain(f.at, "%q is not %s", f.name, name)
		return false
	}
	return true
}

func (d *Decoder) isObject(f found) bool { return d.is(f, '{', "an object") }

// words holds strings that come again and again: models, tools, call ids. It is small, so that it stays fast and a file
// of a million different strings does not fill it.
type words map[string]string

const (
	maxWord  = 64 // bytes
	maxWords = 1024
)

// unquote returns what a raw string says, and whether that is text.
func (w *words) unquote(raw []byte) (string, bool) {
	if s, ok := (*w)[string(raw[1:len(raw)-1])]; ok {
		return s, true
	}
	s, ok := jsonscan.String(raw)
	if !ok || len(s) > maxWord || len(s) != len(raw)-2 { // one with escapes is not kept
		return s, ok
	}
	switch {
	case *w == nil:
		*w = words{}
	case len(*w) == maxWords:
		clear(*w)
	}
	(*w)[s] = s
	return s, true
}
