package source

import (
	"strconv"
	"strings"
	"time"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
)

// claudeRun is what the model did for one prompt, or for what else made it go on.
type claudeRun struct {
	id    string
	owner string // the session whose it is, "" for the one at hand
	over  bool
	last  time.Time // of its last entry
}

// claudeAwait is something that begins a run if the model answers it.
type claudeAwait struct {
	key     string
	time    time.Time
	trigger activity.Trigger
	command string // the name of a slash command; "" when it is none
}

// user takes a line of the kind user.
func (d *claudeSession) user(e *claudeLine, kind claudeInput, first []byte, n int32, branch bool) {
	p := &d.place[n]
	p.hears(e.time, kind == claudeResults)
	switch kind {
	case claudeResults:
		d.results(e, n)
	case claudePrompt:
		d.prompt(e, n, branch)
	case claudeCommand:
		d.say(&activity.Input{Role: "user"})
		text, _ := jsonscan.String(first)
		d.await(p, claudeAwait{key: d.originalOf(e), time: e.time, command: tagged(text, "command-name")})
	case claudeLocal:
		if a := d.awaited(p); a != nil && a.command != "" {
			d.say(&activity.Note{What: "command", Attributes: []activity.Attribute{{Name: "command.name", Value: a.command}}})
			p.await = 0
		}
	case claudeShell:
		d.say(&activity.Note{What: "shell"})
		d.await(p, claudeAwait{key: d.originalOf(e), time: e.time, trigger: activity.Trigger{Kind: "shell"}})
	case claudeNotification:
		d.notified(e, first, p)
	case claudeInterruption:
		d.say(nil)
		d.endRun(p, activity.ReasonInterrupted, "", time.Time{})
	case claudeInjected:
		d.say(&activity.Input{Role: "user"})
		if a := d.awaited(p); a != nil && a.command != "" { // it is what the command stands for
			d.newRun(n, *a, branch)
		}
		p.await = 0 // and else what the model answers
	case claudeSummary:
		d.say(&activity.Input{Role: "user"})
	}
}

// hears notes when an input came. Those of a batch of results come in any order.
func (p *claudePlace) hears(at time.Time, result bool) {
	if at.IsZero() {
		return
	}
	t := at.UnixNano()
	if result && p.heard {
		t = max(t, p.input)
	}
	p.input, p.heard = t, result
}

// prompt takes what a person wrote: it starts a run, unless it is the first line of an agent, of which it is the whole task.
func (d *claudeSession) prompt(e *claudeLine, n int32, branch bool) {
	d.say(&activity.Input{Role: "user"})
	d.newRun(n, claudeAwait{key: d.originalOf(e), time: e.time}, branch)
}

// newRun begins a run and a turn, and ends the run that is going on.
func (d *claudeSession) newRun(n int32, a claudeAwait, branch bool) {
	p := &d.place[n]
	if !branch {
		d.endRun(p, activity.ReasonInterrupted, "", d.lastOf(p))
	}
	p.turn, p.await = d.newTurn(), 0
	d.startRun(p, a, "input")
}

// lastOf is when the run of a path had its last entry.
func (d *claudeSession) lastOf(p *claudePlace) time.Time {
	if r := d.runs[p.run]; r != nil {
		return r.last
	}
	return time.Time{}
}

func (d *claudeSession) await(p *claudePlace, a claudeAwait) {
	c := d.chains[p.chain]
	c.awaits = append(c.awaits, a)
	p.await = int32(len(c.awaits) - 1)
}

// awaited is what may begin a run on a path; nil for nothing.
func (d *claudeSession) awaited(p *claudePlace) *claudeAwait {
	if p.await == 0 {
		return nil
	}
	return &d.chains[p.chain].awaits[p.await]
}

func (d *claudeSession) startRun(p *claudePlace, a claudeAwait, source string) {
	d.runs = append(d.runs, &claudeRun{id: a.key, owner: d.event.Owner, last: a.time})
	p.run = int32(len(d.runs) - 1)
	d.sayAt(a.time, &activity.RunStart{
		RunID: a.key, Source: source, Trigger: a.trigger, Agent: d.chains[p.chain].agent, Inferred: true,
	})
}

// endRun ends the run that a path is in, if it goes on; at is zero for the time of the entry at hand.
func (d *claudeSession) endRun(p *claudePlace, reason, cause string, at time.Time) {
	r := d.runs[p.run]
	if r == nil || r.over || r.owner != d.event.Owner {
		return
	}
	r.over = true
	d.sayAt(at, &activity.RunEnd{RunID: r.id, Reason: reason, Cause: cause})
}

// answered ends the run of a message that asks for nothing more: it looks finished. What comes without a prompt opens it again.
func (d *claudeSession) answered(m *claudeMessage, ev activity.Event) {
	r := d.runs[m.run]
	if r == nil || r.over || r.owner != ev.Owner {
		return
	}
	r.over = true
	end := &activity.RunEnd{RunID: r.id, Reason: activity.ReasonDone}
	switch m.stop {
	case "max_tokens", "refusal", "model_context_window_exceeded":
		end.Reason, end.Cause = activity.ReasonStopped, m.stop
	}
	ev.Fact = end
	d.emit(&ev)
}

