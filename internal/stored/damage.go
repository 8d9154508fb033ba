package stored

import (
	"errors"

	"github.com/sessionspan/sessionspan/format"
)

// The rules about reading a file, in one word for programs. Those about what a file says are of type [format.Rule].
const (
	RuleDamage    = "damage"       // each line is an entry
	RuleTornTail  = "torn_tail"    // the last line is whole: it does not break off
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
	// Line counts from 1, Offset is that of the line's first byte once decompressed. At is the offset within the line where
	// the trouble was seen; 0 where that is not known, too.
	Line   int
	Offset int64
	At     int
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
	if errors.Is(err, format.ErrTornTail) && !errors.Is(err, format.ErrSyntax) {
		err = whole(err) // one JSON object is the beginning of no other: nothing is torn
	}
	d := Damage{Line: line, Offset: offset, Rule: RuleDamage, Entry: entry, Err: err, What: words(err, detail)}
	for _, r := range damageRules {
		if errors.Is(err, r.err) {
			d.Rule = r.rule
			break
		}
	}
	return d
}

func words(err error, detail string) string {
	if detail == "" {
		return err.Error()
	}
	return err.Error() + ": " + detail
}

// whole returns what is wrong with a last line, apart from its being the last.
func whole(err error) error {
	if both, ok := err.(interface{ Unwrap() []error }); ok {
		for _, cause := range both.Unwrap() {
			if !errors.Is(cause, format.ErrTornTail) {
				return cause
			}
		}
	}
	return err
}
