package follow

import (
	"container/heap"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// Follower finds files and knows how far they have been read. It is for one goroutine.
type Follower struct {
	o       Options
	handles *handles
	files   map[string]*Tracked // by path
	byID    map[ID]*Tracked
	due     dueHeap
	known   func(path string, id ID) (Known, bool)

	folders []string
	walked  time.Time     // when the folders were looked at last
	took    time.Duration // how long that took
	dirty   bool          // something happened in them
	errs    map[string]string
}

// Known is what an earlier process knew of a file.
type Known struct {
	Position Position
	// Path, Size and Modified are what it had when it was looked at last: a file that has them still is not looked into.
	Path     string
	Size     int64
	Modified time.Time
	Done     bool // a compressed file was read to its end
}

// New returns a follower. Known tells of files that an earlier process has read, an ID of zero asks for the file of that path; nil knows
// none.
func New(o Options, known func(path string, id ID) (Known, bool)) *Follower {
	if o.FS == nil {
		o.FS = OS{}
	}
	if o.Interval <= 0 {
		o.Interval = time.Second
	}
	if o.Idle <= 0 {
		o.Idle = 30 * time.Second
	}
	o.Idle = max(o.Idle, o.Interval)
	if o.MaxOpen <= 0 {
		o.MaxOpen = 256
	}
	if known == nil {
		known = func(string, ID) (Known, bool) { return Known{}, false }
	}
	return &Follower{
		o: o, handles: newHandles(o.FS, o.MaxOpen), files: map[string]*Tracked{}, byID: map[ID]*Tracked{}, known: known,
		dirty: true, errs: map[string]string{},
	}
}

// Close lets go of all files.
func (f *Follower) Close() error {
	f.handles.closeAll()
	if f.o.Notifier != nil {
		return f.o.Notifier.Close()
	}
	return nil
}

// News is what a look at the files has found.
type News struct {
	// New are the files that were found, Grown those in which there is something to be read, new ones among them, and Gone those that
	// are nowhere any more. Each is named once in each, in order of paths.
	New, Grown, Gone []*Tracked
	// Again are those that are read from their start again, since what was read of them is not what they hold.
	Again []*Tracked
	// Empty are the patterns that mean no file, as they were given, when the folders were looked at for the first time.
	Empty []string
	// Errs are the files and folders that cannot be looked at, once each until that changes, by path.
	Errs map[string]error
}

// Poll looks at what is due.
func (f *Follower) Poll(ctx context.Context) News {
	n := newNews()
	f.hear()
	now := time.Now()
	if f.walkDue(now) {
		f.walk(ctx, n)
	}
	for len(f.due) > 0 && !f.due[0].due.After(now) && ctx.Err() == nil {
		t := f.due[0]
		f.look(t, now, n)
		f.schedule(t, now)
	}
	return n.sorted()
}

// Next returns when there is something to be looked at again, unless the notifier tells of something before.
func (f *Follower) Next() time.Time {
	next := f.walked.Add(f.pause())
	if len(f.due) > 0 && f.due[0].due.Before(next) {
		next = f.due[0].due
	}
	return next
}

// Has reports whether there is a file of that name.
func (f *Follower) Has(path string) bool { return f.files[path] != nil }

// hear takes what the notifier has told.
func (f *Follower) hear() {
	if f.o.Notifier == nil {
		return
	}
	for {
		select {
		case path := <-f.o.Notifier.Changed():
			f.Heard(path)
		default:
			return
		}
	}
}

// Heard has a path looked at with the next poll.
func (f *Follower) Heard(path string) {
	t := f.files[path]
	if t == nil {
		f.dirty = true
		return
	}
	t.due = time.Time{}
	heap.Fix(&f.due, t.at)
}

// The folders are looked at for a fiftieth of the time at most, for a tenth when something happens in them.
const (
	share     = 50
	busyShare = 10
)

// pause is how long the folders are left alone.
func (f *Follower) pause() time.Duration { return max(f.o.Interval, f.took*share) }

func (f *Follower) walkDue(now time.Time) bool {
	if f.dirty && now.Sub(f.walked) >= min(f.pause(), max(f.o.Interval/4, f.took*busyShare)) {
		return true
	}
	return now.Sub(f.walked) >= f.pause()
}

// walk looks at the folders for files that are new, gone, or have another name.
func (f *Follower) walk(ctx context.Context, n *news) {
	start := time.Now()
	found := find(ctx, f.o.FS, f.o.Patterns)
	if ctx.Err() != nil {
		return
	}
	f.dirty = false
	here := make(map[string]bool, len(found.files))
	for _, path := range found.files {
		here[path] = true
		if f.files[path] == nil {
			f.meet(path, start, n)
		}
	}
	if f.walked.IsZero() {
		n.Empty = found.empty
	}
	f.miss(here, found.errs, n)
	f.tell(found.errs, n)
	if f.o.Notifier != nil && !slices.Equal(f.folders, found.folders) {
		f.o.Notifier.Watch(found.folders)
	}
	f.folders = found.folders
	f.walked = time.Now()
	f.took = f.walked.Sub(start)
}

// meet takes a path that was not known: of a new file, or of one that had another name.
func (f *Follower) meet(path string, now time.Time, n *news) {
	info, err := f.o.FS.Stat(path)
	switch {
	case err != nil:
		if !errors.Is(err, fs.ErrNotExist) {
			f.tellOne(path, err, n)
		}
		return
	case info.Kind != Regular:
		return
	}
	if old := f.byID[info.ID]; old != nil && info.ID != (ID{}) {
		if now, err := f.o.FS.Stat(old.Path); err == nil && now.ID == old.ID && f.files[old.Path] == old {
			return // both names are there, and one is enough
		}
		_, compressed := plainPath(path)
		if old.compressed == compressed && (compressed || f.begins(path, info.ID, old.begin())) {
			f.rename(old, path)
			return
		}
		f.drop(old, n) // it is gone, and another file has got its number
	}
	t := &Tracked{Path: path, ID: info.ID, f: f, changed: now, at: -1}
	if info.Modified.Before(now) {
		t.changed = info.Modified
	}
	_, t.compressed = plainPath(path)
	t.restart()
	if k, ok := f.known(path, info.ID); ok && f.same(path, info, k) {
		t.resumeAt(k.Position)
		t.done = t.compressed && k.Done
		t.size, t.modified = info.Size, info.Modified
	} else if p, ok := f.twin(path); ok && (t.compressed || f.begins(path, info.ID, p)) {
		t.resumeAt(p)
	}
	f.files[path] = t
	if t.ID != (ID{}) {
		f.byID[t.ID] = t
	}
	heap.Push(&f.due, t)
	n.add(&n.New, t)
}

// same reports whether a file is the one that was known.
func (f *Follower) same(path string, info Info, k Known) bool {
	_, compressed := plainPath(path)
	untouched := k.Size == info.Size && k.Modified.Equal(info.Modified)
	if compressed || untouched && k.Path == path {
		return untouched
	}
	return f.begins(path, info.ID, k.Position)
}

// begins reports whether a file begins with what was read of one.
func (f *Follower) begins(path string, id ID, p Position) bool {
	if p.Offset == 0 {
		return false // there is nothing to know it by, and nothing lost when it is taken for another one
	}
	in, err := f.o.FS.Open(path)
	if err != nil {
		return false
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil || info.ID != id || info.Kind != Regular || info.Size < p.Offset {
		return false
	}
	head, err := sumOf(in, min(p.Offset, headSize))
	return err == nil && head == p.Head
}

// begin returns the position up to which it can be told whether a file is this one.
func (t *Tracked) begin() Position {
	if t.pos.Offset > 0 {
		return t.pos
	}
	return t.mark
}

// rename gives a file that had another name that under which it is there.
func (f *Follower) rename(t *Tracked, path string) {
	if f.files[t.Path] == t {
		delete(f.files, t.Path)
	}
	t.Path, t.missing = path, 0
	f.files[path] = t
	t.due = time.Time{}
	heap.Fix(&f.due, t.at)
}

// missesAllowed is in how many looks a file may be missing until it is taken to be gone: it may be about to have another name.
const missesAllowed = 2

// miss finds out which files are not there any more.
func (f *Follower) miss(here map[string]bool, errs map[string]error, n *news) {
	for path, t := range f.files {
		if here[path] || below(path, errs) {
			t.missing = 0
			continue
		}
		if t.missing++; t.missing >= missesAllowed {
			f.drop(t, n)
		}
	}
}

// below reports whether a path is in a folder that could not be looked into.
func below(path string, errs map[string]error) bool {
	for dir := filepath.Dir(path); len(errs) > 0; dir = filepath.Dir(dir) {
		if errs[dir] != nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return errs[path] != nil
}

// drop forgets a file.
func (f *Follower) drop(t *Tracked, n *news) {
	t.Gone = true
	if f.files[t.Path] == t {
		delete(f.files, t.Path)
	}
	if f.byID[t.ID] == t {
		delete(f.byID, t.ID)
	}
	if t.at >= 0 {
		heap.Remove(&f.due, t.at)
	}
	if !f.handles.has(t) || t.AtEnd() {
		f.handles.close(t)
	}
	n.add(&n.Gone, t)
}

// look finds out whether a file has changed.
func (f *Follower) look(t *Tracked, now time.Time, n *news) {
	info, err := f.o.FS.Stat(t.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.dirty = true // the folders tell whether it has another name
		f.lookInside(t, now, n)
		if f.files[t.Path] != t {
			f.lost(t, n)
		}
		return
	case err != nil:
		f.tellOne(t.Path, err, n)
		return
	}
	delete(f.errs, t.Path)
	if info.Kind != Regular || info.ID != t.ID {
		f.lookInside(t, now, n)
		f.replaced(t, n)
		f.dirty = true
		return
	}
	f.saw(t, info, now, n)
}

// lookInside looks at a file that has no name any more, if it is still open.
func (f *Follower) lookInside(t *Tracked, now time.Time, n *news) {
	if !f.handles.has(t) {
		return
	}
	one, err := f.handles.open(t)
	if err != nil {
		return
	}
	defer one.release()
	if info, err := one.Stat(); err == nil {
		f.saw(t, info, now, n)
	}
}

// replaced lets go of the name of a file that another one has now.
func (f *Follower) replaced(t *Tracked, n *news) {
	if f.files[t.Path] == t {
		delete(f.files, t.Path)
	}
	f.lost(t, n)
}

// lost keeps a file without a name for as long as it may get another one.
func (f *Follower) lost(t *Tracked, n *news) {
	if t.missing++; t.missing >= missesAllowed {
		f.drop(t, n)
	}
}

// saw takes what there is to be known of a file now.
func (f *Follower) saw(t *Tracked, info Info, now time.Time, n *news) {
	same := info.Size == t.size && info.Modified.Equal(t.modified)
	if !same && !t.modified.IsZero() {
		t.changed = now
	}
	if t.compressed {
		f.sawCompressed(t, info, same, n)
		return
	}
	if !same && info.Size <= t.size { // what waited for its end may be another
		t.waiting = 0
	}
	rewritten := info.Size < t.pos.Offset || info.Size == t.size && !info.Modified.Equal(t.modified) && info.Size == t.pos.Offset+t.waiting && t.pos.Offset > 0 && f.differs(t)
	t.size, t.modified = info.Size, info.Modified
	if rewritten {
		f.Again(t)
		n.add(&n.Again, t)
	}
	if !t.AtEnd() {
		n.add(&n.Grown, t)
	}
}

// sawCompressed is saw for a compressed file: one that has changed is read from its start, once it has stopped to change.
func (f *Follower) sawCompressed(t *Tracked, info Info, same bool, n *news) {
	t.size, t.modified = info.Size, info.Modified
	switch {
	case !same && (t.done || t.failed || t.stream != nil):
		f.Again(t)
		n.add(&n.Again, t)
	case same && !t.done && !t.failed:
		n.add(&n.Grown, t)
	}
}

// differs reports whether a file of the same length holds something else than what was read.
func (f *Follower) differs(t *Tracked) bool {
	one, err := f.handles.open(t)
	if err != nil {
		return false // it is looked at again
	}
	defer one.release()
	return !t.unchanged(one)
}

// Again has a file read from its start, as another generation.
func (f *Follower) Again(t *Tracked) {
	f.handles.close(t)
	t.restart()
}

// Waits reports whether there is a compressed file that was found and is not read yet.
func (f *Follower) Waits() bool {
	for _, t := range f.files {
		if t.compressed && !t.done && !t.failed {
			return true
		}
	}
	return false
}

// Restart has a file read from its start, though nothing has changed.
func (f *Follower) Restart(t *Tracked) { t.restart() }

// Release closes a file that is gone.
func (f *Follower) Release(t *Tracked) {
	t.closeStream()
	f.handles.close(t)
}

// schedule says when a file is looked at next.
func (f *Follower) schedule(t *Tracked, now time.Time) {
	if t.at < 0 {
		return
	}
	wait := min(max(now.Sub(t.changed)/8, f.o.Interval), f.o.Idle)
	if t.compressed && !t.done && !t.failed {
		wait = f.o.Interval
	}
	t.due = now.Add(wait)
	heap.Fix(&f.due, t.at)
}

// tell tells of errors that are new, and forgets those that are over.
func (f *Follower) tell(errs map[string]error, n *news) {
	for path := range f.errs {
		if errs[path] == nil && f.files[path] == nil {
			delete(f.errs, path)
		}
	}
	for path, err := range errs {
		f.tellOne(path, err, n)
	}
}

func (f *Follower) tellOne(path string, err error, n *news) {
	if f.errs[path] != err.Error() {
		f.errs[path] = err.Error()
		n.Errs[path] = err
	}
}
