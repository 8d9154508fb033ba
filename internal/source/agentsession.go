package source

import (
	"cmp"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/format"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
	"github.com/sessionspan/sessionspan/internal/lines"
)

// AgentSession is the Agent Session Format, version 0.x.
var AgentSession = Format{
	Name:   "agentsession",
	Looks:  `a line {"type":"session","format":"agentsession/0.…",…}`,
	Detect: detectAgentSession,
	New:    func(Place) Decoder { return &agentSession{} },
}

// RootMember is the header member in which a wrapper records the session at the top of the tree.
const RootMember = "sessionspan:root_session"

// CallerMember is the header member in which a wrapper records the span that a session hangs from, as a traceparent of W3C, when that is none
// of a session's.
const CallerMember = "sessionspan:caller"

func detectAgentSession(first []byte) bool {
	var s jsonscan.Scanner
	if s.Scan(first, "") != nil {
		return false
	}
	var typ, name string
	for _, m := range s.Members {
		switch string(m.Name) {
		case "type":
			typ, _ = jsonscan.String(m.Value)
		case "format":
			name, _ = jsonscan.String(m.Value)
		}
	}
	return typ == "session" && name != ""
}

type agentSession struct {
	header  *format.Header
	decoder format.Decoder
	event   activity.Event
	facts   struct { // the frequent ones, used again
		call     activity.Call
		dispatch activity.Dispatch
		result   activity.Result
		response activity.Response
	}
	// owner is the session that the entries are copied from that open the file, up to the header's base.
	owner string
}

func (d *agentSession) Flush(Why, func(*activity.Event)) {}

func (d *agentSession) Decode(l lines.Line, emit func(*activity.Event)) error {
	if l.TooLong() {
		return &format.DamageError{Err: format.ErrLineTooLong, Data: l.Data}
	}
	if d.header == nil {
		h, err := format.DecodeHeader(l.Data)
		if h == nil {
			return err
		}
		emit(&activity.Event{Line: l.Number, Offset: l.Offset, Fact: d.begin(h)})
		return err
	}
	e, err := d.decoder.Decode(l.Data)
	if damage, ok := err.(*format.DamageError); ok {
		e = damage.Entry
	}
	if e == nil {
		return err
	}
	d.entry(e, l.Number, l.Offset, emit)
	return err
}

// entry says what an entry says.
func (d *agentSession) entry(e format.Entry, line int, offset int64, emit func(*activity.Event)) {
	base := e.Base()
	d.event = activity.Event{
		Key: base.ID, Parent: base.Parent, Owner: d.owner, Time: base.Time, Line: line, Offset: offset, Fact: d.factOf(e),
	}
	for _, r := range base.Parents {
		d.event.Merged = append(d.event.Merged, activity.Ref{Session: r.Session, Key: r.Entry})
	}
	if base.ID == d.header.Base {
		d.owner = ""
	}
	emit(&d.event)
	if arrival := arrivalFact(e); arrival != nil {
		d.event.Part, d.event.Merged, d.event.Fact = 1, nil, arrival
		emit(&d.event)
	}
}

// begin takes the header.
func (d *agentSession) begin(h *format.Header) *activity.Session {
	d.header = h
	if h.Base != "" {
		d.owner = h.ParentSession
	}
	return SessionOf(h)
}

// Entries turns the entries of a session in memory into the events that its file would give, without their places in it.
type Entries struct{ d agentSession }

// NewEntries begins with the header, which must not change, and what it says.
func NewEntries(h *format.Header) (*Entries, *activity.Event) {
	e := &Entries{}
	return e, &activity.Event{Fact: e.d.begin(h)}
}

// Decode takes the next entry. Nothing that is emitted stays valid after the call but strings.
func (e *Entries) Decode(entry format.Entry, emit func(*activity.Event)) {
	e.d.entry(entry, 0, 0, emit)
}

