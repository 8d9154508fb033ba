package format

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// Finding is something in a session that is not as the format says.
type Finding struct {
	// Rule is the rule that is broken, in one word for programs.
	Rule Rule
	// Entry is the id of the entry that breaks it, Line its line, and Offset where that begins.
	Entry  string
	Line   int
	Offset int64
	// Err says what is wrong.
	Err error
	// Note: nobody is misled by it, such as by a line that says the right thing in another order; or the file is of a minor yet
	// to come ([Header.Newer]), whose rules may be others.
	Note bool
}

// Error names the line, then the trouble.
func (f *Finding) Error() string { return fmt.Sprintf("line %d: %v", f.Line, f.Err) }

// Unwrap returns Err.
func (f *Finding) Unwrap() error { return f.Err }

func (f *Finding) compare(other *Finding) int {
	return cmp.Or(cmp.Compare(f.Line, other.Line), cmp.Compare(f.Rule, other.Rule))
}

// Rule names what a [Finding] is about.
type Rule string

// The rules that [Session.Check] knows.
const (
	RuleRequestHash Rule = "request_hash" // the rebuilt request has the hash recorded (A.8)
	RuleRunReason   Rule = "run_reason"   // a run's end says what its segment tells (A.10)
	RuleRunSource   Rule = "run_source"   // and its start (C, 0.9)
	RuleRejected    Rule = "rejected"     // no dispatch follows a reject (A.12)
	RuleRecord      Rule = "record"       // what the header promises is there (A.12)
	RuleCallOrder   Rule = "call_order"   // what may follow what for a call (C, 0.8 to 0.10)
	RuleContentID   Rule = "content_id"   // an id is the hash of its entry (C.4)
	RuleCanonical   Rule = "canonical"    // times, numbers and lines have one spelling (C.4)
	RuleReference   Rule = "reference"    // an entry that is named is there
	RuleParents     Rule = "parents"      // merged work is named in order (C, 0.4)
	RuleFirstKept   Rule = "first_kept"   // a compaction keeps from an entry of its path on (A.7)
	RuleMember      Rule = "member"       // what an entry of its type must have is there (A.2, A.6)
	RuleItem        Rule = "item"         // no item only names another (C, 0.4); a pinned one is a copy (C.2)
)

// ruleOf finds the rule that an error of this package is about.
func ruleOf(err error) Rule {
	for _, r := range []struct {
		err  error
		rule Rule
	}{
		{ErrReasonMismatch, RuleRunReason},
		{ErrSource, RuleRunSource},
		{ErrCallRejected, RuleRejected},
		{ErrRecordMissing, RuleRecord},
		{ErrCallOrder, RuleCallOrder},
		{ErrContentID, RuleContentID},
		{ErrNotCanonical, RuleCanonical},
		{ErrReference, RuleReference},
		{ErrParents, RuleParents},
		{ErrFirstKept, RuleFirstKept},
		{ErrMember, RuleMember},
		{ErrInvalidEntry, RuleItem},
	} {
		if errors.Is(err, r.err) {
			return r.rule
		}
	}
	return RuleRequestHash
}

// Check is what an examination of a session came to.
type Check struct {
	// Findings are in the order of the file.
	Findings []*Finding
	// Hashes counts the request hashes that were compared, NoHash the responses without one, Runs the ends of runs, Calls the
	// calls, and IDs the ids that were compared with their entry's hash.
	Hashes, NoHash, Runs, Calls, IDs int
	// Unfamiliar is what this version does not know, which nothing was checked of.
	Unfamiliar []Unfamiliar
}

// Empty reports whether there was nothing to check.
func (c *Check) Empty() bool { return c.Hashes+c.Runs+c.Calls+c.IDs == 0 }

