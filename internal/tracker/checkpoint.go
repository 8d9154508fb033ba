package tracker

import (
	"github.com/sessionspan/sessionspan/internal/follow"
)

// load reads the records that are there.
func (t *Tracker) load() error {
	if t.o.Checkpoints == nil {
		return nil
	}
	return t.o.Checkpoints.Each(func(key string, data []byte) error {
		r, err := decodeRecord(data)
		if err != nil {
			t.o.Problem("", err, true) // what it was for is read from its start
			return nil
		}
		if r.Options != t.options {
			return nil // other spans came of it
		}
		t.records[key], t.byPath[r.Path] = r, r
		if r.Session != "" {
			t.spawners[r.Session] = r.Spawner
		}
		return nil
	})
}

// recordOf returns the record of a file, nil for none; an id of zero asks for one by its path alone.
func (t *Tracker) recordOf(path string, id follow.ID) *record {
	if id == (follow.ID{}) {
		return t.byPath[path]
	}
	return t.records[recordKey(path, id)]
}

// known tells the follower of what an earlier tracker has read.
func (t *Tracker) known(path string, id follow.ID) (follow.Known, bool) {
	if r := t.recordOf(path, id); r != nil {
		return r.known(), true
	}
	return follow.Known{}, false
}

// save stores how far files have been accepted.
func (t *Tracker) save() error {
	if t.o.Checkpoints == nil {
		clear(t.dirty)
		return nil
	}
	records := map[string][]byte{}
	for u := range t.dirty {
		if !u.file.Gone {
			records[u.key] = t.record(u).encode()
			continue
		}
		if u.sending == nil && len(u.pending) == 0 {
			records[u.key] = nil
		}
	}
	if len(records) == 0 {
		clear(t.dirty)
		return nil
	}
	if err := t.o.Checkpoints.Put(records); err != nil {
		return err
	}
	for u := range t.dirty {
		u.stored = u.accepted
	}
	clear(t.dirty)
	return nil
}

// record is what is to be kept of a file.
func (t *Tracker) record(u *unit) *record {
	known := u.file.Known(u.accepted)
	r := &record{
		Version: recordVersion, Path: u.file.Path, Device: u.file.ID.Device, Inode: u.file.ID.Inode, Options: t.options,
		Size: known.Size, Modified: known.Modified.UnixNano(), Offset: u.accepted.Offset, Lines: u.accepted.Lines, Sum: u.accepted.Sum, Head: u.accepted.Head,
		Root: u.root, Open: u.open, Last: u.last, Silent: u.silent,
	}
	if u.session != nil {
		r.Format, r.Session = u.session.Format, u.session.ID
		if u.session.Spawn != nil {
			r.Spawner = u.session.Spawn.Session
		}
	}
	return r
}
