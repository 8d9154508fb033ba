package openresponses

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sort"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// HashJSON returns the request hash of a request that is encoded already: "sha256:" and the lower-case hexadecimal SHA-256
// of its canonical form (A.8). The hash is over what was sent, so give it the bytes that went out.
func HashJSON(data []byte) (string, error) {
	canonical, err := CanonicalJSON(data)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// CanonicalJSON returns the canonical form of one JSON value (RFC 8785): no white space, members in the order of the UTF-16
// units of their names, strings in their shortest spelling, numbers as ECMAScript writes the nearest double.
//
// The error wraps [ErrInvalid] for text that has no canonical form: what is not one JSON value or has something after it,
// two members of the same name in one object, a string that is not UTF-8 or holds half a surrogate pair, a number beyond the
// range of a double.
func CanonicalJSON(data []byte) ([]byte, error) {
	// Jsontext sorts members, too, but it moves everything inside an object once for each level around it, which hostile
	// nesting makes take minutes; and it makes numbers that are too large the largest that are not.
	plain, err := jsontext.AppendFormat(nil, data, jsontext.CanonicalizeRawInts(true), jsontext.CanonicalizeRawFloats(true))
	if err != nil {
		return nil, invalid("canonical JSON", "%v", err)
	}
	if bytes.Contains(plain, []byte("1.7976931348623157e+308")) {
		if err := checkRange(data); err != nil {
			return nil, err
		}
	}
	return appendSorted(make([]byte, 0, len(plain)), plain, 0, len(plain), unsortedObjects(plain)), nil
}

// checkRange looks for a number that is no double in valid JSON.
func checkRange(data []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(data))
	for {
		if d.PeekKind() != jsontext.KindNumber {
			if _, err := d.ReadToken(); err != nil { // the end
				return nil
			}
			continue
		}
		number, err := d.ReadValue()
		if err != nil {
			return invalid("canonical JSON", "%v", err)
		}
		if _, err := strconv.ParseFloat(string(number), 64); err != nil {
			return invalid("canonical JSON", "the number at %q is beyond the range of a double", d.StackPointer())
		}
	}
}

// unsorted is an object in compact JSON, from brace to brace.
type unsorted struct {
	start, end int
	members    []sortable
}

// sortable is a member, from the quote of its name to the end of its value.
type sortable struct {
	name       []byte
	start, end int
}

// unsortedObjects returns the objects in valid compact JSON whose members are not in canonical order, by their start. Of the
// others only those that are open take memory.
func unsortedObjects(plain []byte) []unsorted {
	var objects, open []unsorted
	const array = -1 // the start of an array
	inside := func() *unsorted {
		if n := len(open); n > 0 && open[n-1].start != array {
			return &open[n-1]
		}
		return nil
	}
	push := func(start int) {
		if n := len(open); n < cap(open) { // with the room for members that an earlier one had
			open = open[:n+1]
			open[n].start, open[n].members = start, open[n].members[:0]
			return
		}
		open = append(open, unsorted{start: start})
	}
	for i := 0; i < len(plain); i++ {
		switch plain[i] {
		case '"':
			start := i
			i += stringLen(plain[i:]) - 1
			if i+1 < len(plain) && plain[i+1] == ':' {
				name := plain[start+1 : i]
				if bytes.IndexByte(name, '\\') >= 0 {
					text, _ := jsonscan.String(plain[start : i+1])
					name = []byte(text)
				}
				o := inside()
				o.members = append(o.members, sortable{name: name, start: start})
			}
		case '{':
			push(i)
		case '[':
			push(array)
		case ',':
			if o := inside(); o != nil {
				o.members[len(o.members)-1].end = i
			}
		case '}':
			o := inside()
			if len(o.members) > 0 {
				o.members[len(o.members)-1].end = i
			}
			if !slices.IsSortedFunc(o.members, sortable.compare) {
				objects = append(objects, unsorted{start: o.start, end: i + 1, members: slices.Clone(o.members)})
			}
			open = open[:len(open)-1]
		case ']':
			open = open[:len(open)-1]
		}
	}
	slices.SortFunc(objects, func(a, b unsorted) int { return cmp.Compare(a.start, b.start) })
	return objects
}

// stringLen returns the length of the valid string that b begins with, quotes included.
func stringLen(b []byte) int {
	for i := 1; ; i++ {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
}

// compare orders members by the UTF-16 units of their names.
func (m sortable) compare(other sortable) int {
	a, b := m.name, other.name
	for len(a) > 0 && len(b) > 0 {
		r, n := utf8.DecodeRune(a)
		s, k := utf8.DecodeRune(b)
		if r != s {
			return cmp.Or(cmp.Compare(firstUnit(r), firstUnit(s)), cmp.Compare(r, s))
		}
		a, b = a[n:], b[k:]
	}
	return cmp.Compare(len(a), len(b))
}

// firstUnit returns the first UTF-16 unit of a character. Characters beyond U+FFFF with the same one are in the order of
// their second.
func firstUnit(r rune) rune {
	if r <= 0xFFFF {
		return r
	}
	return 0xD800 + (r-0x10000)>>10
}

// appendSorted appends what stands from start to end, with the members of its objects in canonical order.
func appendSorted(dst, plain []byte, start, end int, objects []unsorted) []byte {
	for {
		objects = objects[sort.Search(len(objects), func(i int) bool { return objects[i].start >= start }):]
		if len(objects) == 0 || objects[0].start >= end {
			return append(dst, plain[start:end]...)
		}
		o := objects[0]
		objects = objects[1:]
		dst = append(dst, plain[start:o.start]...)
		separator := byte('{')
		slices.SortFunc(o.members, sortable.compare)
		for _, m := range o.members {
			dst = append(dst, separator)
			dst = appendSorted(dst, plain, m.start, m.end, objects)
			separator = ','
		}
		dst = append(dst, '}')
		start = o.end
	}
}
