package projection

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/names"
	"go.opentelemetry.io/otel/attribute"
)

// call is a tool call that a model asked for.
type call struct {
	id, name, typ string
	entry         string // the entry that holds it
	response      uint64 // hash of the response that asked for it, 0 for none
	hash          uint64 // of its id
	time          int64
	chat          *chat     // the model call that asked for it, once its response is known
	seg           *segment  // in which it was made
	in            *run      // the run that counted it last
	decisions     *decision // the latest that stands on no span, on whatever branch
	node, seq     uint32    // its entry, and its place among the calls of the file
	part          int32     // which part of the entry the call is
	spans         int32     // spans so far, on whatever branch
	handOffs      int32
	repeated      bool // an earlier call of the file has the same id
	copied        bool // it was made in another session's history
}

// handoff is a span of a call: a hand-off to its tool, or what is known without one.
type handoff struct {
	call   *call
	ref    spanRef
	span   *Span
	seg    *segment
	wait   int64 // how long a person was waited for
	held   bool  // held again after the hand-off
	answer bool  // answered without its tool
	ended  bool
	end    int64
}

// callState is what a path knows about a call that has no result on it.
type callState struct {
	call      *call
	handoff   *handoff
	approval  *approval
	held      bool
	rejected  bool
	answered  bool
	rewritten bool
	wait      int64
	waiting   *decision  // decisions that stand on no span yet, the latest first
	shadow    *callState // an earlier call of the same id that has no result either
}

// maxShadows bounds how many calls of one id can wait for a result at once.
const maxShadows = 16

type callMade struct{ *call }

func (c callMade) apply(st *state) {
	st.calls = st.calls.set(c.hash, &callState{call: c.call, shadow: st.calls.get(c.hash).newest(maxShadows - 1)})
	if c.response != 0 && c.response == st.output.response {
		st.output.calls = &callList{call: c.call, next: st.output.calls}
	}
}

// newest returns the n latest of the calls of one id.
func (cs *callState) newest(n int) *callState {
	if cs == nil || n == 0 {
		return nil
	}
	shadow := cs.shadow.newest(n - 1)
	if shadow == cs.shadow {
		return cs
	}
	first := *cs
	first.shadow = shadow
	return &first
}

type handedOff struct{ *handoff }

func (c handedOff) apply(st *state) {
	st.last, st.due = c.ref, nil
	st.update(c.call, func(cs *callState) {
		cs.handoff, cs.held, cs.answered, cs.rejected, cs.waiting = c.handoff, false, false, false, nil
		cs.wait = c.wait
	})
}

// settled takes a call that has its result off the path's pending ones.
type settled struct{ *call }

func (c settled) apply(st *state) {
	st.calls = st.calls.set(c.hash, without(st.calls.get(c.hash), c.call))
}

func without(cs *callState, c *call) *callState {
	if cs == nil {
		return nil
	}
	if cs.call == c {
		return cs.shadow
	}
	next := *cs
	next.shadow = without(cs.shadow, c)
	return &next
}

// update replaces what the path knows about a call.
func (st *state) update(c *call, change func(*callState)) {
	var with func(cs *callState) *callState
	with = func(cs *callState) *callState {
		if cs == nil {
			return nil
		}
		next := *cs
		if cs.call == c {
			change(&next)
		} else {
			next.shadow = with(cs.shadow)
		}
		return &next
	}
	if cs := with(st.calls.get(c.hash)); cs != nil {
		st.calls = st.calls.set(c.hash, cs)
	}
}

// pending finds the call that an entry speaks of: the one that its target holds, else the latest of that id.
func (p *Projector) pending(ev *activity.Event, id, target string) *callState {
	latest := p.cur.st.calls.get(p.hashOf(id))
	if latest == nil {
		p.note(ev, ErrNoCall, fmt.Sprintf("call %q has no entry, or its result already", cut(id, maxName)))
		return nil
	}
	if n := p.tree.find(target); target != "" && n != root {
		for cs := latest; cs != nil; cs = cs.shadow {
			if cs.call.node == n {
				return cs
			}
		}
	}
	return latest
}

