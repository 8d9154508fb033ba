package waterfall

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"time"

	"github.com/sessionspan/sessionspan/internal/names"
	"github.com/sessionspan/sessionspan/internal/projection"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// story builds the spans of a trace by hand. Times are counted from its start.
type story struct {
	made    []*projection.Span
	start   time.Time
	session *projection.Session
	seq     uint32
}

const (
	ms = time.Millisecond
	s  = time.Second
	m  = time.Minute
	h  = time.Hour
	// stillOpen as the end of a span leaves it open.
	stillOpen = time.Duration(-1)
)

func newStory() *story {
	st := &story{start: time.Date(2026, 9, 20, 12, 0, 0, 0, time.UTC)}
	st.session = &projection.Session{
		ID: "0198f2c4-1111-7abc-8def-0123456789ab", Root: "0198f2c4-1111-7abc-8def-0123456789ab",
		Harness: "pi", Version: "0.19.8", Format: "agentsession", CWD: "/home/ada/src/engine", Created: st.start,
	}
	sum := sha256.Sum256([]byte(st.session.Root))
	st.session.TraceID = trace.TraceID(sum[:16])
	return st
}

// collector returns a collector that has been given the spans.
func (st *story) collector() *Collector {
	c := &Collector{}
	for _, sp := range st.made {
		c.Start(sp)
		if !sp.End.IsZero() {
			c.End(sp)
		}
	}
	return c
}

// spans are those that a picture would be drawn of.
func (st *story) spans() []*span { return st.collector().spans }

func (st *story) Draw(w io.Writer, o Options) error {
	return st.collector().Draw(context.Background(), w, o)
}

// sub changes to another session of the same trace; back changes back.
func (st *story) sub(id string) (back func()) {
	before := st.session
	other := *before
	other.ID = id
	st.session = &other
	return func() { st.session = before }
}

func (st *story) add(t projection.Type, name string, parent *projection.Span, from, to time.Duration,
	attrs ...attribute.KeyValue,
) *projection.Span {
	sp := &projection.Span{
		TraceID: st.session.TraceID, SpanID: spanID(st.seq), Type: t, Name: name, Session: st.session, Seq: st.seq,
		Start: st.start.Add(from), Attributes: attrs,
	}
	st.seq++
	if parent != nil {
		sp.Parent = parent.SpanID
	}
	for _, a := range attrs {
		if a.Key == names.ErrorType {
			sp.Status = projection.Status{Code: codes.Error}
		}
	}
	if to != stillOpen {
		sp.End = st.start.Add(to)
	}
	st.made = append(st.made, sp)
	return sp
}

func spanID(n uint32) (id trace.SpanID) {
	sum := sha256.Sum256([]byte(fmt.Sprint("span", n)))
	copy(id[:], sum[:])
	return id
}

func (st *story) root(attrs ...attribute.KeyValue) *projection.Span {
	return st.add(projection.TypeSession, "agentsession.session", nil, 0, time.Microsecond, attrs...)
}

func (st *story) run(parent *projection.Span, from, to time.Duration, attrs ...attribute.KeyValue) *projection.Span {
	return st.add(projection.TypeRun, "invoke_agent pi", parent, from, to, attrs...)
}

func (st *story) chat(parent *projection.Span, model string, from, to time.Duration, in, out int64,
	attrs ...attribute.KeyValue,
) *projection.Span {
	attrs = append([]attribute.KeyValue{
		names.RequestModel.String(model), names.InputTokens.Int64(in),
		names.CacheReadTokens.Int64(in * 4 / 5), names.OutputTokens.Int64(out), names.Timing.String("measured"),
	}, attrs...)
	return st.add(projection.TypeChat, "chat "+model, parent, from, to, attrs...)
}

func (st *story) tool(parent *projection.Span, name string, from, to time.Duration,
	attrs ...attribute.KeyValue,
) *projection.Span {
	attrs = append([]attribute.KeyValue{names.Timing.String("measured")}, attrs...)
	return st.add(projection.TypeTool, "execute_tool "+name, parent, from, to, attrs...)
}

func (st *story) approval(parent *projection.Span, tool string, from, to time.Duration,
	attrs ...attribute.KeyValue,
) *projection.Span {
	attrs = append([]attribute.KeyValue{names.ApprovalTool.String(tool)}, attrs...)
	return st.add(projection.TypeApproval, "agentsession.approval", parent, from, to, attrs...)
}

