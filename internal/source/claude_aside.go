package source

import (
	"cmp"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/lines"
)

// claudeSilent are the kinds of lines that are known and say nothing of what was done.
var claudeSilent = map[string]bool{
	"file-history-snapshot": true, "last-prompt": true, "tag": true, "mode": true, "pr-link": true, "bridge-session": true,
	"content-replacement": true, "agent-setting": true, "agent-name": true, "agent-color": true, "summary": true, "worktree-state": true,
}

// maxKinds bounds how many kinds of lines are told of that nothing is known of.
const maxKinds = 64

// aside takes a line that has no place in the tree: it is a further part of the entry before it.
func (d *claudeSession) aside(e *claudeLine, l lines.Line) {
	if d.main.Key == "" {
		d.heading(e)
		return
	}
	at := d.event
	d.event = d.main
	d.event.Line, d.event.Offset = l.Number, l.Offset
	if !e.time.IsZero() {
		d.event.Time = e.time
	}
	switch title := d.titleIn(e); {
	case title != "":
		d.named(title)
	case e.typ == "permission-mode":
		d.permits(e.text("permissionMode"))
	case e.typ == "queue-operation":
		if e.text("operation") == "enqueue" && d.running(&d.place[d.chains[0].tip]) {
			d.say(&activity.Note{What: "queue"})
		}
	case !claudeSilent[e.typ]:
		d.unknown(e.typ)
	}
	part := d.event.Part
	d.event = at
	d.main.Part = part
	if d.event.Key == d.main.Key {
		d.event.Part = part
	}
}

// titleIn returns the title that a line gives the session; "" for none. One of another conversation, in a file that may be
// another one, is left aside.
func (d *claudeSession) titleIn(e *claudeLine) string {
	switch e.typ {
	case "ai-title":
		return cmp.Or(e.text("aiTitle"), e.text("title"))
	case "custom-title":
		return cmp.Or(e.text("customTitle"), e.text("title"))
	case "summary":
		if leaf := e.text("leafUuid"); leaf != "" && d.places[d.hash(leaf)] != 0 {
			return e.text("summary")
		}
	}
	return ""
}

func (d *claudeSession) named(title string) {
	if title != d.name {
		d.name = title
		d.say(&activity.Name{Name: title})
	}
}

// permits says that other things are allowed from here on.
func (d *claudeSession) permits(mode string) {
	if mode != "" && mode != d.mode {
		d.mode = mode
		d.say(&activity.Note{What: "env", Attributes: []activity.Attribute{{Name: "env.permission_mode", Value: mode}}})
	}
}

// unknown says that there are lines of a kind of which nothing is known, once for each kind.
func (d *claudeSession) unknown(kind string) {
	if d.kinds[kind] || len(d.kinds) >= maxKinds {
		return
	}
	d.kinds[kind] = true
	d.say(&activity.Note{What: "unknown", Attributes: []activity.Attribute{{Name: "unknown.kind", Value: kind}}})
}

// surroundings says what has changed around the session since the entry before.
func (d *claudeSession) surroundings() {
	e := &d.reader.line
	note := &activity.Note{What: "env"}
	changed := func(was *string, member, name string) {
		raw := e.raw(member)
		if len(raw) == len(*was)+2 && string(raw[1:len(raw)-1]) == *was {
			return
		}
		if v := e.text(member); v != "" && v != *was {
			*was = v
			note.Attributes = append(note.Attributes, activity.Attribute{Name: name, Value: v})
		}
	}
	changed(&d.cwd, "cwd", "env.cwd")
	changed(&d.branch, "gitBranch", "env.git_branch")
	changed(&d.build, "version", "env.version")
	changed(&d.mode, "permissionMode", "env.permission_mode")
	if len(note.Attributes) > 0 {
		d.say(note)
	}
	if d.title != "" {
		title := d.title
		d.title = ""
		d.named(title)
	}
}