// SessionOf returns what a header says of its session.
func SessionOf(h *format.Header) *activity.Session {
	rules := h.Rules()
	s := &activity.Session{
		ID: h.ID, Created: h.CreatedAt, Format: AgentSession.Name, CWD: h.CWD, Base: h.Base,
		PromisesDispatch: h.HasRecord(format.TypeDispatch),
		InferRuns:        !h.HasRecord(format.TypeRun),
		TakesUp:          rules.TakesUp,
		Repeats:          rules.Repeats,
	}
	_, s.FormatVersion, _ = strings.Cut(h.Format, "/")
	s.Newer = h.Newer()
	if h.Harness != nil {
		s.Harness, s.Version = h.Harness.Name, h.Harness.Version
	}
	switch {
	case h.ParentSession != "" && h.SpawnedBy != "":
		s.Spawn = &activity.Spawn{Session: h.ParentSession, CallID: h.SpawnedBy}
		s.Spawn.Root, _ = jsonscan.String(h.Unknown.Get(RootMember))
	case h.ParentSession != "":
		s.ForkOf = h.ParentSession
	}
	return s
}

// factOf says what an entry means; nil for one that only has its place in the tree.
func (d *agentSession) factOf(e format.Entry) activity.Fact {
	switch e := e.(type) {
	case *format.ItemEntry:
		return d.itemFact(e)
	case *format.ResponseEntry:
		d.facts.response = responseFact(e)
		return &d.facts.response
	case *format.ConfigEntry:
		return d.settingsFact(e)
	case *format.CompactionEntry:
		return d.compactionFact(e)
	case *format.BranchSummaryEntry:
		return &activity.BranchSummary{From: e.From, Call: callFor("branch_summary", e.Usage)}
	case *format.RunEntry:
		return runFact(e)
	case *format.DispatchEntry:
		d.facts.dispatch = activity.Dispatch{CallID: e.CallID, Target: e.Target, IdempotencyKey: e.IdempotencyKey}
		return &d.facts.dispatch
	case *format.DecisionEntry:
		return &activity.Decision{
			CallID: e.CallID, Target: e.Target, Verdict: e.Verdict, By: e.By, Reason: e.Reason,
			ArgsRewritten: e.Args != nil,
		}
	case *format.LabelEntry:
		return labelFact(e)
	case *format.InfoEntry:
		if e.Name != "" {
			return &activity.Name{Name: e.Name}
		}
	case *format.EnvEntry:
		return envFact(e)
	case *format.OutcomeEntry:
		return outcomeFact(e)
	case *format.LinkEntry:
		return &activity.Link{Rel: e.Rel, Session: e.Session, CallID: e.CallID, Target: e.Target}
	case *format.CustomEntry:
		return customFact(e)
	case *format.QueuedEntry:
		return &activity.Queued{Mode: e.Mode, Trigger: triggerOf(e.Trigger, e.Ref)}
	}
	return nil
}

// arrivalFact says how the item of an entry came to be there: nil for an entry that does not say.
func arrivalFact(e format.Entry) activity.Fact {
	item, ok := e.(*format.ItemEntry)
	if !ok || item.QueuedFrom == "" && item.Source == nil {
		return nil
	}
	a := &activity.Arrival{Queued: item.QueuedFrom}
	a.Trigger.Kind, _ = jsonscan.String(member(item.Source, "kind"))
	a.Trigger.Ref, _ = jsonscan.String(member(item.Source, "ref"))
	a.Trigger.Source, _ = jsonscan.String(member(item.Source, "source"))
	return a
}

// triggerOf joins a trigger with the reference that stands beside it. Members that the format does not define are left out:
// they may hold anything.
func triggerOf(t *format.Trigger, ref string) activity.Trigger {
	trigger := activity.Trigger{Ref: ref}
	if t != nil {
		trigger = activity.Trigger{Kind: t.Kind, Ref: cmp.Or(ref, t.Ref), Source: t.Source}
	}
	return trigger
}

func (d *agentSession) itemFact(e *format.ItemEntry) activity.Fact {
	switch {
	case e.Item.Type == format.ItemFunctionCall:
		d.facts.call = activity.Call{ID: e.Item.CallID, Name: e.Item.Name, ResponseID: e.ResponseID}
		return &d.facts.call
	case e.Item.Type == format.ItemFunctionCallOutput:
		d.facts.result = activity.Result{CallID: e.Item.CallID}
		return &d.facts.result
	case e.ResponseID != "":
		return &activity.Output{ResponseID: e.ResponseID, Reasoning: e.Item.Type == format.ItemReasoning}
	case e.Item.Type == format.ItemMessage && e.Item.Role != "assistant":
		return &activity.Input{Role: e.Item.Role}
	}
	return nil
}

