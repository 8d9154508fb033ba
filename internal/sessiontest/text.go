package sessiontest

import (
	"math/rand/v2"
	"strings"
)

// role says what a text is for; it decides how long it gets.
type role int

const (
	userText role = iota
	reasoningText
	messageText
	argsText
	outputText
	summaryText
)

// prose makes texts. A text is a JSON value: a string, or a string that is spelled already.
type prose interface {
	text(r *rand.Rand, as role) any
	// args returns the arguments of a call, which are a JSON string that holds JSON.
	args(r *rand.Rand) any
}

// randomProse makes every text anew.
type randomProse struct{ size int }

func (p randomProse) text(r *rand.Rand, as role) any {
	switch as {
	case userText:
		return phrase(r, 10+r.IntN(120))
	case outputText:
		if r.IntN(12) == 0 {
			return ""
		}
		return phrase(r, min(int(r.ExpFloat64()*float64(p.size)), 10*p.size))
	default:
		return phrase(r, r.IntN(200))
	}
}

func (p randomProse) args(r *rand.Rand) any {
	if r.IntN(20) == 0 {
		return "{}"
	}
	e := encoder{}
	e.value(object{{"path", phrase(r, 20)}, {"text", phrase(r, r.IntN(120))}, {"limit", r.IntN(1000)}})
	return string(e.b)
}

var words = strings.Fields(`the a to of and is in that it return error if err nil func type string test file line value
 parse reader write package context session entry tree leaf branch call output run fails passes because first then
 again invoice total round cent money carrier label printer refund naïve Größe résumé 日本語 Ελλάδα проверка ✓ 🙂 <b> & -- => ==
 != {} [] () // /* */ 0x1f 3.14 42 "quoted" 'single' C:\dir\file \n \u00e9`)

// phrase returns about n bytes that look like a mixture of prose, code and terminal output.
func phrase(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(words[r.IntN(len(words))])
		switch k := r.IntN(64); {
		case k < 6:
			b.WriteString("\n")
		case k < 9:
			b.WriteString("\n\t")
		case k == 9:
			b.WriteString("\x1b[31m")
		case k == 10:
			b.WriteString("\u2028\x00\x7f\b\f\r")
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// blocks makes texts out of pieces that were spelled once, at the speed of copying.
type blocks struct {
	// plain[i] are pieces of about 1<<i bytes as they stand inside a JSON string, nested[i] as they stand inside a JSON
	// string inside a JSON string.
	plain, nested [maxBlock + 1][]string
	size          func(r *rand.Rand, as role) int
	buf           []byte
}

const (
	minBlock = 4
	maxBlock = 12
)

func newBlocks(r *rand.Rand, size func(*rand.Rand, role) int) *blocks {
	b := &blocks{size: size}
	for i := minBlock; i <= maxBlock; i++ {
		for range 8 {
			s := quote(listing(r, 1<<i))
			b.plain[i] = append(b.plain[i], s)
			b.nested[i] = append(b.nested[i], quote(s))
		}
	}
	return b
}

// listing returns about n bytes that look like source code and terminal output, more even than [phrase].
func listing(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		switch k := r.IntN(32); {
		case k < 3:
			b.WriteString("\n")
		case k < 5:
			b.WriteString("\n\t")
		case k < 6:
			b.WriteString(`"x"`)
		case k == 6:
			b.WriteString("\x1b[0m")
		default:
			b.WriteByte(' ')
		}
		word := words[r.IntN(len(words))]
		if word[0] >= 0x80 && r.IntN(4) > 0 {
			word = "value"
		}
		b.WriteString(word)
	}
	return b.String()
}

// quote returns s as it stands between the quotation marks of a JSON string.
func quote(s string) string {
	e := encoder{}
	e.string(s)
	return string(e.b[1 : len(e.b)-1])
}

func (b *blocks) text(r *rand.Rand, as role) any {
	b.buf = append(b.buf[:0], '"')
	b.fill(r, &b.plain, b.size(r, as))
	return raw(append(b.buf, '"'))
}

func (b *blocks) args(r *rand.Rand) any {
	b.buf = append(b.buf[:0], `"{\"path\":\"internal/`...)
	b.fill(r, &b.nested, b.size(r, argsText))
	return raw(append(b.buf, `\"}"`...))
}

// fill appends n bytes, give or take one of the smallest pieces.
func (b *blocks) fill(r *rand.Rand, from *[maxBlock + 1][]string, n int) {
	for end := len(b.buf) + n; len(b.buf) < end; {
		i := minBlock
		for i < maxBlock && 2<<i <= end-len(b.buf) {
			i++
		}
		b.buf = append(b.buf, from[i][r.IntN(len(from[i]))]...)
	}
}
