package sessiontest

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A JSON value is nil, bool, int, int64, string, [raw], [list] or [object].
type (
	object []member
	member struct {
		name  string
		value any
	}
	list []any
	// raw is JSON text that is written as it stands.
	raw string
)

// with returns the object with one more member.
func (o object) with(name string, value any) object { return append(o, member{name, value}) }

// encoder writes values. Without a source of randomness it writes the plain form: members in the order given, no white
// space, only the escapes that have to be. With one it varies all of that.
type encoder struct {
	b         []byte
	canonical bool // members sorted by name
	vary      *rand.Rand
}

// canonical returns the RFC 8785 form of v, for values whose numbers are in that form already and whose names are ASCII.
func canonical(v any) string {
	e := encoder{canonical: true}
	e.value(v)
	return string(e.b)
}

func (e *encoder) value(v any) {
	switch v := v.(type) {
	case nil:
		e.b = append(e.b, "null"...)
	case bool:
		e.b = strconv.AppendBool(e.b, v)
	case int:
		e.b = strconv.AppendInt(e.b, int64(v), 10)
	case int64:
		e.b = strconv.AppendInt(e.b, v, 10)
	case string:
		e.string(v)
	case raw:
		e.b = append(e.b, v...)
	case list:
		e.b = append(e.b, '[')
		for i, x := range v {
			e.comma(i)
			e.value(x)
		}
		e.b = append(e.b, ']')
	case object:
		e.object(v)
	}
}

func (e *encoder) object(o object) {
	if e.canonical {
		o = slices.Clone(o)
		slices.SortFunc(o, func(a, b member) int { return strings.Compare(a.name, b.name) })
	} else if e.vary != nil && e.vary.IntN(2) == 0 {
		o = slices.Clone(o)
		e.vary.Shuffle(len(o), func(i, j int) { o[i], o[j] = o[j], o[i] })
	}
	e.b = append(e.b, '{')
	for i, m := range o {
		e.comma(i)
		e.string(m.name)
		e.space()
		e.b = append(e.b, ':')
		e.space()
		e.value(m.value)
	}
	e.space()
	e.b = append(e.b, '}')
}

func (e *encoder) comma(i int) {
	if i > 0 {
		e.b = append(e.b, ',')
	}
	e.space()
}

func (e *encoder) space() {
	if e.vary != nil && e.vary.IntN(8) == 0 {
		e.b = append(e.b, " \t\r"[e.vary.IntN(3)])
	}
}

func (e *encoder) string(s string) {
	e.b = append(e.b, '"')
	for i := 0; i < len(s); {
		if c := s[i]; e.vary == nil && c >= ' ' && c != '"' && c != '\\' {
			e.b = append(e.b, c)
			i++
			continue
		}
		c, n := utf8.DecodeRuneInString(s[i:])
		i += n
		short := strings.IndexRune("\"\\\b\f\n\r\t", c)
		switch {
		case e.vary != nil && (c == '/' && e.vary.IntN(2) == 0):
			e.b = append(e.b, '\\', '/')
		case e.vary != nil && e.vary.IntN(24) == 0:
			e.escape(c)
		case short >= 0:
			e.b = append(e.b, '\\', `"\bfnrt`[short])
		case c < ' ':
			e.escape(c)
		default:
			e.b = utf8.AppendRune(e.b, c)
		}
	}
	e.b = append(e.b, '"')
}

// escape writes c as \u escapes, with lower-case digits.
func (e *encoder) escape(c rune) {
	for _, u := range utf16.Encode([]rune{c}) {
		e.b = append(e.b, '\\', 'u')
		for shift := 12; shift >= 0; shift -= 4 {
			e.b = append(e.b, "0123456789abcdef"[u>>shift&15])
		}
	}
}