// answers has a run for a line of the model: the one that goes on, the one that something else than a prompt starts, or one that looked
// finished.
func (d *claudeSession) answers(e *claudeLine, p *claudePlace) {
	r := d.runs[p.run]
	own := r != nil && r.owner == d.event.Owner
	a := d.awaited(p)
	p.await = 0
	at := e.time
	if p.input != 0 {
		at = time.Unix(0, p.input)
	}
	switch {
	case own && !r.over:
	case a != nil:
		p.turn = d.newTurn()
		d.startRun(p, *a, "input")
	case own:
		r.over = false
		d.sayAt(at, &activity.RunStart{RunID: r.id, Agent: d.chains[p.chain].agent, Inferred: true})
	default:
		d.startRun(p, claudeAwait{key: d.originalOf(e), time: at}, "resume")
	}
}

// synthetic takes a line that stands in place of a message of the model: that it could not be asked, or was not.
func (d *claudeSession) synthetic(e *claudeLine, p *claudePlace) {
	if !e.apiError {
		return
	}
	d.chains[p.chain].retries = 0
	status := textOf(e.members, "error")
	if !isWord(status) {
		status = "" // it may be a message, which is for people
	}
	for members := range e.blocks() {
		text := textOf(members, "text")
		if rest, found := strings.CutPrefix(text, "API Error: "); found {
			if code := rest[:min(len(rest), 3)]; isStatus(code) {
				status = code
			}
		}
		break
	}
	note := &activity.Note{What: "api_error"}
	if status != "" {
		note.Attributes = []activity.Attribute{{Name: "api_error.type", Value: status}}
	}
	d.say(note)
	d.endRun(p, activity.ReasonError, status, time.Time{})
}

// isWord reports whether something is a name of an error, and no sentence.
func isWord(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && r != '_' {
			return false
		}
	}
	return len(s) <= 64
}

func isStatus(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 400 && n <= 599
}

// system takes a line of the kind system.
func (d *claudeSession) system(e *claudeLine, n int32) {
	p := &d.place[n]
	note := &activity.Note{}
	number := func(name, member string) {
		if v := countOf(e.members, member); v != nil {
			note.Attributes = append(note.Attributes, activity.Attribute{Name: name, Value: *v})
		}
	}
	switch e.text("subtype") {
	case "compact_boundary":
		meta := objectIn(&d.block, e.raw("compactMetadata"))
		c := &activity.Compaction{TokensBefore: countOf(meta, "preTokens")}
		if trigger := textOf(meta, "trigger"); trigger != "" {
			c.Attributes = []activity.Attribute{{Name: "compaction.trigger", Value: trigger}}
		}
		d.say(c)
	case "turn_duration":
		note.What = "turn"
		if r := d.runs[p.run]; r != nil {
			note.Target = r.id
		}
		number("turn.duration_ms", "durationMs")
		d.say(note)
	case "stop_hook_summary":
		note.What = "hooks"
		number("hooks.count", "hookCount")
		failed := int64(0)
		for range jsonscan.Elements(e.raw("hookErrors")) {
			failed++
		}
		prevented := flagOf(e.members, "preventedContinuation")
		if failed == 0 && !prevented { // there are hooks at every end of a turn
			return
		}
		note.Attributes = append(note.Attributes, activity.Attribute{Name: "hooks.failed", Value: failed})
		if prevented {
			note.Attributes = append(note.Attributes, activity.Attribute{Name: "hooks.prevented", Value: true})
		}
		d.say(note)
	case "api_error":
		note.What = "retry"
		d.chains[p.chain].retries++
		number("retry.attempt", "retryAttempt")
		number("retry.most", "maxRetries")
		if status := countOf(objectIn(&d.block, e.raw("error")), "status"); status != nil {
			note.Attributes = append(note.Attributes, activity.Attribute{Name: "retry.status", Value: *status})
		}
		if wait, ok := jsonscan.Float64(e.raw("retryInMs")); ok && wait >= 0 {
			note.Attributes = append(note.Attributes, activity.Attribute{Name: "retry.wait_ms", Value: int64(min(wait, 1<<53))})
		}
		d.say(note)
	}
}

// attachment takes what was put into the context. What a person wrote while the model was at work comes as one.
func (d *claudeSession) attachment(e *claudeLine, n int32) {
	if textOf(objectIn(&d.block, e.raw("attachment")), "type") != "queued_command" {
		return
	}
	d.place[n].hears(e.time, false)
	d.say(&activity.Input{Role: "user"})
	if d.running(&d.place[n]) {
		d.say(&activity.Arrival{Mode: "steer"})
	}
}

// running reports whether the run of a path goes on.
func (d *claudeSession) running(p *claudePlace) bool {
	r := d.runs[p.run]
	return r != nil && !r.over && r.owner == d.event.Owner
}
