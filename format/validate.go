package format

import (
	"fmt"
	"slices"
)

// validate checks what a writer owes beyond what a reader asks for: words of the closed lists, and an order of records in
// which each makes sense. Parent is the row that the entry is to hang from.
func (s *Session) validate(e Entry, parent int) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s: %s", ErrInvalidEntry, e.EntryType(), fmt.Sprintf(format, args...))
	}
	if number, what := since(e); number > s.header.Minor() {
		return wrong("%s came with minor %d; this is a file of %s", what, number, s.header.Format)
	}
	if err := s.checkReferences(e); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrInvalidEntry, e.EntryType(), err)
	}
	rules := s.header.rules()
	if refs := e.Base().Parents; len(refs) > 0 {
		if err := s.validateParents(refs, parent); err != nil {
			return err
		}
	}
	switch e := e.(type) {
	case *ItemEntry:
		switch {
		case rules.Materialised && e.Item.Type == ItemReference:
			return wrong("an item that only names another is not written from minor 4 on; write the item itself")
		case e.Item.Type == ItemFunctionCall:
			return s.validateCall(e)
		}
	case *RunEntry:
		switch {
		case e.IsStart() && !slices.Contains([]string{SourceInput, SourceResume}, e.Source):
			return wrong("the source %.100q of a start is neither %s nor %s", e.Source, SourceInput, SourceResume)
		case e.IsEnd() && !slices.Contains(reasons, e.Reason):
			return wrong("the reason %.100q of an end is none of %v", e.Reason, reasons)
		}
	case *DispatchEntry:
		return s.validateRecord(parent, e.CallID, e.Target, e)
	case *DecisionEntry:
		switch {
		case !slices.Contains(verdicts, e.Verdict):
			return wrong("the verdict %.100q is none of %v", e.Verdict, verdicts)
		case e.Verdict == VerdictReject && e.Reason == "":
			return wrong("a reject needs a reason, which is what the model sees")
		case e.By != "" && !slices.Contains(deciders, e.By):
			return wrong("by %.100q is none of %v", e.By, deciders)
		}
		return s.validateRecord(parent, e.CallID, e.Target, e)
	case *OutcomeEntry:
		if !slices.Contains(outcomeKinds, e.Kind) {
			return wrong("the kind %.100q is none of %v", e.Kind, outcomeKinds)
		}
	case *LinkEntry:
		if !slices.Contains(relations, e.Rel) {
			return wrong("the relation %.100q is none of %v", e.Rel, relations)
		}
	case *QueuedEntry:
		if !slices.Contains(modes, e.Mode) {
			return wrong("the mode %.100q is none of %v", e.Mode, modes)
		}
	case *CompactionEntry:
		for i := parent; i >= 0; i = s.rows[i].parent {
			if s.id(i) == e.FirstKept {
				return nil
			}
		}
		return fmt.Errorf("%w: %w: %.100q", ErrInvalidEntry, ErrFirstKept, e.FirstKept)
	case *EnvEntry:
		if w := e.Workspace; w != nil && !slices.Contains(workspaces, w.Kind) {
			return wrong("the workspace kind %.100q is none of %v", w.Kind, workspaces)
		}
	case *UnknownEntry:
		if !IsExtension(e.Type) {
			return wrong("the type is neither one of the format nor of the form ns:name")
		}
	}
	return nil
}

// The closed lists of the format (A.6; C).
var (
	reasons      = []string{ReasonDone, ReasonStopped, ReasonInterrupted, ReasonInputRequired, ReasonAborted, ReasonError}
	verdicts     = []string{VerdictProceed, VerdictReject, VerdictHold, VerdictAnswer}
	deciders     = []string{ByHuman, ByPolicy, ByAgent}
	outcomeKinds = []string{OutcomeFeedback, OutcomeTest, OutcomeTask, OutcomeToolError, OutcomeEval, OutcomeCustom}
	relations    = []string{RelSubsession, RelForkOf, RelContinuedIn, RelJudgedBy}
	workspaces   = []string{WorkspaceLocal, WorkspaceContainer, WorkspaceRemote}
	modes        = []string{ModeSteer, ModeFollowup}
)

// validateCall refuses a call id that the session has used, from the minor on that wants them unique.
func (s *Session) validateCall(e *ItemEntry) error {
	if !s.header.rules().CallOrder {
		return nil
	}
	if e.Item.CallID == "" {
		return fmt.Errorf("%w: a function call without a call_id", ErrInvalidEntry)
	}
	if s.calls == nil {
		s.calls = map[string]bool{}
	}
	for ; s.callsSeen < len(s.rows); s.callsSeen++ {
		if item, ok := s.rows[s.callsSeen].entry.(*ItemEntry); ok && item.Item.Type == ItemFunctionCall {
			s.calls[item.Item.CallID] = true
		}
	}
	if s.calls[e.Item.CallID] {
		return fmt.Errorf("%w: the session has a call %.100q already", ErrCallOrder, e.Item.CallID)
	}
	return nil
}

