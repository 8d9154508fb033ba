package tracker

import "time"

// Stats count what a tracker has done.
type Stats struct {
	Files, Sessions int
	Open            int   // sessions in which something is open
	Sent, Refused   int64 // spans
	Retrying        int   // spans that wait to be tried again
	// BytesRead are those of complete lines, Reread those that were read once more for what was let go of, and Behind those that are
	// there to be read.
	BytesRead, Reread, Behind int64
	LinesRead                 int64
	Generations               int64     // how often a file was found to hold something else than what was read of it
	Unsaved                   time.Time // since when something was read that is not in the checkpoints; zero for nothing
}

// Stats returns what was done so far.
func (t *Tracker) Stats() Stats {
	s := t.stats
	s.Files, s.Sessions, s.Reread = len(t.units), len(t.sessions), t.primed
	s.Unsaved = t.stale
	for _, at := range append(t.born(), t.since) {
		if s.Unsaved.IsZero() || !at.IsZero() && at.Before(s.Unsaved) {
			s.Unsaved = at
		}
	}
	for _, b := range t.retrying {
		s.Retrying += len(b.spans)
	}
	return s
}

// born is since when the spans wait that are tried again.
func (t *Tracker) born() (list []time.Time) {
	for _, b := range t.retrying {
		list = append(list, b.born)
	}
	return list
}

// survey counts what changes with every file.
func (t *Tracker) survey() {
	t.stats.Open, t.stats.Behind = 0, 0
	for _, u := range t.units {
		if u.open {
			t.stats.Open++
		}
		if u.refused == nil && !u.leftAlone() && !u.file.AtEnd() {
			t.stats.Behind += max(u.file.Size()-u.file.Position().Offset, 0)
		}
	}
}
