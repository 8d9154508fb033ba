package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	replacement = utf8.RuneError // �
	zwnj, zwj   = '\u200c', '\u200d'
	textStyle   = '\ufe0e'
	emojiStyle  = '\ufe0f'
	// maxMarks is how many combining marks may sit on one letter: no language needs more, and a pile of them reaches into
	// other lines.
	maxMarks = 4
)

// Sanitize makes text from a file safe to print on one line of a terminal. Tabs and line ends become a space, control
// characters their picture (␛ for ESC) or �, and so does whatever cannot be seen but changes how the rest is read: bidi
// controls, line separators, zero-width characters, tags, fillers. Joiners and emoji styles stay where a script or an emoji
// needs them.
// Bytes that are not UTF-8 become �. The result is valid UTF-8 without control or format characters, joiners apart.
func Sanitize(s string) string {
	i := 0
	for i < len(s) && s[i] >= ' ' && s[i] < 0x7f {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	b.WriteString(s[:i])
	last := rune(' ') // the rune before, as written
	if i > 0 {
		last = rune(s[i-1])
	}
	marks := 0
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if r == '\r' && i < len(s) && s[i] == '\n' {
			continue
		}
		if (r == textStyle || r == emojiStyle) && last < utf8.RuneSelf {
			continue // says nothing there, and terminals differ about the width
		}
		if unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) {
			marks++
		} else {
			marks = 0
		}
		next, _ := utf8.DecodeRuneInString(s[i:])
		if r = visible(last, r, next); marks > maxMarks {
			r = replacement
		}
		b.WriteRune(r)
		last = r
	}
	return b.String()
}

// visible returns r, or what stands for it, between the runes before and after it.
func visible(before, r, after rune) rune {
	switch {
	case r >= ' ' && r < 0x7f:
		return r
	case r == '\t' || r == '\n' || r == '\r':
		return ' '
	case r < ' ':
		return '\u2400' + r
	case r == 0x7f:
		return '\u2421'
	case r == zwnj || r == zwj:
		if (joins(before) || before == emojiStyle || unicode.Is(unicode.M, before)) && joins(after) {
			return r
		}
		return replacement
	case r == textStyle || r == emojiStyle:
		switch before {
		case textStyle, emojiStyle, replacement, zwj, zwnj:
			return replacement
		}
		return r
	case Hidden(r):
		return replacement
	}
	return r
}

// Hidden reports whether r is a control character, or seen only by what it does to others.
func Hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Cs, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Noncharacter_Code_Point)
}

// joins reports whether a joiner next to r can mean something: in scripts that shape their letters, and in emoji.
func joins(r rune) bool {
	switch {
	case r == replacement || Hidden(r):
		return false
	case unicode.In(r, unicode.So, unicode.Sk):
		return true
	}
	return unicode.Is(unicode.L, r) && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Common)
}