// validateRecord refuses a record about a call that cannot follow what the path says of the call.
func (s *Session) validateRecord(parent int, callID, target string, record Entry) error {
	if s.book == nil || s.bookAt != parent {
		s.book, s.bookAt = newBook(s.header), parent
		if parent >= 0 {
			for _, e := range s.path(parent) {
				s.book.add(e)
			}
		}
	}
	c := s.book.find(callID, target)
	if err := checkRecord(c, callID, target, record, s.header.rules()); err != nil {
		return err
	}
	return s.checkAnswer(c, record, nil)
}

// follow has the book of calls, if there is one, take the entry that was appended last when that continues its path.
func (s *Session) follow(e Entry, parent int) {
	if s.book != nil && s.bookAt == parent {
		s.book.add(e)
		s.bookAt = len(s.rows) - 1
	}
}

// checkAnswer refuses an answer of a call that was never handed over, in a file that promises to say so: only one that may
// have run is answered (C, 0.8), and from minor 10 on its dispatch may stand elsewhere. Dispatched has the calls that have one
// anywhere, where that counts; nil for them to be looked for.
func (s *Session) checkAnswer(c *openCall, record Entry, dispatched map[string]bool) error {
	d, ok := record.(*DecisionEntry)
	if !ok || c == nil || !s.header.rules().Answers || d.Verdict != VerdictAnswer || !s.header.HasRecord(TypeDispatch) ||
		len(c.Dispatches) > 0 || s.index[c.Entry.ID] <= s.base {
		return nil
	}
	if dispatched == nil {
		dispatched = s.dispatched()
	}
	if dispatched[c.Entry.ID] {
		return nil
	}
	return fmt.Errorf("%w: %.100q is answered, and was never dispatched", ErrCallOrder, c.ID())
}

// checkRecord says why a decision or dispatch cannot follow what was recorded of its call, which is nil when the path does not
// have it.
func checkRecord(c *openCall, callID, target string, record Entry, rules *Rules) error {
	decision, _ := record.(*DecisionEntry)
	_, dispatch := record.(*DispatchEntry)
	switch {
	case c == nil && rules.CallOrder:
		return fmt.Errorf("%w: the path has no call %.100q", ErrCallOrder, callID)
	case c == nil:
		return nil
	case dispatch && c.rejected:
		return fmt.Errorf("%w: %.100q is dispatched after it", ErrCallRejected, callID)
	case rules.Answers && c.answered:
		return fmt.Errorf("%w: %.100q was answered, and has a %s after it", ErrCallOrder, callID, record.EntryType())
	case !rules.CallOrder:
		return nil
	case c.Entry.ID != target || c.ID() != callID:
		return fmt.Errorf("%w: the target %.100q does not hold the call %.100q", ErrCallOrder, target, callID)
	case dispatch && c.Output != nil:
		return fmt.Errorf("%w: %.100q is dispatched after its output", ErrCallOrder, callID)
	case c.rejected:
		return fmt.Errorf("%w: %.100q was rejected, and has a %s after it", ErrCallOrder, callID, record.EntryType())
	case decision != nil && decision.Verdict == VerdictReject && (len(c.Dispatches) > 0 || c.Output != nil):
		return fmt.Errorf("%w: %.100q is rejected after it was dispatched or has its output", ErrCallOrder, callID)
	}
	return nil
}

// validateParents refuses references to merged work that are not in order (C, 0.4).
func (s *Session) validateParents(refs []Ref, parent int) error {
	id := ""
	if parent >= 0 {
		id = s.id(parent)
	}
	return checkParents(refs, id, func(id string) bool {
		_, ok := s.index[id]
		return ok
	})
}

// checkParents says what is wrong with references to merged work: they name earlier entries, none of them the parent, each once
// and in the order of session and entry, those of the file first.
func checkParents(refs []Ref, parent string, earlier func(id string) bool) error {
	for i, r := range refs {
		switch {
		case r == Ref{Entry: parent}:
			return fmt.Errorf("%w: the parent is among them", ErrParents)
		case r.Session == "" && !earlier(r.Entry):
			return fmt.Errorf("%w: %.100q is no earlier entry", ErrParents, r.Entry)
		case i > 0 && refs[i-1].compare(r) >= 0:
			return fmt.Errorf("%w: they are not in order, or one is there twice", ErrParents)
		}
	}
	return nil
}
