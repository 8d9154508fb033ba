package follow

import (
	"container/list"
	"errors"
	"fmt"
	"io/fs"
	"sync"
)

// handles are the files that are open. Those that were read last stay so, up to a limit, so that what is written to a file just before it is
// removed can still be read.
type handles struct {
	fs    FS
	most  int
	mu    sync.Mutex
	order list.List // of *handle, the one that was used last at the front
}

// handle is an open file.
type handle struct {
	File
	all  *handles
	of   *Tracked
	at   *list.Element
	uses int
	over bool // it is to be closed when nobody uses it
}

func newHandles(files FS, most int) *handles {
	h := &handles{fs: files, most: most}
	h.order.Init()
	return h
}

// open returns an open file, for as long as it takes to release it. The error wraps [ErrAway] when it is not there.
func (h *handles) open(t *Tracked) (*handle, error) {
	h.mu.Lock()
	for e := h.order.Front(); e != nil; e = e.Next() {
		if one := e.Value.(*handle); one.of == t {
			one.uses++
			h.order.MoveToFront(e)
			h.mu.Unlock()
			return one, nil
		}
	}
	h.mu.Unlock()
	f, err := h.fs.Open(t.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrAway, err)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (info.Kind != Regular || info.ID != t.ID) {
		err = fmt.Errorf("%w: another one is", ErrAway)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	one := &handle{File: f, all: h, of: t, uses: 1}
	one.at = h.order.PushFront(one)
	for e := h.order.Back(); e != nil && h.order.Len() > h.most; {
		last := e.Value.(*handle)
		e = e.Prev()
		h.drop(last)
	}
	return one, nil
}

// has reports whether a file is open.
func (h *handles) has(t *Tracked) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for e := h.order.Front(); e != nil; e = e.Next() {
		if e.Value.(*handle).of == t {
			return true
		}
	}
	return false
}

// drop closes a file, or has it closed when nobody uses it any more. It is called under the lock.
func (h *handles) drop(one *handle) {
	h.order.Remove(one.at)
	one.over = true
	if one.uses == 0 {
		one.Close()
	}
}

// release lets go of a file.
func (one *handle) release() {
	one.all.mu.Lock()
	defer one.all.mu.Unlock()
	one.uses--
	if one.over && one.uses == 0 {
		one.Close()
	}
}

// close closes a file, if it is open.
func (h *handles) close(t *Tracked) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for e := h.order.Front(); e != nil; e = e.Next() {
		if one := e.Value.(*handle); one.of == t {
			h.drop(one)
			return
		}
	}
}

// closeAll closes all files.
func (h *handles) closeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for e := h.order.Front(); e != nil; e = h.order.Front() {
		h.drop(e.Value.(*handle))
	}
}
