package sessiontest

import (
	"math/rand/v2"
	"slices"
	"time"
)

// claudeWork is a turn of a session in the making, or all that an agent does.
type claudeWork struct {
	f     *claudeOut
	depth int // of the agent; 0 for a session
	steps int // that are to come before the last message
}

// next appends a turn, or two at once, and what stands before and after.
func (f *claudeOut) next() {
	f.before()
	works := []*claudeWork{}
	second := *f
	second.points = slices.Clip(f.points)
	f.began(f.goesOnFrom())
	works = append(works, f.work(0))
	if f.u.o.Writers && second.tip != "" && (f.style != unended || f.u.o.Unsettled) && f.u.one(10) { // whose terminals know nothing of one another
		second.began(second.tip)
		works = append(works, second.work(0))
		f.shared, second.shared = true, true
	}
	together(f.u.r, works)
	f.shared = false
	if len(works) > 1 && f.u.one(2) {
		f.tip = second.tip
	}
	f.ends = append(f.ends, len(*f.lines))
	if f.u.one(3) {
		f.u.finish()
	}
}

// together has several at work at once, step by step.
func together(r *rand.Rand, works []*claudeWork) {
	for len(works) > 0 {
		if i := r.IntN(len(works)); !works[i].goOn() {
			works = append(works[:i:i], works[i+1:]...)
		}
	}
}

// goesOnFrom is the entry from which the next turn goes on. When a prompt is written anew, it is the one before that prompt.
func (f *claudeOut) goesOnFrom() string {
	if f.u.o.Rewinds && len(f.points) > 1 && f.u.one(8) {
		return f.points[f.u.r.IntN(len(f.points)-1)]
	}
	return f.tip
}

// began appends what a person wants.
func (f *claudeOut) began(up string) {
	u := f.u
	f.cut, f.said = false, 0
	u.truth.Turns++
	f.points = append(f.points, up)
	if u.o.Commands && u.one(6) {
		f.user(up, "<command-message>review</command-message>\n<command-name>/review</command-name>", nil)
		f.meta("Look at it.")
		return
	}
	more := map[string]any{}
	if f.version > "2.1" {
		more["promptId"], more["permissionMode"] = u.uuid(), []string{"default", "plan"}[u.r.IntN(8)/7]
		if u.one(2) {
			more["origin"] = map[string]any{"kind": "human"}
		}
	}
	text := u.text("do thing")
	var content any = text
	switch u.r.IntN(10) {
	case 0:
		content = []any{block("text", text)}
	case 1:
		image := map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png", "data": "iVBORw=="}}
		content = []any{image, block("text", text)}
	case 2:
		content = text + " \u2028 and more"
	}
	f.user(up, content, more)
}

func (f *claudeOut) work(depth int) *claudeWork { return &claudeWork{f, depth, f.u.r.IntN(4)} }

// goOn appends the next step, and reports whether there are more.
func (w *claudeWork) goOn() bool {
	f := w.f
	if w.steps > 0 {
		w.steps--
		if !f.step(w.depth) {
			return false
		}
		if w.depth == 0 && f.u.o.Compactions && f.u.one(20) {
			f.compact("auto")
		}
		return true
	}
	f.last(w.depth)
	return false
}

// step appends a message that asks for calls, and what comes of them. It reports whether that is not the end.
func (f *claudeOut) step(depth int) bool {
	f.retries()
	calls, fate := 1+f.u.r.IntN(3), whole
	if f.u.o.Interruptions && (f.u.o.Unsettled || depth == 0 || f.u.layout != inBeside) {
		switch f.u.r.IntN(30) {
		case 0:
			if !f.shared || f.u.o.Unsettled {
				fate = killed
			}
		case 1, 2:
			fate = refused
		case 3:
			if depth == 0 && f.style != copied {
				fate = broken
			}
		case 4:
			f.message(calls, depth, someLost)
			return true
		}
	}
	f.message(calls, depth, fate)
	f.cut = fate == killed
	switch {
	case fate == broken:
		f.interruption("")
	case fate == refused && depth == 0 && f.u.one(2):
		f.interruption(" for tool use")
	case fate == refused:
		return true
	}
	if depth == 0 && fate == whole && f.u.o.Asides && f.u.one(15) { // a person writes while the model is at work
		f.line(map[string]any{"type": "queue-operation", "operation": "enqueue", "content": "also", "timestamp": f.stamp(), "sessionId": f.session})
		f.entry(f.tip, "attachment", map[string]any{"attachment": map[string]any{"type": "queued_command", "prompt": "also", "commandMode": "prompt"}})
	}
	return fate == whole
}

