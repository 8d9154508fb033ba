package pi

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// Stringify returns a JSON value as JavaScript writes one that it has parsed, which is what becomes of the lines of a file that
// the agents rewrite: no white space, the last of several members of one name at the place of the first, names that are
// indexes of an array in front and in their order, numbers as a double is written, and of escapes only those that have to be.
// The error wraps [format.ErrSyntax].
func Stringify(raw []byte) ([]byte, error) {
	raw = bytes.Trim(raw, " \t\r\n")
	if !jsonscan.Valid(raw, true) {
		return nil, &format.DamageError{Err: format.ErrSyntax, Detail: "not one JSON value", Data: raw}
	}
	return appendValue(make([]byte, 0, len(raw)), raw), nil
}

// appendValue appends a valid value.
func appendValue(dst, raw []byte) []byte {
	switch jsonscan.Kind(raw) {
	case '{':
		return parseObject(raw).append(dst)
	case '[':
		dst = append(dst, '[')
		first := true
		for el := range jsonscan.Elements(raw) {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = appendValue(dst, el)
		}
		return append(dst, ']')
	case '"':
		return appendString(dst, raw[1:len(raw)-1])
	case '0':
		return appendNumber(dst, raw)
	}
	return append(dst, raw...)
}

// object is an object that is being rewritten: its members as JavaScript has them, names with their quotes.
type object struct{ members []objectMember }

type objectMember struct {
	name, value []byte
	index       int64 // of a name that is an index of an array, else -1
}

func parseObject(raw []byte) *object {
	var s jsonscan.Scanner
	o := &object{}
	if s.Scan(raw, "") != nil {
		return o
	}
	at := map[string]int{}
	end := 0 // of the value before
	for _, m := range s.Members {
		// Of a name with half a surrogate pair the scanner has U+FFFD in its place, so it is read again.
		written := raw[end:m.Offset]
		name := appendString(nil, written[bytes.IndexByte(written, '"')+1:bytes.LastIndexByte(written, '"')])
		end = m.Offset + len(m.Value)
		i, again := at[string(name)]
		if !again {
			i = len(o.members)
			at[string(name)] = i
			o.members = append(o.members, objectMember{name: name, index: arrayIndex(m.Name)})
		}
		o.members[i].value = appendValue(nil, m.Value)
	}
	slices.SortStableFunc(o.members, func(a, b objectMember) int {
		switch {
		case a.index >= 0 && b.index >= 0:
			return cmp.Compare(a.index, b.index)
		case a.index >= 0:
			return -1
		case b.index >= 0:
			return 1
		}
		return 0
	})
	return o
}

// appendEscaped puts a name that has been unescaped back between quotes that it does not have.
func appendEscaped(dst, name []byte) []byte {
	for _, c := range name {
		if c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return dst
}

func quoted(text string) []byte { return appendString(nil, appendEscaped(nil, []byte(text))) }

// set gives a member a value that is written already: in its place, else at the end.
func (o *object) set(name string, value []byte) {
	q := quoted(name)
	for i := range o.members {
		if bytes.Equal(o.members[i].name, q) {
			o.members[i].value = value
			return
		}
	}
	o.members = append(o.members, objectMember{name: q, value: value, index: -1})
}

func (o *object) get(name string) []byte {
	q := quoted(name)
	for i := range o.members {
		if bytes.Equal(o.members[i].name, q) {
			return o.members[i].value
		}
	}
	return nil
}

func (o *object) remove(name string) {
	q := quoted(name)
	o.members = slices.DeleteFunc(o.members, func(m objectMember) bool { return bytes.Equal(m.name, q) })
}

func (o *object) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, m := range o.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(append(dst, m.name...), ':'), m.value...)
	}
	return append(dst, '}')
}

// arrayIndex is the index that a name is in JavaScript, else -1.
func arrayIndex(name []byte) int64 {
	if len(name) == 0 || len(name) > 10 || name[0] == '0' && len(name) > 1 {
		return -1
	}
	n := int64(0)
	for _, c := range name {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int64(c-'0')
	}
	if n > math.MaxUint32-1 {
		return -1
	}
	return n
}