func link(from, to *projection.Span, kind string) {
	from.Links = append(from.Links, projection.Link{
		TraceID: to.TraceID, SpanID: to.SpanID,
		Attributes: []attribute.KeyValue{names.Link.String(kind)},
	})
}

func state(s string) attribute.KeyValue   { return names.CallState.String(s) }
func reason(s string) attribute.KeyValue  { return names.RunReason.String(s) }
func failure(s string) attribute.KeyValue { return names.ErrorType.String(s) }
func cost(v float64) attribute.KeyValue   { return names.Cost.Float64(v) }

// stories are the traces of the golden files.
var stories = map[string]func() *story{
	"simple":      simple,
	"parallel":    parallel,
	"idle":        idle,
	"open":        open,
	"errors":      failures,
	"subsessions": subsessions,
	"hostile":     hostile,
	"wide-runes":  wideRunes,
	"branches":    branches,
	"instant":     instant,
	"marks":       marks,
	"moments":     moments,
	"adjusted":    adjusted,
	"many-folds":  manyFolds,
	"hundreds":    hundreds,
	"one-run":     oneRun,
	"lower-bound": lowerBound,
	"orphans":     orphans,
	"run-traces":  runTraces,
	"empty":       newStory,
}

func simple() *story {
	st := newStory()
	root := st.root(names.SessionName.String("Fix the flaky build"))
	run := st.run(root, 200*ms, 21400*ms, reason("done"), names.InputTokens.Int64(39100), names.OutputTokens.Int64(1021))
	c := st.chat(run, "gpt-5", 300*ms, 3700*ms, 12300, 456, cost(0.0214))
	t := st.tool(run, "bash", 3750*ms, 9900*ms, state("completed"))
	link(t, c, "produced_by")
	st.chat(run, "gpt-5", 9950*ms, 12100*ms, 13000, 210, cost(0.0102))
	st.tool(run, "edit", 12150*ms, 12180*ms, state("completed"))
	st.chat(run, "gpt-5", 12200*ms, 21400*ms, 13800, 355, cost(0.0131))
	return st
}

func parallel() *story {
	st := newStory()
	root := st.root()
	run := st.run(root, 0, 32*s, reason("done"))
	st.chat(run, "claude-opus-4-5", 0, 4*s, 48200, 812, names.Timing.String("bounded"))
	for i, name := range []string{"read", "read", "grep", "bash"} {
		st.tool(run, name, 4*s+time.Duration(i)*20*ms, 5*s+time.Duration(i*i)*2*s, state("completed"),
			names.Timing.String("bounded"))
	}
	st.chat(run, "claude-opus-4-5", 23*s, 32*s, 51400, 1204, names.Timing.String("bounded"))
	return st
}

func idle() *story {
	st := newStory()
	root := st.root(names.SessionName.String("Nightly clean-up"))
	r1 := st.run(root, 3*s, 15*s, reason("input_required"))
	st.chat(r1, "gpt-5", 3*s, 8*s, 5050, 320)
	st.tool(r1, "bash", 11*s, 12*s, state("completed"))
	st.tool(r1, "bash", 13*s, 14*s, state("rejected"))
	st.approval(root, "bash", 9*s, 13*h+42*m+16*s)
	r2 := st.run(root, 13*h+42*m+16*s, 13*h+42*m+51*s, reason("done"))
	st.tool(r2, "bash", 13*h+42*m+17*s, 13*h+42*m+29*s, state("completed"),
		names.ApprovalWait.Int64((13*h + 42*m + 7*s).Milliseconds()))
	st.chat(r2, "gpt-5", 13*h+42*m+29*s, 13*h+42*m+50*s, 6100, 240)
	r3 := st.run(root, 14*h, 14*h+5*s, reason("done"))
	st.chat(r3, "gpt-5-mini", 14*h, 14*h+5*s, 400, 20)
	return st
}

func open() *story {
	st := newStory()
	root := st.root()
	run := st.run(root, 1*s, stillOpen)
	st.chat(run, "gpt-5", 1*s, 6*s, 22100, 640)
	st.tool(run, "read", 6*s, 6100*ms, state("completed"))
	st.tool(run, "bash", 6100*ms, stillOpen)
	st.approval(root, "deploy", 6200*ms, stillOpen)
	st.tool(run, "deploy", 6200*ms, 6200*ms, state("held"))
	st.add(projection.TypeEvent, "agentsession.env", root, 18*s, 18*s+time.Microsecond)
	return st
}

