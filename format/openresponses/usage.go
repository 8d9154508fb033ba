package openresponses

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// Usage is the token count of one model call (A.5). A nil count is one that is not stated.
//
// Where Raw is set, it is what is written, whatever the counts say: to change a count, set Raw to nil. The same holds for
// [Incomplete] and [Error].
type Usage struct {
	InputTokens  *int64 // cached input included
	OutputTokens *int64 // reasoning included
	TotalTokens  *int64
	// CachedTokens and CacheCreationTokens are parts of InputTokens; CacheCreation1hTokens is part of the latter.
	CachedTokens          *int64
	CacheCreationTokens   *int64
	CacheCreation1hTokens *int64
	// ReasoningTokens is part of OutputTokens.
	ReasoningTokens *int64
	// Raw is the object as written, with whatever else it holds; nil in one that was built.
	Raw jsontext.Value
}

// ParseUsage decodes a usage object. A count in it that is not a whole number from zero on is left nil. Raw points into raw,
// which the caller may not change afterwards.
func ParseUsage(raw jsontext.Value) (*Usage, error) {
	data, err := checked("usage", raw)
	if err != nil {
		return nil, err
	}
	return usageView(data), nil
}

// usageView returns nil for no value.
func usageView(raw jsontext.Value) *Usage {
	if raw == nil {
		return nil
	}
	var scan jsonscan.Scanner
	o := open("usage", raw, &scan)
	u := &Usage{
		InputTokens:  o.count("input_tokens"),
		OutputTokens: o.count("output_tokens"),
		TotalTokens:  o.count("total_tokens"),
		Raw:          raw,
	}
	input, output := o.value("input_tokens_details"), o.value("output_tokens_details")
	in := open("usage", input, &scan)
	u.CachedTokens = in.count("cached_tokens")
	u.CacheCreationTokens = in.count("cache_creation_tokens")
	u.CacheCreation1hTokens = in.count("cache_creation_1h_tokens")
	u.ReasoningTokens = open("usage", output, &scan).count("reasoning_tokens")
	return u
}

// count returns a number of tokens, nil for anything that cannot be one.
func (o *object) count(name string) *int64 {
	if n, ok := jsonscan.Int64(o.value(name)); ok && n >= 0 {
		return &n
	}
	return nil
}

// JSON returns Raw, or where that is nil an object with the counts that are stated. It is nil for nil.
func (u *Usage) JSON() jsontext.Value {
	if u == nil {
		return nil
	}
	if u.Raw != nil {
		return u.Raw
	}
	var b, in, out builder
	b.int("input_tokens", u.InputTokens)
	b.int("output_tokens", u.OutputTokens)
	b.int("total_tokens", u.TotalTokens)
	in.int("cached_tokens", u.CachedTokens)
	in.int("cache_creation_tokens", u.CacheCreationTokens)
	in.int("cache_creation_1h_tokens", u.CacheCreation1hTokens)
	out.int("reasoning_tokens", u.ReasoningTokens)
	if len(in.names) > 0 {
		b.raw("input_tokens_details", in.end(nil))
	}
	if len(out.names) > 0 {
		b.raw("output_tokens_details", out.end(nil))
	}
	return b.end(nil)
}

// Clone returns a copy that shares nothing with u; nil for nil.
func (u *Usage) Clone() *Usage {
	if u == nil {
		return nil
	}
	c := *u
	for _, count := range []**int64{
		&c.InputTokens, &c.OutputTokens, &c.TotalTokens, &c.CachedTokens, &c.CacheCreationTokens,
		&c.CacheCreation1hTokens, &c.ReasoningTokens,
	} {
		if *count != nil {
			n := **count
			*count = &n
		}
	}
	c.Raw = u.Raw.Clone()
	return &c
}

// Incomplete says why a response is incomplete.
type Incomplete struct {
	Reason string // max_output_tokens, content_filter, …
	// Raw is the object as written; nil in one that was built.
	Raw jsontext.Value
}

func incompleteView(raw jsontext.Value) *Incomplete {
	if raw == nil {
		return nil
	}
	var scan jsonscan.Scanner
	reason, _ := jsonscan.String(open("incomplete_details", raw, &scan).value("reason"))
	return &Incomplete{Reason: reason, Raw: raw}
}

// JSON returns Raw, or where that is nil an object with the reason. It is nil for nil.
func (i *Incomplete) JSON() jsontext.Value {
	if i == nil {
		return nil
	}
	if i.Raw != nil {
		return i.Raw
	}
	var b builder
	b.fullText("reason", i.Reason)
	return b.end(nil)
}

// Error is the error of a failed model call.
type Error struct {
	Type    string
	Code    string
	Message string
	// Raw is the object as written; nil in one that was built.
	Raw jsontext.Value
}

func errorView(raw jsontext.Value) *Error {
	if raw == nil {
		return nil
	}
	var scan jsonscan.Scanner
	o := open("error", raw, &scan)
	e := &Error{Raw: raw}
	e.Type, _ = jsonscan.String(o.value("type"))
	e.Code, _ = jsonscan.String(o.value("code"))
	e.Message, _ = jsonscan.String(o.value("message"))
	return e
}

// JSON returns Raw, or where that is nil an object with type, code and message. It is nil for nil.
func (e *Error) JSON() jsontext.Value {
	if e == nil {
		return nil
	}
	if e.Raw != nil {
		return e.Raw
	}
	var b builder
	b.text("type", e.Type)
	b.text("code", e.Code)
	b.fullText("message", e.Message)
	return b.end(nil)
}
