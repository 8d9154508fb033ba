package otlp

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// minWord is how many bytes of a string in JSON stay at least, so that the words that say what the rest is do.
const minWord = 32

// cutJSON returns a JSON text cut to n bytes, its structure kept and the longest strings in it cut, or the string "…" when
// too little would be left of them. It reports false for what is not one JSON value.
func cutJSON(s string, n int) (string, bool) {
	var texts []int
	whole, err := eachString(s, func(raw []byte) []byte {
		texts = append(texts, len(raw))
		return raw
	})
	if err != nil {
		return "", false
	}
	level, ok := waterLevel(texts, len(whole)-n, func(length int) int { return length })
	if !ok || level < minWord {
		return `"` + cutMark + `"`, true
	}
	short, err := eachString(s, func(raw []byte) []byte { return cutQuoted(raw, level) })
	return string(short), err == nil
}

// eachString returns a JSON text without white space, with the strings in it, but not the names of members, replaced. They
// are given and taken as they stand in JSON.
func eachString(s string, replace func(raw []byte) []byte) ([]byte, error) {
	var out bytes.Buffer
	lax := []jsontext.Options{
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true),
	}
	ends := 0 // of values that stand in no other
	r, w := jsontext.NewDecoder(strings.NewReader(s), lax...), jsontext.NewEncoder(&out, lax...)
	for {
		var err error
		switch r.PeekKind() {
		case jsontext.KindBeginObject, jsontext.KindEndObject, jsontext.KindBeginArray, jsontext.KindEndArray:
			var token jsontext.Token
			if token, err = r.ReadToken(); err == nil {
				err = w.WriteToken(token)
			}
		default:
			in, members := r.StackIndex(r.StackDepth())
			var raw jsontext.Value
			if raw, err = r.ReadValue(); errors.Is(err, io.EOF) && ends == 1 {
				return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
			}
			if err == nil {
				if raw[0] == '"' && (in != jsontext.KindBeginObject || members%2 == 1) {
					raw = replace(raw)
				}
				err = w.WriteValue(raw)
			}
		}
		if err != nil {
			return nil, err
		}
		if r.StackDepth() == 0 {
			if ends++; ends > 1 {
				return nil, errMoreThanOne
			}
		}
	}
}

var errMoreThanOne = errors.New("more than one JSON value")

// cutQuoted returns a JSON string cut to n bytes, quotes and the mark included, between two characters.
func cutQuoted(raw []byte, n int) []byte {
	if len(raw) <= n {
		return raw
	}
	n -= len(`"` + cutMark)
	at := 1
	for {
		step := characterLen(raw[at:])
		if at+step > n {
			break
		}
		at += step
	}
	return append(append(bytes.Clone(raw[:at]), cutMark...), '"')
}

// characterLen returns the length of the first character inside a JSON string: an escape, a pair of them that stand for one
// character, or what is written as itself.
func characterLen(raw []byte) int {
	if raw[0] != '\\' {
		_, size := utf8.DecodeRune(raw)
		return size
	}
	if raw[1] != 'u' {
		return len(`\n`)
	}
	const one = len(`\u0000`)
	isHalf := func(at int, kinds string) bool {
		return len(raw) >= at+one && raw[at] == '\\' && raw[at+1] == 'u' && raw[at+2]|0x20 == 'd' && strings.IndexByte(kinds, raw[at+3]|0x20) >= 0
	}
	if isHalf(0, "89ab") && isHalf(one, "cdef") {
		return 2 * one
	}
	return one
}