func failures() *story {
	st := newStory()
	root := st.root()
	r1 := st.run(root, 0, 9*s, reason("error"), failure("rate_limit"))
	st.chat(r1, "claude-sonnet-4-5", 0, 2*s, 9000, 120)
	st.tool(r1, "bash", 2*s, 5*s, state("completed"), failure("tool_error"))
	st.tool(r1, "fetch", 5*s, 9*s, state("in_flight"), failure("in_flight"))
	st.tool(r1, "notify", 5*s, 5*s, state("never_started"))
	st.chat(r1, "claude-sonnet-4-5", 5*s, 9*s, 0, 0, failure("rate_limit"))
	r2 := st.run(root, 11*s, 14*s, reason("aborted"), failure("aborted"))
	st.chat(r2, "claude-sonnet-4-5", 11*s, 14*s, 9100, 77, names.Timing.String("inferred"))
	r3 := st.run(root, 20*s, 22*s, reason("interrupted"), names.RunInferred.Bool(true))
	st.tool(r3, "bash", 20*s, 22*s, state("answered"))
	st.run(root, 23*s, 24*s, reason("cut_off"), failure("cut_off"))
	return st
}

func subsessions() *story {
	st := newStory()
	root := st.root(names.SessionName.String("Port the parser to Go"))
	run := st.run(root, 0, 4*m+10*s, reason("done"), names.InputTokens.Int64(61000), names.OutputTokens.Int64(2100))
	st.chat(run, "claude-opus-4-5", 0, 12*s, 31000, 900)
	t1 := st.tool(run, "task", 12*s, 3*m+2*s, state("completed"), names.Subsession.String("agent-explore-7f"))
	t2 := st.tool(run, "task", 12*s, 1*m, state("completed"), names.Subsession.String("agent-elsewhere"))
	_ = t2
	st.chat(run, "claude-opus-4-5", 3*m+3*s, 4*m+10*s, 30000, 1200)
	back := st.sub("agent-explore-7f")
	sub := st.add(projection.TypeSession, "agentsession.session", t1, 12*s, 12*s+time.Microsecond)
	subRun := st.add(projection.TypeRun, "invoke_agent Explore", sub, 12*s, 3*m+1*s, reason("done"))
	st.chat(subRun, "claude-haiku-4-5", 12*s, 31*s, 8000, 300)
	t3 := st.tool(subRun, "task", 31*s, 2*m+40*s, state("completed"), names.Subsession.String("agent-deep-22"))
	st.chat(subRun, "claude-haiku-4-5", 2*m+41*s, 3*m+1*s, 9000, 410)
	st.sub("agent-deep-22")
	deep := st.add(projection.TypeSession, "agentsession.session", t3, 32*s, 32*s+time.Microsecond,
		names.SessionName.String("Read the grammar"))
	deepRun := st.add(projection.TypeRun, "invoke_agent Reader", deep, 32*s, 2*m+39*s, reason("done"))
	st.chat(deepRun, "claude-haiku-4-5", 32*s, 50*s, 4000, 220)
	st.tool(deepRun, "read", 50*s, 50200*ms, state("completed"))
	st.chat(deepRun, "claude-haiku-4-5", 51*s, 2*m+39*s, 6200, 1900)
	back()
	return st
}

func hostile() *story {
	st := newStory()
	st.session.CWD = "/srv/\x1b]0;title\x07/\u202egnp.exe"
	st.session.Harness = "pi\r\n\x1b[2J"
	root := st.root(names.SessionName.String("\x1b[31mred\x1b[0m\tname\nsecond line\u2028third"))
	run := st.add(projection.TypeRun, "invoke_agent \x9b31m\u0085evil", root, 0, 5*s, reason("do\x1bne"))
	st.chat(run, "gpt\u200b-\u2060five\ufeff", 0, 1*s, 10, 1)
	st.tool(run, "ba\x00sh\x7f\x08\x08", 1*s, 2*s, state("\u2066held\u2069"))
	st.tool(run, "bad\xff\xfe\xc3(utf8", 2*s, 3*s, failure("\x1b]8;;http://evil\x1b\\click"))
	st.tool(run, "tags\U000E0041\U000E0042 and\u3164filler", 3*s, 4*s, names.Subsession.String("\u202eabc"))
	st.tool(run, "zalgo"+"\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308", 4*s, 5*s)
	st.add("unheard\x1bof", "", run, 4*s, 5*s)
	return st
}

