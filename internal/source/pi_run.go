package source

import (
	"time"

	"github.com/sessionspan/sessionspan/format/pi"
	"github.com/sessionspan/sessionspan/internal/activity"
)

// piState is how the run that a path is in stands.
type piState uint8

const (
	piOver piState = iota // there is none, or it has ended
	piOpen
	piWaits // its last model call did not complete: it has ended, unless that is tried again
)

// piKind is what stood last on a path, of that which makes runs.
type piKind uint8

const (
	piNothing piKind = iota
	piUser
	piCustomInput
	piAssistant
	piResult
)

// piPlace is what the path to an entry has brought about, as far as later entries need it.
type piPlace struct {
	at    int64  // when the last message was appended, in milliseconds
	asked int64  // when the last assistant's message was appended
	asker int32  // the place of that
	calls uint16 // how many it asks for
	chose bool   // the model in force is the one that was chosen, and not another that answered for it

	run      int32 // the run that started last, by its number
	input    int32 // the extension's message that stood last, by its place
	model    int32 // in force, by its number; so are the next two
	provider int32
	level    int32

	kind    piKind
	state   piState
	aborted bool // a person ended the run, and nothing goes on with it
	child   bool // the entry has been continued
}

// piEntrySize is about what is held of an entry: its place and the way to it, and by the projector what an entry says more than
// others do, since most are a whole model call or the result of a tool.
const piEntrySize = 250

// piCustom is a message of an extension, which starts a run if the model answers it.
type piCustom struct {
	key, typ string
	time     time.Time
}

// piHeld is the end of a run that waits for the next entry of its path.
type piHeld struct {
	place int32 // the entry with which the path ends; 0 when nothing waits
	event activity.Event
	end   activity.RunEnd
}

// release says that the run that was held has ended.
func (d *piSession) release(emit func(*activity.Event)) {
	if d.held.place == 0 {
		return
	}
	d.held.place = 0
	d.held.event.Fact = &d.held.end
	emit(&d.held.event)
}

// enter finds the place of an entry: that of its parent, which it goes on from. A branch goes on from an entry that has been
// continued already. It reports false for an entry that was there before.
func (d *piSession) enter(e *pi.Entry) (n int32, branch, fresh bool) {
	h := d.hash(d.event.Key)
	if d.at[h] != 0 {
		return 0, false, false
	}
	up := int32(0)
	if d.event.Parent != "" {
		up = d.at[d.hash(d.event.Parent)]
	}
	d.settleBatch(up, e, d.emit)
	n = int32(len(d.places))
	d.places = append(d.places, d.places[up])
	d.at[h] = n
	d.places[n].child = false
	branch = up != 0 && d.places[up].child
	d.places[up].child = true
	if d.held.place != up {
		d.release(d.emit)
	} else if d.held.place != 0 {
		d.held.place = n
	}
	if d.places[n].state == piWaits && d.held.place != n { // it was released
		d.places[n].state = piOver
	}
	return n, branch, true
}

// startRun opens a run, or opens it again.
func (d *piSession) startRun(p *piPlace, key string, at time.Time, start activity.RunStart) {
	if key != "" {
		d.runs = append(d.runs, key)
		p.run = int32(len(d.runs) - 1)
	}
	start.RunID, start.Inferred = d.runs[p.run], true
	p.state = piOpen
	d.sayAt(at, &start)
}

// endRun ends the run of a path with the entry at hand.
func (d *piSession) endRun(p *piPlace, at time.Time, reason, cause string) {
	p.state = piOver
	d.sayAt(at, &activity.RunEnd{RunID: d.runs[p.run], Reason: reason, Cause: cause})
}

// holdRun ends it unless the next entry of the path shows that it goes on.
func (d *piSession) holdRun(p *piPlace, n int32, at time.Time, reason, cause string) {
	p.state = piWaits
	d.held = piHeld{place: n, event: d.event, end: activity.RunEnd{RunID: d.runs[p.run], Reason: reason, Cause: cause}}
	if !at.IsZero() {
		d.held.event.Time = at
	}
	d.event.Part++ // the end is a part of this entry whenever it comes
}

// user takes a prompt. In a run that goes on, it steers; queued while that went on, it follows up; else it starts a run.
func (d *piSession) user(n int32, branch bool, m *pi.Message) {
	p := &d.places[n]
	asked := m.Time
	if asked.IsZero() {
		asked = d.event.Time
	}
	during := !branch && p.run != 0 && !p.aborted && (p.kind == piResult || asked.UnixMilli() <= p.at)
	wait := activity.Arrival{Since: asked}
	switch {
	case during && p.state == piOver:
		wait.Mode = "followup"
	case during:
		wait.Mode = "steer"
	}
	if !during && p.state == piWaits {
		d.release(d.emit)
		p.state = piOver
	}
	d.facts.input = activity.Input{Role: "user"}
	d.say(&d.facts.input)
	switch {
	case !during:
		d.leave(p, branch)
		d.startRun(p, d.event.Key, asked, activity.RunStart{Source: "input"})
	case p.state == piOver:
		d.startRun(p, "", time.UnixMilli(p.at), activity.RunStart{})
		d.say(&wait)
	default:
		d.held.place = 0
		p.state = piOpen
		d.say(&wait)
	}
	p.kind, p.at = piUser, d.event.Time.UnixMilli()
}

// leave ends a run that was still going on when a new one starts on its path: with its last message.
func (d *piSession) leave(p *piPlace, branch bool) {
	if p.state == piOver || branch {
		return
	}
	d.endRun(p, time.UnixMilli(p.at), activity.ReasonInterrupted, "")
}

// answers has a run for an assistant's message: the one that goes on, the one that an extension's message starts, or one of
// its own.
func (d *piSession) answers(n int32, branch bool, m *pi.Message) {
	p := &d.places[n]
	began := m.Time
	if began.IsZero() {
		began = d.event.Time
	}
	switch {
	case p.state == piWaits:
		d.held.place = 0
		p.state = piOpen
	case p.state == piOpen:
	case p.kind == piCustomInput && p.input != 0:
		by := d.custom[p.input]
		d.startRun(p, by.key, by.time, activity.RunStart{
			Source: "input", Trigger: activity.Trigger{Kind: pi.TypeCustomMessage, Source: by.typ},
		})
	case p.kind == piAssistant && !branch && began.UnixMilli() < p.at: // two calls at once
		d.startRun(p, "", began, activity.RunStart{})
	default:
		d.startRun(p, d.event.Key, began, activity.RunStart{Source: "resume"})
	}
}
