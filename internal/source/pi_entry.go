package source

import (
	"strconv"
	"time"

	"github.com/sessionspan/sessionspan/format/pi"
	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// entry says what an entry means, by its type.
func (d *piSession) entry(e *pi.Entry) {
	n, branch, fresh := d.enter(e)
	if !fresh {
		d.say(nil) // the one that comes again is left out, and reported
		return
	}
	switch e.Type {
	case pi.TypeMessage:
		d.message(n, branch, e.Message())
	case pi.TypeModelChange:
		d.modelChange(n, e)
	case pi.TypeThinkingLevelChange:
		d.levelChange(n, e)
	case pi.TypeActiveToolsChange:
		d.note("tools", activity.Attribute{Name: "tools.active", Value: e.Texts("activeToolNames")})
	case pi.TypeUsage:
		d.usage(e)
	case pi.TypeCompaction:
		d.compaction(n, e)
	case pi.TypeBranchSummary:
		d.say(&activity.BranchSummary{From: e.Text("fromId"), Call: d.summaryCall(n, "branch_summary", e)})
	case pi.TypeCustomMessage:
		d.customInput(n, e.Text("customType"), time.Time{})
	case pi.TypeContextEdit:
		d.contextEdit(e)
	case pi.TypeLabel:
		d.about("label", e, activity.Attribute{Name: "label.text", Value: e.Text("label")})
	case pi.TypeSessionInfo:
		d.say(&activity.Name{Name: e.Text("name")})
	case pi.TypeLeaf:
		d.say(&activity.Move{Target: e.Text("targetId")})
		d.about("leaf", e)
	default:
		d.say(nil)
	}
}

func (d *piSession) note(what string, attributes ...activity.Attribute) {
	d.say(&activity.Note{What: what, Attributes: attributes})
}

// about notes something about another entry.
func (d *piSession) about(what string, e *pi.Entry, attributes ...activity.Attribute) {
	target := e.Text("targetId")
	attributes = append([]activity.Attribute{{Name: what + ".target", Value: target}}, attributes...)
	d.say(&activity.Note{What: what, Target: target, Attributes: attributes})
}

// modelChange takes the choice of a model. The agents write one as well where it is in force already, which changes nothing.
func (d *piSession) modelChange(n int32, e *pi.Entry) {
	p := &d.places[n]
	provider, model := e.Text("provider"), e.Text("modelId")
	before := *p
	p.provider, p.model, p.chose = d.number(provider), d.number(model), true
	if *p == before {
		d.say(nil)
		return
	}
	d.say(&activity.Settings{Provider: provider, Model: model})
	d.note("model", activity.Attribute{Name: "model.provider", Value: provider}, activity.Attribute{Name: "model.id", Value: model})
}

// levelChange takes the choice of a thinking level, as modelChange does.
func (d *piSession) levelChange(n int32, e *pi.Entry) {
	p := &d.places[n]
	level := e.Text("thinkingLevel")
	if p.level == d.number(level) {
		d.say(nil)
		return
	}
	p.level = d.number(level)
	d.say(&activity.Settings{Reasoning: &level})
	d.note("thinking", activity.Attribute{Name: "thinking.level", Value: level})
}

// usage takes a model call that is no message: nothing is known of when it began.
func (d *piSession) usage(e *pi.Entry) {
	call := &activity.Response{
		Purpose: "other", RequestModel: e.Text("model"), Provider: e.Text("provider"), Start: e.Time, Timing: activity.Inferred,
		Attributes: []activity.Attribute{{Name: "chat.kind", Value: e.Text("kind")}},
	}
	spend(call, e.Usage)
	d.say(call)
}

func (d *piSession) compaction(n int32, e *pi.Entry) {
	c := &activity.Compaction{FirstKept: e.Text("firstKeptEntryId"), Call: d.summaryCall(n, "compaction", e)}
	if at, ok := jsonscan.Int64(e.Raw("firstKeptEntryIndex")); ok && d.header.Version == 1 {
		c.FirstKept = strconv.FormatInt(at, 10)
	}
	if tokens, ok := e.Count("tokensBefore"); ok {
		c.TokensBefore = &tokens
	}
	d.say(c)
}

// summaryCall is the model call behind a summary, if the file says what it used. When it began is not known, but that it
// was after the entry before it; nor which model it was, for which that of the path is taken.
func (d *piSession) summaryCall(n int32, purpose string, e *pi.Entry) *activity.Response {
	if _, ok := e.Usage(); !ok {
		return nil
	}
	p := &d.places[n]
	call := &activity.Response{
		Purpose: purpose, RequestModel: d.tag[p.model], Provider: d.tag[p.provider], Start: d.appended, Timing: activity.Bounded,
		Attributes: []activity.Attribute{{Name: "chat.model_inferred", Value: true}},
	}
	spend(call, e.Usage)
	return call
}

// contextEdit takes a change of what later requests are made of.
func (d *piSession) contextEdit(e *pi.Entry) {
	action := "omit"
	if jsonscan.Kind(e.Raw("replacement")) == '{' {
		action = "replace"
	}
	d.about("context_edit", e, activity.Attribute{Name: "context_edit.action", Value: action})
}
