package jsonscan

import (
	"bytes"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind returns the kind of a raw value by its first byte: '{', '[', '"', 't', 'f', 'n', '0' for any number, and 0 for
// what begins no value.
func Kind(raw []byte) byte {
	if len(raw) == 0 {
		return 0
	}
	switch c := raw[0]; {
	case c == '{', c == '[', c == '"', c == 't', c == 'f', c == 'n':
		return c
	case c == '-', c-'0' <= 9:
		return '0'
	}
	return 0
}

// Valid reports whether raw is exactly one JSON value, white space around it allowed, with strings that are as they must be. With
// anyBytes, strings may hold bytes that are no UTF-8.
func Valid(raw []byte, anyBytes bool) bool {
	var open levels
	end, err := skipValue(raw, skipSpace(raw, 0), 0, &open)
	if err != nil || skipSpace(raw, end) != len(raw) || !anyBytes && !utf8.Valid(raw) {
		return false
	}
	for i := 0; ; {
		n := bytes.IndexByte(raw[i:], '"') // outside of strings there is no other use for it
		if n < 0 {
			return true
		}
		start := i + n
		if i, err = skipString(raw, start); err != nil || !validEscapes(raw[start+1:i-1]) {
			return false
		}
	}
}

// String returns what a raw string says, unescaped.
func String(raw []byte) (string, bool) {
	inside, ok := unquote(raw)
	if bytes.IndexByte(inside, '\\') >= 0 {
		inside = appendUnescaped(make([]byte, 0, len(inside)), inside)
	}
	return string(inside), ok
}

// AppendString appends what a raw string says, unescaped, to dst.
func AppendString(dst, raw []byte) ([]byte, bool) {
	inside, ok := unquote(raw)
	return appendUnescaped(dst, inside), ok
}

// unquote returns what stands between the quotes of a valid string.
func unquote(raw []byte) ([]byte, bool) {
	if Kind(raw) != '"' {
		return nil, false
	}
	if len(raw) < 2 || raw[len(raw)-1] != '"' || !validInside(raw[1:len(raw)-1]) {
		return nil, false
	}
	return raw[1 : len(raw)-1], true
}

// Int64 returns a raw number that is an integer, in whatever spelling (1000, 1e3, 1000.0, 100000e-2), if it fits exactly.
func Int64(raw []byte) (int64, bool) {
	if !isNumber(raw) {
		return 0, false
	}
	digits, negative := strings.CutPrefix(string(raw), "-")
	var exponent int64
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		exponent, _ = strconv.ParseInt(digits[i+1:], 10, 32) // out of range, it is the nearest that is not, which will do
		digits = digits[:i]
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	if exponent != 0 || fraction != "" {
		digits = strings.TrimRight(whole+fraction, "0")
		exponent += int64(len(whole) - len(digits))
		switch digits = strings.TrimLeft(digits, "0"); {
		case digits == "":
			return 0, true
		case exponent < 0, exponent > 18: // not whole, or beyond 64 bits
			return 0, false
		}
		digits += strings.Repeat("0", int(exponent))
	}
	if negative {
		digits = "-" + digits
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, false
	}
	return n, true
}

// Float64 returns the number nearest to a raw number, and false where that would be an infinity.
func Float64(raw []byte) (float64, bool) {
	if !isNumber(raw) {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return 0, false
	}
	return f, true
}

func isNumber(raw []byte) bool {
	end, err := skipNumber(raw, 0)
	return err == nil && end == len(raw)
}

// Bool returns a raw true or false.
func Bool(raw []byte) (value, ok bool) {
	value = string(raw) == "true"
	return value, value || string(raw) == "false"
}

// IsNull reports whether a raw value is null.
func IsNull(raw []byte) bool { return string(raw) == "null" }

// Elements walks the elements of a raw array; anything else has none. The walk ends at damage, which no value that a scan
// has found contains.
func Elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if Kind(raw) != '[' {
			return
		}
		var open levels
		for i := 0; ; {
			i = skipSpace(raw, i+1)
			end, err := skipValue(raw, i, 1, &open) // an error in an empty array, too
			if err != nil || !yield(raw[i:end:end]) {
				return
			}
			if i = skipSpace(raw, end); i >= len(raw) || raw[i] != ',' {
				return
			}
		}
	}
}
