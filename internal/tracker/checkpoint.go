package tracker

import (
	"time"

	"github.com/sessionspan/sessionspan/internal/follow"
)

// begunKey is the key of the record which says that a tracker has begun: what has no record then came later.
const begunKey = "begun"

// load reads the records that are there.
func (t *Tracker) load() error {
	if t.o.Checkpoints == nil {
		return nil
	}
	err := t.o.Checkpoints.Each(func(key string, data []byte) error {
		r, err := decodeRecord(data)
		if err != nil {
			t.o.Problem("", err, true) // what it was for is read from its start
			return nil
		}
		if r.Options != t.options {
			return nil // other spans came of it
		}
		if key == begunKey {
			t.resumed = true
			return nil
		}
		r.key = key
		t.records[key], t.byPath[r.Path] = r, r
		if r.Session != "" {
			t.spawners[r.Session] = r.Spawner
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.o.Checkpoints.Put(map[string][]byte{begunKey: (&record{Version: recordVersion, Options: t.options}).encode()})
}

// used notes that the file of a record was met.
func (t *Tracker) used(r *record) {
	delete(t.records, r.key)
	if t.byPath[r.Path] == r {
		delete(t.byPath, r.Path)
	}
}

// forgetAfter is how long it is kept what was read of a file that is not found.
const forgetAfter = 90 * 24 * time.Hour

// missing takes that the files of some records were not found when all was looked at for the first time.
func (t *Tracker) missing(now time.Time) error {
	records := map[string][]byte{}
	for key, r := range t.records {
		switch {
		case r.Missing == 0:
			r.Missing = now.Unix()
			records[key] = r.encode()
		case now.Sub(time.Unix(r.Missing, 0)) > forgetAfter:
			records[key] = nil
			t.used(r)
		}
	}
	if len(records) == 0 {
		return nil
	}
	return t.o.Checkpoints.Put(records)
}

// recordOf returns the record of a file, nil for none: that of what it is, else of its path, since a folder that was restored has other
// numbers. An id of zero asks for its path alone.
func (t *Tracker) recordOf(path string, id follow.ID) *record {
	if id != (follow.ID{}) {
		if r := t.records[recordKey(path, id)]; r != nil {
			return r
		}
	}
	return t.byPath[path]
}

// known tells the follower of what an earlier tracker has read.
func (t *Tracker) known(path string, id follow.ID) (follow.Known, bool) {
	if r := t.recordOf(path, id); r != nil && r.Offset > 0 {
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
	records, gone := map[string][]byte{}, []string{}
	for u := range t.dirty {
		if u.oldKey != "" {
			gone = append(gone, u.oldKey)
		}
		switch {
		case !u.file.Gone:
			records[u.key] = t.record(u).encode()
		case u.sending == nil && len(u.pending) == 0:
			gone = append(gone, u.key)
		}
	}
	if len(gone) > 0 {
		live := map[string]bool{} // another file may have got its number
		for _, u := range t.units {
			live[u.key] = true
		}
		for _, key := range gone {
			if !live[key] {
				records[key] = nil
			}
		}
	}
	if len(records) > 0 {
		if err := t.o.Checkpoints.Put(records); err != nil {
			return err
		}
	}
	for u := range t.dirty {
		u.stored, u.oldKey = u.accepted, ""
	}
	clear(t.dirty)
	return nil
}

// record is what is to be kept of a file.
func (t *Tracker) record(u *unit) *record {
	a := u.accepted
	p := a.known.Position
	r := &record{
		Version: recordVersion, Path: u.file.Path, Device: u.file.ID.Device, Inode: u.file.ID.Inode, Options: t.options,
		Size: a.known.Size, Modified: a.known.Modified.UnixNano(), Done: a.known.Done, OmitTo: a.omitted.Offset, OmitHead: a.omitted.Head,
		Offset: p.Offset, Lines: p.Lines, Sum: p.Sum, Head: p.Head,
		Root: u.root, Open: a.open, Last: a.last, Silent: a.silent,
	}
	if u.session != nil {
		r.Format, r.Session = u.session.Format, u.session.ID
		if u.session.Spawn != nil {
			r.Spawner = u.session.Spawn.Session
		}
	}
	return r
}
