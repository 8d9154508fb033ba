package projection

import (
	"cmp"
	"math"
	"strings"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
	"go.opentelemetry.io/otel/trace"
)

// Finish reasons in the words of the conventions.
const (
	finishStop          = "stop"
	finishLength        = "length"
	finishContentFilter = "content_filter"
	finishToolCall      = "tool_call"
	finishError         = "error"
)

// chat is a model call whose span has been sent.
type chat struct {
	ref    spanRef
	end    int64
	of     uint64 // hash of the id that its output has, 0 for none
	failed bool   // it had an error or was incomplete
}

type chatDone struct{ *chat }

func (c chatDone) apply(st *state) {
	st.chat, st.last, st.failed, st.due = c.ref, c.ref, c.failed, nil
	if c.of == 0 || c.of == st.output.response {
		st.output = output{}
	}
}

// pieceWritten begins the output of a model call.
type pieceWritten struct{ *output }

func (c pieceWritten) apply(st *state) { st.output = *c.output }

// thoughtWritten is pieceWritten where that piece is reasoning.
type thoughtWritten struct{ *output }

func (c thoughtWritten) apply(st *state) {
	st.output = *c.output
	st.thought.n++
}

// wrote takes a piece of a model's output.
func (p *Projector) wrote(responseID string, reasoning bool) {
	h := p.hashOf(responseID)
	if h == 0 {
		return
	}
	if h == p.cur.st.output.response {
		if reasoning {
			p.do(p.cur, reasoned{})
		}
		return
	}
	out := &output{response: h, before: -1, first: p.now}
	if p.tree.at(p.at).parent != root {
		out.before = p.before()
	}
	if reasoning {
		p.do(p.cur, thoughtWritten{out})
		return
	}
	p.do(p.cur, pieceWritten{out})
}

// before is the time of the entry before the one being read, on its path.
func (p *Projector) before() int64 {
	if up := p.tree.at(p.at).parent; up != root {
		return p.tree.at(up).time
	}
	return p.now
}

// responded completes a model call of an ordinary turn, or one made for another purpose.
func (p *Projector) responded(ev *activity.Event, f *activity.Response) {
	if f.Purpose != "" {
		p.otherChat(ev, f)
		return
	}
	out := p.cur.st.output
	if h := p.hashOf(cmp.Or(f.Ref, f.ID)); h == 0 || h != out.response {
		out = output{}
	}
	if p.infer && p.cur.st.run == nil {
		start, _, _ := p.chatStart(f, out)
		p.startSegment(p.newRun(ev.Key, activity.RunStart{}, true), start)
	}
	c := p.chat(ev, f, out)
	for l := out.calls; l != nil; l = l.next {
		l.call.chat = c
		if r := p.cur.st.run; r != nil {
			l.call.madeIn(r.open)
		}
	}
	c.of = p.hashOf(cmp.Or(f.Ref, f.ID))
	p.do(p.cur, chatDone{c})
	if r := p.cur.st.run; r != nil && r.inferred && r.owner == p.owner && !c.failed && out.calls == nil {
		seg := p.segment(p.now)
		p.closeTools(seg, p.now, "no output before the run ended")
		p.endSegment(seg, p.now, ending{reason: activity.ReasonDone})
		p.endRun(r)
	}
}

// otherChat completes a model call that is no turn of the conversation.
func (p *Projector) otherChat(ev *activity.Event, f *activity.Response) {
	c := p.chat(ev, f, output{})
	p.do(p.cur, spanSeen{&c.ref})
}

// chat sends the span of a model call.
func (p *Projector) chat(ev *activity.Event, f *activity.Response, out output) *chat {
	start, timing, adjusted := p.chatStart(f, out)
	end := p.chatEnd(f)
	seg := p.segment(start)
	if seg != nil {
		from := seg.start
		recorded := timing == activity.Measured || usable(f.Start)
		adjusted = adjusted || end < from || start < from && recorded && seg.firm
		start, end = max(start, from), max(end, from)
	}
	set := p.cur.st.set
	if set == nil {
		set = &request{}
	}
	if f.Purpose == "other" { // an application's own call, which the settings of the conversation say nothing of
		set = &request{}
	}
	model := cmp.Or(f.RequestModel, set.model)
	name := model
	if name == "" {
		name = f.Model
	}
	finish := finishReasons(f, out.calls != nil)

	s := p.newSpan(TypeChat, p.chatID(ev, f), spanName(names.OperationChat, name))
	s.Kind = trace.SpanKindClient
	s.Start = wall(start)
	p.placed(s, seg)
	s.add(func(a *attributes) {
		a.string(names.EntryID, ev.Key)
		a.string(names.Operation, names.OperationChat)
		a.string(names.Provider, provider(f.Provider, set.provider, name))
		a.string(names.RequestModel, model)
		a.string(names.ResponseModel, f.Model)
		a.string(names.ResponseID, f.ID)
		a.strings(names.FinishReasons, finish)
		p.putUsage(a, &f.Usage)
		a.number(names.Cost, f.Cost)
		a.string(names.Timing, string(timing))
		a.flag(names.ClockAdjusted, adjusted)
		a.string(names.ChatPurpose, f.Purpose)
		if f.Purpose == "" {
			putRequest(a, set)
			putOmitted(a, &p.cur.st)
		}
		a.string(names.ChatIncomplete, f.Incomplete)
		if f.Attempts > 0 {
			a.add(names.ChatAttempts.Int64(f.Attempts))
		}
		a.string(names.RequestHash, f.RequestHash)
		a.all(f.Attributes)
	})
	if f.Purpose == "" && p.cur.st.chat.ok() {
		s.addLink(p.cur.st.chat.link(names.LinkPreviousTurn))
	}
	ref := p.start(s)
	s.End = wall(seg.lasting(start, end))
	if f.Failure != nil {
		s.fail(cmp.Or(f.Failure.Type, "_OTHER"), f.Failure.Message)
	}
	p.sendEnd(s)
	if seg != nil {
		seg.child = max(seg.child, end)
		seg.adjusted = seg.adjusted || adjusted
		seg.addChat(f, name, provider(f.Provider, set.provider, name), finish)
	}
	return &chat{ref: ref, end: end, failed: f.Failure != nil || f.Incomplete != ""}
}

