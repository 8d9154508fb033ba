package openresponses

import "github.com/go-json-experiment/json/jsontext"

// Usage is the token count of one model call (A.5). A nil count is one that is not stated.
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

// Error is the error of a failed model call.
type Error struct {
	Type    string
	Code    string
	Message string
	// Raw is the object as written; nil in one that was built.
	Raw jsontext.Value
}
