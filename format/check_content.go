package format

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// content checks that an id is the hash of its entry, and that its line says everything in the one way there is (C.4).
func (c *checker) content(e Entry) {
	if !c.rules.ContentIDs || c.s.header.Newer() { // a minor yet to come may hash otherwise
		return
	}
	line := c.s.text[c.s.rows[c.at].line].Data
	c.result.IDs++
	id, err := ContentID(line)
	switch {
	case err != nil:
		c.found(err)
		return
	case id != e.Base().ID:
		c.found(fmt.Errorf("%w: that is %s", ErrContentID, id))
	}
	canonical, err := canonicalLine(line)
	switch {
	case err != nil:
		c.found(err)
	case !canonicalTime(memberOf(line, "ts")):
		c.found(fmt.Errorf("%w: ts is not UTC in its shortest spelling, as in 2026-09-20T12:00:00.5Z", ErrNotCanonical))
	case !bytes.Equal(canonical, line):
		c.noted(fmt.Errorf("%w: the line has white space, an order of members or a spelling of its own", ErrNotCanonical))
	}
}

// canonicalTime reports whether a raw time is spelled as it has to be.
func canonicalTime(raw []byte) bool {
	text, _ := jsonscan.String(raw)
	t, ok := parseTime([]byte(text))
	return ok && formatTime(t) == text
}

// named checks that the entries which an entry names are there, and that it does not only name what it should hold.
func (c *checker) named(e Entry) {
	c.found(c.s.checkReferences(e))
	c.found(checkMembers(e))
	if label, ok := e.(*LabelEntry); ok {
		if _, there := c.s.index[label.Target]; !there {
			c.noted(fmt.Errorf("%w: target is %.100q, so the label is on nothing", ErrReference, label.Target))
		}
	}
	if refs := e.Base().Parents; c.rules.Parents && len(refs) > 0 {
		c.found(checkParents(refs, e.Base().Parent, func(id string) bool {
			row, ok := c.s.index[id]
			return ok && row < c.at
		}))
	}
	switch e := e.(type) {
	case *ItemEntry:
		if c.rules.Materialised && e.Item.Type == ItemReference {
			c.found(fmt.Errorf("%w: an item that only names another, which is not written from minor 4 on", ErrInvalidEntry))
		}
	case *CompactionEntry:
		c.compaction(e)
	}
}

// compaction checks what a compaction keeps and pins. No file is refused over what is pinned (C.2).
func (c *checker) compaction(e *CompactionEntry) {
	first, ok := c.place(e.FirstKept)
	if !ok {
		c.found(fmt.Errorf("%w: %.100q", ErrFirstKept, e.FirstKept))
		return
	}
	for i, pinned := range e.Pinned {
		if row, ok := c.pinnable(pinned); !ok || row >= c.path[first] {
			c.noted(fmt.Errorf("%w: pinned item %d is no copy of one before first_kept", ErrInvalidEntry, i))
		}
	}
}

// pinnable returns the row of the first entry in the file that holds the same item.
func (c *checker) pinnable(item Item) (int, bool) {
	if c.items == nil {
		c.items = map[[sha256.Size]byte]int{}
		for i, r := range slices.Backward(c.s.rows) {
			if e, ok := r.entry.(*ItemEntry); ok {
				c.items[sha256.Sum256(e.Item.Raw)] = i
			}
		}
	}
	row, ok := c.items[sha256.Sum256(item.Raw)]
	return row, ok
}

// checkMembers says what an entry lacks that it must have, and that reading did not ask for.
func checkMembers(e Entry) error {
	switch e := e.(type) {
	case *DecisionEntry:
		if e.Verdict == VerdictReject && e.Reason == "" {
			return fmt.Errorf("%w: a reject without a reason", ErrMember)
		}
	case *RunEntry:
		switch {
		case e.IsEnd() && e.Pending == nil:
			return fmt.Errorf("%w: the end of a run without pending", ErrMember)
		case e.IsEnd() && e.Reason == "":
			return fmt.Errorf("%w: the end of a run without a reason", ErrMember)
		}
	}
	return nil
}

// header checks what the header must have, and that reading did not ask for.
func (c *checker) header() {
	if err := c.s.header.checkMembers(); err != nil {
		line := c.s.headerLine()
		c.findings = append(c.findings, &Finding{
			Rule: RuleMember, Line: line.Number, Offset: line.Offset, Err: err, Note: c.s.header.Newer(),
		})
	}
}
