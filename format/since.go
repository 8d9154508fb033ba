package format

// since returns the minor that brought what an entry uses beyond minor 2, the newest of them with its name; 0 when it uses
// nothing of the kind. A file of an earlier minor that had it would be misread.
func since(e Entry) (number int, what string) {
	needs := func(used bool, minor int, member string) {
		if used && minor > number {
			number, what = minor, member
		}
	}
	needs(len(e.Base().Parents) > 0, 4, "parents")
	switch e := e.(type) {
	case *ItemEntry:
		needs(e.QueuedFrom != "", 3, "queued_from")
		needs(e.Source != nil, 3, "source")
	case *ResponseEntry:
		needs(e.Attempts != nil, 7, "attempts")
	case *ConfigEntry:
		needs(e.Parts != nil, 3, "instructions_parts")
		needs(e.Omitted != nil, 3, "instructions_omitted")
		needs(e.Omit != nil, 11, "omit")
	case *CompactionEntry:
		needs(len(e.Pinned) > 0, 3, "pinned")
	case *RunEntry:
		needs(e.Trigger != nil, 6, "trigger")
	case *DispatchEntry:
		needs(e.IdempotencyKey != "", 8, "idempotency_key")
	case *DecisionEntry:
		needs(e.Verdict == VerdictAnswer, 8, "the verdict answer")
	case *LinkEntry:
		needs(e.Rel == RelJudgedBy, 11, "the relation judged_by")
		needs(e.Target != "", 11, "target")
	case *CustomEntry:
		needs(e.CallID != "", 6, "call_id")
	case *QueuedEntry:
		needs(true, 3, "a queued input")
	}
	return number, what
}
