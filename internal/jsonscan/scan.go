package jsonscan

import (
	"bytes"
	"fmt"
)

const (
	// maxDepth is how deep objects and arrays may be nested, the outermost object counted; jsontext has the same limit.
	maxDepth = 10_000
	// maxMembers is how many members one object may have, repeated names counted. A member of a few bytes costs whoever
	// lists it a hundred, and so a line of nothing else would take many times its length.
	maxMembers = 65_536
)

// Member is one member of an object. Name is unescaped, Value is raw JSON. Both point into the scanned bytes, Name into
// memory of the scanner where it had escapes, and are valid until the next scan.
type Member struct {
	Name, Value []byte
	Offset      int // of Value in the scanned bytes
}

// Scanner finds the members of objects. The zero value is ready for use; one that is used again does not allocate.
type Scanner struct {
	Members []Member // of the object
	Nested  []Member // of the object in the member that Scan was asked to open; empty without one

	names []byte // unescaped names
	open  levels
}

// Scan checks that data is exactly one JSON object, white space around it allowed, and fills Members. Where nest is not
// empty and a member of that name is an object, Nested gets its members; the last such member counts. An error is a
// [*SyntaxError], and the members are then those before the damage.
func (s *Scanner) Scan(data []byte, nest string) error {
	s.Members, s.Nested, s.names = s.Members[:0], s.Nested[:0], s.names[:0]
	i := skipSpace(data, 0)
	if i >= len(data) || data[i] != '{' {
		return notObject(data, i)
	}
	var err *SyntaxError
	if s.Members, i, err = s.object(data, i, 1, s.Members, nest); err != nil {
		return err
	}
	if i = skipSpace(data, i); i < len(data) {
		return &SyntaxError{i, "more after the object"}
	}
	return nil
}

// object appends the members of the object that begins at i to members. It calls itself once at most, for the object to
// nest.
func (s *Scanner) object(data []byte, i, depth int, members []Member, nest string) ([]Member, int, *SyntaxError) {
	i = skipSpace(data, i+1)
	if i < len(data) && data[i] == '}' {
		return members, i + 1, nil
	}
	for {
		if i >= len(data) || data[i] != '"' {
			return members, i, unexpected(data, i, "where an object key belongs")
		}
		if len(members) == maxMembers {
			return members, i, tooMany(i)
		}
		end, err := skipString(data, i)
		if err != nil {
			return members, end, err
		}
		name := data[i+1 : end-1 : end-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			name = s.unescape(name)
		}
		i = skipSpace(data, end)
		if i >= len(data) || data[i] != ':' {
			return members, i, unexpected(data, i, "after object key")
		}
		i = skipSpace(data, i+1)
		if nest != "" && i < len(data) && data[i] == '{' && string(name) == nest {
			s.Nested, end, err = s.object(data, i, depth+1, s.Nested[:0], "")
		} else {
			end, err = skipValue(data, i, depth, &s.open)
		}
		if err != nil {
			return members, end, err
		}
		members = append(members, Member{name, data[i:end:end], i})
		i = skipSpace(data, end)
		switch {
		case i < len(data) && data[i] == ',':
			i = skipSpace(data, i+1)
		case i < len(data) && data[i] == '}':
			return members, i + 1, nil
		default:
			return members, i, unexpected(data, i, "after object value")
		}
	}
}

// unescape returns the name that a key with escapes stands for; one that is not valid is its own name.
func (s *Scanner) unescape(key []byte) []byte {
	if !validInside(key) {
		return key
	}
	start := len(s.names)
	s.names = appendUnescaped(s.names, key)
	return s.names[start:len(s.names):len(s.names)]
}

// levels has what is around the value at hand, from the outside in: for an array 0, for an object one more than the members
// it has had so far.
type levels []uint32

const (
	inArray  = 0
	inObject = 1
)