func (f *claudeOut) interruption(what string) {
	f.user(f.tip, []any{block("text", "[Request interrupted by user"+what+"]")}, nil)
}

// retries appends requests that failed and are made again.
func (f *claudeOut) retries() {
	if !f.u.o.Errors || !f.u.one(12) {
		return
	}
	for i := range 1 + f.u.r.IntN(3) {
		f.entry(f.tip, "system", map[string]any{
			"subtype": "api_error", "level": "error", "error": map[string]any{"status": 529}, "retryInMs": 512.5, "retryAttempt": i + 1, "maxRetries": 10,
		})
	}
}

// last appends how a turn ends, or the work of an agent.
func (f *claudeOut) last(depth int) {
	u := f.u
	f.retries()
	switch {
	case depth == 0 && u.o.Interruptions && u.one(10):
		f.interruption("")
	case u.o.Errors && u.one(12):
		f.entry(f.tip, "assistant", map[string]any{"isApiErrorMessage": true, "message": map[string]any{
			"id": u.uuid(), "model": "<synthetic>", "role": "assistant", "type": "message", "content": []any{block("text", "API Error: 529 busy")},
			"stop_reason": "stop_sequence", "stop_sequence": "",
			"usage": map[string]any{"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "service_tier": nil},
		}})
	default:
		f.message(0, depth, whole)
		if depth == 0 && u.o.Asides && u.one(12) { // a hook does not accept the end
			f.hooks([]any{"lint failed"})
			f.meta("Stop hook feedback: lint failed")
			f.message(0, depth, whole)
		}
	}
	if depth > 0 || !u.o.Asides {
		return
	}
	if u.one(3) {
		f.hooks([]any{})
	}
	if u.one(3) {
		f.entry(f.tip, "system", map[string]any{"subtype": "turn_duration", "durationMs": u.r.IntN(90000), "isMeta": false})
	}
}

func (f *claudeOut) hooks(failed []any) {
	f.entry(f.tip, "system", map[string]any{
		"subtype": "stop_hook_summary", "hookCount": 1, "hookInfos": []any{map[string]any{"command": "lint"}}, "hookErrors": failed,
		"preventedContinuation": len(failed) > 0,
	})
}

// before appends what may stand between turns.
func (f *claudeOut) before() {
	u := f.u
	if u.one(5) && !u.o.Unsettled {
		f.aside()
	}
	if u.o.Silences && u.one(12) {
		u.now = u.now.Add(25 * time.Hour)
	}
	if f.tip != "" && u.one(8) { // it was resumed, after an update or in another place
		f.branch = []string{"main", "feature"}[u.r.IntN(2)]
		if f.version > "2.1" {
			f.version = "2.1.50"
		}
	}
	if u.o.Compactions && f.tip != "" && u.one(20) {
		f.compact("manual")
		f.local("/compact", "Compacted")
	}
	if u.o.Commands {
		switch u.r.IntN(10) {
		case 0:
			if u.one(2) {
				f.meta("Caveat: The messages below were generated by the user while running local commands.")
			}
			f.local("/model", "Set model")
		case 1:
			f.user(f.tip, "<bash-input>ls</bash-input>", nil)
			f.user(f.tip, "<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>", nil)
		}
	}
	if u.one(5) && u.o.Unsettled {
		f.aside()
	}
}

// local appends a slash command of which the model does not hear.
func (f *claudeOut) local(name, printed string) {
	f.user(f.tip, "<command-name>"+name+"</command-name>\n<command-message>m</command-message>\n<command-args></command-args>", nil)
	f.user(f.tip, "<local-command-stdout>"+printed+"</local-command-stdout>", nil)
}

// compact appends a compaction. The tree begins anew below it.
func (f *claudeOut) compact(trigger string) {
	f.entry("", "system", map[string]any{
		"subtype": "compact_boundary", "content": "Conversation compacted", "level": "info", "isMeta": false, "logicalParentUuid": f.tip,
		"compactMetadata": map[string]any{"trigger": trigger, "preTokens": 150000},
	})
	f.user(f.tip, "This session is being continued.", map[string]any{"isCompactSummary": true, "isVisibleInTranscriptOnly": true})
}