func (p *Projector) called(ev *activity.Event, f *activity.Call) {
	p.wrote(f.ResponseID, false)
	c := &call{
		id: f.ID, name: f.Name, typ: f.Type, entry: ev.Key, part: int32(ev.Part), response: p.hashOf(f.ResponseID), hash: p.hashOf(f.ID),
		node: p.at, seq: p.ops.len(), time: p.now, repeated: !p.firstUse("call", f.ID),
		copied: p.owner != p.session, in: p.cur.st.run,
	}
	p.do(p.cur, callMade{c})
	p.opened(c)
	if r := p.cur.st.run; r != nil && r.open != nil {
		c.madeIn(r.open)
	}
}

func (p *Projector) dispatched(ev *activity.Event, f *activity.Dispatch) {
	cs := p.pending(ev, f.CallID, f.Target)
	if cs == nil {
		return
	}
	p.takeUp(cs.call)
	if h := cs.handoff; h != nil && !h.ended {
		p.endTool(h, p.now, names.StateInFlight, "handed to its tool again before an output")
	}
	wait := p.answer(cs, names.VerdictDispatch, "")
	earlier := p.earlier(cs)
	cs.call.handOffs++
	h := p.startTool(p.segment(p.now), cs, ev.Key, p.now, wait, func(s *Span, a *attributes) {
		a.string(names.Timing, string(activity.Measured))
		a.add(names.CallDispatch.Int(int(cs.call.handOffs)))
		a.string(names.CallIdempotencyKey, f.IdempotencyKey)
		switch {
		case earlier == cs.handoff && earlier != nil:
			s.addLink(earlier.ref.link(names.LinkDispatchedAgain))
		case earlier != nil:
			s.addLink(earlier.ref.link(names.LinkFollowsHandOff))
		}
	})
	p.do(p.cur, handedOff{h})
}

func (p *Projector) resulted(ev *activity.Event, f *activity.Result) {
	cs := p.pending(ev, f.CallID, "")
	if cs == nil {
		return
	}
	p.takeUp(cs.call)
	end := p.now
	if usable(f.End) {
		end = f.End.UnixNano()
	}
	h := cs.handoff
	if h == nil || h.ended || h.span.Session != p.owner {
		h = p.lateTool(ev, cs, f, end)
		p.do(p.cur, spanSeen{&h.ref})
	} else {
		p.answer(cs, names.VerdictResult, "") // it was held after its hand-off
	}
	state := names.StateCompleted
	switch {
	case cs.answered:
		state = names.StateAnswered
	case cs.rejected:
		state = names.StateRejected
	}
	if f.Failure != nil && state == names.StateCompleted {
		h.span.fail(cmp.Or(f.Failure.Type, "tool_error"), f.Failure.Message)
	}
	h.span.add(func(a *attributes) { a.all(f.Attributes) })
	p.endTool(h, end, state, "")
	p.do(p.cur, settled{cs.call})
}

// lateTool starts the span of a call whose result comes without an open hand-off: none was recorded, or its span ended
// with its run.
func (p *Projector) lateTool(ev *activity.Event, cs *callState, f *activity.Result, end int64) *handoff {
	wait := p.answer(cs, names.VerdictResult, "")
	earlier := p.earlier(cs)
	start, timing := cs.call.asked(), activity.Bounded
	switch {
	case usable(f.Start):
		start, timing = f.Start.UnixNano(), cmp.Or(f.Timing, activity.Measured)
	case f.Duration > 0:
		start, timing = max(end-int64(f.Duration), 0), cmp.Or(f.Timing, activity.Measured)
	case (cs.rejected || cs.answered) && cs.waiting != nil:
		start = cs.waiting.time
	case earlier != nil && earlier.ended:
		start, timing = max(earlier.end, p.awake), activity.Inferred
	}
	return p.startTool(p.segment(start), cs, ev.Key, min(start, end), wait, func(s *Span, a *attributes) {
		a.string(names.Timing, string(timing))
		if earlier != nil {
			s.addLink(earlier.ref.link(names.LinkFollowsHandOff))
		}
	})
}

