package source

import (
	"cmp"
	"os"
	"time"

	"github.com/sessionspan/sessionspan/internal/activity"
	"github.com/sessionspan/sessionspan/internal/jsonscan"
	"github.com/sessionspan/sessionspan/internal/lines"
)

// claudeCopy tells which lines of a file are copied from another session, and from which: by their marks, by the session that
// they name, or because the other session's file has them as well. But for marks, that ends with the first line of the file's own.
type claudeCopy struct {
	part   jsonscan.Scanner
	owners map[uint64]string // by what a line is known by
	before time.Time         // lines to then are of owner
	owner  string
	past   bool
	latest string // the owner of the line before
}

// ownerOf returns the session that a line is copied from; "" for one of the file's own.
func (c *claudeCopy) ownerOf(e *claudeLine, id string, agent bool) string {
	if from := textOf(objectIn(&c.part, e.forkedFrom), "sessionId"); from != "" && from != id {
		c.latest = from
		return from
	}
	if c.past {
		return ""
	}
	owner := ""
	switch {
	case !agent && e.session != "" && e.session != id:
		owner = e.session
	case !c.before.IsZero() && !e.time.IsZero() && !e.time.After(c.before):
		owner = c.owner
	case c.owners != nil:
		owner = c.owners[c.known(e)]
	}
	switch {
	case owner == "" && (e.typ == "user" || e.typ == "assistant"):
		c.past = true
	case owner == "":
		return c.latest
	}
	c.latest = owner
	return owner
}

// known is what a line is known by wherever it is copied to: the id of the message or of the call, else its time and what it says.
func (c *claudeCopy) known(e *claudeLine) uint64 {
	key := ""
	if e.typ == "assistant" {
		key = textOf(e.message, "id")
	}
	for members := range e.blocks() {
		if id := textOf(members, "tool_use_id"); id != "" {
			key = id
			break
		}
	}
	if key != "" {
		return claudeSum(key)
	}
	return claudeSum(e.typ, string(e.stamp), string(e.content))
}

// originalOf is the id of a line in the file that it comes from.
func (d *claudeSession) originalOf(e *claudeLine) string {
	if d.event.Owner == "" {
		return e.uuid
	}
	return cmp.Or(textOf(objectIn(&d.part, e.forkedFrom), "messageUuid"), e.uuid)
}

// copied finds out what of the file is copied, and when the session itself began.
func (d *claudeSession) copied(s *activity.Session, e *claudeLine) error {
	if d.agent != "" {
		return nil
	}
	look := func() string { c := d.copy; return c.ownerOf(e, d.id, false) }
	origin := look()
	file := d.at.Kin != nil && d.at.Path != "" && !d.bare
	if origin == "" && file {
		owners, err := d.at.Kin.claude.families.owners(d.at.Path, d.id, d.at.Waits)
		if err != nil {
			return err
		}
		d.copy.owners = owners
		origin = look()
	}
	if origin == "" {
		return nil
	}
	s.ForkOf = origin
	if !file {
		return nil
	}
	began := d.ownBegan()
	switch {
	case !began.IsZero():
		s.Created = began
	case d.at.Waits && recent(d.at.Path):
		return ErrWaits
	}
	return nil
}

// ownBegan is the time of the first line of the file that is not copied; zero when there is none.
func (d *claudeSession) ownBegan() (began time.Time) {
	in, err := openRegular(d.at.Path)
	if err != nil {
		return began
	}
	defer in.Close()
	c := claudeCopy{owners: d.copy.owners}
	var r claudeReader
	eachLine(in, 0, 0, func(l lines.Line) bool {
		e, err := r.read(l.Data)
		if err != nil || !e.chained || c.ownerOf(e, d.id, false) != "" {
			return true
		}
		began = e.time
		return began.IsZero()
	})
	return began
}

// recent reports whether a file was written to in the last minutes.
func recent(path string) bool {
	info, err := os.Stat(path)
	return err == nil && time.Since(info.ModTime()) < claudeIdle
}

// isUUID reports whether a name is an id as Claude Code gives its sessions.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c-'0' > 9 && c-'a' > 5 && c-'A' > 5:
			return false
		}
	}
	return true
}