// appendNumber appends a number as a double is written; one beyond all doubles is null.
func appendNumber(dst, raw []byte) []byte {
	f, err := strconv.ParseFloat(string(raw), 64)
	switch a := math.Abs(f); {
	case errors.Is(err, strconv.ErrRange) && a > 1:
		return append(dst, "null"...)
	case f == 0:
		return append(dst, '0') // -0 too
	case a >= 1e-6 && a < 1e21:
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	text := strconv.AppendFloat(nil, f, 'e', -1, 64)
	e := bytes.IndexByte(text, 'e')
	dst = append(dst, text[:e+2]...) // with the sign
	return append(dst, bytes.TrimLeft(text[e+2:], "0")...)
}

// appendString appends the inside of a string with quotes around it.
func appendString(dst, inside []byte) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(inside); {
		c := inside[i]
		switch {
		case c == '\\' && i+1 < len(inside):
			var r rune
			r, i = unescape(inside, i)
			dst = appendRune(dst, r)
		case c < utf8.RuneSelf:
			dst = appendRune(dst, rune(c))
			i++
		default:
			n := sequence(inside[i:])
			if r, size := utf8.DecodeRune(inside[i:]); r == utf8.RuneError && size == 1 {
				dst = append(dst, "\uFFFD"...)
			} else {
				dst = append(dst, inside[i:i+n]...)
			}
			i += n
		}
	}
	return append(dst, '"')
}

// unescape returns what the escape at i stands for, and where it ends. Half a surrogate pair stands for itself.
func unescape(inside []byte, i int) (rune, int) {
	switch c := inside[i+1]; c {
	case 'b':
		return '\b', i + 2
	case 't':
		return '\t', i + 2
	case 'n':
		return '\n', i + 2
	case 'f':
		return '\f', i + 2
	case 'r':
		return '\r', i + 2
	case 'u':
		r, ok := hex4(inside, i+2)
		if !ok {
			return utf8.RuneError, i + 2
		}
		if r >= 0xD800 && r < 0xDC00 && i+7 < len(inside) && inside[i+6] == '\\' && inside[i+7] == 'u' {
			if low, ok := hex4(inside, i+8); ok && low >= 0xDC00 && low < 0xE000 {
				return 0x10000 + (r-0xD800)<<10 + (low - 0xDC00), i + 12
			}
		}
		return r, i + 6
	default:
		return rune(c), i + 2
	}
}

func hex4(b []byte, i int) (rune, bool) {
	if i+4 > len(b) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[i:i+4]), 16, 32)
	return rune(n), err == nil
}

// appendRune appends a character of a string, with an escape where JSON or half a surrogate pair needs one.
func appendRune(dst []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case r == '\b':
		return append(dst, `\b`...)
	case r == '\t':
		return append(dst, `\t`...)
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\f':
		return append(dst, `\f`...)
	case r == '\r':
		return append(dst, `\r`...)
	case r < 0x20 || r >= 0xD800 && r < 0xE000:
		return append(dst, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
	}
	return utf8.AppendRune(dst, r)
}

// sequence is how many bytes at the beginning of b are one character, or what one U+FFFD stands for: the longest beginning of a
// character that is cut off.
func sequence(b []byte) int {
	if r, size := utf8.DecodeRune(b); r != utf8.RuneError || size > 1 {
		return size
	}
	need, low, high := 0, byte(0x80), byte(0xBF)
	switch c := b[0]; {
	case c >= 0xC2 && c <= 0xDF:
		need = 1
	case c >= 0xE0 && c <= 0xEF:
		need = 2
		if c == 0xE0 {
			low = 0xA0
		} else if c == 0xED {
			high = 0x9F
		}
	case c >= 0xF0 && c <= 0xF4:
		need = 3
		if c == 0xF0 {
			low = 0x90
		} else if c == 0xF4 {
			high = 0x8F
		}
	}
	n := 1
	for ; n <= need && n < len(b) && b[n] >= low && b[n] <= high; n++ {
		low, high = 0x80, 0xBF
	}
	return n
}

// validText replaces what is no UTF-8 as the agents do.
func validText(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	out := make([]byte, 0, len(b)+8)
	for len(b) > 0 {
		n := sequence(b)
		if utf8.Valid(b[:n]) {
			out = append(out, b[:n]...)
		} else {
			out = append(out, "\uFFFD"...)
		}
		b = b[n:]
	}
	return out
}
