package tracker

import (
	"slices"
	"strings"

	"github.com/sessionspan/sessionspan/internal/lines"
)

// evict lets go of the states of sessions that were read longest ago, until the others keep within what they may take.
func (t *Tracker) evict() {
	if t.states <= t.o.StateBytes {
		return
	}
	var with []*unit
	for _, u := range t.units {
		if u.state != nil && !u.file.Reading() { // what is half decompressed would be so from its start
			with = append(with, u)
		}
	}
	slices.SortFunc(with, func(a, b *unit) int {
		if a.state.used != b.state.used {
			if a.state.used < b.state.used {
				return -1
			}
			return 1
		}
		return strings.Compare(a.file.Path, b.file.Path)
	})
	for _, u := range with[:max(len(with)-1, 0)] {
		if t.states <= t.o.StateBytes {
			return
		}
		u.drop()
	}
}

// streams is how many compressed files may be read at a time: each may hold a line of the greatest length.
func (t *Tracker) streams() int {
	most := t.o.Source.MaxLine
	if most <= 0 {
		most = lines.DefaultLimit
	}
	return max(int(t.o.LineBytes/int64(most)), 1)
}

// open is how many compressed files are read in part.
func (t *Tracker) open() int {
	for u := range t.reading {
		if !u.file.Reading() {
			delete(t.reading, u)
		}
	}
	return len(t.reading)
}

// block has a compressed file wait until there is memory for it, and reports whether it does.
func (t *Tracker) block(u *unit) bool {
	if !u.file.Compressed() || u.file.Reading() {
		return false
	}
	if t.open() >= t.streams() {
		u.readable = true
		t.blocked = append(t.blocked, u)
		return true
	}
	t.reading[u] = true
	return false
}

// unblock has the next of those files be read, if there is memory for it now.
func (t *Tracker) unblock() {
	if len(t.blocked) > 0 && t.open() < t.streams() {
		t.readable = append(t.readable, t.blocked[0])
		t.blocked = t.blocked[1:]
	}
}
