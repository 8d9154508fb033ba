package source

import (
	"slices"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// claudeMessage is a message of the model of which no line has told that it is complete: each of its blocks is a line of its own, and only the
// last of them, or none, has the tokens that it took.
type claudeMessage struct {
	number int32
	id     string
	ref    string // by which its pieces know it
	chain  int32
	input  int64 // when it could be asked for
	last   activity.Event
	run    int32
	place  int32
	lines  int
	calls  int

	model    string
	stop     string // why it ended; "" when no line says
	grew     bool   // the count of its output has grown
	usage    activity.Usage
	extras   []activity.Attribute
	retries  int64
	textLast bool
	goesOn   bool // what comes next on the path is no new prompt
	held     []claudeHeld
}

// claudeHeld is what is said of the result of a call before it is known which message asked for it in full.
type claudeHeld struct {
	event activity.Event
	facts []activity.Fact
}

// claudeIdle is how long a message may be left alone on a path that nobody goes on with, until it is taken to be complete: no request
// takes longer by default.
const claudeIdle = 10 * time.Minute

// enters completes the messages of which an entry shows that they are.
func (d *claudeSession) enters(e *claudeLine, kind claudeInput, n, up int32) {
	p := &d.place[n]
	id := ""
	shows := false  // that the message before it on the path is complete
	all := false    // and so are those on other paths
	goesOn := false // and the run does
	switch e.typ {
	case "user":
		all = kind == claudePrompt || kind == claudeCommand
		shows = kind == claudeInterruption || kind == claudeSummary
		goesOn = shows
	case "assistant":
		id, shows, goesOn = textOf(e.message, "id"), true, true
	case "system":
		switch e.text("subtype") {
		case "compact_boundary", "api_error":
			shows, goesOn = true, true
		case "turn_duration", "stop_hook_summary":
			shows = true
		}
	}
	for i, open := 0, &d.chains[p.chain].open; i < len(*open); {
		m := (*open)[i]
		onPath := m.number == d.place[up].msg
		switch {
		case !all && onPath && (!shows || id != "" && id == m.id),
			!all && !onPath && (e.time.IsZero() || e.time.Sub(m.last.Time) < claudeIdle || id != "" && id == m.id):
			i++
		default:
			m.goesOn = onPath && goesOn
			d.settle(m) // which takes it out of the list
		}
	}
}

// assistant takes a line of the model, or one that Claude Code wrote in its place.
func (d *claudeSession) assistant(e *claudeLine, n int32) {
	p := &d.place[n]
	model := textOf(e.message, "model")
	if e.apiError || model == "<synthetic>" {
		d.synthetic(e, p)
		return
	}
	id := textOf(e.message, "id")
	ref := id
	if id == "" {
		ref = e.uuid
	}
	d.answers(e, p)
	if len(d.launched) > 0 && !e.time.IsZero() {
		d.lookForLaunched(e.time)
	}
	c := d.chains[p.chain]
	m := c.openMessage(id)
	if _, over := d.over[d.hash(id)]; over && id != "" && m == nil {
		d.pieces(e, nil, ref, n) // it comes too late to be counted; what it says of tokens was there before
		p.said++
		return
	}
	if m == nil {
		m = &claudeMessage{
			number: d.place[0].msg + 1, id: id, ref: ref, chain: p.chain, input: p.input, retries: c.retries,
		}
		c.retries = 0
		d.place[0].msg++ // counts the messages; no path has that place
		c.open = append(c.open, m)
		d.open[m] = struct{}{}
	}
	p.msg = m.number
	p.hears(e.time, false) // what comes next on the path cannot be asked for before this
	p.said++
	d.pieces(e, m, ref, n)
	d.took(e, m, model)
	m.place, m.run = n, p.run
	m.last = d.event
	m.last.Fact = nil
	d.event.Part += 2 // the response, and the end of the run, are parts of this entry, unless a later line is one of the message
	switch {
	case id == "", m.stop != "" && m.stop != "tool_use" && m.textLast:
		d.settle(m)
	}
}

// openMessage is the message of an id that is not known to be complete; nil for none.
func (c *claudeChain) openMessage(id string) *claudeMessage {
	for _, m := range c.open {
		if m.id == id && id != "" {
			return m
		}
	}
	return nil
}

// pieces says what a line of a message holds.
func (d *claudeSession) pieces(e *claudeLine, m *claudeMessage, ref string, n int32) {
	text := false
	piece := func(members []jsonscan.Member) {
		typ := textOf(members, "type")
		text = typ == "text"
		switch {
		case typ == "tool_use", strings.HasSuffix(typ, "_tool_use"):
			d.call(members, m, ref, n, typ)
		case strings.HasSuffix(typ, "_tool_result"):
			d.ownResult(members, m)
		case typ == "thinking", typ == "redacted_thinking":
			d.say(&activity.Output{ResponseID: ref, Reasoning: true})
		default:
			d.say(&activity.Output{ResponseID: ref})
		}
	}
	if jsonscan.Kind(e.content) == '"' {
		text = true
		d.say(&activity.Output{ResponseID: ref})
	}
	for members := range e.blocks() {
		piece(members)
	}
	if m != nil {
		m.textLast = text
	}
	if d.event.Part == 0 {
		d.say(nil)
	}
}

// took takes what a line says the message took. The line with the most output is the one that counts, the last of several with as much.
func (d *claudeSession) took(e *claudeLine, m *claudeMessage, model string) {
	if stop := textOf(e.message, "stop_reason"); stop != "" {
		m.stop = stop
	}
	m.lines++
	u, extras := claudeUsage(objectIn(&d.part, memberOf(e.message, "usage")))
	output := func(u activity.Usage) int64 {
		if u.Output == nil {
			return -1
		}
		return *u.Output
	}
	if m.lines > 1 && output(u) < output(m.usage) {
		return
	}
	m.grew = m.grew || m.lines > 1 && output(u) > output(m.usage) && output(m.usage) >= 0
	m.usage, m.model = u, model
	m.extras = extras
	if id := e.text("requestId"); id != "" {
		m.extras = append(m.extras, activity.Attribute{Name: "chat.request_id", Value: id})
	}
}

// claudeUsage reads what a message took (native formats 1.4). Four counts add up to all of it.
func claudeUsage(members []jsonscan.Member) (activity.Usage, []activity.Attribute) {
	u := activity.Usage{
		CacheRead: countOf(members, "cache_read_input_tokens"), CacheCreation: countOf(members, "cache_creation_input_tokens"),
		Output: countOf(members, "output_tokens"),
	}
	if in := countOf(members, "input_tokens"); in != nil {
		for _, part := range []*int64{u.CacheRead, u.CacheCreation} {
			if part != nil {
				*in = addCounts(*in, *part)
			}
		}
		u.Input = in
	}
	var extras []activity.Attribute
	for _, name := range []string{"service_tier", "speed", "inference_geo"} {
		if v := textOf(members, name); v != "" && v != "not_available" {
			extras = append(extras, activity.Attribute{Name: "chat." + name, Value: v})
		}
	}
	var s jsonscan.Scanner
	for _, m := range objectIn(&s, memberOf(members, "server_tool_use")) {
		if n, ok := jsonscan.Int64(m.Value); ok && n > 0 && len(extras) < 16 {
			extras = append(extras, activity.Attribute{Name: "chat.server_tools." + string(m.Name), Value: n})
		}
	}
	return u, extras
}

// settle says that a message is complete.
func (d *claudeSession) settle(m *claudeMessage) {
	c := d.chains[m.chain]
	c.open = slices.DeleteFunc(c.open, func(o *claudeMessage) bool { return o == m })
	delete(d.open, m)
	if m.id != "" {
		d.over[d.hash(m.id)] = struct{}{}
	}
	r := &activity.Response{
		ID: m.id, Ref: m.ref, Model: m.model, Provider: claudeProvider(m.id), Usage: m.usage, Timing: activity.Bounded, End: m.last.Time,
		Attributes: m.extras,
	}
	if m.input != 0 {
		r.Start = time.Unix(0, m.input)
	} else {
		r.Timing = activity.Inferred
	}
	if m.retries > 0 {
		r.Attempts = m.retries + 1
	}
	if m.stop == "" && !m.grew && r.Usage.Output != nil {
		r.Usage.LowerBound = true // what there is may be what the first block had
	}
	r.FinishReasons = claudeFinish(m.stop)
	switch m.stop {
	case "max_tokens", "refusal", "pause_turn", "model_context_window_exceeded":
		r.Incomplete = m.stop
	}
	ev := m.last
	ev.Fact = r
	d.emit(&ev)
	for i := range m.held {
		h := &m.held[i]
		for _, f := range h.facts {
			h.event.Fact = f
			d.emit(&h.event)
			h.event.Part++
		}
	}
	if m.goesOn || m.calls > 0 || m.stop == "tool_use" || m.stop == "pause_turn" {
		return
	}
	ev.Part++
	d.answered(m, ev)
}

// claudeFinish says why a message ended in the words of the conventions, else in its own.
func claudeFinish(stop string) []string {
	switch stop {
	case "":
		return nil
	case "end_turn", "stop_sequence":
		return []string{"stop"}
	case "tool_use":
		return []string{"tool_call"}
	case "max_tokens", "model_context_window_exceeded":
		return []string{"length"}
	case "refusal":
		return []string{"content_filter"}
	}
	return []string{stop}
}

// claudeProvider tells by the id of a message who served the model, where that is not its maker.
func claudeProvider(id string) string {
	switch {
	case strings.HasPrefix(id, "msg_bdrk_"):
		return "aws.bedrock"
	case strings.HasPrefix(id, "msg_vrtx_"):
		return "gcp.vertex_ai"
	}
	return ""
}
