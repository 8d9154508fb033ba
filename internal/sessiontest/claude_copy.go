package sessiontest

import (
	"encoding/json"
	"time"
)

// copied begins a file with a copy of the lines of another one up to somewhere.
func (f *claudeOut) copied(upTo int, how ClaudeCopies) *claudeOut {
	u := f.u
	c := u.file()
	c.style, c.linear = f.style, f.linear
	if u.one(2) {
		c.head()
	}
	last := -1 // which gets the time of the copy where lines are marked
	for i, raw := range (*f.lines)[:upTo] {
		var v struct {
			UUID   string `json:"uuid"`
			Parent any    `json:"parentUuid"`
		}
		if json.Unmarshal(raw, &v) == nil && v.UUID != "" {
			last = i
		}
	}
	twice := how != OldCopy && u.one(6) // as some versions did it, with one id
	renamed := map[string]string{}
	for i, raw := range (*f.lines)[:upTo] {
		var v map[string]any
		if json.Unmarshal(raw, &v) != nil || v == nil {
			continue
		}
		id, _ := v["uuid"].(string)
		if how != OldCopy {
			c.rename(v, renamed)
		}
		if how == MarkedCopy && id != "" {
			v["forkedFrom"] = map[string]any{"sessionId": f.session, "messageUuid": id}
		}
		if how == MarkedCopy && i == last {
			v["timestamp"] = f.tick(4000)
		}
		b := claudeJSON(v)
		*c.lines = append(*c.lines, b)
		if id != "" {
			if v["isSidechain"] != true { // else an agent was at work when the turn was broken off
				c.tip = v["uuid"].(string)
			}
			if twice {
				*c.lines = append(*c.lines, b)
			}
		}
	}
	c.copies = len(*c.lines)
	c.ends = []int{c.copies}
	if how == MarkedCopy && u.o.Asides && u.one(2) {
		c.line(map[string]any{"type": "custom-title", "customTitle": "named (fork)", "sessionId": c.session})
	}
	u.now = u.now.Add(time.Duration(1+u.r.IntN(600)) * time.Second)
	return c
}

// rename gives a copied line the ids of the session that it is copied to.
func (f *claudeOut) rename(v map[string]any, renamed map[string]string) {
	if v["sessionId"] != nil {
		v["sessionId"] = f.session
	}
	if id, _ := v["uuid"].(string); id != "" {
		if renamed[id] == "" {
			renamed[id] = f.u.uuid()
		}
		v["uuid"] = renamed[id]
	}
	for _, member := range []string{"parentUuid", "logicalParentUuid"} {
		if up, ok := v[member].(string); ok {
			v[member] = renamed[up]
		}
	}
}
