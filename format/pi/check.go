package pi

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// Rule is what a finding is about, in one word for programs.
type Rule string

// The rules.
const (
	RuleDuplicate Rule = "duplicate_id" // each id is used once
	RuleParent    Rule = "parent"       // a parent is an earlier entry
	RuleReference Rule = "reference"    // what an entry names is there
	RuleCall      Rule = "call"         // a result belongs to a call on its path
	RuleUsage     Rule = "usage"        // totalTokens is the sum of the four counts
)

// Finding is something in a file that is not as the agents would have it. All of it is read all the same.
type Finding struct {
	// Line counts from 1.
	Line   int
	Offset int64
	Entry  string
	Rule   Rule
	What   string
	// Note: the context does not depend on it.
	Note bool
}

// Check is what an examination of a session came to.
type Check struct {
	Findings []Finding
	// Calls counts the tool calls, Unanswered those of them without a result below.
	Calls, Unanswered int
}

// Check examines the tree of a session, what entries name, and the sums that messages state. Entries of version 1 have no tree.
func (s *Session) Check() *Check {
	c := &checking{s: s, lines: map[*Entry]int{}, seen: map[string]bool{}, path: map[string]bool{}, calls: map[string]int{}}
	for i := range s.lines {
		if e := s.lines[i].Entry; e != nil {
			c.lines[e] = i
			c.entry(e)
		}
	}
	if s.header.Version < 2 {
		for _, e := range s.entries {
			c.enter(e)
		}
	} else {
		c.walk(s.Roots())
	}
	c.Unanswered = max(c.Calls-c.answered, 0)
	slices.SortStableFunc(c.Findings, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
	return &c.Check
}

type checking struct {
	Check
	s        *Session
	lines    map[*Entry]int  // by number, from 0
	seen     map[string]bool // ids so far
	answered int
	// path has the ids above the entry that is walked to, calls how often a call of an id stands there.
	path  map[string]bool
	calls map[string]int
}

func (c *checking) find(e *Entry, rule Rule, note bool, form string, args ...any) {
	n := c.lines[e]
	c.Findings = append(c.Findings, Finding{
		Line: n + 1, Offset: c.s.lines[n].Offset, Entry: e.ID, Rule: rule, What: fmt.Sprintf(form, args...), Note: note,
	})
}

// entry checks what an entry says by itself.
func (c *checking) entry(e *Entry) {
	tree := c.s.header.Version > 1
	if tree {
		switch {
		case e.ID != "" && c.seen[e.ID]:
			c.find(e, RuleDuplicate, false, "the id %q was used before: the later entry takes its place", e.ID)
		case e.Parent != "" && !c.seen[e.Parent]:
			c.find(e, RuleParent, false, "the parent %q is no earlier entry", e.Parent)
		}
		c.seen[e.ID] = true
	}
	switch e.Type {
	case TypeLabel, TypeContextEdit, TypeLeaf:
		if target := e.Text("targetId"); tree && target != "" && c.s.Entry(target) == nil {
			c.find(e, RuleReference, true, "the target %q is not in the file", target)
		}
	case TypeMessage:
		m := e.Message()
		if m == nil {
			return
		}
		if total, ok := usageTotal(m.Raw("usage")); ok {
			if u, _ := m.Usage(); u.Total() != total {
				c.find(e, RuleUsage, true, "totalTokens is %d, and the counts come to %d", total, u.Total())
			}
		}
		for range callsOf(e) {
			c.Calls++
		}
	}
}

// walk goes through the tree, depth first and without recursion, and knows at each entry what is above it.
func (c *checking) walk(roots []*Entry) {
	type step struct {
		e     *Entry
		leave bool
	}
	var stack []step
	push := func(list []*Entry) {
		for _, e := range slices.Backward(list) {
			stack = append(stack, step{e: e})
		}
	}
	push(roots)
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if at.leave {
			c.leave(at.e)
			continue
		}
		c.enter(at.e)
		stack = append(stack, step{at.e, true})
		push(c.s.Children(at.e.ID))
	}
}

// enter checks what an entry says of those above it.
func (c *checking) enter(e *Entry) {
	if e.ID != "" {
		c.path[e.ID] = true
	}
	kept := e.Text("firstKeptEntryId")
	if e.Type == TypeCompaction && kept != "" && !c.path[kept] && jsonscan.Kind(e.Raw("retainedTail")) != '[' {
		c.find(e, RuleReference, false, "the first entry kept, %q, is not above it: it keeps nothing", kept)
	}
	for call := range callsOf(e) {
		c.calls[call.ID]++
	}
	if m := e.Message(); e.Type == TypeMessage && m != nil && m.Role == RoleToolResult {
		if id := m.Text("toolCallId"); c.calls[id] > 0 {
			c.answered++
		} else {
			c.find(e, RuleCall, true, "no message above it has a call %q", id)
		}
	}
}

func (c *checking) leave(e *Entry) {
	delete(c.path, e.ID)
	for call := range callsOf(e) {
		c.calls[call.ID]--
	}
}

// callsOf walks the calls of an entry, if it is an assistant's message.
func callsOf(e *Entry) iter.Seq[ToolCall] {
	if m := e.Message(); e.Type == TypeMessage && m != nil && m.Role == RoleAssistant {
		return m.ToolCalls()
	}
	return func(func(ToolCall) bool) {}
}

func usageTotal(raw []byte) (int64, bool) {
	var s jsonscan.Scanner
	if s.Scan(raw, "") != nil {
		return 0, false
	}
	return count(member(s.Members, "totalTokens"))
}
