package source

import (
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
	New:    func() Decoder { return &agentSession{} },
}

// RootMember is the header member in which a wrapper records the session at the top of the tree.
const RootMember = "sessionspan:root_session"

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
		d.header = h
		if h.Base != "" {
			d.owner = h.ParentSession
		}
		emit(&activity.Event{Line: l.Number, Offset: l.Offset, Fact: sessionOf(h)})
		return err
	}
	e, err := d.decoder.Decode(l.Data)
	if damage, ok := err.(*format.DamageError); ok {
		e = damage.Entry
	}
	if e == nil {
		return err
	}
	base := e.Base()
	d.event = activity.Event{
		Key: base.ID, Parent: base.Parent, Owner: d.owner, Time: base.Time, Line: l.Number, Offset: l.Offset, Fact: factOf(e),
	}
	if base.ID == d.header.Base {
		d.owner = ""
	}
	emit(&d.event)
	return err
}

func sessionOf(h *format.Header) *activity.Session {
	s := &activity.Session{
		ID: h.ID, Created: h.CreatedAt, Format: AgentSession.Name, CWD: h.CWD,
		PromisesDispatch: h.HasRecord(format.TypeDispatch),
		InferRuns:        !h.HasRecord(format.TypeRun),
	}
	_, s.FormatVersion, _ = strings.Cut(h.Format, "/")
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
func factOf(e format.Entry) activity.Fact {
	switch e := e.(type) {
	case *format.ItemEntry:
		return itemFact(e)
	case *format.ResponseEntry:
		return responseFact(e)
	case *format.ConfigEntry:
		return settingsFact(e)
	case *format.CompactionEntry:
		return compactionFact(e)
	case *format.BranchSummaryEntry:
		return &activity.BranchSummary{From: e.From, Call: callFor("branch_summary", e.Usage)}
	case *format.RunEntry:
		return runFact(e)
	case *format.DispatchEntry:
		return &activity.Dispatch{CallID: e.CallID, Target: e.Target, IdempotencyKey: e.IdempotencyKey}
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
	}
	return nil
}

func itemFact(e *format.ItemEntry) activity.Fact {
	switch {
	case e.Item.Type == format.ItemFunctionCall:
		return &activity.Call{ID: e.Item.CallID, Name: e.Item.Name, ResponseID: e.ResponseID}
	case e.Item.Type == format.ItemFunctionCallOutput:
		return &activity.Result{CallID: e.Item.CallID}
	case e.ResponseID != "":
		return &activity.Output{ResponseID: e.ResponseID}
	case e.Item.Type == format.ItemMessage && e.Item.Role != "assistant":
		return &activity.Input{Role: e.Item.Role}
	}
	return nil
}

func responseFact(e *format.ResponseEntry) *activity.Response {
	r := &activity.Response{ID: e.ResponseID, Model: e.Model, RequestHash: e.RequestHash, Usage: usageOf(e.Usage)}
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

func settingsFact(e *format.ConfigEntry) *activity.Settings {
	s := &activity.Settings{Replace: e.Replace, Model: e.Model, Reasoning: effort(e.Reasoning)}
	for _, m := range e.Extra {
		setParameter(s, m.Name, m.Value)
	}
	return s
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

func compactionFact(e *format.CompactionEntry) *activity.Compaction {
	c := &activity.Compaction{FirstKept: e.FirstKept, TokensBefore: e.TokensBefore, Call: callFor("compaction", e.Usage)}
	if e.Config == nil {
		return c
	}
	s := &activity.Settings{Replace: true, Reasoning: effort(member(e.Config, "reasoning"))}
	s.Model, _ = jsonscan.String(member(e.Config, "model"))
	if extra := member(e.Config, "extra"); extra != nil {
		var scan jsonscan.Scanner
		if scan.Scan(extra, "") == nil {
			for _, m := range scan.Members {
				setParameter(s, string(m.Name), m.Value)
			}
		}
	}
	c.Settings = s
	return c
}

func runFact(e *format.RunEntry) activity.Fact {
	if e.Phase == format.PhaseEnd {
		return &activity.RunEnd{RunID: e.RunID, Reason: e.Reason, Pending: e.Pending, Cause: e.Ref}
	}
	s := &activity.RunStart{RunID: e.RunID, Source: e.Source, Trigger: e.Ref}
	if e.Trigger != nil {
		s.TriggerKind, s.TriggerSource = e.Trigger.Kind, e.Trigger.Source
		if s.Trigger == "" {
			s.Trigger = e.Trigger.Ref
		}
	}
	return s
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
	n := &activity.Note{What: "outcome", Attributes: []activity.Attribute{{Name: "outcome.kind", Value: e.Kind}}}
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