func responseFact(e *format.ResponseEntry) activity.Response {
	r := activity.Response{ID: e.ResponseID, Model: e.Model, RequestHash: e.RequestHash, Usage: usageOf(e.Usage)}
	if e.LatencyMS != nil && *e.LatencyMS > 0 {
		r.Latency = milliseconds(*e.LatencyMS)
	}
	if e.Attempts != nil {
		r.Attempts = *e.Attempts
	}
	switch {
	case e.Error != nil:
		r.Failure = &activity.Failure{Type: e.Error.Code, Message: e.Error.Message}
		if r.Failure.Type == "" {
			r.Failure.Type = e.Error.Type
		}
	case e.Status == "failed":
		r.Failure = &activity.Failure{Type: e.Status}
	case e.Incomplete != nil:
		r.Incomplete = e.Incomplete.Reason
		if r.Incomplete == "" {
			r.Incomplete = "incomplete"
		}
	}
	return r
}

// milliseconds turns a count into a duration, as far as one can hold it.
func milliseconds(n int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	return time.Duration(min(n, most)) * time.Millisecond
}

func usageOf(u *format.Usage) activity.Usage {
	if u == nil {
		return activity.Usage{}
	}
	return activity.Usage{
		Input: u.InputTokens, CacheRead: u.CachedTokens, CacheCreation: u.CacheCreationTokens,
		Output: u.OutputTokens, Reasoning: u.ReasoningTokens,
	}
}

// callFor is the model call behind a summary: it is known by its usage alone.
func callFor(purpose string, u *format.Usage) *activity.Response {
	if u == nil {
		return nil
	}
	return &activity.Response{Purpose: purpose, Usage: usageOf(u)}
}

func runFact(e *format.RunEntry) activity.Fact {
	if e.Phase == format.PhaseEnd {
		return &activity.RunEnd{RunID: e.RunID, Reason: e.Reason, Pending: e.Pending, Cause: e.Ref}
	}
	return &activity.RunStart{RunID: e.RunID, Source: e.Source, Trigger: triggerOf(e.Trigger, e.Ref)}
}

func labelFact(e *format.LabelEntry) activity.Fact {
	switch {
	case e.Label == nil:
		return &activity.Mark{Target: e.Target, Clear: true}
	case *e.Label == format.LeafLabel:
		return &activity.Mark{Target: e.Target}
	}
	return nil
}

func envFact(e *format.EnvEntry) *activity.Note {
	n := &activity.Note{What: "env"}
	add := func(name string, value any) {
		if value != "" {
			n.Attributes = append(n.Attributes, activity.Attribute{Name: name, Value: value})
		}
	}
	add("env.cwd", e.CWD)
	if v := e.VCS; v != nil {
		add("env.vcs.system", v.System)
		add("env.vcs.revision", v.Revision)
		if v.Dirty != nil {
			add("env.vcs.dirty", *v.Dirty)
		}
	}
	if w := e.Workspace; w != nil {
		add("env.workspace.kind", w.Kind)
		add("env.workspace.ref", w.Ref)
		for _, m := range w.Unknown {
			if s, ok := jsonscan.String(m.Value); ok {
				add("env.workspace."+m.Name, s)
			}
		}
	}
	return n
}

func outcomeFact(e *format.OutcomeEntry) *activity.Note {
	n := &activity.Note{What: "outcome", Target: e.Target}
	n.Attributes = []activity.Attribute{{Name: "outcome.kind", Value: e.Kind}}
	if e.Target != "" {
		n.Attributes = append(n.Attributes, activity.Attribute{Name: "outcome.target", Value: e.Target})
	}
	if e.Score != nil {
		n.Attributes = append(n.Attributes, activity.Attribute{Name: "outcome.score", Value: *e.Score})
	}
	if e.Pass != nil {
		n.Attributes = append(n.Attributes, activity.Attribute{Name: "outcome.pass", Value: *e.Pass})
	}
	if e.Label != "" {
		n.Attributes = append(n.Attributes, activity.Attribute{Name: "outcome.label", Value: e.Label})
	}
	return n
}

// customFact is a paid model call when the application's data holds a usage (C, 0.10).
func customFact(e *format.CustomEntry) activity.Fact {
	usage := member(e.Data, "usage")
	if jsonscan.Kind(usage) != '{' {
		return nil
	}
	r := &activity.Response{Purpose: "other", Usage: usageOf(format.DecodeUsage(usage))}
	r.Model, _ = jsonscan.String(member(e.Data, "model"))
	return r
}
