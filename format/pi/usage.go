package pi

import "github.com/sessionspan/sessionspan/internal/jsonscan"

// Usage counts tokens, and what they cost in US dollars by the agent's own price table. What it does not say is 0.
type Usage struct {
	// Input does not include what was read from or written to a cache: the prompt is [Usage.Prompt].
	Input, Output, CacheRead, CacheWrite int64
	// Reasoning is a part of Output, CacheWrite1h of CacheWrite.
	Reasoning, CacheWrite1h int64
	// HasReasoning: Reasoning is said.
	HasReasoning bool
	Cost         float64
	// HasCost: Cost is said. CostFromProvider: by the provider, and not by a price table.
	HasCost, CostFromProvider bool
}

// Prompt is the size of the prompt, cached or not.
func (u Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }

// Total is the sum of the four counts.
func (u Usage) Total() int64 { return u.Prompt() + u.Output }

// DecodeUsage decodes a raw usage; false for what is no object.
func DecodeUsage(raw []byte) (u Usage, ok bool) {
	if jsonscan.Kind(raw) != '{' {
		return u, false
	}
	var s jsonscan.Scanner
	if s.Scan(raw, "cost") != nil {
		return u, false
	}
	for _, m := range s.Members {
		switch string(m.Name) {
		case "input":
			u.Input, _ = count(m.Value)
		case "output":
			u.Output, _ = count(m.Value)
		case "cacheRead":
			u.CacheRead, _ = count(m.Value)
		case "cacheWrite":
			u.CacheWrite, _ = count(m.Value)
		case "reasoning":
			u.Reasoning, u.HasReasoning = count(m.Value)
		case "cacheWrite1h":
			u.CacheWrite1h, _ = count(m.Value)
		}
	}
	u.Cost, u.HasCost = number(member(s.Nested, "total"))
	u.CostFromProvider, _ = jsonscan.Bool(member(s.Nested, "totalFromProvider"))
	return u, true
}
