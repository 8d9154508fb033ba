package openresponses

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// Text returns what an item says to people: the text of a message and of the output of a call, its parts on lines of their
// own; the arguments of a call; the summary of reasoning, or its content where there is no summary. Of any other item it is
// "". It never fails: what cannot be decoded is U+FFFD, and what is of another kind than text is left out.
//
// The text is as the session has it: whoever prints it in a terminal has to take control characters out.
func (i Item) Text() string {
	text, _ := i.Preview(math.MaxInt)
	return text
}

// Preview returns the first characters of [Item.Text], at most limit Unicode code points of it, and whether that was all. No
// more of a long text is decoded.
func (i Item) Preview(limit int) (text string, whole bool) {
	p := &preview{left: limit}
	var scan jsonscan.Scanner
	if scan.Scan(i.Raw, "") != nil {
		return "", true
	}
	o := &object{members: scan.Members}
	switch i.Type {
	case ItemMessage:
		p.content(o.value("content"))
	case ItemFunctionCall:
		p.add(o.value("arguments"))
	case ItemFunctionCallOutput:
		p.content(o.value("output"))
	case ItemReasoning:
		summary, content := o.value("summary"), o.value("content")
		if p.content(summary); !p.started && !p.cut {
			p.content(content)
		}
	}
	return string(p.text), !p.cut
}

// preview collects text up to a number of characters.
type preview struct {
	text    []byte
	left    int
	started bool
	cut     bool
}

// content adds a string, or the texts of an array of parts.
func (p *preview) content(raw []byte) {
	p.add(raw)
	var scan jsonscan.Scanner
	for part := range jsonscan.Elements(raw) {
		if p.cut {
			return
		}
		if jsonscan.Kind(part) != '{' || scan.Scan(part, "") != nil {
			continue
		}
		o := &object{members: scan.Members}
		if text := o.value("text"); text != nil {
			p.add(text)
		} else {
			p.add(o.value("refusal"))
		}
	}
}

// add adds a raw string, on a line of its own.
func (p *preview) add(raw []byte) {
	if len(raw) <= len(`""`) || raw[0] != '"' {
		return
	}
	if p.started {
		p.inside([]byte("\n"))
	}
	p.started = true
	if len(raw) <= p.left {
		if text, ok := jsonscan.AppendString(p.text, raw); ok {
			p.left -= utf8.RuneCount(text[len(p.text):])
			p.text = text
			return
		}
	}
	p.inside(raw[1 : len(raw)-1])
}

// inside adds what stands between the quotes of a string, one character at a time.
func (p *preview) inside(s []byte) {
	for len(s) > 0 {
		if p.left <= 0 {
			p.cut = true
			return
		}
		r, n := utf8.DecodeRune(s)
		if r == '\\' {
			r, n = escape(s)
		}
		p.text = utf8.AppendRune(p.text, r)
		p.left--
		s = s[n:]
	}
}

// escape returns the character that the escape at the start of s stands for, and the length of the escape. What is no escape
// is U+FFFD in place of the backslash.
func escape(s []byte) (rune, int) {
	if len(s) > 1 {
		if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
			return rune("\"\\/\b\f\n\r\t"[i]), 2
		}
	}
	r, ok := unicodeEscape(s)
	switch {
	case !ok:
		return utf8.RuneError, 1
	case !utf16.IsSurrogate(r):
		return r, 6
	}
	if second, ok := unicodeEscape(s[6:]); ok {
		if pair := utf16.DecodeRune(r, second); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func unicodeEscape(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	r, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	return rune(r), err == nil
}
