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
		r, err := decodeRecord(key, data)
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
		t.records[key], t.byPath[r.Path] = r, r
		if r.Session != "" {
			t.spawners[r.Session] = r.Spawner
		}
		return nil
	})
	if err != nil {
		return err
	}
	return t.o.Checkpoints.Put(map[string][]byte{begunKey: (&record{Version: recordVersion, Options: t.options}).encode(begunKey)})
}

// used notes that the file of a record was met.
func (t *Tracker) used(r *record) {
	delete(t.records, r.key)
	if t.byPath[r.Path] == r {
		delete(t.byPath, r.Path)
	}
}

// What was read of a file that is not found is kept so long, and that of so many: its folder may be away for a while. It is looked every so
// often for what is older.
const (
	forgetAfter = 90 * 24 * time.Hour
	mostMissing = 100_000
	missEvery   = 24 * time.Hour
)

// missing takes that the files of some records are not there, and lets go of what is not kept any longer.
func (t *Tracker) missing(now time.Time) error {
	records := map[string][]byte{}
	for key, r := range t.records {
		switch {
		case r.Missing == 0:
			r.Missing = now.Unix()
			records[key] = r.encode(key)
		case now.Sub(time.Unix(r.Missing, 0)) > forgetAfter:
			records[key] = nil
		}
	}
	if len(records) > 0 && t.o.Checkpoints != nil {
		if err := t.o.Checkpoints.Put(records); err != nil { // the next day is early enough
			return err
		}
	}
	for key, data := range records {
		if data == nil {
			t.used(t.records[key])
		}
	}
	return nil
}

// keep keeps what was read of a file that is gone, for when it comes back. It returns nil when there is nothing to be kept: of a file in
// whose place there is another one.
func (t *Tracker) keep(u *unit) *record {
	r := t.record(u)
	if r.Offset == 0 && r.OmitTo == 0 || t.follower.Has(r.Path) || len(t.records) >= mostMissing {
		return nil
	}
	r.key, r.Missing = u.key, time.Now().Unix()
	t.records[r.key], t.byPath[r.Path] = r, r
	return r
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
	records, gone := map[string][]byte{}, map[string]*unit{}
	for u := range t.dirty {
		if u.oldKey != "" {
			gone[u.oldKey] = nil
		}
		switch {
		case !u.file.Gone:
			records[u.key] = t.record(u).encode(u.key)
		case u.sending == nil && len(u.pending) == 0:
			gone[u.key] = u
		}
	}
	if len(gone) > 0 {
		for _, u := range t.units { // another file may have got its number
			delete(gone, u.key)
		}
		for key, u := range gone {
			records[key] = nil
			if u == nil {
				continue
			}
			if r := t.keep(u); r != nil {
				records[key] = r.encode(key)
			}
		}
	}
	if len(records) > 0 && t.o.Checkpoints != nil {
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