// skipValue returns the end of the value that begins at i, inside as many levels as outer says. Levels are remembered in
// open, so that no depth of nesting costs stack.
func skipValue(data []byte, i, outer int, open *levels) (end int, err *SyntaxError) {
	stack := (*open)[:0]
	defer func() { *open = stack }()
	in := uint32(inArray) // the level at hand; outside of the value nobody looks at it
value:
	if i >= len(data) {
		return i, unexpected(data, i, "")
	}
	switch c := data[i]; c {
	case '"':
		if i, err = skipString(data, i); err != nil {
			return i, err
		}
	case '{', '[':
		if outer+len(stack) == maxDepth {
			return i, &SyntaxError{i, "nested deeper than 10000 levels"}
		}
		stack = append(stack, in)
		in = inArray
		if c == '{' {
			in = inObject
		}
		i = skipSpace(data, i+1)
		if i < len(data) && data[i] == c+2 { // in ASCII, the closing bracket is two after the opening one
			goto closing
		}
		if in != inArray {
			goto key
		}
		goto value
	default:
		if i, err = skipScalar(data, i); err != nil {
			return i, err
		}
	}
next:
	if len(stack) == 0 {
		return i, nil
	}
	i = skipSpace(data, i)
	switch {
	case i >= len(data):
		return i, unexpected(data, i, "")
	case data[i] == ',':
		i = skipSpace(data, i+1)
		if in != inArray {
			goto key
		}
		goto value
	case data[i] == '}' && in != inArray, data[i] == ']' && in == inArray:
		goto closing
	case in != inArray:
		return i, unexpected(data, i, "after object value")
	default:
		return i, unexpected(data, i, "after array element")
	}
key:
	if i >= len(data) || data[i] != '"' {
		return i, unexpected(data, i, "where an object key belongs")
	}
	if in == inObject+maxMembers {
		return i, tooMany(i)
	}
	in++
	if i, err = skipString(data, i); err != nil {
		return i, err
	}
	i = skipSpace(data, i)
	if i >= len(data) || data[i] != ':' {
		return i, unexpected(data, i, "after object key")
	}
	i = skipSpace(data, i+1)
	goto value
closing:
	i++
	in, stack = stack[len(stack)-1], stack[:len(stack)-1]
	goto next
}

// tooMany reports that the member at i is one more than an object may have.
func tooMany(i int) *SyntaxError {
	return &SyntaxError{i, fmt.Sprintf("more than %d members in one object", maxMembers)}
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && data[i] <= ' ' && (data[i] == ' ' || data[i] == '\t' || data[i] == '\r' || data[i] == '\n') {
		i++
	}
	return i
}

// skipScalar returns the end of the literal or number at i.
func skipScalar(data []byte, i int) (int, *SyntaxError) {
	switch data[i] {
	case 't':
		return skipLiteral(data, i, "true")
	case 'f':
		return skipLiteral(data, i, "false")
	case 'n':
		return skipLiteral(data, i, "null")
	}
	return skipNumber(data, i)
}

func skipLiteral(data []byte, i int, literal string) (int, *SyntaxError) {
	for j := range len(literal) {
		if i+j >= len(data) || data[i+j] != literal[j] {
			return i, unexpected(data, i+j, "in literal "+literal)
		}
	}
	return i + len(literal), nil
}

// skipNumber returns the end of the number at i.
func skipNumber(data []byte, i int) (int, *SyntaxError) {
	start := i
	if i < len(data) && data[i] == '-' {
		i++
	}
	switch digits := skipDigits(data, i); {
	case digits == i && i == start:
		return i, unexpected(data, i, "where a value belongs")
	case digits == i:
		return i, unexpected(data, i, "in number")
	case data[i] == '0':
		i++ // the whole integer: a digit after it is the caller's to refuse
	default:
		i = digits
	}
	if i < len(data) && data[i] == '.' {
		digits := skipDigits(data, i+1)
		if digits == i+1 {
			return digits, unexpected(data, digits, "in number")
		}
		i = digits
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		digits := skipDigits(data, i)
		if digits == i {
			return digits, unexpected(data, digits, "in number")
		}
		i = digits
	}
	return i, nil
}

func skipDigits(data []byte, i int) int {
	for i < len(data) && data[i]-'0' <= 9 {
		i++
	}
	return i
}
