package jsonl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/sessionspan/sessionspan/format"
)

// doubtful are the files of which a sync has failed in this process, with the offset up to which they are on disk.
var doubtful sync.Map

// handle is a session that is open for writing.
type handle struct {
	policy  Sync
	fs      files
	path    string
	session *format.Session
	lock    *lock
	file    file

	mu      sync.Mutex
	turn    sync.Cond   // a sync has ended
	info    fs.FileInfo // which file it is
	size    int64       // of the file, as it was left
	synced  int64       // up to here nothing waits for the disk
	sure    int64       // up to here a sync of this handle has gone well
	syncing bool
	// waiting is how many wait for a sync that is under way or to come; together is how many the last one was for, and took how
	// long it did.
	waiting, together int
	took              time.Duration
	err               error // why nothing more is taken
	refused           bool  // the file was found to be one that must not be written to
}

// attach has the session write through the handle.
func (h *handle) attach() {
	h.turn.L = &h.mu
	h.session.Attach(h.write)
}

// write appends the line of an entry to the file.
func (h *handle) write(more []byte, e format.Entry) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return h.err
	}
	if err := h.check(); err != nil {
		return h.fail(err)
	}
	n, err := h.file.Write(more)
	switch {
	case n == len(more) && err == nil:
	case n <= 0 && h.check() == nil: // as on a full disk: it is as it was
		return fmt.Errorf("%s: %w", h.path, err)
	default:
		return h.fail(h.takeBack(n, err))
	}
	h.size += int64(len(more))
	if !h.policy.atOnce(e, h.session.Header()) {
		return nil
	}
	if err := h.file.Sync(); err != nil {
		return h.syncFailed(err)
	}
	h.synced, h.sure = h.size, h.size
	return nil
}

// syncFailed gives the handle up. What is behind the last good sync is in the file, as far as the system's memory goes; it may have
// taken it for written, and would not write it again. So whoever opens the file next does ([Store.rewrite]).
func (h *handle) syncFailed(err error) error {
	doubtful.Store(h.path, h.sure)
	return h.fail(fmt.Errorf("%w: %w", errUnknown, err))
}

// errUnknown: the entry is in the file.
var errUnknown = errors.New("it was written, and it is not known whether it lasts")

// check finds out whether the file is what this handle left.
func (h *handle) check() error {
	info, err := h.fs.Stat(h.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: it is gone", ErrNotOwner)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotOwner, err)
	case !os.SameFile(info, h.info):
		return fmt.Errorf("%w: another one is in its place", ErrNotOwner)
	case info.Size() != h.size:
		return fmt.Errorf("%w: it has %d bytes, and had %d", ErrNotOwner, info.Size(), h.size)
	}
	return nil
}

// takeBack cuts off a line that was written in part, and returns the error of that.
func (h *handle) takeBack(n int, err error) error {
	if err == nil {
		err = errors.New("short write")
	}
	err = fmt.Errorf("%w: %d bytes of a line were written: %w", ErrBroken, n, err)
	info, serr := h.file.Stat()
	if serr == nil && info.Size() != h.size+int64(n) {
		serr = fmt.Errorf("%w: it has %d bytes, where there should be %d", ErrNotOwner, info.Size(), h.size+int64(n))
	}
	if serr == nil {
		serr = h.file.Truncate(h.size)
	}
	if serr != nil {
		err = fmt.Errorf("%w; they cannot be taken back: %w", err, serr)
	}
	return err
}

// fail has the handle take nothing more, and returns why.
func (h *handle) fail(err error) error {
	if !errors.Is(err, ErrNotOwner) && !errors.Is(err, ErrBroken) {
		err = fmt.Errorf("%w: %w", ErrBroken, err)
	}
	h.err = fmt.Errorf("%s: %w; Open reads it anew", h.path, err)
	h.turn.Broadcast()
	return h.err
}

// durable returns once all that was written before the call is on disk. Whoever comes while a sync is under way waits for the
// next one, which is for all of them.
func (h *handle) durable() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for want := h.size; h.synced < want; {
		switch {
		case h.err != nil:
			return fmt.Errorf("%w: %w", errUnknown, h.err)
		case h.syncing:
			h.waiting++
			h.turn.Wait()
			continue
		}
		h.syncing = true
		h.gather()
		upTo, start := h.size, time.Now()
		h.mu.Unlock()
		err := h.file.Sync()
		h.mu.Lock()
		h.syncing, h.took = false, time.Since(start)
		if err != nil {
			return h.syncFailed(err)
		}
		h.synced, h.sure = upTo, upTo
		h.together, h.waiting = h.waiting+1, 0
		h.turn.Broadcast()
	}
	return nil
}

// gather gives those who shared the last sync the time to come to this one, too: woken by its end, they are about to append
// again, and whoever is first would else sync a single line. It waits for a small part of what a sync takes.
func (h *handle) gather() {
	for start := time.Now(); h.waiting+1 < h.together && time.Since(start) < h.took/8; {
		h.mu.Unlock()
		runtime.Gosched()
		h.mu.Lock()
	}
}

// failed returns why nothing more is taken.
func (h *handle) failed() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// refusing reports whether the file is one that is not written to, however often it is opened.
func (h *handle) refusing() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refused
}

// stop has the handle take nothing more, for a reason of its own.
func (h *handle) stop(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err = why
}

// close gives the session up. Why is what later appends are told; nil leaves that as it is.
func (h *handle) close(why error) error {
	h.mu.Lock()
	for h.syncing {
		h.turn.Wait()
	}
	var err error
	if h.policy == Group && h.err == nil && h.synced < h.size { // somebody waits for it
		if err = h.file.Sync(); err == nil {
			h.synced = h.size
		} else {
			err = h.syncFailed(err)
		}
	}
	if why != nil {
		h.err = fmt.Errorf("%s: %w", h.path, why)
	}
	h.turn.Broadcast()
	h.mu.Unlock()
	return errors.Join(err, h.file.Close(), h.lock.release())
}
