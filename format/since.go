package format

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// since returns the minor that brought what an entry uses beyond minor 2, the newest of them, with the name of what it uses; 0
// when it uses nothing of the kind. A file of an earlier minor that had it would be misread.
func since(e Entry) (number int, what string) {
	for i := len(minors) - 1; i >= 0; i-- {
		if added := minors[i].added; added != nil {
			if what := added(e); what != "" {
				return minors[i].number, what
			}
		}
	}
	return 0, ""
}

// what returns a name if the thing is used.
func what(used bool, name string) string {
	if used {
		return name
	}
	return ""
}

// anyElement reports whether some element of a raw array has a property.
func anyElement(list jsontext.Value, has func(jsontext.Value) bool) bool {
	for element := range jsonscan.Elements(list) {
		if has(element) {
			return true
		}
	}
	return false
}

func addedBy2(e Entry) string {
	switch e := e.(type) {
	case *RunEntry, *DispatchEntry, *DecisionEntry:
		return "the entry type " + e.EntryType()
	case *OutcomeEntry:
		return what(e.Pass != nil || e.Kind == OutcomeEval, "pass, or the kind eval")
	case *EnvEntry:
		return what(e.Workspace != nil, "workspace")
	}
	return ""
}

func addedBy3(e Entry) string {
	switch e := e.(type) {
	case *ItemEntry:
		return what(e.QueuedFrom != "", "queued_from") + what(e.Source != nil && e.QueuedFrom == "", "source")
	case *ConfigEntry:
		return what(e.Parts != nil || e.Omitted != nil, "composed instructions")
	case *CompactionEntry:
		return what(len(e.Pinned) > 0, "pinned")
	case *QueuedEntry:
		return "a queued input"
	}
	return ""
}

func addedBy4(e Entry) string { return what(len(e.Base().Parents) > 0, "parents") }

func addedBy6(e Entry) string {
	switch e := e.(type) {
	case *RunEntry:
		return what(e.Trigger != nil, "trigger")
	case *CustomEntry:
		return what(e.CallID != "", "call_id")
	}
	return ""
}

func addedBy7(e Entry) string {
	switch e := e.(type) {
	case *ResponseEntry:
		return what(e.Attempts != nil, "attempts")
	case *ConfigEntry:
		return what(anyElement(e.Parts, func(part jsontext.Value) bool {
			return memberOf(part, "text") == nil && memberOf(part, "hash") == nil
		}), "a kept or empty instruction part")
	}
	return ""
}

func addedBy8(e Entry) string {
	switch e := e.(type) {
	case *DispatchEntry:
		return what(e.IdempotencyKey != "", "idempotency_key")
	case *DecisionEntry:
		return what(e.Verdict == VerdictAnswer, "the verdict answer")
	}
	return ""
}

func addedBy9(e Entry) string {
	c, ok := e.(*ConfigEntry)
	return what(ok && anyElement(c.Omitted, func(part jsontext.Value) bool { return memberOf(part, "keep") != nil }),
		"kept omitted instructions")
}

func addedBy11(e Entry) string {
	switch e := e.(type) {
	case *ConfigEntry:
		return what(e.Omit != nil, "omit") + what(e.Omit == nil && anyElement(e.Omitted, func(part jsontext.Value) bool {
			return memberOf(part, "of") != nil
		}), "omitted instructions kept of an earlier entry")
	case *LinkEntry:
		return what(e.Rel == RelJudgedBy || e.Target != "", "the relation judged_by")
	}
	return ""
}