// chatEnd is when a model call was complete: as the source says, else with its entry.
func (p *Projector) chatEnd(f *activity.Response) int64 {
	if usable(f.End) {
		return f.End.UnixNano()
	}
	return p.now
}

// chatStart tells when a model call began and how that is known: what the source says, else the latency back from the
// end. A latency must lead to before the first piece of the output; else the entry before that piece bounds the start,
// since that is when the request could first be sent.
func (p *Projector) chatStart(f *activity.Response, out output) (start int64, timing activity.Timing, adjusted bool) {
	end := p.chatEnd(f)
	switch {
	case usable(f.Start):
		start, timing = f.Start.UnixNano(), cmp.Or(f.Timing, activity.Measured)
		return min(start, end), timing, start > end
	case f.Latency > 0:
		start = end - int64(f.Latency)
		if out.response == 0 || start < out.first {
			return max(start, 0), activity.Measured, false
		}
	}
	switch {
	case out.response != 0 && out.before >= 0:
		start, timing = out.before, activity.Bounded
	case out.response == 0 && p.tree.at(p.at).parent != root:
		start, timing = p.before(), activity.Bounded
	case out.response != 0:
		start, timing = out.first, activity.Inferred
	default:
		start, timing = end, activity.Inferred
	}
	return min(start, end), timing, start > end
}

// chatID is the id of a model call's span: by the provider's id the first time it is met, else by the entry as well.
func (p *Projector) chatID(ev *activity.Event, f *activity.Response) trace.SpanID {
	switch {
	case f.ID == "" || f.Purpose != "":
		return p.ids.span(p.owner.ID, TypeChat, append([]string{"entry"}, keyOf(ev)...)...)
	case p.firstUse("chat", f.ID):
		return p.ids.span(p.owner.ID, TypeChat, "response", f.ID)
	default:
		return p.ids.span(p.owner.ID, TypeChat, append([]string{"response", f.ID}, keyOf(ev)...)...)
	}
}

// finishReasons gives the file's reasons, else what follows from the record.
func finishReasons(f *activity.Response, calls bool) []string {
	switch {
	case f.FinishReasons != nil:
		return f.FinishReasons
	case f.Failure != nil:
		return []string{finishError}
	case strings.Contains(f.Incomplete, "filter"):
		return []string{finishContentFilter}
	case f.Incomplete != "":
		return []string{finishLength}
	case f.Purpose != "":
		return nil
	case calls:
		return []string{finishToolCall}
	default:
		return []string{finishStop}
	}
}

func (p *Projector) putUsage(a *attributes, u *activity.Usage) {
	a.count(names.InputTokens, u.Input)
	a.count(names.OutputTokens, u.Output)
	a.count(names.CacheReadTokens, u.CacheRead)
	if p.opts.Semconv == SemconvLatest {
		a.count(names.CacheWriteTokens, u.CacheCreation)
	} else {
		a.count(names.CacheCreateTokens, u.CacheCreation)
	}
	a.count(names.ReasoningTokens, u.Reasoning)
	a.flag(names.LowerBound, u.LowerBound)
}

func putRequest(a *attributes, r *request) {
	a.string(names.ReasoningLevel, r.reasoning)
	a.number(names.Temperature, r.temperature)
	a.number(names.TopP, r.topP)
	a.number(names.FrequencyPenalty, r.frequencyPenalty)
	a.number(names.PresencePenalty, r.presencePenalty)
	a.count(names.MaxTokens, r.maxTokens)
	a.count(names.Seed, r.seed)
	a.positive(names.InstructionParts, r.parts)
	a.positive(names.InstructionsOmitted, r.omitted)
}

func (t *tally) addChat(f *activity.Response, model, provider string, finish []string) {
	t.chats++
	if f.Usage.Input != nil {
		t.input, t.hasInput = sum(t.input, *f.Usage.Input), true
	}
	if f.Usage.Output != nil {
		t.output, t.hasOutput = sum(t.output, *f.Usage.Output), true
	}
	// A call whose usage the file does not state makes the sum a lower bound.
	t.lowerBound = t.lowerBound || f.Usage.LowerBound || f.Usage.Input == nil || f.Usage.Output == nil
	if f.Purpose == "" {
		t.finish = finish
	}
	if model != "" && model != t.model {
		t.models++
		t.model, t.provider = model, provider
	}
}

// sum adds counts, as far as one can hold the result.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