// Check examines the whole session, every branch of it: request hashes, the ends of runs, what is recorded of calls, promised
// records, ids that are hashes, spellings and references. Of what a fork repeats from its origin only hashes and ids are
// examined, since the rest is the origin's to keep (C.5). The error is that of the context.
//
// Requests are rebuilt along the tree, each from the one before it, so that it takes about as long as hashing the file, as
// long as settings do not change at every turn.
func (s *Session) Check(ctx context.Context) (*Check, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := newChecker(s)
	if err := c.walk(ctx); err != nil {
		return nil, err
	}
	c.unique()
	c.header()
	slices.SortStableFunc(c.findings, (*Finding).compare)
	c.result.Findings = c.findings
	c.result.Unfamiliar = s.unfamiliar()
	return &c.result, nil
}

// checker walks a tree or a path and notes what is wrong.
type checker struct {
	s     *Session
	rules *Rules
	at    int // row of the entry at hand

	findings []*Finding
	result   Check

	runs   *partition
	runIDs map[string]bool   // of the runs on the path
	owed   map[*openCall]int // calls whose dispatch has not come, with the rows of their outputs
	whole  *book             // the calls of the whole path, which is what runs.book has from the minor on whose reasons read the path

	path       []int // rows from the root to the entry at hand
	depth      []int // of each row, for those on the path
	hashes     *requestHasher
	items      map[[sha256.Size]byte]int // rows of items, once a compaction has pinned some
	dispatched map[string]bool           // targets of dispatches anywhere, where that counts
}

func newChecker(s *Session) *checker {
	c := &checker{s: s, rules: s.header.rules(), runs: newPartition(s.header), owed: map[*openCall]int{}, runIDs: map[string]bool{}, dispatched: s.dispatched()}
	c.whole = c.runs.book
	if !c.rules.PathReason {
		c.whole = newBook(s.header)
	}
	return c
}

func (c *checker) found(err error) {
	if err == nil {
		return
	}
	line := c.s.text[c.s.rows[c.at].line]
	c.findings = append(c.findings, &Finding{
		Rule: ruleOf(err), Entry: c.s.id(c.at), Line: line.Number, Offset: line.Offset, Err: err,
		Note: c.s.header.Newer(),
	})
}

func (c *checker) noted(err error) {
	if err != nil {
		c.found(err)
		c.findings[len(c.findings)-1].Note = true
	}
}

// visit is an entry on the way down the tree: what to go back to on the way up.
type visit struct {
	row   int
	view  view
	taken []func() // back, last first
}

// walk visits the entries of all trees, parents before children, each once.
func (c *checker) walk(ctx context.Context) error {
	rows := c.s.rows
	c.depth = make([]int, len(rows))
	c.hashes = newRequestHasher()
	var stack []*visit
	for root := range rows {
		if rows[root].parent >= 0 {
			continue
		}
		stack = append(stack, c.enter(root, view{}))
		next := rows[root].firstChild
		for n := 0; len(stack) > 0; n++ {
			if n%256 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			top := stack[len(stack)-1]
			if next >= 0 {
				stack = append(stack, c.enter(next, top.view))
				next = rows[next].firstChild
				continue
			}
			c.leave(top)
			stack = stack[:len(stack)-1]
			next = rows[top.row].next
			if rows[top.row].parent < 0 {
				next = -1
			}
		}
	}
	return nil
}

// enter takes an entry that continues the path, whose context so far is the view.
func (c *checker) enter(row int, v view) *visit {
	c.at = row
	e := c.s.rows[row].entry
	place := len(c.path)
	c.path = append(c.path, row)
	c.depth[row] = place
	c.content(e)
	if row > c.s.base {
		c.named(e)
	}
	if response, ok := e.(*ResponseEntry); ok {
		c.request(response, v)
	}
	visit := &visit{row: row, view: v.add(e, place, c.rules)}
	visit.taken = c.records(e, place)
	if c.s.rows[row].firstChild < 0 {
		c.leaf()
	}
	return visit
}

func (c *checker) leave(v *visit) {
	for _, back := range slices.Backward(v.taken) {
		back()
	}
	c.path = c.path[:len(c.path)-1]
}

// place returns where an entry stands on the path at hand, and whether it does.
func (c *checker) place(id string) (int, bool) {
	row, ok := c.s.index[id]
	if !ok {
		return 0, false
	}
	depth := c.depth[row]
	return depth, depth < len(c.path) && c.path[depth] == row
}