// asked is when the model call that asked for the call ended, else when the call was written.
func (c *call) asked() int64 {
	if c.chat != nil {
		return c.chat.end
	}
	return c.time
}

// startTool starts a span of a call, in a segment or, when that is nil, outside runs.
func (p *Projector) startTool(seg *segment, cs *callState, entry string, start, wait int64, more func(*Span, *attributes)) *handoff {
	c := cs.call
	c.spans++
	p.open.remove(c)
	key := []string{c.id, strconv.Itoa(int(c.spans))}
	if c.repeated || c.copied && p.owner == p.session {
		key = append(key, c.entry)
		if c.part > 0 {
			key = append(key, strconv.Itoa(int(c.part)))
		}
	}
	s := p.newSpan(TypeTool, p.ids.span(p.owner.ID, TypeTool, key...), spanName(names.OperationExecuteTool, c.name))
	adjusted := false
	if seg != nil {
		from := seg.start
		adjusted = start < from && p.now < from
		start = max(start, from)
	}
	s.Start = wall(start)
	p.placed(s, seg)
	h := &handoff{call: c, span: s, seg: seg, wait: cs.wait + wait}
	s.add(func(a *attributes) {
		a.string(names.EntryID, entry)
		a.string(names.Operation, names.OperationExecuteTool)
		a.string(names.ToolName, c.name)
		a.string(names.ToolCallID, c.id)
		a.string(names.ToolType, cmp.Or(c.typ, "function"))
		a.string(names.AgentName, p.toolAgent(seg))
		a.flag(names.CallArgsRewritten, cs.rewritten)
		if h.wait > 0 {
			a.add(names.ApprovalWait.Int64(h.wait / int64(time.Millisecond)))
		}
		a.flag(names.ClockAdjusted, adjusted)
		if list := p.spawned[c]; len(list) > 0 {
			putSubsession(s, a, list[0])
		}
		more(s, a)
	})
	if c.chat != nil {
		s.addLink(c.chat.ref.link(names.LinkProducedBy))
	}
	p.linkSubsessions(s, p.spawned[c])
	cs.waiting.each(func(d *decision) { d.place(s) })
	h.ref = p.start(s)
	if seg != nil && !seg.ended {
		seg.tools = append(seg.tools, h)
	}
	p.opened(h)
	return h
}

func (p *Projector) toolAgent(seg *segment) string {
	if seg != nil {
		return p.agent(seg.run)
	}
	return p.owner.Harness
}

// putSubsession names the session that a call spawned; of several the first.
func putSubsession(s *Span, a *attributes, session string) {
	if s.Attribute(names.Subsession).Type() == attribute.EMPTY {
		a.string(names.Subsession, session)
	}
}

// linkSubsessions points from a call to the sessions that it spawned, where they do not hang from it.
func (p *Projector) linkSubsessions(s *Span, sessions []string) {
	if p.opts.Group != GroupRun {
		return
	}
	for _, id := range sessions {
		trace := p.ids.trace(id)
		s.addLink(spanRef{p.ids.span(id, TypeSession), &trace}.link(names.LinkSubsession))
	}
}

