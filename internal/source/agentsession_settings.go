package source

import (
	"math"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

func (d *agentSession) settingsFact(e *format.ConfigEntry) *activity.Settings {
	s := &activity.Settings{Replace: e.Replace, Model: e.Model, Reasoning: effort(e.Reasoning)}
	for _, m := range e.Extra {
		setParameter(s, m.Name, m.Value)
	}
	s.Parts, s.Omitted, s.Omit = listing(e.Parts), listing(e.Omitted), omitOf(e.Omit)
	if s.Parts == nil && e.Instructions != nil {
		s.Parts = &activity.Listing{} // one text, which is not composed of parts (C.1)
	}
	if s.Omitted == nil && s.Parts != nil && !d.header.Rules().OmittedStays {
		s.Omitted = &activity.Listing{}
	}
	return s
}

func (d *agentSession) compactionFact(e *format.CompactionEntry) *activity.Compaction {
	c := &activity.Compaction{
		FirstKept: e.FirstKept, TokensBefore: e.TokensBefore, Pinned: len(e.Pinned), Call: callFor("compaction", e.Usage),
	}
	if e.Config == nil {
		return c
	}
	s := &activity.Settings{Replace: true}
	var config, extra jsonscan.Scanner
	if config.Scan(e.Config, "") != nil {
		return c
	}
	for _, m := range config.Members {
		switch string(m.Name) {
		case "model":
			s.Model, _ = jsonscan.String(m.Value)
		case "reasoning":
			s.Reasoning = effort(m.Value)
		case "instructions_parts":
			s.Parts = listing(m.Value)
		case "instructions_omitted":
			s.Omitted = listing(m.Value)
		case "omit":
			s.Omit = omitOf(m.Value)
		case "extra":
			if extra.Scan(m.Value, "") == nil {
				for _, m := range extra.Members {
					setParameter(s, string(m.Name), m.Value)
				}
			}
		}
	}
	c.Settings = s
	return c
}

// listing counts the elements of instructions_parts or instructions_omitted: {"keep":n} stands for n of the list in force,
// and with "of" for n of the list of another entry (C.1). It is nil when there is no list.
func listing(raw []byte) *activity.Listing {
	if jsonscan.Kind(raw) != '[' {
		return nil
	}
	l := &activity.Listing{}
	for element := range jsonscan.Elements(raw) {
		keep := member(element, "keep")
		n, isCount := jsonscan.Int64(keep)
		switch {
		case keep == nil:
			l.Given = addCounts(l.Given, 1)
		case !isCount || n < 0:
			l.Unclear = true
		case member(element, "of") != nil:
			l.Given = addCounts(l.Given, n)
		default:
			l.Kept = addCounts(l.Kept, n)
		}
	}
	return l
}

// addCounts adds counts, as far as one can hold the result.
func addCounts(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// omitOf reads which items are left out of requests (C.6). One that names neither a kind that is known nor items ends what
// was left out.
func omitOf(raw []byte) *activity.Omit {
	if jsonscan.Kind(raw) != '{' {
		return nil
	}
	o := &activity.Omit{}
	reasoning, _ := jsonscan.String(member(raw, "reasoning"))
	o.OtherModels = reasoning == "other_models"
	if items := member(raw, "items"); jsonscan.Kind(items) == '[' {
		for item := range jsonscan.Elements(items) {
			if key, ok := jsonscan.String(item); ok {
				o.Items = append(o.Items, key)
			}
		}
	}
	o.Clear = !o.OtherModels && len(o.Items) == 0
	return o
}

// effort reads the level out of the reasoning settings; nil when there are none.
func effort(reasoning []byte) *string {
	if reasoning == nil {
		return nil
	}
	level, _ := jsonscan.String(member(reasoning, "effort"))
	return &level
}

// member returns the raw value of an object's member, or nil.
func member(object []byte, name string) []byte {
	var s jsonscan.Scanner
	if s.Scan(object, "") != nil {
		return nil
	}
	var value []byte
	for _, m := range s.Members {
		if string(m.Name) == name {
			value = m.Value
		}
	}
	return value
}

// parameters maps the wire names of the payload profile to the sampling parameters of the conventions.
var parameters = map[string]activity.Parameter{
	"temperature":       activity.Temperature,
	"top_p":             activity.TopP,
	"frequency_penalty": activity.FrequencyPenalty,
	"presence_penalty":  activity.PresencePenalty,
	"max_output_tokens": activity.MaxTokens,
	"seed":              activity.Seed,
}

func setParameter(s *activity.Settings, name string, value []byte) {
	parameter, known := parameters[name]
	if !known {
		return
	}
	if jsonscan.IsNull(value) {
		s.Cleared = append(s.Cleared, parameter)
		return
	}
	number, isNumber := jsonscan.Float64(value)
	integer, isInteger := jsonscan.Int64(value)
	switch {
	case parameter == activity.Temperature && isNumber:
		s.Temperature = &number
	case parameter == activity.TopP && isNumber:
		s.TopP = &number
	case parameter == activity.FrequencyPenalty && isNumber:
		s.FrequencyPenalty = &number
	case parameter == activity.PresencePenalty && isNumber:
		s.PresencePenalty = &number
	case parameter == activity.MaxTokens && isInteger:
		s.MaxTokens = &integer
	case parameter == activity.Seed && isInteger:
		s.Seed = &integer
	}
}
