package jsonscan

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	shortSize = 32 // where skipString changes from words to blocks
	blockSize = 64
	charSize  = 16 // more than any character takes, escaped or not
)

// skipString returns the end of the string that begins at i, and whether it is plain, which is to say without escapes
// for certain.
func skipString(data []byte, i int) (end int, plain bool, err *SyntaxError) {
	i++
	for near := min(i+shortSize, len(data)) - 8; i <= near; i += 8 {
		if m := special(binary.LittleEndian.Uint64(data[i:])); m != 0 {
			i += bits.TrailingZeros64(m) / 8
			if data[i] == '"' {
				return i + 1, true, nil
			}
			break
		}
	}
	end, err = skipLong(data, i)
	return end, false, err
}

// skipLong returns the end of the string that goes on at i. It makes a set of the special bytes in the next 64 and visits
// those alone: to look at each special byte as it is met takes longer, because the processor cannot guess where it will be.
func skipLong(data []byte, i int) (int, *SyntaxError) {
	for {
		var b *[blockSize + charSize]byte
		if len(data)-i >= len(b) {
			b = (*[blockSize + charSize]byte)(data[i:])
		} else {
			b = new([blockSize + charSize]byte) // zeros after the end stop the search there if nothing else does
			copy(b[:], data[i:])
		}
		x0, x1 := binary.LittleEndian.Uint64(b[0:]), binary.LittleEndian.Uint64(b[8:])
		x2, x3 := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
		x4, x5 := binary.LittleEndian.Uint64(b[32:]), binary.LittleEndian.Uint64(b[40:])
		x6, x7 := binary.LittleEndian.Uint64(b[48:]), binary.LittleEndian.Uint64(b[56:])
		set := ^(gather(plain(x0)) | gather(plain(x1))<<8 | gather(plain(x2))<<16 | gather(plain(x3))<<24 |
			gather(plain(x4))<<32 | gather(plain(x5))<<40 | gather(plain(x6))<<48 | gather(plain(x7))<<56)
		if (x0|x1|x2|x3|x4|x5|x6|x7)&high != 0 {
			set |= gather(x0) | gather(x1)<<8 | gather(x2)<<16 | gather(x3)<<24 |
				gather(x4)<<32 | gather(x5)<<40 | gather(x6)<<48 | gather(x7)<<56
		}
		next := blockSize // or after it, where the last character of the block ends
		for set != 0 {
			p := bits.TrailingZeros64(set) % blockSize
			first := set & -set
			n := 0
			switch c := b[p]; {
			case c == '\\' && escapes[b[p+1]] != 0:
				set &^= 3 * first
				next = p + 2
				continue
			case c == '"':
				return i + p + 1, nil
			case c == '\\':
				_, n = unicodeEscape(b[p:])
			case c >= utf8.RuneSelf:
				n = runeSize(binary.LittleEndian.Uint64(b[p:]))
			}
			if n == 0 {
				return i + p, stringError(data, i+p)
			}
			set &^= first<<n - first
			next = p + n
		}
		i += max(next, blockSize)
	}
}

// plain, special and gather work on the 8 bytes in a word at once. A mark is the top bit of a byte.
const (
	ones = 0x0101010101010101
	high = 0x80 * ones
	low  = 0x7f * ones
)

// plain marks, top bits left aside, all bytes but quotes, backslashes and control characters. With one bit flipped, quotes
// come right after the control characters, so that one comparison does for both. Only the marks count of the result.
func plain(x uint64) uint64 {
	x &= low
	return (x ^ 2*ones + (0x80-0x21)*ones) & (x ^ '\\'*ones + low)
}

// special marks quotes, backslashes, control characters and all bytes of non-ASCII ones.
func special(x uint64) uint64 { return (x | ^plain(x)) & high }

// gather moves the marks into one byte.
func gather(x uint64) uint64 { return x & high * 0x0002040810204081 >> 56 }

// runeSize returns the length of the UTF-8 sequence that x begins with, and 0 if it is not valid: overlong, a surrogate,
// beyond U+10FFFF, or not well-formed.
func runeSize(x uint64) int {
	switch {
	case x&0xc0e0 == 0x80c0 && x&0x1e != 0:
		return 2
	case x&0xc0c0f0 == 0x8080e0 && x&0x200f != 0 && x&0x200f != 0x200d:
		return 3
	case x&0xc0c0c0f8 == 0x808080f0 && x&0x3007 != 0 && (x&0x04 == 0 || x&0x3007 == 0x04):
		return 4
	}
	return 0
}

// escapes maps the character after a backslash to what the two stand for.
var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// unicodeEscape decodes the \u escape that b begins with, or the two of a surrogate pair. It returns the length as well,
// which is 0 if the escape is not valid.
func unicodeEscape(b []byte) (rune, int) {
	r := hex4(b)
	switch {
	case r < 0:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 6
	}
	if r = utf16.DecodeRune(r, hex4(b[6:])); r == utf8.RuneError {
		return 0, 0
	}
	return r, 12
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
