package tracker

import (
	"math"

	"github.com/sessionspan/sessionspan/internal/follow"
)

// omitted is the beginning of a file that is not sent, for what was there before somebody began to follow it; zero is for none. Nothing of it is
// read until there is more.
type omitted struct {
	follow.Position // where what is sent begins, and by what the beginning is known
	// size is that of the file then, if all of it was there. It is not in the record of the file, which has the size.
	size int64
}

// all is the offset of [omitted] for a compressed file: nobody knows how long what it holds is.
const all = math.MaxInt64

// omitPresent has nothing be sent of what a file holds now.
func (u *unit) omitPresent() {
	upTo := u.file.Size()
	if u.file.Compressed() {
		upTo = all
	}
	mark, err := u.file.Mark(upTo)
	if err != nil {
		u.t.say(u, err)
		mark = follow.Position{Offset: upTo}
	}
	u.omitted = omitted{mark, u.file.Size()}
	u.accepted = u.progress()
	u.t.dirty[u] = true
}

// omitBy has what an earlier tracker did not send of a file not be sent by this one, and reports whether it is that file.
func (u *unit) omitBy(r *record) bool {
	q := omitted{follow.Position{Offset: r.OmitTo, Head: r.OmitHead}, r.OmitTo}
	if r.OmitTo == all {
		q.size = r.Size
	}
	untouched := r.Path == u.file.Path && r.Size == u.file.Size() && r.Modified == u.file.Modified().UnixNano()
	if r.OmitTo == 0 || !untouched && !u.file.Marked(q.Position) {
		return false
	}
	u.file.MarkAs(q.Position)
	u.omitted = q
	return true
}

// omitByTwin leaves out of a compressed file what was left out of its plain twin.
func (u *unit) omitByTwin() {
	path, plain := u.t.follower.Plain(u.file)
	q := follow.Position{}
	if other := u.t.units[plain]; other != nil {
		q = other.omitted.Position
	} else if r := u.t.byPath[path]; r != nil {
		q = follow.Position{Offset: r.OmitTo, Head: r.OmitHead}
	}
	if q.Offset > 0 && u.file.Marked(q) {
		u.omitted = omitted{Position: q}
	}
}

// leftAlone reports whether there is nothing in a file but what is not sent, and was never read.
func (u *unit) leftAlone() bool {
	return u.state == nil && u.file.Position().Offset == 0 && u.omitted.Offset > 0 && u.file.Size() == u.omitted.size &&
		(u.omitted.Offset == all || !u.file.Compressed())
}

// endOmission has a file be sent from its start if it does not begin any more with what was not sent.
func (u *unit) endOmission() {
	if u.omitted.Offset > 0 && u.file.Position().Offset == 0 && (u.omitted.Offset == all || !u.file.Marked(u.omitted.Position)) {
		u.omitted = omitted{}
	}
}
