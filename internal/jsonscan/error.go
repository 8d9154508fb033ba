package jsonscan

import (
	"fmt"
	"unicode/utf8"
)

// SyntaxError says what is wrong with the scanned text, and where.
type SyntaxError struct {
	Offset int    // of the offending byte in the scanned text; its length where the text ends too early
	What   string // such as "unexpected end of input"
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.What, e.Offset) }

const endOfInput = "unexpected end of input"

// unexpected reports that the character at i does not belong there, or that the text ends.
func unexpected(data []byte, i int, where string) *SyntaxError {
	if i >= len(data) {
		return &SyntaxError{len(data), endOfInput}
	}
	r, n := utf8.DecodeRune(data[i:])
	if r == utf8.RuneError && n == 1 {
		return &SyntaxError{i, "invalid UTF-8"}
	}
	return &SyntaxError{i, fmt.Sprintf("invalid character %q %s", r, where)}
}

// notObject reports what stands at i in place of an object.
func notObject(data []byte, i int) *SyntaxError {
	end, err := skipValue(data, i, 0, new(levels))
	if err != nil {
		return err
	}
	if end = skipSpace(data, end); end < len(data) {
		return &SyntaxError{end, "more after the value"}
	}
	what := map[byte]string{'[': "an array", '"': "a string", 't': "a boolean", 'f': "a boolean", 'n': "null", '0': "a number"}
	return &SyntaxError{i, what[Kind(data[i:])] + " instead of an object"}
}
