package stored

import (
	"errors"

	"github.com/sessionspan/sessionspan/format"
)

// The rules about reading a file, in one word for programs. Those about what a file says are of type [format.Rule].
const (
	RuleDamage    = "damage"       // each line is an entry
	RuleTornTail  = "torn_tail"    // the last line is whole
	RuleDuplicate = "duplicate_id" // each id is used once
	RuleParent    = "parent"       // a parent is an earlier entry
	RuleBase      = "base"         // entries keep to the header's base (C.5)
)

// damageRules are looked through in order: a torn line wraps what is wrong with it as well.
var damageRules = []struct {
	err  error
	rule string
}{
	{format.ErrTornTail, RuleTornTail},
	{format.ErrDuplicateEntry, RuleDuplicate},
	{format.ErrNoParent, RuleParent},
	{format.ErrBase, RuleBase},
}

// Damage is something that could not be read as it should be.
type Damage struct {
	// Line counts from 1, Offset is that of the line's first byte once decompressed.
	Line   int
	Offset int64
	// Rule is the rule that it breaks.
	Rule string
	// Entry is the id of the entry on the line, as far as it could be read.
	Entry string
	// Err wraps the sentinel errors of package format. What says it in words, without the place.
	Err  error
	What string
}

// NewDamage describes damage by an error of package format, with a detail or "".
func NewDamage(line int, offset int64, entry string, err error, detail string) Damage {
	d := Damage{Line: line, Offset: offset, Rule: RuleDamage, Entry: entry, Err: err, What: err.Error()}
	if detail != "" {
		d.What += ": " + detail
	}
	for _, r := range damageRules {
		if errors.Is(err, r.err) {
			d.Rule = r.rule
			break
		}
	}
	return d
}