// endTool completes a span of a call. why is the description of the error that a call left in flight is; "" when it is
// none.
func (p *Projector) endTool(h *handoff, at int64, state, why string) {
	s := h.span
	start := s.Start.UnixNano()
	end := max(at, start)
	for _, e := range s.Events {
		end = max(end, e.Time.UnixNano())
	}
	s.End = wall(h.seg.lasting(start, end))
	s.add(func(a *attributes) {
		a.string(names.CallState, state)
		if end != at && s.Attribute(names.ClockAdjusted).Type() == attribute.EMPTY {
			a.flag(names.ClockAdjusted, true)
		}
	})
	if why != "" && state == names.StateInFlight {
		s.fail(names.StateInFlight, why)
	}
	h.ended, h.end, h.span = true, end, nil
	if h.seg != nil && !h.seg.ended {
		h.seg.child = max(h.seg.child, end)
		h.seg.adjusted = h.seg.adjusted || end != at
	}
	p.open.remove(h)
	p.sendEnd(s)
}

// closeTools ends the open spans of calls in a run that ends; why is as for endTool.
func (p *Projector) closeTools(seg *segment, at int64, why string) {
	for _, h := range seg.tools {
		if h.ended {
			continue
		}
		p.endTool(h, at, h.left(), why)
	}
	seg.tools = nil
}

// left is the state of a hand-off that ends without a result.
func (h *handoff) left() string {
	switch {
	case h.answer:
		return names.StateAnswered
	case h.held:
		return names.StateHeld
	default:
		return names.StateInFlight
	}
}

// speakOf sends a span for a call of which no span says how it stands when nothing more will come: it was not handed to its
// tool, or something was decided about it after the last hand-off had ended. The span has no duration, and hangs from the
// segment in which the call was made, though that may have ended.
func (p *Projector) speakOf(c *call) {
	cs := p.lastWord(c)
	earlier := p.earlier(cs)
	state := names.StateUnknown
	switch {
	case cs.handoff != nil:
		state = names.StateInFlight
	case p.promise && c.handOffs == 0: // on another branch it may have started
		state = names.StateNeverStarted
	}
	at, seg := c.asked(), c.seg
	cs.waiting.each(func(d *decision) { at = max(at, d.time) })
	if d := cs.waiting; d != nil {
		switch d.verdict {
		case activity.Answer:
			state = names.StateAnswered
		case activity.Reject:
			state = names.StateRejected
		case activity.Hold:
			state = names.StateHeld
		}
	}
	if seg != nil && seg.ended {
		if at > seg.child {
			seg = nil // decided after that part of the run
		} else {
			at = min(at, seg.shown-instant)
		}
	}
	p.cur, p.at, p.owner = &tip{}, c.node, p.session
	if seg != nil && seg.run.owner != p.session {
		seg = nil
	}
	h := p.startTool(seg, cs, c.entry, at, 0, func(s *Span, a *attributes) {
		a.string(names.Timing, string(activity.Bounded))
		if earlier != nil {
			s.addLink(earlier.ref.link(names.LinkFollowsHandOff))
		}
	})
	p.endTool(h, h.span.Start.UnixNano(), state, "")
	p.spoken[c] = h
}

// lastWord is what is known of a call without a result: on the path to the leaf, else on the one that spoke of it last.
func (p *Projector) lastWord(c *call) *callState {
	for _, t := range []*tip{&p.leaf, &p.aside} {
		for cs := t.st.calls.get(c.hash); cs != nil; cs = cs.shadow {
			if cs.call == c {
				return cs
			}
		}
	}
	return &callState{call: c, waiting: c.decisions}
}

// madeIn counts the call to the segment in which it was made.
func (c *call) madeIn(seg *segment) {
	if c.seg == nil && seg != nil {
		c.seg = seg
		seg.calls++
	}
}

// takeUp counts a call of an earlier run to the run that decides about it, hands it over or gets its result (C, 0.9).
func (p *Projector) takeUp(c *call) {
	r := p.cur.st.run
	if !p.takesUp || r == nil || r == c.in || r.owner != p.owner {
		return
	}
	c.in = r
	p.segment(p.now).calls++
}

// earlier is the span that a call had before on the path, or when the file fell silent.
func (p *Projector) earlier(cs *callState) *handoff {
	if cs.handoff != nil {
		return cs.handoff
	}
	return p.spoken[cs.call]
}