func wideRunes() *story {
	st := newStory()
	st.session.CWD = "/home/ada/プロジェクト/エンジン"
	root := st.root(names.SessionName.String("修正する 🛠️ 不安定なビルド"))
	run := st.add(projection.TypeRun, "invoke_agent 助手", root, 0, 9*s, reason("done"))
	st.chat(run, "qwen-通义千问", 0, 3*s, 1200, 80)
	st.tool(run, "検索ツール", 3*s, 4*s, state("held"))
	st.tool(run, "👩‍💻 emoji 🇩🇪", 4*s, 6*s)
	st.tool(run, "e\u0301te\u0301 mañana می\u200cخواهم", 6*s, 7*s, failure("エラー"))
	st.tool(run, "とても長い名前のツールはここで切られるはずですがどこで切れるのでしょうか見てみましょう", 7*s, 9*s)
	return st
}

func branches() *story {
	st := newStory()
	root := st.root()
	r1 := st.run(root, 0, 20*s, reason("cut_off"))
	c1 := st.chat(r1, "gpt-5", 0, 6*s, 4000, 300)
	t1 := st.tool(r1, "deploy", 6*s, 12*s, state("in_flight"), failure("in_flight"))
	t2 := st.tool(r1, "deploy", 12*s, 20*s, state("completed"))
	link(t2, t1, "dispatched_again")
	r2 := st.run(root, 30*s, 41*s, reason("done"))
	link(r2, c1, "branch")
	st.chat(r2, "gpt-5", 30*s, 34*s, 4200, 150)
	b := st.add(projection.TypeBranch, "agentsession.branch", r2, 34*s, 34*s+time.Microsecond)
	link(b, t2, "branch_from")
	st.chat(r2, "gpt-5", 35*s, 39*s, 60000, 900, names.ChatPurpose.String("compaction"))
	st.add(projection.TypeCompaction, "agentsession.compaction", r2, 39*s, 39*s+time.Microsecond)
	t3 := st.tool(r2, "notify", 40*s, 41*s, state("answered"))
	link(t3, st.tool(r2, "elsewhere", 41*s, 41*s), "follows_hand_off")
	r3 := st.run(root, 45*s, 46*s, reason("done"))
	link(r3, r1, "previous_segment")
	return st
}

func instant() *story {
	st := newStory()
	root := st.root()
	run := st.run(root, 0, 0)
	st.chat(run, "gpt-5", 0, 0, 100, 10)
	st.tool(run, "bash", 0, 0)
	return st
}

// moments has spans without duration only, at different times.
func moments() *story {
	st := newStory()
	root := st.root()
	for _, at := range []time.Duration{0, 1 * s, 2 * s, 90 * s, 3 * h, 3*h + 1*s} {
		run := st.run(root, at, at)
		st.chat(run, "gpt-5", at, at, 100, 10)
	}
	st.add(projection.TypeEvent, "agentsession.outcome", root, 3*h+1*s, 3*h+1*s+time.Microsecond)
	return st
}

// marks has events that say what they are about, model calls that did not complete, and one of which only the moment is known.
func marks() *story {
	st := newStory()
	root := st.root()
	event := func(name string, at time.Duration, attrs ...attribute.KeyValue) {
		st.add(projection.TypeEvent, "agentsession."+name, root, at, at+time.Microsecond, attrs...)
	}
	event("tools", 0, names.ToolsAdded.StringSlice([]string{"read", "bash"}), names.ToolsRemoved.StringSlice([]string{"edit"}))
	event("tools", 0, names.ToolsActive.StringSlice([]string{"read", "write"}))
	event("model", 0, names.ModelID.String("gpt-5"))
	run := st.run(root, 1*s, 9*s, reason("interrupted"))
	st.chat(run, "gpt-5", 1*s, 2*s, 100, 10, failure("_OTHER"))
	st.chat(run, "gpt-5", 2*s, 5*s, 100, 8192, names.ChatIncomplete.String("max_output_tokens"))
	st.chat(run, "gpt-5", 6*s, 9*s, 100, 10, names.ChatIncomplete.String("aborted"))
	event("shell", 10*s, names.ShellExitCode.Int64(0))
	event("shell", 11*s, names.ShellCanceled.Bool(true))
	event("input", 12*s, names.InputTriggerSource.String("watcher"))
	event("info", 13*s, names.SessionName.String("The upload"))
	event("label", 13*s, names.LabelText.String("here"))
	event("label", 14*s)
	event("context_edit", 14*s, names.EditAction.String("omit"))
	st.chat(root, "gpt-5", 5*m, 5*m+time.Microsecond, 100, 1, names.ChatPurpose.String("other"),
		names.ChatKind.String("cache_warm"), names.Timing.String("inferred"))
	return st
}

