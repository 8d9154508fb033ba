package source

import (
	"strconv"
	"time"

	"github.com/sessionspan/sessionspan/format/pi"
	"github.com/sessionspan/sessionspan/internal/activity"
)

// message takes a message by its role.
func (d *piSession) message(n int32, branch bool, m *pi.Message) {
	switch {
	case m == nil:
		d.say(nil)
	case m.Role == pi.RoleUser:
		d.user(n, branch, m)
	case m.Role == pi.RoleAssistant:
		d.assistant(n, branch, m)
	case m.Role == pi.RoleToolResult:
		d.toolResult(n, m)
	case m.Role == pi.RoleBash:
		d.shell(m)
	case m.Role == pi.RoleSystem:
		d.system(m)
	case m.Role == pi.RoleCustom, m.Role == pi.RoleHook:
		d.customInput(n, m.Text("customType"), m.Time)
	default:
		d.say(nil)
	}
}

// assistant takes a model call.
func (d *piSession) assistant(n int32, branch bool, m *pi.Message) {
	d.answers(n, branch, m)
	p := &d.places[n]
	if level := m.Text("thinkingLevel"); level != "" && d.number(level) != p.level {
		p.level = d.number(level)
		d.say(&activity.Settings{Reasoning: &level})
	}
	model, provider := d.number(m.Text("model")), d.number(m.Text("provider"))
	p.chose = p.chose && model == p.model && provider == p.provider
	p.model, p.provider = model, provider

	var calls []string
	for c := range m.ToolCalls() {
		d.facts.call = activity.Call{ID: c.ID, Name: c.Name, ResponseID: d.event.Key}
		d.say(&d.facts.call)
		calls = append(calls, c.ID)
	}
	stop := m.Text("stopReason")
	r := &d.facts.response
	*r = activity.Response{
		ID: m.Text("responseId"), Ref: d.event.Key, RequestModel: m.Text("model"), Model: m.Text("responseModel"),
		Provider: m.Text("provider"), FinishReasons: finishOf(stop, len(calls)), Start: m.Time, Timing: activity.Bounded,
	}
	if took := m.Duration(); took > 0 && !m.Time.IsZero() {
		r.End, r.Timing = m.Time.Add(took), activity.Measured
	}
	spend(r, m.Usage)
	switch stop {
	case pi.StopError:
		message := m.Text("errorMessage")
		r.Failure = &activity.Failure{Type: statusOf(message), Message: message}
	case pi.StopAborted, pi.StopDeferred, pi.StopLength:
		r.Incomplete = stop
	}
	if api := m.Text("api"); api != "" {
		r.Attributes = append(r.Attributes, activity.Attribute{Name: "chat.api", Value: api})
	}
	d.say(r)
	if stop == pi.StopError || stop == pi.StopAborted {
		for _, id := range calls {
			d.say(&activity.Dropped{CallID: id})
		}
		calls = nil
	}

	p.kind, p.at, p.aborted = piAssistant, d.event.Time.UnixMilli(), stop == pi.StopAborted
	p.asked, p.calls, p.asker = p.at, uint16(min(len(calls), 1<<16-1)), n
	switch {
	case stop == pi.StopError:
		d.holdRun(p, n, r.End, activity.ReasonError, "")
	case stop == pi.StopAborted:
		d.endRun(p, r.End, activity.ReasonInterrupted, stop)
	case stop == pi.StopLength && len(calls) == 0, stop == pi.StopDeferred:
		d.holdRun(p, n, r.End, activity.ReasonStopped, stop)
	case stop != pi.StopToolUse && len(calls) == 0:
		d.endRun(p, time.Time{}, activity.ReasonDone, "")
	}
}

// finishOf says why a message ended in the words of the conventions, else in its own.
func finishOf(stop string, calls int) []string {
	switch {
	case stop == pi.StopToolUse:
		return []string{"tool_call"}
	case stop == "" && calls > 0:
		return nil
	case stop == "":
		return []string{pi.StopDone}
	}
	return []string{stop}
}

// statusOf is the type of an error: the status of HTTP that a provider's message begins with.
func statusOf(message string) string {
	if len(message) < 3 || len(message) > 3 && message[3]-'0' <= 9 {
		return ""
	}
	if n, err := strconv.Atoi(message[:3]); err != nil || n < 400 || n > 599 {
		return ""
	}
	return message[:3]
}

// spend adds what a model call used to it, as far as the file says.
func spend(r *activity.Response, usage func() (pi.Usage, bool)) {
	u, ok := usage()
	if !ok {
		return
	}
	prompt := u.Prompt()
	r.Usage = activity.Usage{
		Input: &prompt, Output: &u.Output, CacheRead: &u.CacheRead, CacheCreation: &u.CacheWrite,
	}
	if u.HasReasoning {
		r.Usage.Reasoning = &u.Reasoning
	}
	if u.HasCost {
		r.Cost = &u.Cost
	}
}

func nestedAttributes(n pi.NestedCalls) []activity.Attribute {
	list := []activity.Attribute{
		{Name: "tool.nested.calls", Value: int64(len(n.Names))}, {Name: "tool.nested.names", Value: n.Names},
	}
	if n.Failed > 0 {
		list = append(list, activity.Attribute{Name: "tool.nested.failed", Value: int64(n.Failed)})
	}
	if n.Unended > 0 {
		list = append(list, activity.Attribute{Name: "tool.nested.unended", Value: int64(n.Unended)})
	}
	return list
}

// shell takes a command that a person typed. Only its end is known.
func (d *piSession) shell(m *pi.Message) {
	note := &activity.Note{What: "shell"}
	if code, ok := m.Count("exitCode"); ok {
		note.Attributes = append(note.Attributes, activity.Attribute{Name: "shell.exit_code", Value: code})
	}
	for _, flag := range []struct{ member, name string }{
		{"cancelled", "shell.cancelled"}, {"truncated", "shell.truncated"}, {"excludeFromContext", "shell.excluded"},
	} {
		if m.Flag(flag.member) {
			note.Attributes = append(note.Attributes, activity.Attribute{Name: flag.name, Value: true})
		}
	}
	d.sayAt(m.Time, note)
}

// system takes a change of the system prompt and of the tools.
func (d *piSession) system(m *pi.Message) {
	d.facts.input = activity.Input{Role: "system"}
	d.say(&d.facts.input)
	note := &activity.Note{What: "tools"}
	if list := m.Names("toolsAdded"); len(list) > 0 {
		note.Attributes = append(note.Attributes, activity.Attribute{Name: "tools.added", Value: list})
	}
	if list := m.Names("toolsRemoved"); len(list) > 0 {
		note.Attributes = append(note.Attributes, activity.Attribute{Name: "tools.removed", Value: list})
	}
	if len(note.Attributes) > 0 {
		d.say(note)
	}
}

// customInput takes a message of an extension. In a run that goes on it is an input to it; else it starts one, if the model
// answers.
func (d *piSession) customInput(n int32, typ string, at time.Time) {
	p := &d.places[n]
	d.facts.input = activity.Input{Role: "user"}
	d.say(&d.facts.input)
	d.say(&activity.Arrival{Trigger: activity.Trigger{Kind: pi.TypeCustomMessage, Source: typ}})
	if p.state == piOver {
		if at.IsZero() {
			at = d.event.Time
		}
		d.custom[n] = piCustom{key: d.event.Key, typ: typ, time: at}
		p.input = n
	}
	p.kind, p.at = piCustomInput, d.event.Time.UnixMilli()
}
