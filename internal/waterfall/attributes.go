package waterfall

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"github.com/sessionspan/sessionspan/internal/terminal"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
)

// hints are the links that are worth a word on a row: those that lead away from the tree.
var hints = map[string]string{
	names.LinkDispatchedAgain: "repeats",
	names.LinkFollowsHandOff:  "outcome of",
	names.LinkPreviousSegment: "continues",
	names.LinkBranch:          "branch of",
	names.LinkBranchFrom:      "came from",
	names.LinkSpawnedBy:       "spawned by",
	names.LinkForkOf:          "fork of",
	names.LinkConverged:       "merges",
	names.LinkQueued:          "queued at",
	names.LinkJudgedBy:        "judged by",
}

// count is a number that a file may not state.
type count struct {
	n     int64
	known bool
}

// pointer is the count, or nil when it is not known.
func (c *count) pointer() *int64 {
	if !c.known {
		return nil
	}
	return &c.n
}

func (c *count) set(v attribute.Value) {
	if v.Type() == attribute.INT64 && v.AsInt64() >= 0 {
		*c = count{v.AsInt64(), true}
	}
}

// facts is what the attributes of a span say, as far as it is drawn.
type facts struct {
	model                    string
	input, output, cacheRead count
	cost                     float64
	costKnown                bool
	lowerBound               bool
	failure                  string // of low cardinality; "" when nothing failed

	timing        string
	clockAdjusted bool
	parentLost    bool
	sessionName   string
	state         string // of a call, why a run ended, or why a model call did not complete
	inferred      bool
	purpose, kind string
	detail        string // of an event: what it is about
	wait          count  // milliseconds
	queued        count  // inputs that still waited when a run ended
	approvalTool  string
	verdict       string
	subsession    string
	missing       bool   // there is no file of that
	parent        string // the session that it was forked from or spawned by
}

func factsOf(s *projection.Span) facts {
	var f facts
	for _, kv := range s.Attributes {
		v := kv.Value
		switch kv.Key {
		case names.RequestModel:
			f.model = v.AsString()
		case names.ResponseModel:
			if f.model == "" {
				f.model = v.AsString()
			}
		case names.InputTokens:
			f.input.set(v)
		case names.OutputTokens:
			f.output.set(v)
		case names.CacheReadTokens:
			f.cacheRead.set(v)
		case names.Cost:
			if c := v.AsFloat64(); v.Type() == attribute.FLOAT64 && c >= 0 && !math.IsInf(c, 0) {
				f.cost, f.costKnown = c, true
			}
		case names.LowerBound:
			f.lowerBound = v.AsBool()
		case names.ErrorType:
			f.failure = v.AsString()
		case names.Timing:
			f.timing = v.AsString()
		case names.ClockAdjusted:
			f.clockAdjusted = v.AsBool()
		case names.ParentLost:
			f.parentLost = v.AsBool()
		case names.SessionName:
			f.sessionName = v.AsString()
		case names.CallState, names.RunReason, names.ChatIncomplete:
			f.state = v.AsString()
		case names.RunInferred:
			f.inferred = v.AsBool()
		case names.ChatPurpose:
			f.purpose = v.AsString()
		case names.ChatKind:
			f.kind = v.AsString()
		case names.ModelID, names.ThinkingLevel, names.LabelText, names.EditAction, names.InputTriggerSource, names.CommandName,
			names.APIErrorType, names.UnknownKind:
			f.detail = v.AsString()
		case names.ShellExitCode:
			f.detail = fmt.Sprint("exit ", v.AsInt64())
		case names.TurnDuration:
			f.detail = terminal.Duration(time.Duration(v.AsInt64()) * time.Millisecond)
		case names.HooksFailed:
			f.detail = fmt.Sprint(v.AsInt64(), " failed")
		case names.ShellCanceled:
			f.detail = "cancelled"
		case names.ToolsActive:
			f.detail = strings.Join(v.AsStringSlice(), " ")
		case names.ToolsAdded, names.ToolsRemoved:
			f.detail = strings.TrimSpace(f.detail + " " + signed(kv.Key == names.ToolsAdded, v.AsStringSlice()))
		case names.ApprovalWait, names.InputWait, names.RunWait:
			f.wait.set(v)
		case names.RunQueued:
			f.queued.set(v)
		case names.ApprovalTool:
			f.approvalTool = v.AsString()
		case names.ApprovalVerdict:
			f.verdict = v.AsString()
		case names.Subsession:
			f.subsession = v.AsString()
		case names.ParentSession:
			f.parent = v.AsString()
		case names.SubsessionMissing:
			f.missing = v.AsBool()
		}
	}
	if f.failure == "" && s.Status.Code == codes.Error || f.failure == "_OTHER" { // what the conventions say of no special error
		f.failure = "error"
	}
	if s.Type == projection.TypeEvent && f.detail == "" {
		f.detail = f.sessionName
		if s.Name == names.Namespace+"label" {
			f.detail = "removed"
		}
	}
	return f
}

// Words are what a row says of a span by itself: why it failed, how it ended otherwise, and what it is about; each may be "".
func Words(s *projection.Span) (failure, state, detail string) {
	f := factsOf(s)
	return f.failure, f.state, f.detail
}

// signed are names with a sign before each.
func signed(plus bool, list []string) string {
	sign := "-"
	if plus {
		sign = "+"
	}
	var b strings.Builder
	for _, name := range list {
		b.WriteString(" " + sign + name)
	}
	return b.String()[min(b.Len(), 1):]
}

// linkKind returns the kind of a link, or "".
func linkKind(l projection.Link) string {
	for _, kv := range l.Attributes {
		if kv.Key == names.Link {
			return kv.Value.AsString()
		}
	}
	return ""
}