func adjusted() *story {
	st := newStory()
	root := st.root()
	run := st.run(root, 2*s, 8*s, reason("done"), names.ClockAdjusted.Bool(true))
	st.chat(run, "gpt-5", 2*s, 5*s, 100, 10, names.ClockAdjusted.Bool(true))
	st.tool(run, "bash", 6*s, 5*s, state("completed")) // ends before it starts: the projector clamps, and so does the picture
	st.add(projection.TypeEvent, "agentsession.env", root, 3*s, 3*s+time.Microsecond, names.ParentLost.Bool(true))
	return st
}

func manyFolds() *story {
	st := newStory()
	root := st.root()
	for i := range 60 {
		at := time.Duration(i) * 3 * h
		run := st.run(root, at, at+20*s, reason("done"))
		st.chat(run, "gpt-5", at, at+20*s, 100, 10)
	}
	return st
}

func hundreds() *story {
	st := newStory()
	root := st.root()
	at := time.Duration(0)
	tools := []string{"read", "grep", "bash", "edit", "write"}
	for i := range 30 {
		from := at
		run := st.run(root, from, from+60*s, reason("done"))
		for j := range 6 {
			st.chat(run, "gpt-5", at, at+4*s, int64(1000*(i+1)+100*j), int64(10+7*j))
			at += 4 * s
			st.tool(run, tools[(i+j)%len(tools)], at, at+time.Duration(1+(i*j)%5)*s, state("completed"))
			at += 6 * s
		}
		at += time.Duration(i%7) * 10 * s
	}
	return st
}

// oneRun has more in its second run than fits anywhere.
func oneRun() *story {
	st := newStory()
	root := st.root()
	st.chat(st.run(root, 0, 5*s, reason("done")), "gpt-5", 0, 5*s, 100, 10)
	run := st.run(root, 10*s, 110*s, reason("done"))
	for i := range 50 {
		at := 10*s + time.Duration(i)*2*s
		st.chat(run, "gpt-5", at, at+s, 100, 10)
		failed := []attribute.KeyValue{state("completed")}
		if i == 20 {
			failed = append(failed, failure("tool_error"))
		}
		st.tool(run, "bash", at+s, at+2*s, failed...)
	}
	return st
}

// lowerBound has a run that used more than its chats say.
func lowerBound() *story {
	st := newStory()
	root := st.root()
	run := st.run(root, 0, 9*s, reason("done"), names.InputTokens.Int64(100), names.OutputTokens.Int64(10), names.LowerBound.Bool(true))
	st.chat(run, "gpt-5", 0, 4*s, 100, 10, cost(0.5))
	st.add(projection.TypeChat, "chat gpt-5", run, 4*s, 9*s, names.RequestModel.String("gpt-5"))
	return st
}

// orphans lack their parents, or have them in a circle.
func orphans() *story {
	st := newStory()
	st.session.Root = "the-session-above"
	far := &projection.Span{SpanID: spanID(9999)}
	root := st.add(projection.TypeSession, "agentsession.session", far, 0, time.Microsecond)
	st.run(root, 0, 2*s)
	st.run(far, 2*s, 3*s)
	a := st.tool(nil, "a", 3*s, 4*s)
	b := st.tool(a, "b", 3*s, 4*s)
	a.Parent = b.SpanID
	self := st.tool(nil, "self", 4*s, 5*s)
	self.Parent = self.SpanID
	return st
}

// runTraces has a trace for each run.
func runTraces() *story {
	st := newStory()
	st.root()
	for i := range 2 {
		at := time.Duration(i) * m
		ses := *st.session
		ses.TraceID[0] ^= byte(i + 1)
		back := st.sub(ses.ID)
		st.session.TraceID = ses.TraceID
		run := st.run(nil, at, at+9*s, reason("done"))
		st.chat(run, "gpt-5", at, at+9*s, 100, 10)
		back()
	}
	return st
}
