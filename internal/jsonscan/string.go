package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// skipString returns the end of the string that begins at i. It looks for the closing quote alone: the first one behind an
// even number of backslashes.
func skipString(data []byte, i int) (int, *SyntaxError) {
	start := i + 1
	i = start
	// Most strings are short: the first bytes are looked at eight at a time, which takes less than a call.
	for near := min(start+24, len(data)) - 8; i <= near; i += 8 {
		if m := marks(binary.LittleEndian.Uint64(data[i:])); m != 0 {
			if i += bits.TrailingZeros64(m) / 8; data[i] == '"' {
				return i + 1, nil
			}
			break
		}
	}
	for ; ; i++ {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return len(data), &SyntaxError{len(data), endOfInput}
		}
		i += n
		slash := i
		for slash > start && data[slash-1] == '\\' {
			slash--
		}
		if (i-slash)%2 == 0 {
			return i + 1, nil
		}
	}
}

// marks has a bit set for the first quote or backslash among the eight bytes in x, and perhaps for bytes after it.
func marks(x uint64) uint64 {
	const ones = 0x0101010101010101
	quote, slash := x^'"'*ones, x^'\\'*ones
	return ((quote-ones)&^quote | (slash-ones)&^slash) & (0x80 * ones)
}

// validInside reports whether what stands between the quotes of a string is as it must be: UTF-8, escapes that exist, no
// control characters. An escape of a lone surrogate counts as valid: programs whose strings are UTF-16 write it where
// they cut a text.
func validInside(s []byte) bool {
	return utf8.Valid(s) && validEscapes(s)
}

// validEscapes reports the same of bytes that may be no UTF-8.
func validEscapes(s []byte) bool {
	for i := 0; i < len(s); i++ {
		for ; i+8 <= len(s); i += 8 { // most of a text is plain
			if m := special(binary.LittleEndian.Uint64(s[i:])); m != 0 {
				i += bits.TrailingZeros64(m) / 8
				break
			}
		}
		if i == len(s) {
			break
		}
		switch c := s[i]; {
		case c < ' ', c == '"':
			return false
		case c != '\\':
		case i+1 < len(s) && escapes[s[i+1]] != 0:
			i++
		case hex4(s[i:]) < 0:
			return false
		default:
			i += 5
		}
	}
	return true
}

// special has a bit set for the first quote, backslash or control character among the eight bytes in x, and perhaps for bytes
// after it.
func special(x uint64) uint64 {
	const ones = 0x0101010101010101
	return marks(x) | (x-' '*ones)&^x&(0x80*ones)
}

// escapes maps the character after a backslash to what the two stand for.
var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// unicodeEscape decodes the valid \u escape that b begins with, or the two of a surrogate pair, and returns the length as
// well. A surrogate alone is U+FFFD.
func unicodeEscape(b []byte) (rune, int) {
	r := hex4(b)
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if pair := utf16.DecodeRune(r, hex4(b[6:])); pair != utf8.RuneError {
		return pair, 12
	}
	return utf8.RuneError, 6
}

// hex4 returns the number in a \u escape, or one below zero.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	return rune(hexDigits[b[2]])<<12 | rune(hexDigits[b[3]])<<8 | rune(hexDigits[b[4]])<<4 | rune(hexDigits[b[5]])
}

// hexDigits maps a hexadecimal digit to its value, and anything else to -1.
var hexDigits = func() (digits [256]int8) {
	for c := range digits {
		digits[c] = int8(bytes.IndexByte([]byte("0123456789abcdef"), byte(c)))
	}
	for c := 'A'; c <= 'F'; c++ {
		digits[c] = digits[c-'A'+'a']
	}
	return digits
}()

// appendUnescaped appends what the inside of a valid string stands for.
func appendUnescaped(dst, src []byte) []byte {
	for {
		i := bytes.IndexByte(src, '\\')
		if i < 0 {
			return append(dst, src...)
		}
		dst, src = append(dst, src[:i]...), src[i:]
		if c := escapes[src[1]]; c != 0 {
			dst, src = append(dst, c), src[2:]
		} else {
			r, n := unicodeEscape(src)
			dst, src = utf8.AppendRune(dst, r), src[n:]
		}
	}
}
